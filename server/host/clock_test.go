package host

import (
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/overload"
)

// Invalid rates are refused with what was expected, and zero fields have the documented defaults.
func TestClockConfig(t *testing.T) {
	for i, c := range []struct {
		cfg      ClockConfig
		interval int
		want     string
	}{
		0:  {ClockConfig{}, 3, ""},
		1:  {ClockConfig{60, 20, 4, 4}, 3, ""},
		2:  {ClockConfig{Simulation: 128}, 6, ""},
		3:  {ClockConfig{Simulation: 20}, 1, ""},
		4:  {ClockConfig{Simulation: 60, Network: 60}, 1, ""},
		5:  {ClockConfig{Simulation: 60, Network: 3}, 20, ""},
		6:  {ClockConfig{Simulation: 19}, 0, "tick rate 19 Hz: expected 20 to 144"},
		7:  {ClockConfig{Simulation: 60, Network: 61}, 0, "61 snapshots a second at 60 Hz: expected 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60"},
		8:  {ClockConfig{Simulation: 60, Network: 2}, 0, "expected 3, 4, 5"},
		9:  {ClockConfig{Network: -1}, 0, "-1 snapshots a second"},
		10: {ClockConfig{MaxSteps: 17}, 0, "17 steps a frame: expected 1 to 16"},
		11: {ClockConfig{MaxSteps: 2, MaxBatch: 3}, 0, "batches of 3 steps: expected 1 to 2"},
		12: {ClockConfig{MaxBatch: -1}, 0, "batches of -1 steps: expected 1 to 4"},
		13: {ClockConfig{Simulation: 60, Network: 25}, 0, "25 snapshots a second at 60 Hz: expected 3, 4"},
		14: {ClockConfig{Simulation: 75, Network: 25}, 3, ""},
		15: {ClockConfig{Simulation: 61, Network: 20}, 0, "20 snapshots a second at 61 Hz: expected 61, so"},
	} {
		got, interval, err := c.cfg.Check()
		if c.want == "" && (err != nil || interval != c.interval || got.MaxSteps < 1 ||
			got.MaxBatch < 1 || !got.Simulation.Valid()) {
			t.Errorf("%d: %+v, %d, %v", i, got, interval, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

// machine is a host in virtual time: a clock, and the cost of frames. cost is that of n ticks that
// begin at an instant.
type machine struct {
	now     time.Duration
	clock   *Clock
	cost    func(now time.Duration, n int) time.Duration
	played  int
	most    int // ticks of a frame
	givenUp uint64
	late    time.Duration // the worst
}

// until runs frames up to an instant.
func (m *machine) until(end time.Duration) {
	for m.now < end {
		m.now = max(m.now, m.clock.Due())
		steps, late, givenUp := m.clock.Frame(m.now)
		m.played, m.most, m.givenUp, m.late = m.played+steps, max(m.most, steps), m.givenUp+
			givenUp, max(m.late, late)
		m.now += m.cost(m.now, steps)
	}
}

// TestRow66TickRateConfig is row 66 of docs/features.md: at 60 ticks and 20 snapshots a second,
// with at most four steps a frame, a stall of a second costs that second once. The clock catches
// up where it can, counts the skipped ticks, and is on time again at once.
func TestRow66TickRateConfig(t *testing.T) {
	for _, batch := range []int{1, 4} {
		cfg, interval, err := ClockConfig{60, 20, 4, batch}.Check()
		if err != nil || interval != 3 {
			t.Fatal(interval, err)
		}
		m := machine{clock: NewClock(cfg, 0)}
		stalled := false
		m.cost = func(now time.Duration, n int) time.Duration {
			if !stalled && now >= 10*time.Second {
				stalled = true
				return time.Second
			}
			// a spiral needs little: each tick is half of its period
			return time.Duration(n) * 8 * time.Millisecond
		}
		m.until(10 * time.Second)
		if m.played != 599 && m.played != 600 || m.most != 1 || m.givenUp != 0 ||
			m.late != 0 || m.clock.Caught != 0 {
			t.Fatalf("before: %+v", m)
		}
		m.until(11*time.Second + 1)
		m.until(12 * time.Second) // within a second all is as it was
		if m.most != 4 || m.givenUp < 55 || m.givenUp > 57 || m.clock.Stalls > 2 ||
			m.clock.Skipped != m.givenUp || m.clock.Caught < 3 || m.clock.Caught > 8 {
			t.Errorf("the stall: most %d, %d given up, %+v", m.most, m.givenUp, m.clock)
		}
		played, caught := m.played, m.clock.Caught
		m.late, m.most = 0, 0
		m.until(22 * time.Second)
		if n := m.played - played; n < 599 || n > 601 || m.late != 0 || m.most != 1 ||
			m.clock.Caught != caught {
			t.Errorf("after: %d ticks in 10 s, %v late, %d at once", n, m.late, m.most)
		}
		if total := uint64(m.played) + m.givenUp; total < 22*60-1 || total > 22*60+1 {
			t.Errorf("%d ticks played and given up in 22 s", total)
		}
	}
}

// A machine that is too slow for its rate plays as many ticks as it can, and falls no further
// behind than the steps of a frame. It is on time as soon as the load is gone.
func TestRow66NoSpiral(t *testing.T) {
	for _, steps := range []int{1, 4, 16} {
		cfg, _, _ := ClockConfig{MaxSteps: steps}.Check()
		m := machine{clock: NewClock(cfg, 0)}
		// of 16.7
		m.cost = func(_ time.Duration, n int) time.Duration {
			return time.Duration(n) * 25 * time.Millisecond
		}
		m.until(10 * time.Second)
		if m.played < 390 || m.played > 410 || m.late > time.Duration(steps+1)*25*time.Millisecond ||
			uint64(m.played)+m.givenUp < 600-uint64(2*steps) {
			t.Errorf("%d steps: %d played, %d given up, at most %v late", steps, m.played, m.givenUp, m.late)
		}
		m.cost = func(time.Duration, int) time.Duration { return time.Millisecond }
		m.until(11 * time.Second)
		played := m.played
		m.late = 0
		m.until(21 * time.Second)
		if n := m.played - played; n < 599 || n > 601 || m.late > time.Microsecond {
			t.Errorf("%d steps: afterwards %d in 10 s, %v late", steps, n, m.late)
		}
	}
}

// Ticks are due at even distances for hours, at rates whose period is no whole number of
// nanoseconds, and at any timescale.
func TestClockKeepsTime(t *testing.T) {
	for _, rate := range []tick.Rate{20, 60, 64, 128} {
		cfg, _, _ := ClockConfig{Simulation: rate}.Check()
		c := NewClock(cfg, 0)
		n := 0
		for ; c.Due() <= time.Hour; n++ {
			if steps, late, up := c.Frame(c.Due()); steps != 1 || late != 0 || up != 0 {
				t.Fatalf("%d Hz, tick %d: %d steps, %v late, %d given up", rate, n, steps, late, up)
			}
		}
		if n != 3600*int(rate) {
			t.Errorf("%d Hz: %d ticks in an hour", rate, n)
		}
		c.Dilate(overload.SlowMotion.Timescale())
		at := c.Due()
		for range 4 * int(rate) {
			c.Frame(c.Due())
		}
		if took := c.Due() - at; took < 4999*time.Millisecond || took > 5001*time.Millisecond {
			t.Errorf("%d Hz: four seconds of the match took %v", rate, took)
		}
		c.Dilate(protocol.FullTimescale)
		if d := c.Due() - at + rate.Period()/4; c.Period() != rate.Period() ||
			d < 5*time.Second-time.Microsecond || d > 5*time.Second+time.Microsecond {
			t.Errorf("%d Hz: the next tick %v after", rate, d)
		}
		if steps, _, _ := c.Frame(c.Due() - 1); steps != 0 {
			t.Error("a tick before it is due")
		}
	}
}

// TestRow66Ladder is the overload ladder in virtual time, with invented costs: each level makes a
// tick cheaper by what it leaves out, the lobby goes no higher than it must, stays there under the
// load, and returns in reverse order.
func TestRow66Ladder(t *testing.T) {
	for _, c := range []struct {
		load float64 // of a tick without shedding, in periods
		want overload.Level
	}{{0.9, overload.Normal}, {1.2, overload.HalfRate}, {1.5, overload.QuarterRate},
		{1.7, overload.LowDetail}, {1.85, overload.NoSpectators}, {1.95, overload.SlowMotion},
		{2.5, overload.SlowMotion}} {
		cfg, _, _ := ClockConfig{}.Check()
		m := machine{clock: NewClock(cfg, 0)}
		var o overload.Controller
		load, now, path := c.load, overload.Normal, []overload.Level{}
		m.cost = func(_ time.Duration, n int) time.Duration {
			took := time.Duration(float64(time.Second/60) * load * shedCost(now))
			for range n {
				level, changed := o.Tick(took, m.clock.Period())
				if now = level; changed {
					path = append(path, level)
					m.clock.Dilate(level.Timescale())
				}
			}
			return time.Duration(n) * took
		}
		m.until(60 * time.Second)
		if now != c.want {
			t.Errorf("load %v: on %v, want %v, by %v", c.load, now, c.want, path)
		}
		for i, level := range path {
			if level != overload.Level(i+1) {
				t.Errorf("load %v: %v", c.load, path)
				break
			}
		}
		n := len(path)
		m.until(120 * time.Second)
		if len(path) != n {
			t.Errorf("load %v: it goes up and down: %v", c.load, path)
		}
		load = 0.3
		m.until(120*time.Second + time.Duration(n)*16*time.Second)
		if now != overload.Normal || m.clock.Period() != tick.Rate(60).Period() {
			t.Errorf("load %v: afterwards on %v, %v", c.load, now, path)
		}
		for i, level := range path[n:] {
			if level != overload.Level(n-1-i) {
				t.Errorf("load %v: down by %v", c.load, path[n:])
			}
		}
	}
}

// shedCost is the remaining cost of a tick at a load level, in this test: of 1, snapshots are 0.45
// and spectators 0.02.
func shedCost(s overload.Level) float64 {
	cost := 1.0
	if s >= overload.HalfRate {
		cost -= 0.2
	}
	if s >= overload.QuarterRate {
		cost -= 0.15
	}
	if s >= overload.LowDetail {
		cost -= 0.07
	}
	if s >= overload.NoSpectators {
		cost -= 0.05
	}
	return cost
}
