package gate

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/simbench"
)

// gateSamples are samples of a made-up lobby of one tick: stages of given ns, with noise, one stage slower
// by a factor.
func gateSamples(rng *rand.Rand, noise float64, slow string, factor float64) Samples {
	l := Lobby{Name: "a", Players: 64}
	for range samplesPerLobby {
		sample := simbench.LeastTicks{Plays: MinRounds, Bytes: 5000, Nanos: [][]time.Duration{nil}}
		for _, st := range []measure.Stage{{Name: "receive", Mean: 55e3}, {Name: "open", Mean: 18e3},
			{Name: "move", Mean: 10e3}, {Name: "combat", Mean: 6e3}, {Name: "snapshot", Mean: 40e3},
			{Name: "seal", Mean: 9e3}, {Name: "cubes", Mean: 300}} {
			if st.Name == slow {
				st.Mean *= factor
			}
			sample.Stages = append(sample.Stages, st.Name)
			sample.Nanos[0] = append(sample.Nanos[0], time.Duration(st.Mean*math.Exp(noise*rng.NormFloat64())))
		}
		l.Samples = append(l.Samples, sample)
	}
	return Samples{Version: Version, Machine: measure.Machine{CPU: "x", Cores: 2}, Lobbies: []Lobby{l}}
}

// A slowdown of 10 % in any one stage is found and named, by itself and in no other stage; an equal
// pair passes.
func TestGate(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for _, slow := range []string{"", "receive", "move", "combat", "snapshot"} {
			old, now := gateSamples(rng, 0.005, "", 1), gateSamples(rng, 0.005, slow, 1.1)
			all, err := Compare(old, now)
			if err != nil {
				t.Fatal(err)
			}
			var worse []string
			for _, c := range Regressed(all) {
				if c.Of != "tick" {
					worse = append(worse, c.Of)
				}
			}
			if got := strings.Join(worse, ","); got != slow {
				t.Errorf("seed %d: %q is 10 %% slower, and the gate says %q", seed, slow, got)
			}
			if back, _ := Compare(now, old); len(Regressed(back)) > 0 {
				t.Errorf("seed %d: what is faster is worse: %v", seed, Regressed(back))
			}
		}
	}
}

// What is only noise, however wild, seldom fails; what is tiny or small in change never does.
func TestGateIsNotFooled(t *testing.T) {
	failed := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		all, err := Compare(gateSamples(rng, 0.1, "", 1), gateSamples(rng, 0.1, "", 1))
		if err != nil {
			t.Fatal(err)
		}
		if len(Regressed(all)) > 0 {
			failed++
		}
	}
	// The tick and the stages are two families, each wrong at most 2.5 times in a hundred for the
	// worse.
	if failed > 16 {
		t.Errorf("%d of 200 equal pairs with 10 %% noise failed", failed)
	}
	rng := rand.New(rand.NewPCG(1, 3))
	for _, c := range []struct {
		stage  string
		factor float64
	}{{"cubes", 3}, {"receive", 1.015}, {"combat", 1.04}} {
		if all, _ := Compare(gateSamples(rng, 0.001, "", 1), gateSamples(rng, 0.001, c.stage,
			c.factor)); len(Regressed(all)) > 0 {
			t.Errorf("%s by %g fails: %v", c.stage, c.factor, Regressed(all))
		}
	}
	if worse := Regressed(first(Compare(gateSamples(rng, 0.001, "", 1), gateSamples(rng, 0.001, "receive",
		1.03)))); len(worse) != 1 || worse[0].Of != "receive" {
		t.Errorf("3 %% more of a large stage: %v", worse)
	}
	old, now := gateSamples(rng, 0, "", 1), gateSamples(rng, 0, "", 1)
	for i := range now.Lobbies[0].Samples {
		now.Lobbies[0].Samples[i].Bytes = 5300
	}
	if worse := Regressed(first(Compare(old, now))); len(worse) != 1 || worse[0].Of != "bytes" ||
		!strings.Contains(worse[0].String(), "+6.0 %") {
		t.Errorf("6 %% more bytes: %v", worse)
	}
}

