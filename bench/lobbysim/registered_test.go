package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/object"
)

// registeredNames are the effects of the built-in pack that each kind of effect may be registered as.
var registeredNames = map[effect.Kind][]string{
	effect.Shot: {"rifle round", "rivet shot"}, effect.Launch: {"goo shot", "grenade throw"},
	effect.Punch: {"punch"}, effect.Impact: {"rifle round", "rivet impact", ""},
	effect.Explosion: {"goo explosion", "grenade explosion", "barrel explosion"},
}

// puncher punches now and then.
type puncher struct{ swarm.Brain }

func (p puncher) Decide(o *swarm.Observation) client.Intent {
	in := p.Brain.Decide(o)
	if o.Tick%240 < 6 {
		in.Buttons = sim.Melee
	}
	return in
}

// TestRow15EffectsNameTheirRow: of the effects that clients of a lobby with a content pack get, own
// ones and others', derived and told ones, each names the row of the pack that presents it, and a
// client's pack has its looks.
func TestRow15EffectsNameTheirRow(t *testing.T) {
	skipUnderRace(t)
	const players = 10
	game, err := sim.GameForArena(content.DefaultFor(content.Server), "arena-16", "deathmatch")
	if err != nil {
		t.Fatal(err)
	}
	game.Mode.PrematchMillis = 0
	pack := content.DefaultFor(content.Client)
	b, err := New(Config{Clients: players, Seed: 15, Link: impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.02},
		ChangeClient: func(_ int, c *client.Config) { c.Effects, c.Content = true, pack },
		Lobby: server.Config{Arena: boardArena(t, "arena-16"), ArenaName: "arena-16", Players: players,
			Rules: sim.Rules{Seed: 15, Mix: true, RespawnMillis: 1000, Game: game}},
		Brain: func(n int) swarm.Brain { return puncher{&thrower{Brain: swarm.NewBot(15, n), every: 37 + 5*n}} }})
	if err != nil {
		t.Fatal(err)
	}
	var from [players]uint64
	own, others := map[string]int{}, map[string]int{}
	var buf [256]effect.Effect
	for range 60 * 30 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		for i, c := range b.Clients {
			n, next := c.Effects.Since(from[i], buf[:])
			from[i] = next
			for k := range buf[:n] {
				e := &buf[k]
				name := checkRegistered(t, c, e)
				if row, ok := pack.Effect(e.Registered); ok != (name != "") || ok && row.Name != name {
					t.Fatalf("%+v is %q, the pack has %+v", *e, name, row)
				}
				if e.Source == c.ID() {
					own[e.Kind.String()+" "+name]++
				} else {
					others[e.Kind.String()+" "+name]++
				}
			}
		}
	}
	for kind, names := range registeredNames {
		for _, name := range names {
			key := kind.String() + " " + name
			few := own[key]+others[key] < 3 || kind <= effect.Punch && own[key]*others[key] == 0
			if name != "" && few {
				t.Errorf("%s: %d own ones, %d of others", key, own[key], others[key])
			}
		}
	}
}

// checkRegistered holds what an effect is registered as against its kind and cause, and returns its
// name.
func checkRegistered(t *testing.T, c *client.Client, e *effect.Effect) string {
	t.Helper()
	name := c.Kit().Effects().Name(e.Registered)
	for _, may := range registeredNames[e.Kind] {
		round := e.Kind == effect.Impact && e.Cause == object.CauseShot
		if may == name && (!round || name == "rifle round") {
			return name
		}
	}
	if registeredNames[e.Kind] != nil || name != "" {
		t.Fatalf("%+v is registered as %q", *e, name)
	}
	return name
}
