package capacity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// gateRounds are rounds of a made-up lobby: stages of given µs, each round off by noise, one stage slower by a factor.
func gateRounds(rng *rand.Rand, n int, noise float64, slow string, factor float64) Measurements {
	m := Measurements{Machine: Machine{CPU: "x", Cores: 2}}
	for i := range n {
		s := Step{Players: 64, Facts: &Facts{Scenario: "a", PerLobby: 64, Lobbies: 1, TickHz: 60, SendEvery: 3, Virtual: true, Round: i, Bytes: 5000}}
		for _, st := range []Stage{{"receive", 55, 0}, {"open", 18, 0}, {"move", 10, 0}, {"combat", 6, 0}, {"snapshot", 40, 0}, {"seal", 9, 0}, {"cubes", 0.3, 0}} {
			us := st.Mean * math.Exp(noise*rng.NormFloat64())
			if st.Name == slow {
				us *= factor
			}
			s.StageCPUMicros = append(s.StageCPUMicros, Stage{Name: st.Name, Mean: us})
		}
		m.Steps = append(m.Steps, Measurement{Step: s})
	}
	return m
}

// A slowdown of 10 % in any one stage is found and named, by itself and in no other stage; an equal pair passes.
func TestGate(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for _, slow := range []string{"", "receive", "move", "combat", "snapshot"} {
			old, now := gateRounds(rng, GateRounds, 0.01, "", 1), gateRounds(rng, GateRounds, 0.01, slow, 1.1)
			all, err := Gate(old, now)
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
			if back, _ := Gate(now, old); len(Regressed(back)) > 0 {
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
		all, err := Gate(gateRounds(rng, GateRounds, 0.1, "", 1), gateRounds(rng, GateRounds, 0.1, "", 1))
		if err != nil {
			t.Fatal(err)
		}
		if len(Regressed(all)) > 0 {
			failed++
		}
	}
	if failed > 16 { // the tick and the stages are two families, each wrong at most 2.5 times in a hundred for the worse
		t.Errorf("%d of 200 equal pairs with 10 %% noise failed", failed)
	}
	rng := rand.New(rand.NewPCG(1, 3))
	for _, c := range []struct {
		stage  string
		factor float64
	}{{"cubes", 3}, {"receive", 1.03}} {
		if all, _ := Gate(gateRounds(rng, 12, 0.001, "", 1), gateRounds(rng, 12, 0.001, c.stage, c.factor)); len(Regressed(all)) > 0 {
			t.Errorf("%s by %g fails: %v", c.stage, c.factor, Regressed(all))
		}
	}
	old, now := gateRounds(rng, 6, 0, "", 1), gateRounds(rng, 6, 0, "", 1)
	for i := range now.Steps {
		now.Steps[i].Facts.Bytes = 5300
	}
	if worse := Regressed(first(Gate(old, now))); len(worse) != 1 || worse[0].Of != "bytes" || !strings.Contains(worse[0].String(), "+6.0 %") {
		t.Errorf("6 %% more bytes: %v", worse)
	}
}

func first[T any](x T, _ error) T { return x }

func TestGateRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fine := gateRounds(rng, 6, 0.01, "", 1)
	other := gateRounds(rng, 6, 0.01, "", 1)
	other.Machine.CPU = "y"
	live := gateRounds(rng, 6, 0.01, "", 1)
	for i := range live.Steps {
		live.Steps[i].Facts.Virtual = false
	}
	size := gateRounds(rng, 6, 0.01, "", 1)
	for i := range size.Steps {
		size.Steps[i].Facts.PerLobby = 65
	}
	for i, c := range []struct {
		old  Measurements
		want string
	}{{other, "a baseline of this machine"}, {live, "in the same way"}, {size, "on both sides"}, {gateRounds(rng, 5, 0.01, "", 1), "6 rounds"}} {
		if _, err := Gate(c.old, fine); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
}
