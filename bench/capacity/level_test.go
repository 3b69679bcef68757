package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

// healthy is a step that holds the default level with room to spare.
func healthy(players int) Step {
	return Step{
		Players: players, Duration: 4 * time.Second,
		TickCPUMillis: Quantiles{P50: 2, P99: 4, P999: 5, Max: 6, Mean: 2.1}, TickWallMillis: Quantiles{P50: 2, P99: 5, Max: 8, Mean: 2.2},
		SnapshotAgeMillis: Quantiles{P50: 50, P99: 70, Max: 90, Mean: 50}, InputsExpected: 1000,
	}
}

func TestLevelCheck(t *testing.T) {
	cases := []struct {
		name  string
		level Level
		spoil func(*Step)
		want  []string // a part of each failed term, in order
	}{
		{"1 all is well", Level{}, func(*Step) {}, nil},
		{"2 at the limit", Level{}, func(s *Step) { s.TickCPUMillis.P99 = Level{}.TickLimitMillis() }, nil},
		{"3 slow tick", Level{}, func(s *Step) { s.TickCPUMillis.P99 = 10.5 }, []string{"p99 tick CPU 10.50 ms, over 10.00 ms"}},
		{"4 slow wall", Level{}, func(s *Step) { s.TickWallMillis.P99 = 12 }, []string{"p99 tick elapsed 12.00 ms"}},
		{"5 wall not judged", Level{WallShare: -1}, func(s *Step) { s.TickWallMillis.P99 = 12 }, nil},
		{"6 an input lost", Level{}, func(s *Step) { s.InputsLost = 1 }, []string{"1 of 1000 inputs lost"}},
		{"7 allowed loss", Level{MaxInputsLost: 3}, func(s *Step) { s.InputsLost = 3 }, nil},
		{"8 old snapshots", Level{}, func(s *Step) { s.SnapshotAgeMillis.P99 = 101 }, []string{"p99 snapshot age 101.00 ms, over 100.00 ms"}},
		{"9 faster sending", Level{TickHz: 128, SendEvery: 2}, func(s *Step) { s.SnapshotAgeMillis.P99 = 32 }, []string{"snapshot age 32.00 ms, over 31.25", "tick elapsed"}},
		{"10 no evidence", Level{}, func(s *Step) { *s = Step{Players: 1} },
			[]string{"tick CPU was not", "tick elapsed was not", "inputs were not", "snapshot age was not"}},
	}
	for _, c := range cases {
		s := healthy(100)
		c.spoil(&s)
		got := c.level.Check(s)
		if len(got) != len(c.want) {
			t.Errorf("%s: failed terms %q, want %q", c.name, got, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(got, "\n"), want) {
				t.Errorf("%s: failed terms %q lack %q", c.name, got, want)
			}
		}
		if judged := c.level.Judge(s); judged.Pass != (len(c.want) == 0) || judged.Void {
			t.Errorf("%s: judged pass=%v void=%v", c.name, judged.Pass, judged.Void)
		}
	}
}

func TestJudgeDoesNotPassWhatIsVoidOrNotANumber(t *testing.T) {
	void := healthy(10)
	void.Void, void.VoidReason = true, "the swarm was late"
	if got := (Level{}).Judge(void); got.Pass || got.Failed != nil {
		t.Errorf("void step: pass %v, failed %q", got.Pass, got.Failed)
	}
	odd := healthy(10)
	odd.ServerCores = math.NaN()
	odd.StageCPUMicros = []Stage{{"sim", math.Inf(1), 0}}
	got := (Level{}).Judge(odd)
	if got.Pass || !got.Void || !strings.Contains(got.VoidReason, "not a finite number") {
		t.Errorf("step with NaN: pass %v void %v %q", got.Pass, got.Void, got.VoidReason)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Errorf("judged step cannot be written: %v", err)
	}
	if !math.IsInf(odd.StageCPUMicros[0].Mean, 1) {
		t.Error("Finite changed the caller's stages")
	}
}

func TestPlanJSONNames(t *testing.T) {
	p := Plan{Steps: []Step{healthy(100), healthy(160)}, Knee: Knee{Players: 160, Bound: Measured}}.Clean()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	at := func(path ...any) any {
		node := tree
		for _, key := range path {
			switch key := key.(type) {
			case string:
				node = node.(map[string]any)[key]
			case int:
				node = node.([]any)[key]
			}
			if node == nil {
				t.Fatalf("plan.json lacks %v", path)
			}
		}
		return node
	}
	if got := at("knee", "players"); got != 160.0 {
		t.Errorf("knee.players = %v", got)
	}
	for _, path := range [][]any{
		{"steps", 0, "players"}, {"steps", 0, "tick_cpu_ms", "p50"}, {"steps", 0, "tick_cpu_ms", "p99"}, {"steps", 1, "tick_cpu_ms", "p999"},
		{"steps", 1, "server_cores"}, {"steps", 1, "kbps_down_per_client"}, {"steps", 1, "snapshot_age_ms", "p99"}, {"steps", 1, "void"},
		{"knee", "bound"}, {"knee", "binding"}, {"fit", "stages"}, {"config"}, {"partial"}, {"level", "tick_hz"},
	} {
		at(path...)
	}
}
