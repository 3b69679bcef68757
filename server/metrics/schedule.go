package metrics

import (
	"math"
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
	FullSpeed   *meter.Histogram // CPU time of a tick at the processor's full speed, ns; nil: not measured

	Skipped  meter.Counter // ticks given up after a stall
	CaughtUp meter.Counter // ticks played late, in a frame with others
	Overruns meter.Counter // ticks that took longer than their period

	level atomic.Int32 // overload.Level
	frame atomic.Int64 // start of the newest frame, ns by the clock of the loop; 0: none yet
	stale atomic.Bool  // what is pending was recorded before a Reset
	late  pendingTimes
	took  pendingTimes
}

// pendingTimes are times that are not yet in the histograms. A loop that plays many lobbies in turn
// finds the memory of none in the cache: a time takes one line of it here, and twelve in all
// histograms.
type pendingTimes struct {
	most  uint8 // 0 to keep none
	n     uint8
	nanos [maxPending]int32
}

// maxPending is the most times that are pending: an eighth of a second at 128 Hz.
const maxPending = 16

// keep keeps a time. full reports that the times must be poured out before the next call.
func (p *pendingTimes) keep(t time.Duration) (full bool) {
	p.nanos[p.n] = int32(t)
	p.n++
	return p.n == p.most
}

// keeps reports whether a time may be kept.
func (p *pendingTimes) keeps(t time.Duration) bool {
	return p.most > 0 && t >= 0 && t <= math.MaxInt32
}

// pour hands out the times and forgets them.
func (p *pendingTimes) pour(record func(int64)) {
	for _, t := range p.nanos[:p.n] {
		record(int64(t))
	}
	p.n = 0
}

// NewSchedule returns empty figures. Those of a lobby that shares its loop with others come up to
// maxPending ticks later.
func NewSchedule(shared bool) *Schedule {
	s := &Schedule{
		Lateness: meter.NewHistogram(0, meter.Fine), LatenessRaw: meter.NewHistogram(0, meter.Fine),
		Wall: meter.NewHistogram(0, meter.Fine), SinceStart: NewSeconds(),
	}
	if shared {
		s.late.most, s.took.most = maxPending, maxPending
	}
	return s
}

// maxSkippedRecords bounds what one stall adds to the lateness: a machine may have slept for hours.
const maxSkippedRecords = 1 << 12

// Frame records a frame of steps ticks. The first began late after its schedule, and skipped ticks
// before it were given up.
func (s *Schedule) Frame(period, late time.Duration, steps int, skipped uint64) {
	s.dropStale()
	if steps == 1 && skipped == 0 && s.late.keeps(late) {
		if s.late.keep(late) {
			s.pourLate()
		}
		return
	}
	s.pourLate()
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

// Took records the time elapsed in a tick.
func (s *Schedule) Took(t time.Duration) {
	s.dropStale()
	if !s.took.keeps(t) {
		s.Wall.Record(int64(t))
	} else if s.took.keep(t) {
		s.took.pour(s.Wall.Record)
	}
}

func (s *Schedule) pourLate() {
	s.late.pour(func(late int64) {
		s.tick(time.Duration(late))
		s.LatenessRaw.Record(late)
	})
}

// dropStale forgets what was pending at a Reset. SinceStart, which is never reset, still gets it.
func (s *Schedule) dropStale() {
	if s.stale.Load() && s.stale.CompareAndSwap(true, false) {
		s.late.pour(s.SinceStart.Record)
		s.took.n = 0
	}
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
	s.stale.Store(true)
	s.Lateness.Reset()
	s.LatenessRaw.Reset()
	s.Wall.Reset()
	if s.FullSpeed != nil {
		s.FullSpeed.Reset()
	}
}
