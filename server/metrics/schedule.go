package metrics

import (
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/overload"
)

// Schedule holds the figures of the loop that paces a lobby. The loop writes, any goroutine reads.
// Lateness counts from the scheduled instant, and skipped ticks count as late: a schedule that
// moves must not hide its reason.
type Schedule struct {
	Lateness    *meter.Histogram // of all ticks, ns
	LatenessRaw *meter.Histogram // of the first tick of each frame, ns
	Wall        *meter.Histogram // time elapsed in a tick, ns
	SinceStart  *meter.Native    // as Lateness, never reset

	Skipped  meter.Counter // ticks given up after a stall
	CaughtUp meter.Counter // ticks played late, in a frame with others
	Overruns meter.Counter // ticks that took longer than their period

	level atomic.Int32 // overload.Level
	frame atomic.Int64 // start of the newest frame, ns by the clock of the loop; 0: none yet
}

// NewSchedule returns empty figures.
func NewSchedule() *Schedule {
	return &Schedule{
		Lateness: meter.NewHistogram(0, meter.Fine), LatenessRaw: meter.NewHistogram(0, meter.Fine),
		Wall: meter.NewHistogram(0, meter.Fine), SinceStart: NewSeconds(),
	}
}

// maxSkippedRecords bounds what one stall adds to the lateness: a machine may have slept for hours.
const maxSkippedRecords = 1 << 12

// Frame records a frame of steps ticks. The first began late after its schedule, and skipped ticks
// before it were given up.
func (s *Schedule) Frame(period, late time.Duration, steps int, skipped uint64) {
	for i := range steps {
		s.tick(late - time.Duration(i)*period)
	}
	s.CaughtUp.Add(uint64(max(0, steps-1)))
	for i := range min(skipped, maxSkippedRecords) {
		s.tick(late + time.Duration(i+1)*period)
	}
	s.Skipped.Add(skipped)
	s.LatenessRaw.Record(int64(late))
}

func (s *Schedule) tick(late time.Duration) {
	s.Lateness.Record(int64(late))
	s.SinceStart.Record(int64(late))
}

// Begin notes that a frame begins at now.
func (s *Schedule) Begin(now time.Duration) { s.frame.Store(int64(now)) }

// Began returns the start of the newest frame, 0 before the first.
func (s *Schedule) Began() time.Duration { return time.Duration(s.frame.Load()) }

// SetLevel publishes the load level of the lobby.
func (s *Schedule) SetLevel(l overload.Level) { s.level.Store(int32(l)) }

// Level returns the load level of the lobby.
func (s *Schedule) Level() overload.Level { return overload.Level(s.level.Load()) }

// Reset clears the histograms but SinceStart. The tick may record meanwhile.
func (s *Schedule) Reset() {
	s.Lateness.Reset()
	s.LatenessRaw.Reset()
	s.Wall.Reset()
}
