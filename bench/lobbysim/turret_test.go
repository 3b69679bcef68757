package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client/objects"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// TestRow07ClientsSeeWhoseTheTurretIs plays a lobby with turrets over bad links: in the end each
// client shows every turret of the match where it is, with the owner and the team that the match
// has.
func TestRow07ClientsSeeWhoseTheTurretIs(t *testing.T) {
	y := newObjectsTest(t, 6, impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.05}, func(c *Config) {
		l := &c.Lobby.Rules.Game.Layout
		for i, at := range c.Lobby.Arena.Spawns {
			if i%3 == 0 {
				l.Objects = append(l.Objects, sim.PlacedObject{Kind: "turret", Pos: at.Pos})
			}
		}
	})
	m := y.Lobby.Match()
	owned, n := 0, sim.Turrets(m)
	if n == 0 {
		t.Fatal("no turrets")
	}
	settled := make([]time.Duration, n) // since when the owner is the same
	last := make([]netid.ID, n)
	y.run(8*time.Second, func() {
		for i := range n {
			if _, owner, _ := sim.TurretOf(m, i); owner != last[i] {
				last[i], settled[i] = owner, y.Now()
			}
		}
	})
	for k, c := range y.Clients {
		var shown []objects.Object
		for _, o := range c.Objects.Append(nil) {
			if o.Class() == netstate.Turret {
				shown = append(shown, o)
			}
		}
		if len(shown) != n {
			t.Fatalf("client %d shows %d turrets of %d", k, len(shown), n)
		}
		for i := range shown {
			turret, owner, _ := sim.TurretOf(m, i)
			o := &shown[i]
			if o.Pos != turret.Pos {
				t.Errorf("client %d: turret %d is at %v, want %v", k, i, o.Pos, turret.Pos)
			}
			if y.Now()-settled[i] < 2*time.Second {
				continue // it may not have heard of the last change
			}
			if netid.ID(o.Owner) != owner || (o.Phase == 1) != (owner != 0) ||
				owner != 0 && o.Team != m.Vital(owner).Team {
				t.Errorf("client %d: turret %d belongs to %v of team %d, want %v", k, i, netid.ID(o.Owner),
					o.Team, owner)
			}
			if owner != 0 {
				owned++
			}
		}
	}
	if owned == 0 {
		t.Error("no turret belongs to anybody")
	}
}
