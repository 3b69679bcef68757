package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// told is how the things of a snapshot were chosen.
type told uint8

const (
	toldNone told = iota // there are none
	toldKept             // not at all: the client holds them as they are
	toldAll              // all, in blocks
	toldSeen             // all that it sees
	toldRoom             // of what it sees, as many as there was room for
)

// ThingRef names a thing: a flight by its net id in the match, what stands about by its class and place in the map's list.
type ThingRef struct {
	Kind netstate.Kind
	N    uint32 // of a flight its net id, of what stands about its number, from 0
}

// String is what ParseThingRef reads: barrel:3, projectile:1114112.
func (r ThingRef) String() string { return fmt.Sprintf("%v:%d", r.Kind, r.N) }

// ParseThingRef is the reverse of String.
func ParseThingRef(s string) (r ThingRef, err error) {
	name, number, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(number, 10, 32)
	for k := netstate.Kind(1); ok && err == nil && k < netstate.Kinds; k++ {
		if k.String() == name {
			return ThingRef{k, uint32(n)}, nil
		}
	}
	return r, fmt.Errorf("thing %q: expected a class and a number, as barrel:3; classes are projectile, grenade, barrel, cube, teleporter and zone", s)
}

// ExplainThing is Explain for what is no player. Call it between ticks.
func (l *Lobby) ExplainThing(client netid.ID, r ThingRef) Verdict {
	return l.explainThing(client, r, l.things.slotOf(r))
}

// explainThing is ExplainThing where it is known which slot the thing is told in, -1 for none.
func (l *Lobby) explainThing(client netid.ID, r ThingRef, slot int) Verdict {
	v := Verdict{Client: uint32(client), Thing: r.String(), Slot: -1}
	if r.Kind.Flies() {
		v.Entity = r.N
	}
	c, why := l.whose(client)
	if v.Why = why; why == WhyTold {
		l.snapshotOf(&v, c)
		f := l.things.frames.At(c.repl.pacing.sent)
		switch {
		case slot < 0 && r.Kind.Flies() && l.flies(r):
			v.Why = WhySlot
		case slot < 0:
			v.Why = WhyNobody
		case c.repl.pacing.sent == 0 || f == nil:
			v.Why = WhyNone
		case f.ID(slot) != l.things.berths[slot].id:
			v.Why = WhyNew
		default:
			v.Slot, v.Why = slot, l.whyThing(c, f, slot)
			l.thingDetail(&v, c, f, slot)
		}
	}
	v.Text = v.Why.Text()
	return v
}

// ExplainAll appends the verdicts about all players and things that there are, for one client, to dst; one alone if the client gets no
// snapshots. Call it between ticks.
func (l *Lobby) ExplainAll(dst []Verdict, client netid.ID) []Verdict {
	if _, why := l.whose(client); why != WhyTold {
		return append(dst, Verdict{Client: uint32(client), Slot: -1, Why: why, Text: why.Text()})
	}
	for slot := range l.conns {
		if id := l.match.World.At(slot); id != 0 && l.match.Vital(id) != nil {
			dst = append(dst, l.Explain(client, id))
		}
	}
	w := l.things
	var number [netstate.Kinds]uint32
	for slot := range w.berths {
		if w.used[slot>>6]>>(slot&63)&1 == 0 {
			continue
		}
		c := &w.berths[slot]
		r := ThingRef{c.kind, number[c.kind]}
		if number[c.kind]++; c.kind.Flies() {
			r.N = uint32(c.of)
		}
		dst = append(dst, l.explainThing(client, r, slot))
	}
	return dst
}

// slotOf is where a thing is told, -1 for nowhere.
func (w *things) slotOf(r ThingRef) int {
	n := uint32(0)
	for slot := range w.berths {
		c := &w.berths[slot]
		if w.used[slot>>6]>>(slot&63)&1 == 0 || c.kind != r.Kind {
			continue
		}
		if r.Kind.Flies() && uint32(c.of) == r.N || !r.Kind.Flies() && n == r.N {
			return slot
		}
		n++
	}
	return -1
}

// flies reports whether a flight is in the match.
func (l *Lobby) flies(r ThingRef) bool {
	o := l.match.Objects()
	for i := range o.Projectiles {
		if uint32(o.Projectiles[i].ID) == r.N {
			return r.Kind == netstate.Projectile
		}
	}
	for i := range o.Grenades {
		if uint32(o.Grenades[i].ID) == r.N {
			return r.Kind == netstate.Grenade
		}
	}
	return false
}

