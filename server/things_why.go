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

// objectSelection is how the things of a snapshot were chosen.
type objectSelection uint8

const (
	objectsNone      objectSelection = iota // there are none
	objectsUnchanged                        // not at all: the client holds them as they are
	objectsAll                              // all, in blocks
	objectsVisible                          // all that it sees
	objectsBudget                           // of what it sees, as many as there was room for
)

// ObjectRef names a thing: a flight by its net id in the match, what stands about by its class and place in the map's list.
type ObjectRef struct {
	Kind netstate.Kind
	N    uint32 // of a flight its net id, of what stands about its number, from 0
}

// String is what ParseObjectRef reads: barrel:3, projectile:1114112.
func (r ObjectRef) String() string { return fmt.Sprintf("%v:%d", r.Kind, r.N) }

// ParseObjectRef is the reverse of String.
func ParseObjectRef(s string) (r ObjectRef, err error) {
	name, number, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(number, 10, 32)
	for k := netstate.Kind(1); ok && err == nil && k < netstate.Kinds; k++ {
		if k.String() == name {
			return ObjectRef{k, uint32(n)}, nil
		}
	}
	return r, fmt.Errorf("thing %q: expected a class and a number, as barrel:3; classes are projectile, grenade, barrel, cube, teleporter and zone", s)
}

// ExplainObject is Explain for what is no player. Call it between ticks.
func (l *Lobby) ExplainObject(client netid.ID, r ObjectRef) Explanation {
	return l.explainThing(client, r, l.replication.objects.slotOf(r))
}

// explainThing is ExplainThing where it is known which slot the thing is told in, -1 for none.
func (l *Lobby) explainThing(client netid.ID, r ObjectRef, slot int) Explanation {
	v := Explanation{Client: uint32(client), Object: r.String(), Slot: -1}
	if r.Kind.Flies() {
		v.Entity = r.N
	}
	c, why := l.whose(client)
	if v.Reason = why; why == ReasonSent {
		l.snapshotOf(&v, c)
		f := l.replication.objects.frames.At(c.repl.pacing.sent)
		switch {
		case slot < 0 && r.Kind.Flies() && l.flies(r):
			v.Reason = ReasonNoSlot
		case slot < 0:
			v.Reason = ReasonNoEntity
		case c.repl.pacing.sent == 0 || f == nil:
			v.Reason = ReasonNoSnapshot
		case f.ID(slot) != l.replication.objects.slots[slot].id:
			v.Reason = ReasonNew
		default:
			v.Slot, v.Reason = slot, l.whyThing(c, f, slot)
			l.thingDetail(&v, c, f, slot)
		}
	}
	v.Text = v.Reason.Text()
	return v
}

// ExplainAll appends the verdicts about all players and things that there are, for one client, to dst; one alone if the client gets no
// snapshots. Call it between ticks.
func (l *Lobby) ExplainAll(dst []Explanation, client netid.ID) []Explanation {
	if _, why := l.whose(client); why != ReasonSent {
		return append(dst, Explanation{Client: uint32(client), Slot: -1, Reason: why, Text: why.Text()})
	}
	for slot := range l.conns {
		if id := l.match.World.At(slot); id != 0 && l.match.Vital(id) != nil {
			dst = append(dst, l.Explain(client, id))
		}
	}
	w := l.replication.objects
	var number [netstate.Kinds]uint32
	for slot := range w.slots {
		if w.used[slot>>6]>>(slot&63)&1 == 0 {
			continue
		}
		c := &w.slots[slot]
		r := ObjectRef{c.kind, number[c.kind]}
		if number[c.kind]++; c.kind.Flies() {
			r.N = uint32(c.matchID)
		}
		dst = append(dst, l.explainThing(client, r, slot))
	}
	return dst
}

// slotOf is where a thing is told, -1 for nowhere.
func (w *objectPlane) slotOf(r ObjectRef) int {
	n := uint32(0)
	for slot := range w.slots {
		c := &w.slots[slot]
		if w.used[slot>>6]>>(slot&63)&1 == 0 || c.kind != r.Kind {
			continue
		}
		if r.Kind.Flies() && uint32(c.matchID) == r.N || !r.Kind.Flies() && n == r.N {
			return slot
		}
		n++
	}
	return -1
}

