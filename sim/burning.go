package sim

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/object"
)

// Burning is the component of a player that a damage area has set on fire. It comes with a hit of
// the area, and goes when the fire is out or the player dies.
type Burning struct {
	Points int32     // of each hit
	Every  tick.Tick // ticks from hit to hit
	Next   tick.Tick // tick of the next hit; inside the area, the area hits before it
	Until  tick.Tick // last tick
}

func init() {
	declareKind(&kindSpec{
		name: "burning player", page: pageBurning, datum: dBurning,
		columns:  []columnSpec{column[Burning](full)},
		capacity: func(slots int) (int, int) { return slots, slots },
		valid: func(m *Match) error {
			ids, fires := m.burning.Rows()
			if err := m.onPlayers("burning player", ids); err != nil {
				return err
			}
			for i := range fires {
				if b := &fires[i]; b.Every == 0 || b.Points < 0 || b.Points > object.MaxPoints {
					return wrong("burning player", *b)
				}
			}
			return nil
		},
	})
}

// hurtInAreas queues the damage of areas, and of fires that they have lit.
func hurtInAreas(c *columns) {
	c.burn()
	s := c.scratch
	s.fires = c.scene.StepAreas(c.objects.Areas, c.bodies(), &c.objects.areaHits, s.fires[:0])
	for _, f := range s.fires {
		c.match.burning.Add(f.ID, Burning{Points: f.Points, Every: f.Every, Next: c.clock.Tick + f.Every + 1,
			Until: c.clock.Tick + c.match.Rules().ticks(f.BurnMillis)})
	}
}

// burn queues the damage of fires, and puts out those that are over.
func (c *columns) burn() {
	ids, fires := c.match.burning.Rows()
	for i, id := range ids {
		b := &fires[i]
		row, ok := c.row(id)
		if !ok || !c.vital[row].Alive() || c.clock.Tick > b.Until {
			c.match.burning.Remove(id)
			continue
		}
		if c.clock.Tick >= b.Next {
			b.Next += b.Every
			c.scene.Damage.Add(object.Damage{Victim: id, Cause: object.CauseArea, Points: b.Points})
		}
	}
}
