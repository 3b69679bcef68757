package lagcomp

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// vectorSquareCost is how many rows the AVX2 kernel tests in the time that one square of a walk
// takes.
const vectorSquareCost = 160

// gridWalk lists the rows that a long sweep may touch, square by square along its path. It reports
// false if testing all rows is cheaper.
func (s *Sweeper) gridWalk(in *index, ray geom.Ray, q *boxQuery) bool {
	s.candidates = s.candidates[:0]
	if q.reach > kernel.MaxRadius {
		return false
	}
	f := q.frame
	wide := q.reach + 1e-2
	reach := float32(wide * wide)
	r := geom.Ray{Origin: ray.Origin, Dir: ray.Dir, Max: min(ray.Max, 4*WorldReach)}
	r.Origin.Y -= rig.BoundHeight // the columns hold feet
	if r.Max = exitDistance(r, in.low-wide, in.high+wide); r.Max < 0 {
		return true
	}
	strip := geom.NewStrip(r, wide, gridSize)
	if strip.Squares()*s.squareCost > f.rowCount {
		return false
	}
	for z := strip.Z0; z <= strip.Z1; z++ {
		x0, x1 := strip.Row(z)
		if x0 > x1 {
			continue
		}
		for line := in.line(x0, z, min(x1-x0+1, gridSide)); line != 0; line &= line - 1 {
			x := x0 + bits.TrailingZeros64(line)
			for entry := in.head[cellOf(x, z)]; entry != 0; {
				row := &in.nodes[entry-1]
				slot := int32(entry - 1)
				entry = row.next()
				to := geom.Vec3{X: row.x, Y: row.y, Z: row.z}.Sub(r.Origin)
				along := min(max(to.Dot(r.Dir), 0), r.Max)
				if to.Mad(r.Dir, -along).LenSq() <= reach {
					s.candidates = append(s.candidates, slot)
				}
			}
		}
	}
	return true
}

// exitDistance is Max, or the distance at which a ray leaves the layer from low to high for good.
// It is negative if the ray is never in the layer.
func exitDistance(r geom.Ray, low, high float32) float32 {
	const level = 1e-3 // of less slope than this rounding could make much
	switch {
	case !(low <= high), r.Origin.Y > high && r.Dir.Y >= 0, r.Origin.Y < low && r.Dir.Y <= 0:
		return -1
	case r.Dir.Y > level:
		return min(r.Max, (high-r.Origin.Y)/r.Dir.Y+1)
	case r.Dir.Y < -level:
		return min(r.Max, (low-r.Origin.Y)/r.Dir.Y+1)
	}
	return r.Max
}
