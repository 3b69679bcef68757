package slo

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
)

// A step that fails by elapsed time alone says where the time went; one that fails by CPU time says
// whether it would hold at the processor's full speed.
func TestCause(t *testing.T) {
	for i, c := range []struct {
		spoil func(*measure.Step)
		want  string // a part; "" for no cause
	}{
		{func(*measure.Step) {}, ""},
		{func(s *measure.Step) { s.TickCPUMillis.P99, s.TickWallMillis.P99 = 11, 14 }, ""},
		{func(s *measure.Step) { s.InputsLost = 1 }, ""},
		{func(s *measure.Step) { s.TickWallMillis.P99, s.HiccupMillis.Max = 14, 9 },
			"p99 of a tick is 14.0 ms elapsed and 4.0 ms of CPU: other threads, of the server or of the machine, ran on its processor"},
		{func(s *measure.Step) { s.TickWallMillis.P99, s.HiccupMillis.Max = 14, 0.4 },
			"the processor was free, as a thread that only sleeps woke at most 0.4 ms late"},
		{func(s *measure.Step) { s.TickWallMillis.P99, s.ServerCores = 14, 0.9 },
			"the server used 0.90 cores, and its own threads probably wait for each other"},
	} {
		s := healthy(100)
		c.spoil(&s)
		got := Default().Judge(s).Cause
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	for i, c := range []struct {
		full float64 // p99 of a tick at full speed, ms
		want string
	}{
		{8, "at p99, and 1.10 times on average. At full speed the step would hold: p99 of a tick would be 8.0 ms of CPU, about 8.7 ms elapsed"},
		{10.5, "At full speed the step would fail, too: p99 of a tick would be 10.5 ms of CPU, about 11.5 ms elapsed"},
		{0, ""}, // not measured
	} {
		s := healthy(100)
		s.TickCPUMillis.P99, s.TickWallMillis.P99 = 11, 12
		s.FullSpeedMillis.P99, s.Slowdown = c.full, measure.Quantiles{P99: 1.5, Mean: 1.1}
		got := Default().Judge(s).Cause
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("full speed %d: %q, want %q", i, got, c.want)
		}
	}
	s, o := healthy(100), MustCompile(Level{Expr: "p999(elapsed) < 10"})
	s.TickWallMillis = measure.Quantiles{P50: 2, P99: 4, P999: 30, Max: 40, Mean: 2}
	s.HiccupMillis.Max = 29
	if got := o.Judge(s).Cause; !strings.Contains(got, "p99.9 of a tick is 30.0 ms elapsed and 5.0 ms of CPU") {
		t.Errorf("%q", got)
	}
}
