package netstate

import (
	"github.com/tickrate/tickrate/sim"
)

// Turret is the class of turrets: Pos is the foot, Aim the direction of its last bolt in 1/1024,
// Owner and Team are those of the player that it belongs to, and Phase is 1 while it belongs to
// one.
const Turret Kind = firstDeclared

func init() {
	declareClass("turret", StaticClass{Turret, sim.Turrets, func(o *ObjectState, m *sim.Match, i int) {
		t, owner, _ := sim.TurretOf(m, i)
		*o = declared(Turret)
		o.Pos = t.Pos
		o.Aim = [3]int32{int32(t.Aim.X * 1024), int32(t.Aim.Y * 1024), int32(t.Aim.Z * 1024)}
		if v := m.Vital(owner); v != nil {
			o.Owner, o.Team, o.Phase = uint32(owner), min(v.Team, NoTeam), 1
		}
	}})
}
