package host

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// The lobbies of a batch share its CPU time, at full speed, as they share the time elapsed; a lobby
// that played several ticks has as much of each.
func TestSpeedOfABatch(t *testing.T) {
	s := newSpeed(meter.NewHistogram(0, meter.Fine))
	now := time.Duration(0)
	s.yardstick = clock.NewYardstick(func() time.Duration { now += 10 * time.Microsecond; return now })
	var l loop
	for i, b := range []server.Due{{Ticks: 1, Took: time.Second}, {Ticks: 2, Took: 3 * time.Second}} {
		x := &hosted{schedule: metrics.NewSchedule(false)}
		x.schedule.FullSpeed = meter.NewHistogram(0, meter.Fine)
		l.turns, l.batch, l.order = append(l.turns, turn{hosted: x}), append(l.batch, b), append(l.order, i)
	}
	s.begin()
	s.began -= 8 * time.Second // as if it had played for that long
	s.end(time.Second, &l)
	for i, want := range []time.Duration{2 * time.Second, 3 * time.Second} {
		h := l.turns[i].schedule.FullSpeed
		if got := time.Duration(h.Max()); got < want || got > want+time.Second || h.Count() != 1 {
			t.Errorf("lobby %d: %v a tick in %d records, expected %v and a little more", i, got, h.Count(), want)
		}
	}
	if got := s.slowdowns.Max(); got != int64(clock.SlowdownUnit) {
		t.Errorf("slowdown %d, expected %d", got, clock.SlowdownUnit)
	}
	(*speed)(nil).begin()
	(*speed)(nil).end(0, &l)
}

// A host that is to measure the speed of its processor reports it, and every tick at full speed.
func TestHostReportsItsSpeed(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.Slowdown = meter.NewHistogram(0, meter.Fine)
	h, stop := running(t, cfg)
	defer stop()
	var r metrics.Report
	eventually(t, "ticks are measured", func() bool {
		r = figures(t, "http://"+h.HTTPAddr())
		return r.TickFullSpeed != nil && r.TickFullSpeed.Max > 0 && r.Slowdown != nil && r.Slowdown.Max > 0
	})
	if r.Slowdown.Mean < 1 { // exact, where a quantile is the middle of a bucket
		t.Errorf("slowdown %+v, expected a mean of 1 or more", r.Slowdown)
	}
}
