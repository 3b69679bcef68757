package sim

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Spectating is the component of a player that has a row but no body, no team and no score. It
// comes with the row of a player that joins as a spectator.
type Spectating struct {
	Since tick.Tick // tick of the join
}

func init() {
	declareKind(&kindSpec{
		name: "spectating player", page: pageSpectating, datum: dSpectating,
		is:       "players without a body",
		columns:  []columnSpec{column[Spectating](full)},
		capacity: func(slots int) (int, int) { return slots, slots },
		valid: func(m *Match) error {
			ids, _ := m.spectating.Rows()
			if err := m.onPlayers("spectating player", ids); err != nil {
				return err
			}
			for _, id := range ids {
				if v := m.vital.Get(id); v.Alive() {
					return wrong("spectating player", *v)
				}
			}
			return nil
		},
	})
}

// Spectates reports whether a player is a spectator.
func (m *Match) Spectates(id netid.ID) bool { return m.spectating.Get(id) != nil }

// spectates reports whether row i is a spectator, which is never alive.
func (c *columns) spectates(i int) bool { return c.match.Spectates(c.id[i]) }
