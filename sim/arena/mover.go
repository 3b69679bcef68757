package arena

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Specification: what movers a map may have.
const (
	MaxMovers       = 64
	MaxNearMovers   = 4 // within Reach of one cell of MoversNear
	MaxMoverSpeed   = 5 // m/s: in a tick at tick.MinRate at most 0.25 m, the least radius of a body
	MinTravelMillis = 100
	MaxMoverMillis  = 600_000 // longest travel, longest dwell
)

// ErrTooManyMovers says that a map has more movers near one place than MaxNearMovers.
var ErrTooManyMovers = errors.New("movers: too many near one place")

// Mover is a box that travels between two ends for ever: an elevator, a door. It dwells at each
// end. Its place follows from the tick alone, so it takes no byte on the wire.
type Mover struct {
	Min, Max     geom.Vec3 // the box at its first end, where it begins
	Travel       geom.Vec3 // from there to the second end
	TravelMillis int32     // one way
	DwellMillis  int32     // at each end
	PhaseMillis  int32     // how much of its period has passed at tick 0
}

// Moment is an instant of a match, from which the place of every mover follows: the end of a tick.
type Moment struct {
	Tick tick.Tick
	Rate tick.Rate
}

// Before is the moment a tick earlier.
func (m Moment) Before() Moment { return Moment{max(m.Tick, 1) - 1, m.Rate} }

// positionUnit is the grid of movers in metres, which is that of bodies (see sim/move).
const positionUnit = 1. / 4096

// PeriodMillis is how long both ways and both dwells take.
func (m *Mover) PeriodMillis() int32 { return 2 * (m.TravelMillis + m.DwellMillis) }

// At is the mover's box at a moment. Its place is computed in integers and truncated to 1/4096 m,
// so that client and server have the same bits.
func (m *Mover) At(now Moment) Solid {
	off := m.offset(now)
	return Solid{Min: m.Min.Add(off), Max: m.Max.Add(off)}
}

// offset is how far the mover is from its first end. Times are in units of 1/(1000*Rate) s.
func (m *Mover) offset(now Moment) geom.Vec3 {
	rate := int64(max(now.Rate, 1))
	dwell, travel := int64(m.DwellMillis)*rate, int64(max(m.TravelMillis, 1))*rate
	period := int64(2 * (dwell + travel))
	elapsed, phase := int64(now.Tick)*1000, int64(m.PhaseMillis)*rate
	u := (elapsed + phase) % period // time within the period; on the way, time since the first end
	switch {
	case u < dwell:
		return geom.Vec3{}
	case u < dwell+travel:
		u -= dwell
	case u <= period-travel:
		return m.Travel
	default:
		u = period - u
	}
	part := func(way float32) float32 {
		n := int64(way * (1 / positionUnit))
		return float32(n*u/travel) * positionUnit
	}
	return geom.Vec3{X: part(m.Travel.X), Y: part(m.Travel.Y), Z: part(m.Travel.Z)}
}

// Displacement is how far the mover moves in the tick that ends at a moment.
func (m *Mover) Displacement(now Moment) geom.Vec3 { return m.offset(now).Sub(m.offset(now.Before())) }

// Speed is how fast the mover travels, in m/s. float32 rounds the product, so that the speed is the
// same on every machine.
func (m *Mover) Speed() float32 { return float32(m.Travel.Len()*1000) / float32(m.TravelMillis) }

// Hull is the box round all places of the mover.
func (m *Mover) Hull() geom.AABB {
	return geom.AABB{Min: m.Min.Min(m.Min.Add(m.Travel)), Max: m.Max.Max(m.Max.Add(m.Travel))}
}

// Moves reports whether the map has movers.
func (a *Arena) Moves() bool { return len(a.Movers) > 0 }

// MoversNear returns a superset of the movers whose travel comes within Reach of the vertical line
// at (x, z): bit i is Movers[i]. It has at most MaxNearMovers bits.
func (a *Arena) MoversNear(x, z float32) uint64 {
	if len(a.Movers) == 0 {
		return 0
	}
	cx, cz := a.near.cell(x, z)
	return a.moving[cz*a.near.nx+cx]
}

// RaycastAt is Raycast with the movers as they are at a moment.
func (a *Arena) RaycastAt(r geom.Ray, now Moment) (t float32, ok bool) {
	t, ok = a.Raycast(r)
	if len(a.Movers) == 0 || !r.Origin.Finite() || !r.Dir.Finite() || !(r.Max >= 0) {
		return t, ok
	}
	if ok {
		r.Max = t
	}
	b := newBeam(r)
	for i := range a.Movers {
		m := &a.Movers[i]
		hull := m.Hull()
		if whole := (Solid{Min: hull.Min, Max: hull.Max}); !whole.meets(&b) {
			continue
		}
		s := m.At(now)
		if at, hit := s.enter(&b); hit {
			b.max, t, ok = at, at, true
		}
	}
	return t, ok
}

// meets reports whether b enters s.
func (s *Solid) meets(b *beam) bool { _, ok := s.enter(b); return ok }

// SweepAt is Sweep with the movers as they are at a moment.
func (a *Arena) SweepAt(r geom.Ray, radius float32, now Moment) (hit Touch, ok bool) {
	hit, ok = a.Sweep(r, radius)
	if len(a.Movers) == 0 {
		return hit, ok
	}
	if moved, touched := a.SweepMovers(r, radius, now); touched && (!ok || moved.Distance < hit.Distance) {
		return moved, true
	}
	return hit, ok
}