// A tick on sockets that costs 10 % more of its floor is found beside noise of 2 %, and bytes likewise;
// steps of other work are refused.
func TestLive(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	steps := func(n int, floors, kbps float64) (s Samples) {
		s.Machine.CPU = "x"
		for range n {
			s.Live = append(s.Live, Live{"one-lobby", 200, floors * math.Exp(0.02*rng.NormFloat64()),
				kbps * math.Exp(0.02*rng.NormFloat64())})
		}
		return s
	}
	for i, c := range []struct {
		now   Samples
		worse string
	}{{steps(16, 2.5, 160), ""}, {steps(16, 2.75, 160), "floors"}, {steps(16, 2.5, 180), "bytes"},
		{steps(16, 2, 120), ""}} {
		var worse []string
		for _, change := range Regressed(first(Compare(steps(16, 2.5, 160), c.now))) {
			worse = append(worse, change.Of)
		}
		if got := strings.Join(worse, ","); got != c.worse {
			t.Errorf("%d: worse %q, want %q", i, got, c.worse)
		}
	}
	other := steps(16, 2.5, 160)
	other.Live[3].Players = 100
	for want, now := range map[string]Samples{"got one of one-lobby with 100 players": other,
		"got 16 and 5": steps(5, 2.5, 160), "got 16 and 0": {Machine: other.Machine}} {
		if _, err := Compare(steps(16, 2.5, 160), now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func first[T any](x T, _ error) T { return x }

func TestGateRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fine := gateSamples(rng, 0.01, "", 1)
	spoilt := func(spoil func(*Samples)) Samples {
		s := gateSamples(rng, 0.01, "", 1)
		spoil(&s)
		return s
	}
	few := func(s *Samples) {
		for i := range s.Lobbies[0].Samples {
			s.Lobbies[0].Samples[i].Plays = MinRounds - 1
		}
	}
	for i, c := range []struct {
		old  Samples
		want string
	}{{spoilt(func(s *Samples) { s.Machine.CPU = "y" }), "samples of one machine"},
		{spoilt(func(s *Samples) { s.Lobbies[0].Players = 65 }), "a with 65 players: expected it on both sides"},
		{spoilt(func(s *Samples) { s.Lobbies = nil }), "expected the same lobbies on both sides, got 0 and 1"},
		{spoilt(few), "got 5 and 6"}} {
		if _, err := Compare(c.old, fine); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
}

// A file is read as it was written; what is no such file is refused in words.
func TestParse(t *testing.T) {
	a := gateSamples(rand.New(rand.NewPCG(1, 1)), 0.01, "", 1)
	a.Live = []Live{{"one-lobby", 200, 2.5, 160}}
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Parse("new.json", raw); err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v, %v", b, err)
	}
	for i, c := range []struct{ text, want string }{
		{"{", "f: expected a JSON file"}, {`{"version": 2}`, "expected version 3 of this build's bench record, got 2"},
		{`{"version": 3}`, "expected lobbies"},
		{`{"version": 3, "lobbies": [{"name": "a", "players": 2}]}`, "a with 2 players: expected 8 samples, got 0"},
		{`{"version": 3, "lobbies": [{"name": "a", "players": 2, "samples": [{},{},{},{},{},{},{},{}]}]}`,
			"expected stages and bytes in each sample"},
		{`{"version": 3, "lobbies": [{"name": "a", "players": 2, "samples": [{"nanos": [[1]]},{},{},{},{},{},{},{}]}]}`,
			"tick 0: expected 0 stages, got 1"},
	} {
		if _, err := Parse("f", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// The same match is played again, and a slowdown is found in its stage.
func TestPlay(t *testing.T) {
	if testing.Short() {
		t.Skip("plays lobbies")
	}
	play := func(slow string) figures {
		s, err := ParseSlowdown(slow)
		if err != nil {
			t.Fatal(err)
		}
		m := New("test")
		if err := m.Play(t.Context(), "duel", s, nil); err != nil {
			t.Fatal(err)
		}
		return m.Lobbies[0].figures()[0]
	}
	a, b := play(""), play("snapshot=300%")
	if a.bytes != b.bytes || a.bytes == 0 {
		t.Errorf("%g and %g bytes of one match", a.bytes, b.bytes)
	}
	if b.stage("snapshot") < 2*a.stage("snapshot") {
		t.Errorf("slowed fourfold: %g µs, before %g", b.stage("snapshot"), a.stage("snapshot"))
	}
	for _, wrong := range []string{"snapshot", "snap=10%", "snapshot=-1%", "snapshot=x%"} {
		if _, err := ParseSlowdown(wrong); err == nil {
			t.Errorf("%q is a slowdown", wrong)
		}
	}
}
