package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client/objects"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// TestRow55ItemsOfALateJoiner plays a lobby with items over bad links. A client that joins when many
// are taken shows every item of the match as the others do: where it is, of its kind, taken or not,
// by which player, and when it is back.
func TestRow55ItemsOfALateJoiner(t *testing.T) {
	y := newObjectsTest(t, 6, impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.05}, func(c *Config) {
		g := c.Lobby.Rules.Game
		g.Items = []object.ItemKind{{Heal: 60, Radius: 2, RespawnMillis: 20000},
			{Gives: object.GivesAmmo, Radius: 2, RespawnMillis: 20000}}
		for i, at := range c.Lobby.Arena.Spawns {
			g.Layout.Items = append(g.Layout.Items, sim.PlacedItem{Pos: at.Pos, Kind: uint8(i % 2)})
		}
	})
	const late = 5
	y.run(time.Second, nil)
	y.Crash(late)
	m := y.Lobby.Match()
	was, since := make([]sim.Item, sim.Items(m)), make([]tick.Tick, sim.Items(m))
	watch := func() {
		for i := range was {
			if now, _ := sim.ItemOf(m, i); now != was[i] {
				was[i], since[i] = now, m.Tick()
			}
		}
	}
	y.run(14*time.Second, watch)
	taken := 0
	for i := range was {
		if was[i].Taken != 0 {
			taken++
		}
	}
	if taken < 3 {
		t.Fatalf("%d of %d items were taken before the late client joins", taken, len(was))
	}
	if err := y.Connect(late); err != nil {
		t.Fatal(err)
	}
	y.run(3*time.Second, watch)
	compared := 0
	for k, c := range y.Clients {
		shown := itemsOf(c.Objects.Append(nil))
		if len(shown) != len(was) {
			t.Fatalf("client %d shows %d items of %d", k, len(shown), len(was))
		}
		for i := range was {
			o, want := &shown[i], &was[i]
			if o.Pos != want.Pos || uint32(o.Level) != want.Kind {
				t.Errorf("client %d, item %d: kind %d at %v, want %d at %v", k, i, o.Level, o.Pos, want.Kind,
					want.Pos)
			}
			if m.Tick()-since[i] < 60 {
				continue // it may not have heard of the last change
			}
			compared++
			if (o.Phase == 1) != (want.Taken != 0) || want.Taken != 0 && (netid.ID(o.Owner) != want.By ||
				o.Tick(m.Tick()) != want.Taken || tick.Tick(o.Span) != want.Back-want.Taken) {
				t.Errorf("client %d, item %d: phase %d, owner %v, tick %d for %d; want %+v", k, i, o.Phase,
					netid.ID(o.Owner), o.Tick(m.Tick()), o.Span, *want)
			}
		}
	}
	if compared < len(was)*len(y.Clients)/2 {
		t.Errorf("%d items compared", compared)
	}
}

// itemsOf are the items among objects, in the order of their slots.
func itemsOf(all []objects.Object) (items []objects.Object) {
	for _, o := range all {
		if o.Class() == netstate.Item {
			items = append(items, o)
		}
	}
	return items
}
