package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// wideStrip is how many rows the kernel looks at in the time that a square of a strip takes.
const wideStrip = 8

// alongStrip calls judge for the rows that a long way may touch, square by square of the ground that it passes over, and
// reports false if looking at everybody is less work: the lobby is small, or there is no index.
func (s *Sweeper) alongStrip(ray geom.Ray, q *query, judge func(int32)) bool {
	if q.reach > kernel.MaxRadius {
		return false
	}
	f := q.frame
	r := geom.Ray{Origin: ray.Origin, Dir: ray.Dir, Max: min(ray.Max, 4*Reach)}
	strip := geom.NewStrip(r, q.reach+1e-2, gridSize)
	if strip.Squares()*wideStrip > f.used {
		return false
	}
	in := s.of(f)
	if in == nil {
		return false
	}
	reach := float32(q.reach+2e-2) * (q.reach + 2e-2)
	r.Origin.Y -= boundHigh // the columns hold feet
	for z := strip.Z0; z <= strip.Z1; z++ {
		x0, x1 := strip.Row(z)
		for x := x0; x <= x1; x++ {
			c := cellOf(x, z)
			for _, slot := range in.rows[in.start[c]:in.start[c+1]] {
				to := geom.Vec3{X: f.x[slot], Y: f.y[slot], Z: f.z[slot]}.Sub(r.Origin)
				along := min(max(to.Dot(r.Dir), 0), r.Max)
				if to.Mad(r.Dir, -along).LenSq() <= reach {
					judge(slot)
				}
			}
		}
	}
	return true
}
