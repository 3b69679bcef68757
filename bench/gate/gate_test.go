package gate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
)

// gateRounds are rounds of a made-up lobby: stages of given µs, with noise, one stage slower by a
// factor.
func gateRounds(rng *rand.Rand, n int, noise float64, slow string, factor float64) Samples {
	m := Samples{Version: Version, Machine: measure.Machine{CPU: "x", Cores: 2}}
	for range n {
		r := Round{Scenario: "a with 64 players", BytesPerClient: 5000}
		for _, st := range []measure.Stage{{Name: "receive", Mean: 55}, {Name: "open", Mean: 18},
			{Name: "move", Mean: 10}, {Name: "combat", Mean: 6},
			{Name: "snapshot", Mean: 40}, {Name: "seal", Mean: 9}, {Name: "cubes", Mean: 0.3}} {
			st.Mean *= math.Exp(noise * rng.NormFloat64())
			if st.Name == slow {
				st.Mean *= factor
			}
			r.Stages = append(r.Stages, st)
		}
		m.Rounds = append(m.Rounds, r)
	}
	return m
}

// A slowdown of 10 % in any one stage is found and named, by itself and in no other stage; an equal
// pair passes.
func TestGate(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for _, slow := range []string{"", "receive", "move", "combat", "snapshot"} {
			old, now := gateRounds(rng, MinRounds, 0.01, "", 1), gateRounds(rng, MinRounds, 0.01, slow, 1.1)
			all, err := Compare(old, now)
			if err != nil {
				t.Fatal(err)
			}
			worse := Regressed(all)
			switch {
			case slow == "" && len(worse) > 0:
				t.Errorf("seed %d: an equal pair is worse: %v", seed, worse)
			case slow != "" && (len(worse) != 1 || worse[0].Of != slow):
				t.Errorf("seed %d: %s is 10 %% slower, and the gate says %v", seed, slow, worse)
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
		all, err := Compare(gateRounds(rng, MinRounds, 0.1, "", 1), gateRounds(rng, MinRounds, 0.1, "", 1))
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
	}{{"cubes", 3}, {"receive", 1.03}} {
		if all, _ := Compare(gateRounds(rng, 12, 0.001, "", 1), gateRounds(rng, 12, 0.001, c.stage,
			c.factor)); len(Regressed(all)) > 0 {
			t.Errorf("%s by %g fails: %v", c.stage, c.factor, Regressed(all))
		}
	}
	old, now := gateRounds(rng, 6, 0, "", 1), gateRounds(rng, 6, 0, "", 1)
	for i := range now.Rounds {
		now.Rounds[i].BytesPerClient = 5300
	}
	if worse := Regressed(first(Compare(old, now))); len(worse) != 1 || worse[0].Of != "bytes" ||
		!strings.Contains(worse[0].String(), "+6.0 %") {
		t.Errorf("6 %% more bytes: %v", worse)
	}
}

func first[T any](x T, _ error) T { return x }

func TestGateRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fine := gateRounds(rng, 6, 0.01, "", 1)
	other := gateRounds(rng, 6, 0.01, "", 1)
	other.Machine.CPU = "y"
	size := gateRounds(rng, 6, 0.01, "", 1)
	for i := range size.Rounds {
		size.Rounds[i].Scenario = "a with 65 players"
	}
	for i, c := range []struct {
		old  Samples
		want string
	}{{other, "samples of one machine"}, {size, "expected 6 on both sides, got 6 and 0"},
		{gateRounds(rng, 5, 0.01, "", 1), "got 5 and 6"}} {
		if _, err := Compare(c.old, fine); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
}

// Files of version 1, which older builds write, are read as those of this one.
func TestParse(t *testing.T) {
	old := `{"version": 1, "machine": {"cpu": "x", "cores": 2}, "commit": "c", "steps": [{
		"stage_cpu_us": [{"name": "move", "mean": 7}],
		"facts": {"scenario": "duel", "lobbies": 1, "players_per_lobby": 10, "bytes_client": 900}}]}`
	a, err := Parse("old.json", []byte(old))
	if err != nil || len(a.Rounds) != 1 || a.Rounds[0].Scenario != "duel with 10 players" ||
		a.Rounds[0].stage("move") != 7 || a.Machine.Cores != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Parse("new.json", raw); err != nil || len(b.Rounds) != 1 ||
		b.Rounds[0].Scenario != a.Rounds[0].Scenario {
		t.Errorf("%+v, %v", b, err)
	}
	for i, c := range []struct{ text, want string }{
		{"{", "f: expected a JSON file"}, {`{"version": 3}`, "expected version 1 or 2, got 3"},
		{`{"version": 2}`, "expected rounds"},
		{`{"version": 2, "rounds": [{"scenario": "a"}]}`, "expected stages and bytes"},
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
	play := func(slow string) Round {
		s, err := ParseSlowdown(slow)
		if err != nil {
			t.Fatal(err)
		}
		m := New("test")
		if err := m.Play(t.Context(), "duel", s, nil); err != nil {
			t.Fatal(err)
		}
		return m.Rounds[0]
	}
	a, b := play(""), play("snapshot=300%")
	if a.BytesPerClient != b.BytesPerClient || a.BytesPerClient == 0 {
		t.Errorf("%g and %g bytes of one match", a.BytesPerClient, b.BytesPerClient)
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
