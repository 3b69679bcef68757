package sim

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

func init() {
	declareKind(&kindSpec{
		name: "player", page: pagePlayer, datum: dVital,
		columns: []columnSpec{
			column[geom.Vec3](full), column[Velocity](full), column[move.State](full), column[Look](full),
			column[Vital](full), column[ability.State](full), column[anim.State](full),
			column[Command](given), column[ClampLimits](inState),
		},
		capacity: func(slots int) (int, int) { return slots, slots },
		valid: func(m *Match) error {
			c := m.open()
			defer c.close()
			return c.valid()
		},
	})
	declareKind(&kindSpec{
		name: "due teleport", page: pageTeleporting, datum: dTeleports,
		columns:  []columnSpec{column[object.TeleportRequest](full)},
		capacity: func(slots int) (int, int) { return slots, slots },
		valid:    validTeleports,
	})
}

// validTeleports checks that each player goes where StepTeleporters sends players.
func validTeleports(m *Match) error {
	ids, due := m.teleporting.Rows()
	if err := m.onPlayers("due teleport", ids); err != nil {
		return err
	}
	for i := range due {
		known := false
		for p := range m.objects.Ports {
			port := &m.objects.Ports[p]
			known = known || port.Yaw == due[i].Yaw && port.Target.Sub(due[i].Pos).LenSq() < 1e-4
		}
		if !known || due[i].ID != ids[i] {
			return wrong("teleport", due[i])
		}
	}
	return nil
}

// onPlayers returns an error if a sparse component is on an entity that is no player.
func (m *Match) onPlayers(component string, ids []netid.ID) error {
	for _, id := range ids {
		if m.World.KindOf(id) != m.player {
			return fmt.Errorf("%w: %s: entity %v, expected a player", ErrState, component, id)
		}
	}
	return nil
}

// valid says what of the players cannot be.
func (c *columns) valid() error {
	var members [mode.Teams]uint16
	heroes := len(c.kit.Heroes)
	for i := range c.vital {
		v, spectates := &c.vital[i], c.spectates(i)
		at := move.Motion{Pos: c.pos[i], Vel: c.vel[i]}
		rounded := move.Round(at)
		switch {
		case int(v.Hero) >= heroes || int(v.RequestedHero) > heroes:
			return wrong("hero", v.Hero)
		case spectates && v.Team != lagcomp.NoTeam || !spectates && v.Team >= mode.Teams:
			return wrong("team", v.Team)
		case rounded.Pos != at.Pos || rounded.Vel != at.Vel:
			return wrong("motion", at)
		case c.state[i].Loco > move.Launched:
			return wrong("locomotion", c.state[i].Loco)
		}
		if !spectates {
			members[v.Team]++
		}
	}
	if members != c.score.Members {
		return wrong("members of teams", c.score.Members)
	}
	return nil
}
