package host

import (
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
)

// speed measures, after each batch of lobbies, how fast the processor of a worker runs, and records the
// CPU time of each tick at full speed. A nil speed does nothing.
type speed struct {
	yardstick *clock.Yardstick
	slowdowns *meter.Histogram // in clock.SlowdownUnit
	began     time.Duration    // the thread's CPU time at the start of the batch
}

// newSpeed returns nil if slowdowns is nil.
func newSpeed(slowdowns *meter.Histogram) *speed {
	if slowdowns == nil {
		return nil
	}
	return &speed{yardstick: clock.NewYardstick(clock.ThreadCPU), slowdowns: slowdowns}
}

// begin notes that the worker begins to play a batch.
func (s *speed) begin() {
	if s != nil {
		s.began = clock.ThreadCPU()
	}
}

// end measures after the batch of a loop. It divides the CPU time of the batch by the slowdown, splits
// it among the lobbies by the times elapsed in them, and records the mean of each lobby's ticks. A
// lobby that waited gets too large a share. now is the time of the worker's pacer.
func (s *speed) end(now time.Duration, l *loop) {
	if s == nil || len(l.batch) == 0 {
		return
	}
	cpu := float64(clock.ThreadCPU() - s.began)
	slowdown, fresh := s.yardstick.Slowdown(now)
	if fresh {
		s.slowdowns.Record(int64(slowdown * float64(clock.SlowdownUnit)))
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
