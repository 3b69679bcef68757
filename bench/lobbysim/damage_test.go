package lobbysim

import (
	"runtime"
	"testing"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/object"
)

// newBrawl makes a lobby of players that shoot and throw grenades at each other, and a spectator.
// All clients keep effects.
func newBrawl(t *testing.T, players int, wrap func(func() error) error) *Sim {
	t.Helper()
	b, err := New(withEffects(Config{Clients: players + 1, Spectators: 1, Seed: 70, WrapTick: wrap,
		Lobby: server.Config{Arena: boardArena(t, "arena-16"), ArenaName: "arena-16", Players: players,
			Spectators: 1, EffectBytes: 120,
			Rules: sim.Rules{Seed: 70, Mix: true, RespawnMillis: 1000, Game: gameWithObjects()}},
		Brain: func(n int) swarm.Brain { return &thrower{Brain: swarm.NewBot(70, n), every: 37 + 5*n} }}))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// damageHeard reads the new damage that a client was told of, from number from on.
func damageHeard(c *client.Client, from *uint64, dst []effect.Effect) []effect.Effect {
	var buf [256]effect.Effect
	n, next := c.Effects.Since(*from, buf[:])
	*from = next
	for _, e := range buf[:n] {
		if e.Kind == effect.Damage {
			dst = append(dst, e)
		}
	}
	return dst
}

// isDamage reports whether an effect is what a client must hear of a damage in its victim's place.
func isDamage(e *effect.Effect, d *object.DamageResult) bool {
	near := d.Impulse == geom.Vec3{} || e.Dir.Sub(d.Impulse.Normalize()).Len() < 0.03
	return e.Target == d.Victim && e.Source == d.Instigator && e.Cause == d.Cause &&
		int32(e.Amount) == d.Points && near && geom.Abs(e.Strength-d.Impulse.Len()) < 0.3
}

// TestRow70DamageGoesToItsVictimAlone is row 70 of docs/features.md: each victim hears of all
// damage that the match dealt to it, once, with points, impulse and the direction of the impulse.
// No other client hears of it: neither the instigator, nor bystanders, nor a spectator.
func TestRow70DamageGoesToItsVictimAlone(t *testing.T) {
	skipUnderRace(t)
	const players = 8
	b := newBrawl(t, players, nil)
	var from [players + 1]uint64
	dealt, heard := make([][]object.DamageResult, players+1), make([][]effect.Effect, players+1)
	const ticks, settle = 60 * 40, 30
	for n := range ticks {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		m := b.Lobby.Match()
		for i, c := range b.Clients {
			heard[i] = damageHeard(c, &from[i], heard[i])
			for _, d := range m.Outcome().Damage {
				if d.Victim == c.ID() && i < players && n > 2*settle && n < ticks-settle {
					dealt[i] = append(dealt[i], d)
				}
			}
		}
	}
	pushed, causes := 0, map[object.Cause]int{}
	for i := range players {
		for k := range dealt[i] {
			d := &dealt[i][k]
			at := -1
			for j := range heard[i] {
				if isDamage(&heard[i][j], d) {
					at = j
					break
				}
			}
			if at < 0 {
				t.Fatalf("client %d was not told of %+v", i, *d)
			}
			heard[i] = append(heard[i][:at], heard[i][at+1:]...)
			if causes[d.Cause]++; d.Impulse != (geom.Vec3{}) {
				pushed++
			}
		}
	}
	for i := range heard {
		for _, e := range heard[i] {
			if now := b.Lobby.Match().Tick(); e.Target != b.Clients[i].ID() || i == players ||
				e.Tick > 2*settle+2 && e.Tick < now-settle {
				t.Errorf("client %d was told of damage that is not its own: %+v", i, e)
			}
		}
	}
	if pushed < 50 || causes[object.CauseShot] < 20 || causes[object.CauseBlast] < 5 {
		t.Errorf("%d with an impulse, by cause %v", pushed, causes)
	}
}

// A warm tick with shots, impacts and damage that several clients are told of allocates nothing.
func TestRow71EffectsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var before, after runtime.MemStats
	warm, ticks, allocs := false, 0, uint64(0)
	b := newBrawl(t, 12, func(tick func() error) error {
		if !warm {
			return tick()
		}
		runtime.ReadMemStats(&before)
		err := tick()
		runtime.ReadMemStats(&after)
		allocs += after.Mallocs - before.Mallocs
		ticks++
		return err
	})
	b.Lobby.Reserve()
	play := func(n int) {
		t.Helper()
		for range n {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	play(60 * 15) // by then the tables of projectiles and grenades have grown to their size
	warm = true
	var kinds, was [effect.Kinds]uint64
	sum := func(of *[effect.Kinds]uint64) {
		for _, c := range b.Clients {
			for kind, n := range c.Effects.Stats().Kinds {
				of[kind] += n
			}
		}
	}
	sum(&was)
	bytes := balanced(t, b).Sections[metrics.SectionEffect]
	play(300)
	sum(&kinds)
	for _, kind := range []effect.Kind{effect.Shot, effect.Impact, effect.Damage, effect.Explosion} {
		if kinds[kind]-was[kind] < 20 {
			t.Errorf("clients heard of %d effects of kind %v", kinds[kind]-was[kind], kind)
		}
	}
	if told := balanced(t, b).Sections[metrics.SectionEffect] - bytes; told < 1000 {
		t.Errorf("effects took %d bytes", told)
	}
	if allocs != 0 {
		t.Errorf("%d ticks made %d allocations", ticks, allocs)
	}
}
