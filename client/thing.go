package client

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Thing is what is no player, at the instant that is looked at.
type Thing struct {
	netstate.ObjectState                 // as the server told it, but for Pos, which is where it is now
	ID                   netid.ID        // among things; 0: of our own, and not told yet
	Since                tick.Tick       // what Born stands for
	Rot                  object.Rotation // of a cube
	Own                  bool            // our own flight, which is shown at the predicted instant, not at that of the view
}

// ThingRow copies what was decoded of a slot of things at snapshot tick t into dst, netstate.ObjectStateFields long, and tells what is there:
// 0 for nothing. False if that is not known.
func (c *Client) ThingRow(t tick.Tick, slot int, dst []int32) (id netid.ID, ok bool) {
	if c.flights.decoder == nil {
		return 0, false
	}
	f := c.flights.decoder.At(t)
	if f == nil || !f.HasRow(slot) {
		return 0, false
	}
	return f.Row(slot, dst), true
}

// instant is a tick, and a part of the next in 1/256.
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

// seen is the instant of the view.
func (c *Client) seen() instant {
	way := uint32(c.view.To-c.view.From) * uint32(c.view.Frac)
	return instant{c.view.From + tick.Tick(way>>8), way & 255}
}

// acting is the instant that is predicted.
func (c *Client) acting() instant {
	t, part := c.rate.Since(c.predicted.at)
	return instant{t, min(uint32(part*256), 255)}
}

// Things appends to dst what is there that is no player: what others threw and what stands about at the instant of the view, and our
// own flights at the predicted one. Cubes are interpolated; flights are worked out from how they began, with the numbers and the arena
// that the server works with, so between their beginning and their end nothing is received of them. A flight that has ended stays for a
// moment where it did: Over. Nothing is appended by a client that is thin.
func (c *Client) Things(dst []Thing) []Thing {
	f := &c.flights
	f.steps = maxSteps
	if f.decoder != nil && c.view.From != 0 {
		now := c.seen()
		for slot := range f.used {
			if f.known[slot].own {
				continue
			}
			if o, ok := f.look(c, slot, now); ok {
				dst = append(dst, o)
			}
		}
	}
	if f.n == 0 {
		return dst
	}
	now := c.acting()
	for i := range f.own[:f.n] {
		if o, ok := f.own[i].show(c, f, now); ok {
			dst = append(dst, o)
		}
	}
	return dst
}

// maxSteps is how many ticks of grenades are worked out for one picture: a server may tell of thousands that it says were thrown long ago.
// Those for which there is no time stay where they are until the next.
const maxSteps = 2048

// told reads what a frame says of a slot; false if nothing is there.
func (f *flights) told(at tick.Tick, slot int, o *Thing) bool {
	fr := f.decoder.At(at)
	if o.ID = fr.Row(slot, f.row[:]); o.ID == 0 {
		return false
	}
	o.ObjectState.Restore(f.row[:])
	o.Since = o.ObjectState.Tick(at)
	return true
}

// around finds the snapshots that know a slot: the newest up to a tick, and the oldest behind it. 0 is none.
func (f *flights) around(slot int, t tick.Tick) (from, to tick.Tick) {
	if fr := f.decoder.Before(slot, t); fr != nil {
		from = fr.Tick
	}
	if fr := f.decoder.After(slot, t); fr != nil {
		to = fr.Tick
	}
	return from, to
}

// look works out what is in a slot at an instant.
func (f *flights) look(c *Client, slot int, now instant) (o Thing, ok bool) {
	from, to := f.around(slot, c.view.From)
	ok = from != 0 && f.told(from, slot, &o)
	switch {
	case ok && o.Kind == netstate.Cube:
		f.roll(c, slot, from, now, &o)
		return o, true
	case ok && (!o.Kind.Flies() || o.Over()):
		return o, true
	}
	// What begins or ends between the two snapshots does so in its tick.
	var next Thing
	last := false // within the tick in which it ends
	if to != 0 && f.told(to, slot, &next) && next.Kind.Flies() && next.Since <= now.tick {
		switch end := next.Ended(to); {
		case next.Over() && end <= now.tick:
			return next, true
		case next.Over() && ok:
			last = end == now.tick+1 && next.ID == o.ID
		case !next.Over() && !ok:
			o, ok, from = next, true, to
		}
	}
	if !ok {
		return o, false
	}
	if last { // on its way to where it ends, not beyond
		o.Pos = lerp(f.fly(c, slot, &o, from, instant{tick: now.tick}), next.Pos, now.frac)
		return o, true
	}
	o.Pos = f.fly(c, slot, &o, from, now)
	return o, true
}

// fly is where a flight is at an instant, told in the snapshot of a tick.
func (f *flights) fly(c *Client, slot int, o *Thing, at tick.Tick, now instant) geom.Vec3 {
	k := c.predict.kit
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
	b := &f.bowls[slot]
	if b.id != o.ID || b.at > now.tick {
		b.begin(o.ID, o.Launch(at), &k.GrenadeKinds[o.Type], c)
	}
	f.steps -= b.advance(&k.GrenadeKinds[o.Type], c, now.tick, f.steps)
	return lerp(b.a.Pos, b.b.Pos, now.frac)
}

// bowl is a grenade as far as it was worked out: at the end of a tick, and of the next.
type bowl struct {
	id   netid.ID
	at   tick.Tick
	a, b object.Grenade
}

func (b *bowl) begin(id netid.ID, g object.Grenade, k *object.CompiledGrenade, c *Client) {
	*b = bowl{id: id, at: g.Thrown, a: g, b: g.Step(k, c.predict.arena, g.Thrown+1)}
}

// advance works out the ticks up to t, at most so many, and returns how many there were. No grenade flies longer than its fuse burns.
func (b *bowl) advance(k *object.CompiledGrenade, c *Client, t tick.Tick, most int) (n int) {
	for t = min(t, b.a.Thrown+k.Life); b.at < t && n < most; n++ {
		b.at++
		b.a, b.b = b.b, b.b.Step(k, c.predict.arena, b.at+1)
	}
	return n
}

// roll puts a cube where it is at an instant, told in the snapshot of a tick. A row is of the snapshot in which the cubes were told
// last, and of the next in which they are lies the other end of the way.
func (f *flights) roll(c *Client, slot int, at tick.Tick, now instant, o *Thing) {
	o.Rot = o.Rotation()
	interval := tick.Tick(c.welcome.SendInterval)
	from := at - f.paces.LastUpdate(netstate.Cube, at, interval)
	var next Thing
	for range netstate.MaxUpdateInterval {
		fr := f.decoder.After(slot, at)
		if fr == nil || !f.told(fr.Tick, slot, &next) || next.ID != o.ID {
			return
		}
		at = fr.Tick
		to := at - f.paces.LastUpdate(netstate.Cube, at, interval)
		if to <= from {
			continue
		}
		if to-from > c.glide() {
			return
		}
		frac := min((uint32(now.tick-min(from, now.tick))*256+now.frac)/uint32(to-from), 256)
		o.Pos, o.Rot = lerp(o.Pos, next.Pos, frac), turn(o.Rot, next.Rotation(), frac)
		return
	}
}

// turn is the rotation frac/256 of the shorter way from a to b.
func turn(a, b object.Rotation, frac uint32) object.Rotation {
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
