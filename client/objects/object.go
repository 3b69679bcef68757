package objects

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Object is an object at the instant that is shown.
type Object struct {
	netstate.ObjectState                 // the server's row, but for Pos, which is the position now
	ID                   netid.ID        // 0: an own projectile without a row yet
	Since                tick.Tick       // the tick that Born stands for
	Rot                  object.Rotation // of a cube
	Own                  bool            // an own projectile, shown at the predicted instant
}

// instant is a tick and a part of the next in 1/256.
type instant struct {
	tick tick.Tick
	frac uint32
}

// lerp is a + (b-a)*frac/256.
func lerp(a, b geom.Vec3, frac uint32) geom.Vec3 {
	if frac == 0 {
		return a
	}
	return a.Mad(b.Sub(a), float32(frac)/256)
}

// instantOf is the instant of a view.
func instantOf(v tick.View) instant {
	way := uint32(v.To-v.From) * uint32(v.Frac)
	return instant{v.From + tick.Tick(way>>8), way & 255}
}

// predicted is the instant of the predicted clock.
func (s *Set) predicted() instant {
	t, part := s.match.Clocks.Rate.Since(s.match.Clocks.Predicted.At)
	return instant{t, min(uint32(part*256), 255)}
}

// maxSteps is how many ticks of grenades one Append computes: a hostile server may name thousands
// that it says were thrown long ago. The rest stay where they are until the next Append.
const maxSteps = 2048

// Append appends every object to dst: those with rows at the instant of the view, own projectiles
// at the predicted instant. Cubes are interpolated. Projectiles and grenades are computed from
// their launch with the server's constants and arena, so they need no rows between launch and end;
// one that has ended stays in place for a moment, see Over.
func (s *Set) Append(dst []Object) []Object {
	s.steps = maxSteps
	if s.decoder != nil && s.match.View.From != 0 {
		view := *s.match.View
		now := instantOf(view)
		for slot := range s.slots {
			if s.known[slot].own {
				continue
			}
			if o, ok := s.show(slot, view.From, now); ok {
				dst = append(dst, o)
			}
		}
	}
	if s.n == 0 {
		return dst
	}
	now := s.predicted()
	for i := range s.own[:s.n] {
		if o, ok := s.showOwn(&s.own[i], now); ok {
			dst = append(dst, o)
		}
	}
	return dst
}

// around finds the snapshots with a slot's row: the newest up to tick t, and the oldest after it. 0
// is none.
func (s *Set) around(slot int, t tick.Tick) (from, to tick.Tick) {
	if f := s.decoder.Before(slot, t); f != nil {
		from = f.Tick
	}
	if f := s.decoder.After(slot, t); f != nil {
		to = f.Tick
	}
	return from, to
}

// show computes a slot's object at an instant at or after snapshot tick t.
func (s *Set) show(slot int, t tick.Tick, now instant) (o Object, ok bool) {
	from, to := s.around(slot, t)
	ok = from != 0 && s.read(from, slot, &o)
	switch {
	case ok && o.Kind == netstate.Cube:
		s.interpolate(slot, from, now, &o)
		return o, true
	case ok && (!o.Kind.Flies() || o.Over()):
		return o, true
	}
	// A launch or an end between the two snapshots is shown in its own tick.
	var next Object
	ending := false // within the tick in which it ends
	if to != 0 && s.read(to, slot, &next) && next.Kind.Flies() && next.Since <= now.tick {
		switch end := next.Ended(to); {
		case next.Over() && end <= now.tick:
			return next, true
		case next.Over() && ok:
			ending = end == now.tick+1 && next.ID == o.ID
		case !next.Over() && !ok:
			o, ok, from = next, true, to
		}
	}
	if !ok {
		return o, false
	}
	if ending { // towards the end and not beyond
		o.Pos = lerp(s.position(slot, &o, from, instant{tick: now.tick}), next.Pos, now.frac)
		return o, true
	}
	o.Pos = s.position(slot, &o, from, now)
	return o, true
}

