package mapcheck

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// Implementation constants of rides.
const (
	rideInstants = 16        // of a mover's period at which bodies get off
	offTicks     = floodRate // that they walk
)

// trip is a mover that the fill has ridden from a spawn.
type trip struct {
	mover int
	group int32
}

// ride takes a body along with the mover that it stands on where the fill steps, and gets it off in
// every direction at instants of the whole period, from the middle of the mover and of its sides.
func (f *flood) ride(p place) {
	for near := f.a.MoversNear(p.at.X, p.at.Z); near != 0; near &= near - 1 {
		i := bits.TrailingZeros64(near)
		m := &f.a.Movers[i]
		box := m.At(floodMoment)
		if !within(geom.AABB{Min: box.Min, Max: box.Max.Add(geom.Vec3{Y: sameFloor})}, p.at) {
			continue
		}
		t := trip{i, f.group(p.group)}
		if f.trips[t] {
			continue
		}
		f.trips[t] = true
		for n := range rideInstants {
			ticks := tick.Tick(int64(m.PeriodMillis()) * floodRate / 1000 * int64(n) / rideInstants)
			f.getOff(m, arena.Moment{Tick: ticks, Rate: floodRate}, p)
		}
	}
}

// getOff walks bodies off a mover from a moment on.
func (f *flood) getOff(m *arena.Mover, from arena.Moment, p place) {
	box := m.At(from)
	half := box.Max.Sub(box.Min).Scale(0.5)
	inset := min(half.X, half.Z, f.params.RadiusMetres)
	middle := geom.Vec3{X: box.Min.X + half.X, Y: box.Max.Y, Z: box.Min.Z + half.Z}
	for _, aside := range [...]geom.Vec3{{}, {X: half.X - inset}, {X: inset - half.X}, {Z: half.Z - inset},
		{Z: inset - half.Z}} {
		for way := range geom.Angle(8) {
			b := move.Motion{Pos: middle.Add(aside), Loco: move.Stand}
			now := from
			for range offTicks {
				now.Tick++
				b = f.body.Step(b, move.Input{Yaw: way << 13, MoveMag: fullSpeed}, p.team, f.a, now)
			}
			is := m.At(now)
			on := within(geom.AABB{Min: is.Min, Max: is.Max.Add(geom.Vec3{Y: sameFloor})}, b.Pos)
			if b.Loco.Grounded() && !on && b.Pos.Y > f.a.Bounds.Min.Y {
				f.arrive(b.Pos, p.team, p.group)
			}
		}
	}
}
