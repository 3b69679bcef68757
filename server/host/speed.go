package host

import (
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
)

// speed measures how fast the processor of a worker runs beside its ticks.
type speed struct {
	yardstick *clock.Yardstick
	slowdowns *meter.Histogram // in SlowdownUnit
	began     time.Duration    // CPU time of the thread when it began to play the batch
}

// SlowdownUnit is what Config.Slowdown counts a slowdown of 1 as: a processor at full speed.
const SlowdownUnit = time.Second

// newSpeed returns nil if slowdowns is nil: then nothing is measured.
func newSpeed(slowdowns *meter.Histogram) *speed {
	if slowdowns == nil {
		return nil
	}
	return &speed{yardstick: clock.NewYardstick(clock.ThreadCPU), slowdowns: slowdowns}
}

// begin notes that the worker begins to play a batch of lobbies.
func (s *speed) begin() {
	if s != nil {
		s.began = clock.ThreadCPU()
	}
}

// end notes that it has played the turns. Each lobby has the part of the CPU time, at full speed,
// that it has of the time elapsed.
func (s *speed) end(now time.Duration, l *loop) {
	if s == nil || len(l.batch) == 0 {
		return
	}
	cpu := float64(clock.ThreadCPU() - s.began)
	slowdown, fresh := s.yardstick.Slowdown(now)
	if fresh {
		s.slowdowns.Record(int64(slowdown * float64(SlowdownUnit)))
	}
	all := time.Duration(0)
	for _, b := range l.batch {
		all += b.Took
	}
	for i, b := range l.batch {
		share := float64(b.Took) / float64(max(all, 1))
		t := &l.turns[l.order[i]]
		t.schedule.FullSpeed.Record(int64(cpu / slowdown * share / float64(b.Ticks)))
	}
}