// position is where a projectile or grenade with a row at snapshot tick at is at an instant.
func (s *Set) position(slot int, o *Object, at tick.Tick, now instant) geom.Vec3 {
	k := s.match.Kit
	if o.Kind == netstate.Projectile {
		if int(o.Type) >= len(k.ProjectileKinds) {
			return o.Pos
		}
		path, r := o.Flight(at), &k.ProjectileKinds[o.Type]
		return lerp(path.At(r, now.tick), path.At(r, now.tick+1), now.frac)
	}
	if int(o.Type) >= len(k.GrenadeKinds) {
		return o.Pos
	}
	b, fuse := &s.thrown[slot], &k.GrenadeKinds[o.Type]
	if b.id != o.ID || b.at > now.tick {
		b.begin(o.ID, o.Launch(at), fuse, s.match.Arena)
	}
	s.steps -= b.advance(fuse, s.match.Arena, now.tick, s.steps)
	return lerp(b.now.Pos, b.next.Pos, now.frac)
}

// trajectory is a grenade as far as it was computed.
type trajectory struct {
	id        netid.ID
	at        tick.Tick
	now, next object.Grenade // at the end of tick at, and of the next
}

func (b *trajectory) begin(id netid.ID, g object.Grenade, fuse *object.CompiledGrenade, a *arena.Arena) {
	*b = trajectory{id: id, at: g.Thrown, now: g, next: g.Step(fuse, a, g.Thrown+1)}
}

// advance computes the ticks up to t, at most limit, and returns how many those were. No grenade
// flies longer than its fuse burns.
func (b *trajectory) advance(fuse *object.CompiledGrenade, a *arena.Arena, t tick.Tick, limit int) (n int) {
	for t = min(t, b.now.Thrown+fuse.Life); b.at < t && n < limit; n++ {
		b.at++
		b.now, b.next = b.next, b.next.Step(fuse, a, b.at+1)
	}
	return n
}

// interpolate moves a cube with a row at snapshot tick at to an instant. A row describes the tick
// at which cubes were sampled last; the next sample is in the first later row.
func (s *Set) interpolate(slot int, at tick.Tick, now instant, o *Object) {
	o.Rot = o.Rotation()
	interval := s.match.Interval
	from := at - s.paces.LastUpdate(netstate.Cube, at, interval)
	var next Object
	for range netstate.MaxUpdateInterval {
		f := s.decoder.After(slot, at)
		if f == nil || !s.read(f.Tick, slot, &next) || next.ID != o.ID {
			return
		}
		at = f.Tick
		to := at - s.paces.LastUpdate(netstate.Cube, at, interval)
		if to <= from {
			continue
		}
		if to-from > s.match.MaxGap {
			return
		}
		frac := min((uint32(now.tick-min(from, now.tick))*256+now.frac)/uint32(to-from), 256)
		o.Pos, o.Rot = lerp(o.Pos, next.Pos, frac), nlerp(o.Rot, next.Rotation(), frac)
		return
	}
}

// nlerp is the rotation frac/256 of the shorter way from a to b.
func nlerp(a, b object.Rotation, frac uint32) object.Rotation {
	var v [4]float32
	dot, sum := float32(0), float32(0)
	for i := range a {
		dot += float32(a[i]) * float32(b[i]) / (32767 * 32767)
	}
	part := float32(frac) / 256
	for i := range a {
		to := float32(b[i])
		if dot < 0 {
			to = -to
		}
		v[i] = float32(a[i]) + float32((to-float32(a[i]))*part)
		sum += float32(v[i] * v[i])
	}
	if !(sum > 1) {
		return a
	}
	scale := 32767 / geom.Sqrt(sum)
	for i := range a {
		a[i] = int16(math.Round(float64(v[i] * scale)))
	}
	return a
}
