package dst

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
)

// historyTicks is the number of ticks of poses kept here: more than any rewind.
const historyTicks = 128

// shots keeps every pose, uncompressed, and the view of each shooter's last shot.
type shots struct {
	poses [historyTicks][]rig.Pose // by tick, then by slot
	at    [historyTicks]tick.Tick  // ticks of the entries of poses
	last  [64]lastView             // by slot of the shooter
	stood [64]lastStance           // by slot; see run.checkMoves
}

// lastView is the instant that a player's last shot viewed, in 1/256 of a tick.
type lastView struct {
	id netid.ID
	at int64
}

// lastStance is where a player stood after a tick, and its horizontal speed, m/s.
type lastStance struct {
	id    netid.ID
	life  uint8
	tick  tick.Tick
	pos   geom.Vec3
	speed float32
}

// check compares the shots of a tick with the poses kept and with the snapshots that the shooters
// had.
func (s *shots) check(r *run) {
	m := r.Lobby.Match()
	now := m.Tick()
	i := now % historyTicks
	s.poses[i], s.at[i] = append(s.poses[i][:0], m.Poses()...), now
	out := m.Outcome()
	for i := range out.Shots {
		s.checkShot(r, &out.Shots[i], &out.Hits[i])
	}
}

// checkShot checks one shot: its view lies within the clamp limits and does not go back, and the
// hit agrees with a plain test of the target's interpolated pose.
func (s *shots) checkShot(r *run, shot *sim.Shot, hit *lagcomp.Hit) {
	m, v, id := r.Lobby.Match(), shot.View, netid.ID(shot.Shooter)
	now, rules := m.Tick(), m.Rules()
	if v == (tick.View{}) {
		if hit.ID != 0 {
			r.fail(Rewind, "a shot of %v, which had no snapshot, hit %v", id, netid.ID(hit.ID))
		}
		return
	}
	limits := r.shadow.limitsOf(id)
	oldest := int64(now)<<8 - int64(rules.RewindMillis)*int64(rules.Rate)*256/1000
	at := lagcomp.Instant(v)
	switch last := &s.last[id.Index()%len(s.last)]; {
	case !v.Valid() || v.To > limits.Newest:
		r.fail(Rewind, "a shot of %v views %v, and the newest snapshot is %d", id, v, limits.Newest)
	// Fractions are rounded down.
	case at < oldest-int64(v.To-v.From) && at < int64(limits.Newest)<<8:
		r.fail(Rewind, "a shot of %v in tick %d views %v", id, now, v)
	case last.id == id && at < last.at-256-int64(v.To-v.From) && at < int64(limits.Newest)<<8:
		r.fail(Rewind, "a shot of %v views %v, further back than its last by %d/256 ticks",
			id, v, last.at-at)
	default:
		*last = lastView{id, at}
	}
	if hit.ID == 0 {
		return
	}
	v = shot.Judged // the view of the target that was hit
	// An instant was rounded down by as much as its view spans.
	round := max(v.To-v.From, shot.View.To-shot.View.From)
	if at := lagcomp.Instant(v); !v.Valid() || at < oldest-int64(round) && at < int64(limits.Newest)<<8 {
		r.fail(Rewind, "a shot of %v in tick %d hit %v at the view %v", id, now, netid.ID(hit.ID), v)
		return
	}
	from, to := s.pose(v.From, hit.Slot), s.pose(v.To, hit.Slot)
	if from == nil || to == nil {
		r.fail(Rewind, "a shot of %v in tick %d was judged by %v, which is not in the history", id, now, v)
		return
	}
	there := rig.Lerp(from, to, v.Frac)
	touch, ok := lagcomp.Test(rig.HeroBodies, shot.Ray, shot.Radius, &there)
	equal := ok && touch.Bone == hit.Bone && touch.Distance == hit.Distance
	if !equal || there.ID != hit.ID || !there.Alive() || shot.Spare.Has(there.Team()) {
		r.fail(Rewind, "a shot of %v hit %v: %+v; at %v the pose gives %v %g %v",
			id, netid.ID(hit.ID), *hit, v, touch.Bone, touch.Distance, ok)
	}
	r.checkShown(shot, netid.ID(hit.ID))
}

// pose returns the pose of a slot after a tick, nil if it was not kept.
func (s *shots) pose(t tick.Tick, slot int) *rig.Pose {
	if s.at[t%historyTicks] != t || t == 0 {
		return nil
	}
	return &s.poses[t%historyTicks][slot]
}

// checkShown checks that an honest shooter's client held the victim's row in the newest snapshot
// that mentions it, up to the first tick of the view. For a shot that is not clamped that is what
// the client held when it made the command. If that is newer than what the shot was judged by, its
// ack came too late to count. Such a shot, and a clamped one, is judged by the acks so far.
func (r *run) checkShown(shot *sim.Shot, victim netid.ID) {
	for i := range r.Clients {
		c := r.client(i)
		if c == nil || uint32(c.ID()) != shot.Shooter {
			continue
		}
		row, ok := r.honest[i].held.before(r.Lobby.Match().Tick(), victim.Index())
		if !ok || shot.Clamped || row.at > shot.Judged.From {
			row = heldNow(c, victim.Index(), shot.Judged.From)
		}
		if row.at != 0 && row.id != victim {
			r.fail(Rewind, "a shot of %v at %v hit %v at %v, but its client had %v there in snapshot %d",
				netid.ID(shot.Shooter), shot.View, victim, shot.Judged, row.id, row.at)
		}
	}
}
