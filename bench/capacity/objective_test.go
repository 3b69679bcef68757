package capacity

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestObjectiveRefuses(t *testing.T) {
	for i, c := range []struct {
		text   string
		column int
		want   string
	}{
		{"", 1, "expected a comparison"},
		{"p99(tick)", 1, "expected a comparison, got p99(tick)"},
		{"p99(tick)<", 10, "expected an expression"},
		{"p99(tick)<0.6*perod", 15, "got perod"},
		{"p99(tik)<1", 1, "p99: expected one of tick, cpu, elapsed, late, age, rtt"},
		{"lost(age)==0", 1, "lost: expected one of input, tick, datagram"},
		{"p99(tick)<1 && p98(tick)<1", 16, "expected p50, p99"},
		{"p99(tick)<1 || true", 13, "expected a comparison (< <= > >= ==) or &&, got ||"},
		{"p99(tick)<(1<2)", 13, "expected + - * or /"},
		{"p99(tick) < \"x\"", 13, "expected a number"},
		{"p99(tick, age) < 1", 1, "p99: expected one of"},
		{"p99(tick)!=1", 10, "got !="},
		{"p99(tick)<1 &", 13, "expected an expression"},
		{"map([1], {#}) == 1", 1, "expected"},
		{strings.Repeat("1+", 600) + "1<2", 1, "expected an expression"},
		{strings.Repeat("(", 3000), 2000, "at most 2000 bytes"},
	} {
		_, err := ParseObjective(c.text)
		var wrong *ObjectiveError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || wrong.Column != c.column && i != 13 && i != 14 {
			t.Errorf("%d: %v, want column %d: %s", i, err, c.column, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: more than one line: %q", i, err)
		}
	}
}

func TestObjective(t *testing.T) {
	s := healthy(100) // p99 of the tick is 4 ms of CPU, 5 elapsed; of the age 70
	s.KbpsDownPerClient, s.InputsLost, s.LatenessMicros.P999 = 500, 2, 800
	for i, c := range []struct{ text, want string }{
		{"p99(tick)<0.6*period && lost(input)==2 && p99(age)<2*interval && kbps(down)<512", ""},
		{"p99(tick)<0.2*period", "p99 tick 5.00 ms, not below 3.33 ms (0.2 * period)"},
		{"p99(cpu)<=4", ""},
		{"p99(cpu)<4", "p99 tick CPU 4.00 ms, not below 4.00 ms"},
		{"lost(input)==0", "2 of 1000 inputs lost, not 0"},
		{"lost(input)<=0.001*total(input)", "2 of 1000 inputs lost, over 1 (0.001 * total(input))"},
		{"kbps(down)<=players", "500 kbit/s down a client, over 100 (players)"},
		{"p999(late)<0.5", "p999 tick lateness 0.80 ms, not below 0.50 ms"},
		{"kbps(up)<100", "kbit/s up a client was not measured"},
		{"p99(tick)-p50(tick)<2", "p99(tick) - p50(tick) is 3, not below 2"},
		{"-1>-2 && 3-2==1 && 3/2>=1.5 && +2*2==4", ""},
		{"1<2<1", "2 is 2, not below 1"},
		{"p50(rtt)<1", "p50 round trip was not measured"},
		{"p99(tick)<1 && lost(input)==0", "p99 tick 5.00 ms, not below 1.00 ms|2 of 1000 inputs lost, not 0"},
	} {
		o, err := ParseObjective(c.text)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if got := strings.Join(o.Failed(Level{}, s), "|"); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// What a level bounds by the number of players has no one limit, which searches could go by, and no number is refused.
func TestLimitsAreFinite(t *testing.T) {
	for i, text := range []string{"p99(tick) < 1000/players", "p99(tick) < 5 + 0.01*players", "p99(age) < 1e4/players"} {
		l, err := Level{}.WithObjective(text)
		if err != nil || l.WithDefaults().TickShare != DefaultTickShare || l.WithDefaults().AgeIntervals != DefaultAgeIntervals {
			t.Errorf("%d: %q: %+v, %v", i, text, l, err)
		}
	}
	for i, c := range []struct {
		text   string
		column int
	}{{"p99(tick) < 1/0", 14}, {"lost(input)==0 && period/(1-1) > p99(tick)", 25}, {"p99(age) < 0/0*interval", 15}} {
		_, err := Level{}.WithObjective(c.text)
		var wrong *ObjectiveError
		if !errors.As(err, &wrong) || wrong.Column != c.column || !strings.Contains(err.Error(), "expected a finite number") {
			t.Errorf("%d: %q: %v, want column %d", i, c.text, err, c.column)
		}
	}
}

// The level by its fields and the expression that says the same agree about every step, and about what searches go by.
func TestLevelIsAnObjective(t *testing.T) {
	fields := Level{TickHz: 128, SendEvery: 2, TickShare: 0.5, WallShare: 0.5, AgeIntervals: 3, MaxInputsLost: 1}
	text, err := Level{TickHz: 128, SendEvery: 2}.WithObjective(fields.Objective())
	if err != nil {
		t.Fatal(err)
	}
	if text.TickLimitMillis() != fields.TickLimitMillis() || math.Abs(text.AgeLimitMillis()-fields.AgeLimitMillis()) > 1e-9 {
		t.Errorf("limits %v and %v, want %v and %v", text.TickLimitMillis(), text.AgeLimitMillis(), fields.TickLimitMillis(), fields.AgeLimitMillis())
	}
	for i, spoil := range []func(*Step){
		func(*Step) {}, func(s *Step) { s.TickCPUMillis.P99 = 3.95 }, func(s *Step) { s.TickWallMillis.P99 = 3.95 }, func(s *Step) { s.InputsLost = 2 },
		func(s *Step) { s.SnapshotAgeMillis.P99 = 47 }, func(s *Step) { s.TicksGivenUp = 6 }, func(s *Step) { s.InputsExpected = 0 },
	} {
		s := healthy(10)
		s.TickCPUMillis.P99, s.TickWallMillis.P99, s.SnapshotAgeMillis.P99 = 3, 3, 40
		spoil(&s)
		a, b := strings.Join(fields.Check(s), "|"), strings.Join(text.Check(s), "|")
		if a != b || (a == "") != (i == 0) {
			t.Errorf("%d: %q and %q", i, a, b)
		}
	}
	if got := (Level{Expr: "p99("}).Check(healthy(1)); len(got) != 1 || !strings.Contains(got[0], "column") {
		t.Errorf("a level that cannot be read is held: %q", got)
	}
}

func FuzzObjective(f *testing.F) {
	f.Add("p99(tick)<0.6*period && lost(input)==0")
	f.Add("-1>=3/0 && kbps(down)<(1+2)")
	f.Fuzz(func(t *testing.T, text string) {
		if o, err := ParseObjective(text); err == nil {
			o.Failed(Level{}, healthy(3))
		} else if wrong := (*ObjectiveError)(nil); !errors.As(err, &wrong) || wrong.Column < 1 {
			t.Fatalf("%v", err)
		}
	})
}
