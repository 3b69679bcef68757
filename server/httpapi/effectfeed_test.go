package httpapi

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
)

// shooter fires and throws at what it sees.
type shooter struct{ swarm.Brain }

func (s shooter) Decide(o *swarm.Observation) client.Intent {
	in := s.Brain.Decide(o)
	if in.Buttons |= sim.Fire; o.Tick%90 < 3 {
		in.Buttons |= sim.Throw
	}
	return in
}

// The live page draws the effects of a match: what the match says of impacts and damage, each once,
// and what follows from rows; it counts all of them, also those for which a frame has no room.
func TestRow71LivePageShowsEffects(t *testing.T) {
	b, feed := windowed(t, 24, func(n int) swarm.Brain { return shooter{swarm.NewBot(71, n)} })
	var want, got [effect.Kinds]uint64
	var listed [effect.Kinds]int
	for range 20 { // frames
		feed.begin(b.Now())
		for range 15 {
			simtest.Steps(t, b, 1)
			for _, e := range effect.AppendTold(nil, b.Lobby.Match()) {
				want[e.Kind] += uint64(e.Count)
			}
			feed.addTick(0, time.Millisecond)
		}
		feed.finish(b.Now())
		f := feed.frame
		if len(f.EffectCounts) != int(effect.Kinds) || len(f.Effects) > dash.MaxEffects {
			t.Fatalf("%d counts, %d effects", len(f.EffectCounts), len(f.Effects))
		}
		for k, n := range f.EffectCounts {
			got[k] += n
		}
		for _, e := range f.Effects {
			kind := effect.Kind(0)
			for k := range effect.Kinds {
				if k.String() == e.Kind {
					kind = k
				}
			}
			listed[kind]++
			damage := kind == effect.Damage
			if !drawn(kind) || e.Count < 1 || damage && (e.Target < 0 || e.Amount == 0) ||
				kind == effect.Explosion && e.Strength <= 0 {
				t.Errorf("%+v", e)
			}
		}
		feed.page.Publish()
	}
	for _, k := range []effect.Kind{effect.Damage, effect.Impact} {
		if got[k] != want[k] && !(k == effect.Impact && got[k] > want[k]) || listed[k] == 0 {
			t.Errorf("%v: %d counted, %d happened, %d listed", k, got[k], want[k], listed[k])
		}
	}
	if got[effect.Shot] < 100 || got[effect.Footstep] < 20 {
		t.Errorf("counts %v", got)
	}
}
