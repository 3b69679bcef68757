package lobbysim

import (
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client/objects"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// TestRow45MixedAges is row 45 of docs/features.md: a client predicts entities of
// different ages, its player and several projectiles launched in different ticks. Knockbacks make
// it replay its player from the ticks of the server's rows, while each projectile goes on from its
// launch, and is at every instant where the server has it.
func TestRow45MixedAges(t *testing.T) {
	y := newObjectsTest(t, 4, impair.Profile{Delay: 60 * time.Millisecond}, func(c *Config) {
		harmless(c)
		c.Brain = func(n int) swarm.Brain { return &thrower{Brain: swarm.NewBot(9, n), every: 9 + n} }
	})
	type moment struct {
		flight flightName
		at     tick.Tick
	}
	type guess struct {
		name flightName
		tick tick.Tick
		frac uint32
		pos  geom.Vec3
	}
	truth := map[moment]geom.Vec3{}
	var guesses []guess
	knockbacks := map[netid.ID][]tick.Tick{}
	var buf []objects.Object
	oldest, several := tick.Tick(0), 0
	rate := y.Lobby.Match().Rules().Rate
	y.run(30*time.Second, func() {
		m := y.Lobby.Match()
		if c := y.Clients[m.Tick()%4]; m.Tick()%33 == 0 && c.ID() != 0 { // an unpredicted knockback
			knockbacks[c.ID()] = append(knockbacks[c.ID()], m.Tick())
			m.Scene().Damage.Add(object.Damage{Victim: c.ID(), Points: 1, Impulse: geom.Vec3{X: 3, Y: 3}})
		}
		for i := range m.Objects().Projectiles {
			if p := &m.Objects().Projectiles[i]; p.Hit == object.Flying {
				name := flightName{netstate.Projectile, p.Owner, p.Tick, 0}
				truth[moment{name, m.Tick()}] = p.At(&m.Game().ProjectileKinds[p.Type], m.Tick())
			}
		}
		for _, c := range y.Clients {
			_, predicted, _ := c.Clocks()
			at, part := rate.Since(predicted)
			ages := map[tick.Tick]bool{}
			buf = c.Objects.Append(buf[:0])
			for k := range buf {
				if o := &buf[k]; o.Own && o.Kind == netstate.Projectile && o.Index == 0 && !o.Over() {
					guesses = append(guesses, guess{nameOf(o), at, min(uint32(part*256), 255), o.Pos})
					ages[o.Since] = true
					oldest = max(oldest, at-min(at, o.Since))
				}
			}
			if len(ages) > 1 {
				several++
			}
		}
	})
	compared := 0
	for _, g := range guesses {
		a, ok := truth[moment{g.name, g.tick}]
		b, next := truth[moment{g.name, g.tick + 1}]
		if !ok || !next { // it struck in between, or the run is over
			continue
		}
		if slices.ContainsFunc(knockbacks[g.name.owner], func(at tick.Tick) bool {
			return at < g.name.born &&
				g.name.born-at < 20
		}) {
			continue // it left from where the thrower was not
		}
		compared++
		if d := a.Lerp(b, float32(g.frac)/256).Sub(g.pos).Len(); d > 1e-3 {
			t.Fatalf("%+v is %g m from where the server has it in tick %d", g.name, d, g.tick)
		}
	}
	replays, mispredicted := uint64(0), uint64(0)
	for _, c := range y.Clients {
		s := c.Stats()
		replays, mispredicted = replays+s.Prediction.Replays, mispredicted+s.Prediction.Mispredictions
		if s.Prediction.Replayed > s.Prediction.Replays*32 {
			t.Errorf("%d ticks played again for %d rows: a round trip is 8",
				s.Prediction.Replayed, s.Prediction.Replays)
		}
	}
	if compared < 300 || several < 5 || replays < 10 || mispredicted != 0 || oldest < 20 {
		t.Errorf("too little happened: %d compared, %d frames with several, %d replays, %d mispredictions, "+
			"oldest %d ticks", compared, several, replays, mispredicted, oldest)
	}
	t.Logf("%d places compared, %d frames with several ages, up to %d ticks; %d replays of oneself",
		compared, several, oldest, replays)
}