// refOf is the thing that a net id of a flight stands for; false for those of others.
func refOf(id netid.ID) (r ThingRef, ok bool) {
	switch n := id.Index(); {
	case n >= sim.FirstGrenade:
		return ThingRef{netstate.Grenade, uint32(id)}, true
	case n >= sim.FirstProjectile:
		return ThingRef{netstate.Projectile, uint32(id)}, true
	}
	return r, false
}

// whyThing is what became of the thing in a slot in a connection's newest snapshot, of frame f, where there is one in it.
func (l *Lobby) whyThing(c *conn, f *snapshot.Frame, slot int) Why {
	w, h := l.things, &c.repl.acks.objects
	if h.told == toldKept {
		return WhyKept
	}
	said, known := h.tracker.Said(slot)
	switch {
	case !known || h.told == toldNone:
		return WhyNone
	case said && w.stale(f, slot) != 0:
		return WhyPace
	case said:
		return WhyTold
	case c.repl.view.viewpoint < 0 && !l.seesThing(c, f, slot):
		return WhyTarget
	case int(c.repl.view.viewpoint) != c.viewpoint():
		return WhyTurned
	case !l.seesThing(c, f, slot):
		from, to := l.between(c, f, slot)
		if l.apart(from, to) {
			return WhyRange
		}
		return WhySight
	case c.repl.pacing.bucket.Rate() != 0:
		return WhyBudget
	}
	return WhyJoining
}

// stale is how many ticks ago the row of a thing in frame f was as it is there, as its class was not due; 0 if it is of f's own tick.
func (w *things) stale(f *snapshot.Frame, slot int) tick.Tick {
	back := w.paces.Back(w.berths[slot].kind, f.Tick, w.interval)
	if back == 0 || back >= f.Tick {
		return 0
	}
	if old := w.frames.At(f.Tick - back); old == nil || old.ID(slot) != f.ID(slot) {
		return 0
	}
	return back
}

// seesThing reports whether a connection might see the thing in a slot in its newest snapshot: it looked, or it is its own, or the round's.
func (l *Lobby) seesThing(c *conn, f *snapshot.Frame, slot int) bool {
	w, h := l.things, &c.repl.acks.objects
	var o netstate.Thing
	f.Row(slot, w.asked[:])
	o.Restore(w.asked[:])
	if !w.berths[slot].kind.Flies() {
		if k := w.berths[slot].kind; k == netstate.Teleporter || k == netstate.Zone {
			return true
		}
	} else if netid.ID(o.Owner) == c.id {
		return true
	}
	return h.eyes != nil && h.eyes.Seen()[slot>>6]>>(slot&63)&1 != 0
}

// between is from where to where a connection looks at a thing: its eyes as they were in its newest snapshot, the thing as it is now.
func (l *Lobby) between(c *conn, f *snapshot.Frame, slot int) (from, to geom.Vec3) {
	w := l.things
	if p := l.frames.At(f.Tick); p != nil && c.repl.view.viewpoint >= 0 {
		from.X, from.Z = at(p, int(c.repl.view.viewpoint))
	}
	if w.scenery.grid != nil {
		return from, w.scenery.pos[slot]
	}
	var o netstate.Thing
	f.Row(slot, w.asked[:])
	o.Restore(w.asked[:])
	return from, o.Pos
}

// thingDetail adds the numbers behind a verdict about a thing.
func (l *Lobby) thingDetail(v *Verdict, c *conn, f *snapshot.Frame, slot int) {
	w, h := l.things, &c.repl.acks.objects
	v.Acked = uint32(h.tracker.Shown(w.frames, f.ID(slot)))
	if v.Why == WhyPace {
		v.Stale = uint32(w.stale(f, slot))
	}
	if v.Metres = -1; c.repl.view.viewpoint >= 0 {
		from, to := l.between(c, f, slot)
		v.Metres = int(math.Hypot(float64(to.X-from.X), float64(to.Z-from.Z)))
	}
	if h.told == toldRoom && h.eyes != nil && (v.Why == WhyBudget || v.Why == WhyJoining) {
		v.Weight, v.Floor = h.eyes.Weight(slot), h.eyes.Floor()
	}
}

// lookUntoldThings counts what became of every thing in the snapshot of tick t that a connection was just sent.
func (l *Lobby) lookUntoldThings(c *conn, t tick.Tick) {
	f := l.things.frames.At(t)
	for slot := range l.things.berths {
		if f.ID(slot) != 0 {
			l.account.replication.Objects[l.things.berths[slot].kind][l.whyThing(c, f, slot)]++
		}
	}
}