// flies reports whether a flight is in the match.
func (l *Lobby) flies(r ObjectRef) bool {
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
func refOf(id netid.ID) (r ObjectRef, ok bool) {
	switch n := id.Index(); {
	case n >= sim.FirstGrenade:
		return ObjectRef{netstate.Grenade, uint32(id)}, true
	case n >= sim.FirstProjectile:
		return ObjectRef{netstate.Projectile, uint32(id)}, true
	}
	return r, false
}

// whyThing is what became of the thing in a slot in a connection's newest snapshot, of frame f, where there is one in it.
func (l *Lobby) whyThing(c *conn, f *snapshot.Frame, slot int) Reason {
	w, h := l.replication.objects, &c.repl.acks.objects
	if h.selection == objectsUnchanged {
		return ReasonUnchanged
	}
	said, known := h.tracker.Said(slot)
	switch {
	case !known || h.selection == objectsNone:
		return ReasonNoSnapshot
	case said && w.stale(f, slot) != 0:
		return ReasonStale
	case said:
		return ReasonSent
	case c.repl.view.viewpoint < 0 && !l.seesThing(c, f, slot):
		return ReasonFreeCamera
	case int(c.repl.view.viewpoint) != c.viewpoint():
		return ReasonViewpointChanged
	case !l.seesThing(c, f, slot):
		from, to := l.between(c, f, slot)
		if l.apart(from, to) {
			return ReasonRange
		}
		return ReasonOccluded
	case c.repl.pacing.bucket.Rate() != 0:
		return ReasonBudget
	}
	return ReasonJoining
}

// stale is how many ticks ago the row of a thing in frame f was as it is there, as its class was not due; 0 if it is of f's own tick.
func (w *objectPlane) stale(f *snapshot.Frame, slot int) tick.Tick {
	back := w.paces.LastUpdate(w.slots[slot].kind, f.Tick, w.interval)
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
	w, h := l.replication.objects, &c.repl.acks.objects
	var o netstate.ObjectState
	f.Row(slot, w.asked[:])
	o.Restore(w.asked[:])
	if !w.slots[slot].kind.Flies() {
		if k := w.slots[slot].kind; k == netstate.Teleporter || k == netstate.Zone {
			return true
		}
	} else if netid.ID(o.Owner) == c.id {
		return true
	}
	return h.view != nil && h.view.Visible()[slot>>6]>>(slot&63)&1 != 0
}

// between is from where to where a connection looks at a thing: its eyes as they were in its newest snapshot, the thing as it is now.
func (l *Lobby) between(c *conn, f *snapshot.Frame, slot int) (from, to geom.Vec3) {
	w := l.replication.objects
	if p := l.replication.players.frames.At(f.Tick); p != nil && c.repl.view.viewpoint >= 0 {
		from.X, from.Z = at(p, int(c.repl.view.viewpoint))
	}
	if w.scenery.grid != nil {
		return from, w.scenery.pos[slot]
	}
	var o netstate.ObjectState
	f.Row(slot, w.asked[:])
	o.Restore(w.asked[:])
	return from, o.Pos
}

// thingDetail adds the numbers behind a verdict about a thing.
func (l *Lobby) thingDetail(v *Explanation, c *conn, f *snapshot.Frame, slot int) {
	w, h := l.replication.objects, &c.repl.acks.objects
	v.Acked = uint32(h.tracker.Shown(w.frames, f.ID(slot)))
	if v.Reason == ReasonStale {
		v.Stale = uint32(w.stale(f, slot))
	}
	if v.Metres = -1; c.repl.view.viewpoint >= 0 {
		from, to := l.between(c, f, slot)
		v.Metres = int(math.Hypot(float64(to.X-from.X), float64(to.Z-from.Z)))
	}
	if h.selection == objectsBudget && h.view != nil && (v.Reason == ReasonBudget || v.Reason == ReasonJoining) {
		v.Priority, v.Threshold = h.view.Priority(slot), h.view.Threshold()
	}
}

// lookUntoldThings counts what became of every thing in the snapshot of tick t that a connection was just sent.
func (l *Lobby) lookUntoldThings(c *conn, t tick.Tick) {
	f := l.replication.objects.frames.At(t)
	for slot := range l.replication.objects.slots {
		if f.ID(slot) != 0 {
			l.account.replication.Objects[l.replication.objects.slots[slot].kind][l.whyThing(c, f, slot)]++
		}
	}
}
