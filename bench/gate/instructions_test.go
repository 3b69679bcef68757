package gate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/internal/perfevent"
)

// counting gives samples made-up instructions: a number with noise.
func counting(s Samples, rng *rand.Rand, mean, noise float64) Samples {
	for i := range s.Lobbies[0].Samples {
		s.Lobbies[0].Samples[i].Events = &perfevent.Counts{
			perfevent.Instructions: 64 * mean * math.Exp(noise*rng.NormFloat64())}
	}
	return s
}

// A gate by instructions sees 2 % more of them where times shake by a third, and only them; without
// instructions on both sides it says why there are none.
func TestGateByInstructions(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rounds := func(mean float64) Samples {
		return counting(gateSamples(rng, 0.3, "", 1), rng, mean, 0.001)
	}
	old, same, more := rounds(20_000), rounds(20_000), rounds(20_400)
	without := gateSamples(rng, 0.01, "receive", 1.2)
	without.NotCounted = perfevent.ErrNone.Error()
	for i, c := range []struct {
		by       By
		old, now Samples
		worse    string // what is worse, with commas; "-": anything
		err      string
	}{
		{ByInstructions, old, same, "", ""},
		{ByInstructions, old, more, "instructions", ""},
		{ByInstructions, more, old, "", ""},
		{ByTime, gateSamples(rng, 0.001, "", 1), counting(gateSamples(rng, 0.001, "", 1), rng, 9, 0), "", ""},
		{ByAll, counting(gateSamples(rng, 0.001, "", 1), rng, 9, 0),
			counting(gateSamples(rng, 0.001, "receive", 1.2), rng, 10, 0), "tick,receive,instructions", ""},
		{ByInstructions, old, without, "", "no instructions on both sides to compare: this machine has no hardware counters"},
		{ByInstructions, gateSamples(rng, 0.01, "", 1), old, "", "an older build has recorded one side"},
	} {
		all, err := Compare(c.old, c.now)
		if err != nil {
			t.Fatal(err)
		}
		judged, err := c.by.Choose(all, c.old, c.now)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d: %v, want %q", i, err, c.err)
		}
		var worse []string
		for _, change := range Regressed(judged) {
			worse = append(worse, change.Of)
		}
		if got := strings.Join(worse, ","); got != c.worse {
			t.Errorf("%d: worse %q, want %q", i, got, c.worse)
		}
	}
	if _, err := ParseBy("cycles"); err == nil || !strings.Contains(err.Error(), "expected all, time or instructions") {
		t.Error(err)
	}
}

// A round reads the counters before and after each tick of the lobby, and not at other times: half of
// what a source counts is in ticks.
func TestRoundsCountTheLobby(t *testing.T) {
	reads := 0.
	fake := func() (perfevent.Counts, error) {
		reads++
		return perfevent.Counts{perfevent.Instructions: 1000 * reads, perfevent.Cycles: 500 * reads}, nil
	}
	var s Samples
	if err := s.play(context.Background(), "duel", simbench.Probe{Count: fake}, nil); err != nil {
		t.Fatal(err)
	}
	ticks, players := 3*128., 10.
	if want := 2 * ticks * samplesPerLobby; reads != want {
		t.Errorf("%v readings, want %v: two a tick", reads, want)
	}
	e := s.Lobbies[0].figures()[0].events
	if e == nil || math.Abs(e.Instructions-1000/players) > 1e-6 || math.Abs(e.Cycles-500/players) > 1e-6 || e.CacheMisses != 0 {
		t.Errorf("events %+v, want 1000 instructions in each tick of 10 players", e)
	}
	broken := errors.New("broken")
	err := s.play(context.Background(), "duel", simbench.Probe{Count: func() (perfevent.Counts, error) {
		return perfevent.Counts{}, broken
	}}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the error of the counters", err)
	}
}
