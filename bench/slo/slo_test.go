package slo

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
)

func TestCheck(t *testing.T) {
	cases := []struct {
		name  string
		level Level
		spoil func(*measure.Step)
		want  []string // a part of each missed term, in order
	}{
		{"1 all is well", Level{}, func(*measure.Step) {}, nil},
		{"2 at the limit", Level{}, func(s *measure.Step) { s.TickCPUMillis.P99 = 10 }, nil},
		{"3 slow tick", Level{}, func(s *measure.Step) { s.TickCPUMillis.P99 = 10.5 },
			[]string{"p99(tick) is 10.5, expected <= 10 (0.6 * period)"}},
		{"4 slow wall", Level{}, func(s *measure.Step) { s.TickWallMillis.P99 = 12 },
			[]string{"p99(tick) is 12"}},
		{"5 wall not judged", Level{Expr: "p99(cpu) < 10"},
			func(s *measure.Step) { s.TickWallMillis.P99 = 12 }, nil},
		{"6 an input lost", Level{}, func(s *measure.Step) { s.InputsLost = 1 },
			[]string{"lost(input) is 1, expected == 0"}},
		{"7 ticks given up", Level{}, func(s *measure.Step) { s.TicksSkipped = 6 },
			[]string{"lost(tick) is 6, expected <= 2.4 (0.01 * total(tick))"}},
		{"8 old snapshots", Level{}, func(s *measure.Step) { s.SnapshotAgeMillis.P99 = 101 },
			[]string{"p99(age) is 101, expected <= 100 (2 * interval)"}},
		{"9 faster sending", Level{TickHz: 128, SendEvery: 2},
			func(s *measure.Step) { s.SnapshotAgeMillis.P99 = 32 }, []string{"p99(tick) is 5",
				"p99(age) is 32, expected <= 31.25"}},
		{"10 no evidence", Level{}, func(s *measure.Step) { *s = measure.Step{Players: 1} },
			[]string{"p99(tick) was not measured", "lost(input) was not measured",
				"total(input) was not measured", "p99(age) was not measured"}},
		{"11 a fault", Level{}, func(s *measure.Step) { s.Fault = "the server died" },
			[]string{"the server died"}},
	}
	for _, c := range cases {
		s, o := healthy(100), MustCompile(c.level)
		c.spoil(&s)
		got := o.Check(s)
		if len(got) != len(c.want) {
			t.Errorf("%s: missed terms %q, want %q", c.name, got, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(got, "\n"), want) {
				t.Errorf("%s: missed terms %q lack %q", c.name, got, want)
			}
		}
		if judged := o.Judge(s); judged.Pass != (len(c.want) == 0) || judged.Void {
			t.Errorf("%s: judged pass=%v void=%v", c.name, judged.Pass, judged.Void)
		}
	}
}

func TestJudgeDoesNotPassWhatIsVoidOrNotANumber(t *testing.T) {
	void := healthy(10)
	void.Void, void.VoidReason = true, "the swarm was late"
	if got := Default().Judge(void); got.Pass || got.Failed != nil {
		t.Errorf("void step: pass %v, failed %q", got.Pass, got.Failed)
	}
	odd := healthy(10)
	odd.ServerCores = math.NaN()
	odd.StageCPUMillis = []measure.Stage{{Name: "move", Mean: math.Inf(1)}}
	got := Default().Judge(odd)
	if got.Pass || !got.Void || !strings.Contains(got.VoidReason, "not a finite number") {
		t.Errorf("step with NaN: pass %v void %v %q", got.Pass, got.Void, got.VoidReason)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Errorf("judged step cannot be written: %v", err)
	}
	if !math.IsInf(odd.StageCPUMillis[0].Mean, 1) {
		t.Error("Finite changed the caller's stages")
	}
}

