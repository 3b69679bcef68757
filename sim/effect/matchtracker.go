package effect

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// MatchTracker finds the effects of a whole match, as of a killcam or a recording: those that
// follow from rows, as a Tracker finds them, and those that a server tells, of all players.
type MatchTracker struct {
	rows   *Tracker
	player netstate.PlayerState
	object netstate.ObjectState
}

// NewMatchTracker returns a tracker of a match. It finds the effects of the ticks that follow.
func NewMatchTracker(m *sim.Match) *MatchTracker {
	k := &MatchTracker{rows: NewTracker(m.Game(), m.Scene().Arena, m.World.Slots(), 0)}
	k.trackRows(nil, m)
	return k
}

// Append appends the effects of the tick that the match has just played. Call it after every tick.
func (k *MatchTracker) Append(dst []Effect, m *sim.Match) []Effect {
	return k.trackRows(AppendTold(dst, m), m)
}

// trackRows appends the effects that follow from the rows that a snapshot of this tick would have.
func (k *MatchTracker) trackRows(dst []Effect, m *sim.Match) []Effect {
	t, poses, acts := m.Tick(), m.Poses(), m.AbilityStates()
	for slot := range poses {
		id := netid.ID(poses[slot].ID)
		vital := m.Vital(id)
		if vital == nil {
			dst = k.rows.Player(dst, t, slot, 0, nil)
			continue
		}
		k.player.Gather(&poses[slot], vital, &acts[slot])
		dst = k.rows.Player(dst, t, slot, id, &k.player)
	}
	slot := 0
	for _, class := range netstate.StaticClasses() {
		for n := range class.Count(m) {
			class.Describe(&k.object, m, n)
			dst = k.trackObject(dst, m, slot, netid.Make(slot, 1))
			slot++
		}
	}
	o := m.Objects()
	for i := range o.Projectiles {
		p := &o.Projectiles[i]
		k.object.OfProjectile(p, 0)
		dst = k.trackObject(dst, m, slot+2*(p.ID.Index()-sim.FirstProjectile), p.ID)
	}
	for i := range o.Grenades {
		g := &o.Grenades[i]
		k.object.OfGrenade(g, g, 0)
		dst = k.trackObject(dst, m, slot+2*(g.ID.Index()-sim.FirstGrenade)+1, g.ID)
	}
	return dst
}

// trackObject appends the effects of the object at hand. Flights have slots by their ids, behind
// those that the map places.
func (k *MatchTracker) trackObject(dst []Effect, m *sim.Match, slot int, id netid.ID) []Effect {
	for len(k.rows.objects) <= slot {
		k.rows.objects = append(k.rows.objects, objectMark{})
	}
	return k.rows.Object(dst, m.Tick(), slot, id, &k.object)
}
