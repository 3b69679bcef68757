package object

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// ride is what movers do to a ball in the tick that ends now: one that rests on a mover is carried,
// and one that a mover is in is pushed out the shortest way, both up to what stands in the way. It
// returns whether the ball still rests.
func ride(a *arena.Arena, now arena.Moment, pos *geom.Vec3, radius float32, resting bool) bool {
	for near := a.MoversNear(pos.X, pos.Z); near != 0; near &= near - 1 {
		m := &a.Movers[bits.TrailingZeros64(near)]
		was, is := m.At(now.Before()), m.At(now)
		if resting && liesOn(&was, *pos, radius) {
			shift(a, pos, radius, m.Displacement(now))
			resting = liesOn(&is, *pos, radius)
		}
		if out := is.Out(*pos, radius); out != (geom.Vec3{}) {
			resting = false
			shift(a, pos, radius, out.Mad(out.Normalize(), solidMargin))
		}
	}
	return resting
}

// liesOn reports whether a ball rests on top of a box.
func liesOn(s *arena.Solid, at geom.Vec3, radius float32) bool {
	return at.X >= s.Min.X && at.X <= s.Max.X && at.Z >= s.Min.Z && at.Z <= s.Max.Z &&
		geom.Abs(at.Y-s.Max.Y-radius) <= 2*solidMargin
}

// shift moves a ball up to the first solid of the map.
func shift(a *arena.Arena, pos *geom.Vec3, radius float32, by geom.Vec3) {
	far := by.Len()
	if far == 0 {
		return
	}
	ray := geom.Ray{Origin: *pos, Dir: by.Scale(1 / far), Max: far}
	if hit, ok := a.Sweep(ray, radius); ok {
		*pos = ray.At(hit.Distance)
	} else {
		*pos = pos.Add(by)
	}
	*pos = onGrid(*pos)
}