func TestCompileRefuses(t *testing.T) {
	for i, c := range []struct {
		text   string
		column int // 0: any
		want   string
	}{
		{"p99(tick)", 1, "expected a comparison, as in p99(tick) < 0.6*period"},
		{"p99(tick)<", 11, "expected a figure or number"},
		{"p99(tick", 9, `expected ")", got the end`},
		{"p99 tick < 5", 5, `expected an operator (< <= > >= == && || + - * /) before "tick"`},
		{"p99() < ) 5", 9, `expected a figure or number, got ")"`},
		{" ", 1, "got nothing"},
		{"p99(tick)<0.6*perod", 15, "unknown name perod"},
		{"p99(tik)<1", 5, "unknown name tik"},
		{"lost(age)==0", 6, "cannot use slo.distribution"},
		{"p99(tick)<1 && p98(tick)<1", 16, "unknown name p98"},
		{"p99(tick)<1 || true", 16, "expected a comparison (< <= > >= ==), or comparisons joined by && or ||"},
		{"1<2", 1, "expected a measured figure, as in p99(tick) < 0.6*period, got 1 < 2"},
		{"p99(tick)<9 and period<20", 17, "expected a measured figure"},
		{"players<5", 1, "expected a measured figure"},
		{"p99(tick)<5s", 11, "times are milliseconds: expected 5000, got 5s"},
		{"p99(tick) < 250 µs", 13, "times are milliseconds: expected 0.25, got 250 µs"},
		{"lost(input)<5ms", 13, "expected a number without a unit: lost(input) < 5 has no time"},
		{"p99(tick)<(1<2)", 0, "invalid operation"},
		{"p99(tick) < \"x\"", 0, "invalid operation"},
		{"p99(tick, age) < 1", 0, "too many arguments"},
		{"p99(tick)!=1", 10, "expected a comparison"},
		{"map([1], {#}) == 1", 0, "expected"},
		{strings.Repeat("1+", 600) + "1<2", 0, "expected"},
		{strings.Repeat("(", 3000), 2000, "at most 2000 bytes"},
		{"p99(tick) < 1/0", 14, "expected a finite number"},
		{"p99(age) < 0/0*interval", 0, "expected a finite number"},
		{"players < (1 in 1..100000000 ? 1 : 2)", 0, "expected a finite number"},
	} {
		_, err := Compile(Level{Expr: c.text})
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || c.column > 0 &&
			wrong.Column != c.column {
			t.Errorf("%d: %v, want column %d: %s", i, err, c.column, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: more than one line: %q", i, err)
		}
	}
}

func TestTerms(t *testing.T) {
	s := healthy(100) // p99 of the tick is 4 ms of CPU, 5 elapsed; of the age 70
	s.KbpsDownPerClient, s.InputsLost, s.LatenessMillis.P999 = 500, 2, 0.8
	for i, c := range []struct{ text, want string }{
		{"p99(tick)<0.6*period && lost(input)==2 && p99(age)<2*interval && kbps(down)<512", ""},
		{"p99(tick)<0.2*period", "p99(tick) is 5, expected < 3.333 (0.2 * period)"},
		{"p99(cpu)<=4", ""},
		{"p99(cpu)<4", "p99(cpu) is 4, expected < 4"},
		{"lost(input)<=0.001*total(input)", "lost(input) is 2, expected <= 1 (0.001 * total(input))"},
		{"kbps(down)<=players", "kbps(down) is 500, expected <= 100 (players)"},
		{"p999(late)<0.5", "p999(late) is 0.8, expected < 0.5"},
		{"kbps(up)<100", "kbps(up) was not measured"},
		{"p99(tick)-p50(tick)<2", "p99(tick) - p50(tick) is 3, expected < 2"},
		{"p99(cpu)-5>-2 && p99(cpu)-3==1 && p99(cpu)/2>=1.5 && +2*2==p99(cpu)", ""},
		{"p99(cpu)<=4ms and lost(input)==2", ""},
		{"p99(cpu) < 4 ms", "p99(cpu) is 4, expected < 4"},
		{"mean(cpu) < 3ms && max(cpu) == 6", ""},
		{"p95(cpu)<3.4", "p95(cpu) is 3.5, expected < 3.4"},
		{"p99(tick)<1 or lost(input)==2", ""},
		{"lost(input)==2 || p99(tick)<1", ""},
		{"p99(tick)<1 || lost(input)==0",
			"none holds: p99(tick) is 5, expected < 1; lost(input) is 2, expected == 0"},
		{"p99(cpu)<5 && (p99(tick)<1 or p99(age)<80 and lost(input)==2)", ""},
		{"p99(cpu)<4 && (p99(tick)<1 or p99(age)<80 and lost(input)==0)",
			"p99(cpu) is 4, expected < 4|none holds: p99(tick) is 5, expected < 1; lost(input) is 2, expected == 0"},
		{"p99(tick)<1 && lost(input)==0", "p99(tick) is 5, expected < 1|lost(input) is 2, expected == 0"},
	} {
		o, err := Compile(Level{Expr: c.text})
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if got := strings.Join(o.Check(s), "|"); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// The conditions of a level are told one by one, with brackets where they need them.
func TestTermsAsText(t *testing.T) {
	o := MustCompile(Level{Expr: "p99(tick)<5ms and (lost(input)==0 or (p50(age)<9 and p95(age)<20)) && kbps(up)<9"})
	want := "p99(tick) < 5, lost(input) == 0 || (p50(age) < 9 && p95(age) < 20), kbps(up) < 9"
	if got := strings.Join(o.Terms(), ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !o.Names("age") || o.Names("rtt") {
		t.Error("the figures that it names")
	}
}

// What a level bounds by the number of players has no one limit that a search could use.
func TestBounds(t *testing.T) {
	for i, c := range []struct {
		text      string
		tick, age float64
	}{
		{"p99(tick) < 1000/players", 10, 100},
		{"p99(age) < 1e4/players", 10, 100},
		{"p99(tick) < 0.5*period && p99(age) <= 3*interval", 1000. / 120, 150},
		{"p99(cpu) < 9 && p99(elapsed) < 8", 8, 100},
		{"p99(tick) < 3 || p99(age) < 20", 10, 100},
		{"p99(tick) < 3 and (p99(age) < 20 or lost(input) == 0)", 3, 100},
	} {
		l := MustCompile(Level{Expr: c.text}).Level()
		if math.Abs(l.TickLimitMillis-c.tick) > 1e-9 || math.Abs(l.AgeLimitMillis-c.age) > 1e-9 {
			t.Errorf("%d: %q: %+v", i, c.text, l)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("p99(tick)<0.6*period && lost(input)==0")
	f.Add("-1>=3/0 && kbps(down)<(1+2)")
	f.Add("p95(tick)<5 ms or cores(server) <= 3us and (p99(age)<2)")
	f.Fuzz(func(t *testing.T, text string) {
		if o, err := Compile(Level{Expr: text}); err == nil {
			o.Check(healthy(3))
		} else if wrong := (*Error)(nil); !errors.As(err, &wrong) || wrong.Column < 1 {
			t.Fatalf("%v", err)
		}
	})
}
