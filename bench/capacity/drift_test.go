package capacity

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Lobbies whose stages take other times by a line over the logarithm of their size are what was recorded again, the whole tick with them, and none is changed.
func TestDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	line := map[string]driftLine{"move": {1.08, 0}, "receive": {0.96, -0.06}, "send": {1, 0.02}}
	lobby := func(players int) Step {
		s := Step{Players: players, StageCPUMicros: []Stage{{Name: "idle"}}}
		sum := 0.0
		for _, name := range []string{"move", "receive", "send"} {
			us := float64(players) * (0.5 + r.Float64())
			sum += us
			s.StageCPUMicros = append(s.StageCPUMicros, Stage{name, us, 3 * us})
		}
		s.TickCPUMillis = Quantiles{sum / 1100, sum / 500, sum / 400, sum / 100, sum / 1000}
		return s
	}
	drifted := func(s Step) Step {
		sum := 0.0
		stages := make([]Stage, len(s.StageCPUMicros))
		for i, st := range s.StageCPUMicros {
			l := line[st.Name]
			by := l.at + l.slope*math.Log(float64(s.Players)/48)
			stages[i] = Stage{st.Name, st.Mean * by, st.P99 * by}
			sum += stages[i].Mean
		}
		s.StageCPUMicros = stages
		s.TickCPUMillis = s.TickCPUMillis.times(sum / 1000 / s.TickCPUMillis.Mean)
		return s
	}
	var recorded, now []Step
	for _, n := range []int{10, 16, 32, 64, 128} {
		recorded = append(recorded, lobby(n))
		now = append(now, drifted(recorded[len(recorded)-1]))
	}
	d := NewDrift(recorded, now)
	for name, l := range line {
		for _, n := range []int{10, 48, 160} {
			if want := l.at + l.slope*math.Log(float64(n)/48); !near(d.Of(name, n), want, 1e-9) {
				t.Errorf("%s of %d players: %g times as long, expected %g", name, n, d.Of(name, n), want)
			}
		}
	}
	if hit := NewDrift(recorded, append([]Step{now[0].Paced(1.3)}, now[1:]...)); math.Abs(hit.Of("move", 10)-d.Of("move", 10)) > 1e-9 || math.Abs(hit.Of("receive", 160)-d.Of("receive", 160)) > 1e-9 {
		t.Error("one lobby that was disturbed bends the lines of all")
	}
	for _, n := range []int{8, 48, 200} {
		want := lobby(n)
		other := drifted(want)
		kept := other.StageCPUMicros[1]
		got := d.Undone(other)
		if !near(got.TickCPUMillis.Mean, want.TickCPUMillis.Mean, 1e-9) || !near(got.TickCPUMillis.P99, want.TickCPUMillis.P99, 1e-9) {
			t.Errorf("%d players: a tick of %+v, expected %+v", n, got.TickCPUMillis, want.TickCPUMillis)
		}
		for i, st := range got.StageCPUMicros {
			if w := want.StageCPUMicros[i]; !near(st.Mean, w.Mean, 1e-9*(1+w.Mean)) || !near(st.P99, w.P99, 1e-9*(1+w.P99)) {
				t.Errorf("%d players: %+v, expected %+v", n, st, w)
			}
		}
		if other.StageCPUMicros[1] != kept {
			t.Error("what was measured has changed")
		}
	}
}

// One size tells no slope, a stage that nobody has timed is as it was recorded, and no ratio is beyond what a machine does.
func TestDriftOfLittle(t *testing.T) {
	one := func(players int, us float64) Step {
		return Step{Players: players, StageCPUMicros: []Stage{{"move", us, us}, {"idle", 0, 0}}}
	}
	d := NewDrift([]Step{one(40, 10), one(40, 10)}, []Step{one(40, 11), one(40, 13)})
	for _, c := range []struct {
		stage   string
		players int
		want    float64
	}{{"move", 40, 1.2}, {"move", 4000, 1.2}, {"idle", 40, 1}, {"seal", 40, 1}} {
		if got := d.Of(c.stage, c.players); !near(got, c.want, 1e-12) {
			t.Errorf("%s of %d players: %g times as long, expected %g", c.stage, c.players, got, c.want)
		}
	}
	wild := NewDrift([]Step{one(10, 10), one(100, 10)}, []Step{one(10, 10), one(100, 19)})
	if got := wild.Of("move", 10_000); got != driftMost {
		t.Errorf("%g times as long, expected no more than %d", got, driftMost)
	}
	if got := wild.Of("move", 1); got != 1.0/driftMost {
		t.Errorf("%g times as long, expected no less than half", got)
	}
	if got := (Drift{}).Undone(one(40, 7)); got.StageCPUMicros[0] != (Stage{"move", 7, 7}) {
		t.Errorf("%+v, expected what was recorded", got)
	}
}
