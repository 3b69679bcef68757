package mapcheck

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// minRegion is the smallest unreached ground that is reported, m².
const minRegion = 1

// unreached is a square in which a body can stand and that the fill has not reached.
type unreached struct {
	x, z int
	at   geom.Vec3
	seen bool
}

// regions returns the connected ground that the fill has not reached: first what players fall from
// onto reached ground, then what is enclosed.
func (f *flood) regions() (tops, closed []Region) {
	all := f.unreachedSquares()
	bySquare := make(map[int][]*unreached, len(all))
	for i := range all {
		u := &all[i]
		bySquare[u.z*f.wide+u.x] = append(bySquare[u.z*f.wide+u.x], u)
	}
	for i := range all {
		if all[i].seen {
			continue
		}
		r := f.region(&all[i], bySquare)
		switch {
		case r.Area < minRegion:
		case f.leads(&r):
			tops = append(tops, r)
		default:
			closed = append(closed, r)
		}
	}
	return tops, closed
}

// region collects the squares that are connected with one by steps.
func (f *flood) region(first *unreached, bySquare map[int][]*unreached) Region {
	r := Region{At: first.at}
	first.seen = true
	open := []*unreached{first}
	for len(open) > 0 {
		u := open[len(open)-1]
		open = open[:len(open)-1]
		r.Squares = append(r.Squares, u.at)
		r.Area += float32(f.square * f.square)
		for n := range 9 {
			x, z := u.x+n%3-1, u.z+n/3-1
			if x < 0 || z < 0 || x >= f.wide || z >= f.deep {
				continue
			}
			for _, v := range bySquare[z*f.wide+x] {
				if !v.seen && geom.Abs(v.at.Y-u.at.Y) <= f.params.StepMetres {
					v.seen = true
					open = append(open, v)
				}
			}
		}
	}
	return r
}

// leads reports whether a body gets from a region to ground that the fill has reached: over an edge,
// or by a jump.
func (f *flood) leads(r *Region) bool {
	for _, at := range r.Squares {
		p := place{at: at, team: move.NoTeam}
		for n := range 9 {
			if n == 4 {
				continue
			}
			goal := geom.Vec3{X: at.X + float32(n%3-1), Y: at.Y, Z: at.Z + float32(n/3-1)}
			if to, ok := f.walkOff(p, geom.Atan2(goal.X-at.X, goal.Z-at.Z)); ok && f.reachedNear(to) {
				return true
			}
			if to, ok := f.jump(p, goal); ok && f.reachedNear(to) {
				return true
			}
		}
	}
	return false
}

// unreachedSquares lists the squares, row by row, with ground that was not reached.
func (f *flood) unreachedSquares() (all []unreached) {
	var heights []float32
	for z := range f.deep {
		for x := range f.wide {
			middle := f.middle(x, z, 0)
			heights = f.groundHeights(middle, heights[:0])
			for _, y := range heights {
				if at, ok := f.stands(geom.Vec3{X: middle.X, Y: y, Z: middle.Z}); ok && !f.reachedNear(at) {
					all = append(all, unreached{x: x, z: z, at: at})
				}
			}
		}
	}
	return all
}

// groundHeights appends the tops of the solids over a point of the ground, each height once.
func (f *flood) groundHeights(p geom.Vec3, out []float32) []float32 {
	near := f.a.Near(p.X, p.Z)
	for i := range near {
		s := &near[i]
		if p.X < s.Min.X || p.X > s.Max.X || p.Z < s.Min.Z || p.Z > s.Max.Z || s.Pass != 0 {
			continue
		}
		top := s.Max.Y
		switch s.Shape {
		case arena.RampPosX:
			top = s.Min.Y + float32((p.X-s.Min.X)*s.Grade)
		case arena.RampNegX:
			top = s.Min.Y + float32((s.Max.X-p.X)*s.Grade)
		case arena.RampPosZ:
			top = s.Min.Y + float32((p.Z-s.Min.Z)*s.Grade)
		case arena.RampNegZ:
			top = s.Min.Y + float32((s.Max.Z-p.Z)*s.Grade)
		}
		if !slices.Contains(out, top) {
			out = append(out, top)
		}
	}
	return out
}

// stands reports whether a body stays where it is on ground at a place, and where its feet are.
func (f *flood) stands(at geom.Vec3) (geom.Vec3, bool) {
	const aside, fall = 1. / 16, 0.25 // metres that it may move
	m := move.Motion{Pos: geom.Vec3{X: at.X, Y: at.Y + 1./32, Z: at.Z}, Loco: move.InAir}
	for range 6 {
		m = f.body.Step(m, move.Input{}, move.NoTeam, f.a, floodMoment)
	}
	d := m.Pos.Sub(at)
	if !m.Loco.Grounded() || geom.Abs(d.X) > aside || geom.Abs(d.Z) > aside || geom.Abs(d.Y) > fall {
		return at, false
	}
	_, blocked := overlapped(f.a, &f.params, move.NoTeam, m.Pos)
	return m.Pos, !blocked
}

// reachedNear reports whether a body at a place touches where another has stood that the fill moved,
// on the same floor. No wall can be between the middles of two such bodies.
func (f *flood) reachedNear(at geom.Vec3) bool {
	apart := float32(2 * f.params.RadiusMetres)
	around := int(apart/f.square) + 1
	x, z := f.index(at)
	for dz := -around; dz <= around; dz++ {
		for dx := -around; dx <= around; dx++ {
			fl := f.floorAt(x+dx, z+dz, at.Y, f.params.StepMetres)
			if fl == nil {
				continue
			}
			d := fl.at.Sub(at)
			if float32(d.X*d.X)+float32(d.Z*d.Z) <= float32(apart*apart) {
				return true
			}
		}
	}
	return false
}
