package server

import (
	"math"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// aboutSnapshot fills in which snapshot an explanation is about.
func (r *replication) aboutSnapshot(c *connReplication, e *Explanation) {
	p := &c.pacing
	e.Tick, e.Age = uint32(p.sent), uint32(r.match.Tick()-p.sent)
	e.Interval, e.Delay = uint32(p.spacing), p.delayed
}

// explainPlayer completes the explanation of e.Entity.
func (r *replication) explainPlayer(c *connReplication, e Explanation) Explanation {
	r.aboutSnapshot(c, &e)
	f, id := r.players.frames.At(c.pacing.sent), netid.ID(e.Entity)
	slot := id.Index()
	switch {
	case id == 0 || slot >= r.cfg.Players:
		return e.because(ReasonNoEntity)
	case c.pacing.sent == 0 || f == nil:
		return e.because(ReasonNoSnapshot)
	case f.ID(slot) == id:
		e.Slot = slot
		e = e.because(r.playerReason(c, f, slot))
		r.addPlayerDetail(c, &e, f)
		return e
	}
	switch {
	case r.match.Vital(id) == nil:
		return e.because(ReasonNoEntity)
	case r.match.Spectates(id):
		return e.because(ReasonSpectator)
	}
	return e.because(ReasonNew)
}

// playerReason returns the reason for the row in a slot in the client's newest snapshot, whose
// frame is f.
func (r *replication) playerReason(c *connReplication, f *snapshot.Frame, slot int) Reason {
	sent, known := c.acks.tracker.RowSent(slot)
	v, clipped := &c.view, func() bool { return c.schedule.visible[slot>>6]>>(slot&63)&1 == 0 }
	switch {
	case !known:
		return ReasonNoSnapshot
	case sent:
		return ReasonSent
	case v.selection == rowsTurns:
		return ReasonTurn
	case v.selection == rowsJoinTurns:
		return ReasonJoining
	case v.viewpoint < 0 && (v.selection != rowsScheduled || clipped()):
		return ReasonFreeCamera
	case v.viewpoint != c.viewer.slot: // the view has been reset
		return ReasonViewpointChanged
	case v.interest.Visible()[slot>>6]>>(slot&63)&1 == 0:
		if r.outOfRange(positionIn(f, int(v.viewpoint)), positionIn(f, slot)) {
			return ReasonRange
		}
		return ReasonOccluded
	case v.selection == rowsTeamTurns:
		return ReasonTurn
	case v.selection == rowsScheduled && clipped():
		return ReasonClipped
	case v.selection == rowsScheduled && !c.schedule.turn.due(slot) && !r.overdue(c, slot):
		return ReasonTurn
	case v.selection == rowsJoining:
		return ReasonJoining
	case v.selection == rowsLowDetail:
		return ReasonLowDetail
	}
	return ReasonBudget
}

// overdue reports whether a row had waited for too long in the client's newest snapshot.
func (r *replication) overdue(c *connReplication, slot int) bool {
	waited := r.intervalOf(c.pacing.sent) - c.schedule.sentAt[slot]
	return waited >= r.waitLimit(c)
}

// outOfRange reports whether two positions are out of each other's view distance, which counts in
// cells.
func (r *replication) outOfRange(a, b geom.Vec3) bool {
	if r.cfg.ViewDistance == 0 {
		return false
	}
	grid := r.players.interest.grid
	cfg := grid.Config()
	p, q := grid.Cell(a.X, a.Z), grid.Cell(b.X, b.Z)
	dx, dz := p%cfg.Wide-q%cfg.Wide, p/cfg.Wide-q/cfg.Wide
	return dx*dx+dz*dz > cfg.ViewDistance*cfg.ViewDistance
}

// positionIn is the position of a player in a frame, with a height of 0.
func positionIn(f *snapshot.Frame, slot int) geom.Vec3 {
	var row [netstate.PublicFields]int32
	p := netstate.PoseOf(f.Row(slot, row[:]), row[:]).Pos
	return geom.Vec3{X: p.X, Z: p.Z}
}

// levelMetres is the distance between two positions, whatever their heights.
func levelMetres(a, b geom.Vec3) int { return int(math.Hypot(float64(b.X-a.X), float64(b.Z-a.Z))) }

// addPlayerDetail fills in the numbers behind the reason.
func (r *replication) addPlayerDetail(c *connReplication, e *Explanation, f *snapshot.Frame) {
	v := &c.view
	e.Acked = uint32(c.acks.tracker.NewestAcked(r.players.frames, netid.ID(e.Entity)))
	if e.Metres = -1; v.viewpoint >= 0 {
		e.Metres = levelMetres(positionIn(f, int(v.viewpoint)), positionIn(f, e.Slot))
	}
	if e.Reason == ReasonFreeCamera || e.Reason == ReasonViewpointChanged {
		return
	}
	if v.selection == rowsScheduled || v.selection == rowsJoining {
		e.Priority, e.Threshold = v.interest.Priority(e.Slot), v.interest.Threshold()
	}
	if v.selection == rowsScheduled && e.Reason != ReasonClipped {
		e.Waited = int(r.intervalOf(c.pacing.sent) - c.schedule.sentAt[e.Slot])
		e.MaxWait = int(r.waitLimit(c))
	}
}

// explainObject completes the explanation of the object in a slot, -1 for none.
func (r *replication) explainObject(c *connReplication, ref ObjectRef, slot int, e Explanation) Explanation {
	r.aboutSnapshot(c, &e)
	f := r.objects.frames.At(c.pacing.sent)
	switch {
	case slot < 0 && ref.Kind.Flies() && r.objects.inMatch(ref):
		return e.because(ReasonNoSlot)
	case slot < 0:
		return e.because(ReasonNoEntity)
	case c.pacing.sent == 0 || f == nil:
		return e.because(ReasonNoSnapshot)
	case f.ID(slot) != r.objects.table.slots[slot].id:
		return e.because(ReasonNew)
	}
	e.Slot = slot
	e = e.because(r.objectReason(c, f, slot))
	r.addObjectDetail(c, &e, f)
	return e
}

// objectReason returns the reason for the object in a slot in the client's newest snapshot, whose
// frame is f.
func (r *replication) objectReason(c *connReplication, f *snapshot.Frame, slot int) Reason {
	o, a := r.objects, &c.acks.objects
	if a.selection == objectsUnchanged {
		return ReasonUnchanged
	}
	if a.selection == objectsTurn {
		return ReasonTurn
	}
	sent, known := a.tracker.RowSent(slot)
	switch {
	case !known || a.selection == objectsNone:
		return ReasonNoSnapshot
	case sent && o.staleness(f, slot) != 0:
		return ReasonStale
	case sent:
		return ReasonSent
	case a.selection == objectsJoinTurns:
		return ReasonJoining
	case c.view.viewpoint < 0 && !r.objectVisible(c, f, slot):
		return ReasonFreeCamera
	case c.view.viewpoint != c.viewer.slot:
		return ReasonViewpointChanged
	case !r.objectVisible(c, f, slot):
		if r.outOfRange(r.viewLine(c, f, slot)) {
			return ReasonRange
		}
		return ReasonOccluded
	case slot>>6 < len(a.unchanged) && a.unchanged[slot>>6]>>(slot&63)&1 != 0:
		return ReasonUnchanged
	case c.pacing.bucket.Rate() != 0:
		return ReasonBudget
	}
	return ReasonJoining
}

// staleness is how many ticks before frame f the row of an object was written, as its kind was not
// due.
func (o *objectRows) staleness(f *snapshot.Frame, slot int) tick.Tick {
	back := o.updateIntervals.LastUpdate(o.table.slots[slot].kind, f.Tick, o.interval)
	if back == 0 || back >= f.Tick {
		return 0
	}
	if old := o.frames.At(f.Tick - back); old == nil || old.ID(slot) != f.ID(slot) {
		return 0
	}
	return back
}

// objectVisible reports whether the object in a slot was visible in the client's newest snapshot:
// to its view, as its own flight, or as a public object.
func (r *replication) objectVisible(c *connReplication, f *snapshot.Frame, slot int) bool {
	o, a := r.objects, &c.acks.objects
	switch k := o.table.slots[slot].kind; {
	case k.Public():
		return true
	case k.Flies() && netid.ID(o.objectIn(f, slot).Owner) == c.viewer.player:
		return true
	}
	return a.view != nil && a.view.Visible()[slot>>6]>>(slot&63)&1 != 0
}

// objectIn decodes the row of an object in a frame.
func (o *objectRows) objectIn(f *snapshot.Frame, slot int) (t netstate.ObjectState) {
	f.Row(slot, o.asked[:])
	t.Restore(o.asked[:])
	return t
}

// viewLine is from the viewpoint of the client's newest snapshot to where an object is now.
func (r *replication) viewLine(c *connReplication, f *snapshot.Frame, slot int) (from, to geom.Vec3) {
	if p := r.players.frames.At(f.Tick); p != nil && c.view.viewpoint >= 0 {
		from = positionIn(p, int(c.view.viewpoint))
	}
	if r.objects.interest.grid != nil {
		return from, r.objects.space.pos[slot]
	}
	return from, r.objects.objectIn(f, slot).Pos
}

// addObjectDetail fills in the numbers behind the reason.
func (r *replication) addObjectDetail(c *connReplication, e *Explanation, f *snapshot.Frame) {
	o, a := r.objects, &c.acks.objects
	e.Acked = uint32(a.tracker.NewestAcked(o.frames, f.ID(e.Slot)))
	if e.Reason == ReasonStale {
		e.Stale = uint32(o.staleness(f, e.Slot))
	}
	if e.Metres = -1; c.view.viewpoint >= 0 {
		e.Metres = levelMetres(r.viewLine(c, f, e.Slot))
	}
	waits := e.Reason == ReasonBudget || e.Reason == ReasonJoining
	if waits && a.selection == objectsBudget && a.view != nil {
		e.Priority, e.Threshold = a.view.Priority(e.Slot), a.view.Threshold()
	}
}

// slotOf is the slot of an object, -1 for none.
func (t *objectTable) slotOf(ref ObjectRef) (found int) {
	found = -1
	t.each(func(slot int, r ObjectRef) {
		if r == ref {
			found = slot
		}
	})
	return found
}

// each calls do for all objects with a slot.
func (t *objectTable) each(do func(slot int, ref ObjectRef)) {
	var number [netstate.Kinds]uint32
	for slot := range t.slots {
		if t.used[slot>>6]>>(slot&63)&1 == 0 {
			continue
		}
		s := &t.slots[slot]
		ref := ObjectRef{s.kind, number[s.kind]}
		if number[s.kind]++; s.kind.Flies() {
			ref.N = uint32(s.matchID)
		}
		do(slot, ref)
	}
}

// inMatch reports whether a flight is in the match.
func (o *objectRows) inMatch(ref ObjectRef) bool {
	all := o.match.Objects()
	for i := range all.Projectiles {
		if uint32(all.Projectiles[i].ID) == ref.N {
			return ref.Kind == netstate.Projectile
		}
	}
	for i := range all.Grenades {
		if uint32(all.Grenades[i].ID) == ref.N {
			return ref.Kind == netstate.Grenade
		}
	}
	return false
}

// objectRefOf is the object that a net id stands for: a flight, a barrel or a cube. It is false for
// ids of other pages.
func objectRefOf(id netid.ID) (ref ObjectRef, ok bool) {
	switch n := id.Index(); n / ecs.PageSlots * ecs.PageSlots {
	case sim.FirstProjectile:
		return ObjectRef{netstate.Projectile, uint32(id)}, true
	case sim.FirstGrenade:
		return ObjectRef{netstate.Grenade, uint32(id)}, true
	case sim.FirstBarrel:
		return ObjectRef{netstate.Barrel, uint32(n - sim.FirstBarrel)}, true
	case sim.FirstCube:
		return ObjectRef{netstate.Cube, uint32(n - sim.FirstCube)}, true
	}
	return ref, false
}

// sample counts the reason of each row in the snapshot that the client was just sent.
func (r *replication) sample(c *connReplication, into *ReplicationSample) {
	t := r.match.Tick()
	into.Snapshots++
	players := r.players.frames.At(t)
	for slot := range players.Slots() {
		if players.ID(slot) != 0 {
			into.Players[r.playerReason(c, players, slot)]++
		}
	}
	objects := r.objects.frames.At(t)
	for slot := range r.objects.table.slots {
		if objects.ID(slot) != 0 {
			into.Objects[r.objects.table.slots[slot].kind][r.objectReason(c, objects, slot)]++
		}
	}
}