// SweepMovers is Sweep against the movers alone, as they are at a moment.
func (a *Arena) SweepMovers(r geom.Ray, radius float32, now Moment) (hit Touch, ok bool) {
	if len(a.Movers) == 0 || !sweeps(&r, radius) {
		return Touch{}, false
	}
	b := newBeam(r)
	grow := geom.Vec3{X: radius + rayMargin, Y: radius + rayMargin, Z: radius + rayMargin}
	for i := range a.Movers {
		m := &a.Movers[i]
		hull := m.Hull()
		if from, to := span3(hull.Min.Sub(grow), hull.Max.Add(grow), &b); from > to || to < 0 || from > b.max {
			continue
		}
		s := m.At(now)
		if t, n, touched := s.sweep(&b, radius); touched && (!ok || t < hit.Distance) {
			hit, ok = Touch{t, n}, true
			b.max = t
		}
	}
	return hit, ok
}

// SurfaceAt is Surface with the movers as they are at a moment.
func (a *Arena) SurfaceAt(p geom.Vec3, reach float32, now Moment) (at, normal geom.Vec3, ok bool) {
	at, normal, ok = a.Surface(p, reach)
	for near := a.MoversNear(p.X, p.Z); near != 0; near &= near - 1 {
		s := a.Movers[bits.TrailingZeros64(near)].At(now)
		q := s.Nearest(p)
		if d := p.Sub(q).LenSq(); d <= float32(reach*reach) && (!ok || d < p.Sub(at).LenSq()) {
			at, normal, ok = q, s.normal(p), true
		}
	}
	return at, normal, ok
}

// Out is the shortest way that takes a ball at p out of a box; zero if they do not overlap.
func (s *Solid) Out(p geom.Vec3, radius float32) geom.Vec3 {
	q := p.Max(s.Min).Min(s.Max)
	d := p.Sub(q)
	if far := d.Len(); far > 0 {
		return d.Scale(max(radius-far, 0) / far)
	}
	n := s.exitNormal(p)
	// n is a unit vector along an axis. For a face at Max, down is 0; for a face at Min, up is 0.
	up, down := n.Max(geom.Vec3{}), n.Scale(-1).Max(geom.Vec3{})
	return n.Scale(up.Dot(s.Max.Sub(p)) + down.Dot(p.Sub(s.Min)) + radius)
}

// checkMovers validates movers. Errors name movers by key and index, as in movers[3].
func (a *Arena) checkMovers() error {
	if n := len(a.Movers); n > MaxMovers {
		return fmt.Errorf("movers: %d rows, want at most %d", n, MaxMovers)
	}
	for i := range a.Movers {
		if err := a.Movers[i].Check(a.Bounds); err != nil {
			return fmt.Errorf("movers[%d]: %w", i, err)
		}
	}
	return nil
}

// Check validates a mover of a map with the given bounds.
func (m *Mover) Check(bounds geom.AABB) error {
	if err := checkBox("box", m.Min, m.Max); err != nil {
		return err
	}
	if err := checkPoint("travel", m.Travel); err != nil {
		return err
	}
	if h := m.Hull(); !inside(h.Min, bounds) || !inside(h.Max, bounds) {
		return fmt.Errorf("covers %v to %v, want within bounds", h.Min, h.Max)
	}
	switch way := m.Travel.Len(); {
	case way == 0:
		return errors.New("travels nowhere, want a travel that is not 0 0 0")
	case m.TravelMillis < MinTravelMillis || m.TravelMillis > MaxMoverMillis:
		return fmt.Errorf("travels for %d ms, want %d to %d", m.TravelMillis, MinTravelMillis, MaxMoverMillis)
	case float32(way*1000) > MaxMoverSpeed*float32(m.TravelMillis):
		return fmt.Errorf("travels %.4g m in %d ms, want at most %d m/s", way, m.TravelMillis, MaxMoverSpeed)
	case m.DwellMillis < 0 || m.DwellMillis > MaxMoverMillis:
		return fmt.Errorf("dwells for %d ms, want 0 to %d", m.DwellMillis, MaxMoverMillis)
	case m.PhaseMillis < 0 || m.PhaseMillis >= m.PeriodMillis():
		return fmt.Errorf("phase of %d ms, want 0 to %d", m.PhaseMillis, m.PeriodMillis()-1)
	}
	return nil
}

// indexMovers makes the table of MoversNear: a mask of movers for each cell of Near.
func (a *Arena) indexMovers() error {
	if len(a.Movers) == 0 {
		return nil
	}
	g := &a.near
	a.moving = make([]uint64, g.nx*g.nz)
	for i := range a.Movers {
		hull := a.Movers[i].Hull()
		x0, z0, x1, z1 := g.span(&Solid{Min: hull.Min, Max: hull.Max}, Reach)
		for z := z0; z <= z1; z++ {
			for x := x0; x <= x1; x++ {
				a.moving[z*g.nx+x] |= 1 << i
			}
		}
	}
	for c, near := range a.moving {
		n := bits.OnesCount64(near)
		if n > MaxNearMovers {
			return a.tooManyMovers(c, n)
		}
		if int(g.start[c+1]-g.start[c])+n > MaxNear {
			return ErrTooDense
		}
	}
	return nil
}

// tooManyMovers is the error for a cell with n movers near it.
func (a *Arena) tooManyMovers(cell, n int) error {
	g := &a.near
	size := 1 / g.inv
	x, z := g.x0+float32(float32(cell%g.nx)*size), g.z0+float32(float32(cell/g.nx)*size)
	return fmt.Errorf("%w: %d come within %v m of the square from x = %v, z = %v to x = %v, z = %v, want at most %d",
		ErrTooManyMovers, n, Reach, x, z, x+size, z+size, MaxNearMovers)
}
