package arena

import "github.com/tickrate/tickrate/ecs/geom"

// Surface returns the point of the nearest solid that is nearest to p, and the direction in which
// the solid faces there. For a p within a solid that is p and the shortest way out. Team areas have
// no surface. False if no solid is within reach, in metres, at most Reach.
func (a *Arena) Surface(p geom.Vec3, reach float32) (at, normal geom.Vec3, ok bool) {
	best := float32(reach * reach)
	var nearest *Solid
	items := a.Near(p.X, p.Z)
	for i := range items {
		s := &items[i]
		if s.Pass != 0 {
			continue
		}
		q := s.Nearest(p)
		if d := p.Sub(q).LenSq(); d < best || nearest == nil && d == best {
			best, at, nearest = d, q, s
		}
	}
	if nearest == nil {
		return geom.Vec3{}, geom.Vec3{}, false
	}
	return at, nearest.normal(p), true
}
