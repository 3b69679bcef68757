package metrics

import (
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/internal/meter"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
)

// A sampler selects the first event and one of Every on average; distances stay below twice that.
func TestSamplerRate(t *testing.T) {
	for _, every := range []int{1, 3, 16, 1024} {
		s, n, last := NewSampler(every, samplerSeed), 0, -1
		events := 2000 * every
		for i := range events {
			if !s.Due() {
				continue
			}
			if n == 0 && i != 0 || last >= 0 && i-last >= 2*every && every > 1 {
				t.Fatalf("one of %d: sample %d after %d events", every, n, i-last)
			}
			n, last = n+1, i
		}
		if want := float64(events / every); math.Abs(float64(n)-want) > 0.05*want {
			t.Errorf("one of %d: %d samples of %d events", every, n, events)
		}
	}
	for s, i := NewSampler(-1, samplerSeed), 0; i < 2; i++ {
		if s.Due() {
			t.Errorf("a sampler of none selects event %d", i)
		}
	}
}

// A sparse timer measures the ticks whose stages it times, with the same sums, and reads no clock in
// any other.
func TestSparseTickTimer(t *testing.T) {
	var now time.Duration
	reads, timed := 0, 0
	read := func() time.Duration { now += time.Microsecond; reads++; return now }
	var s Stats
	s.Histograms = NewHistograms(true)
	timer := NewTickTimer(read, read, func(Stage) {})
	timer.Sparse = true
	for range 1000 {
		was := reads
		timer.Begin()
		timer.Enter(StageOpen)
		timer.End(&s)
		if timer.times.Timed {
			timed++
		} else if reads != was {
			t.Fatalf("%d clocks read in a tick that is not timed", reads-was)
		}
	}
	if n := int(s.Tick.Count()); timed < 40 || timed > 90 || n != timed {
		t.Errorf("%d of 1000 ticks timed, %d recorded", timed, n)
	}
	sum, mean := 0.0, SpreadOf(s.Tick.Summary(), time.Millisecond).Mean
	for _, c := range s.StageCosts(mean) {
		sum += c.Mean
	}
	if math.Abs(sum-mean) > 1e-6*mean {
		t.Errorf("stages of %v ms, ticks of %v", sum, mean)
	}
}

// Timers of lobbies that are made together time different ticks.
func TestTickTimersOfLobbiesDiffer(t *testing.T) {
	const lobbies, ticks = 100, 5000
	read := func() time.Duration { return 0 }
	var s Stats
	s.Histograms = NewHistograms(true)
	var timers [lobbies]TickTimer
	for i := range timers {
		timers[i] = NewTickTimer(read, nil, func(Stage) {})
		timers[i].Sparse = true
		timers[i].Seed(uint32(i))
	}
	for tick := range ticks {
		timed := 0
		for i := range timers {
			timers[i].Begin()
			timers[i].End(&s)
			if timers[i].times.Timed {
				timed++
			}
		}
		if tick >= 2*timeEvery && timed > lobbies/4 { // the first tick of each is timed
			t.Fatalf("%d of %d lobbies time tick %d: expected about %d", timed, lobbies, tick, lobbies/timeEvery)
		}
	}
}

// The stages of a timed tick add up to its CPU time, the means of all stages to the mean of all
// ticks, and a tick allocates nothing.
func TestTickTimerStagesAddUp(t *testing.T) {
	var now time.Duration
	read := func() time.Duration { now += time.Microsecond; return now }
	var s Stats
	s.Histograms = NewHistograms(true)
	timer := NewTickTimer(read, read, func(Stage) {})
	tick := func() {
		timer.Begin()
		for stage := StageOpen; int(stage) < NumStages; stage++ {
			timer.Enter(stage)
		}
		timer.End(&s)
	}
	for range 1000 {
		if tick(); timer.Last().Timed {
			sum := time.Duration(0)
			for _, d := range timer.Last().Stages {
				sum += d
			}
			if sum != timer.Last().CPU-time.Microsecond && sum != timer.Last().CPU {
				t.Fatalf("stages of %v in a tick of %v", sum, timer.Last().CPU)
			}
		}
	}
	sum, mean := 0.0, SpreadOf(s.Tick.Summary(), time.Millisecond).Mean
	for _, c := range s.StageCosts(mean) {
		sum += c.Mean
	}
	if math.Abs(sum-mean) > 1e-6*mean {
		t.Errorf("stages of %v ms, ticks of %v", sum, mean)
	}
	if n := s.Stage[StageOpen].Count(); n < 40 || n > 90 {
		t.Errorf("%d of 1000 ticks timed, one of 16 should be", n)
	}
	if n := alloctest.In(100, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// Each byte of a packet and its datagram is in one section.
func TestSectionEndsAddUp(t *testing.T) {
	for _, e := range []SectionEnds{
		{},
		{Reliable: packet.HeaderSize + 3, Head: 30, Owner: 50, Objects: 90, ObjectHead: 4, Effects: 95, Rows: 200},
	} {
		var n [NumSections]uint64
		e.addTo(&n, 210, 230)
		sum := uint64(0)
		for _, bytes := range n {
			sum += bytes
		}
		if sum != 230 {
			t.Errorf("%+v: %d bytes of 230: %v", e, sum, n)
		}
	}
}

// Counters and sections have distinct names.
func TestNamesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for c := range NumCounts {
		if name := c.String(); name == "" || seen[name] {
			t.Errorf("counter %d is %q", c, name)
		}
		seen[c.String()] = true
	}
	clear(seen)
	for s := range NumSections {
		if name := s.String(); name == "" || seen[name] {
			t.Errorf("section %d is %q", s, name)
		}
		seen[s.String()] = true
	}
}

// Skipped ticks count as late, and a stall of hours adds a bounded number of records.
func TestScheduleCountsSkippedTicks(t *testing.T) {
	s := NewSchedule(false)
	const period = 10 * time.Millisecond
	s.Frame(period, time.Millisecond, 2, 3)
	if s.Lateness.Count() != 5 || s.Skipped.Load() != 3 || s.CaughtUp.Load() != 1 ||
		s.LatenessRaw.Count() != 1 {
		t.Errorf("%d late, %d skipped, %d caught up", s.Lateness.Count(), s.Skipped.Load(), s.CaughtUp.Load())
	}
	if worst := time.Duration(s.Lateness.Max()); worst < 30*time.Millisecond {
		t.Errorf("the worst lateness is %v", worst)
	}
	s.Reset()
	s.Frame(period, 0, 1, 1<<30)
	if s.Lateness.Count() > maxSkippedRecords+1 {
		t.Errorf("%d records of one stall", s.Lateness.Count())
	}
}

// The figures of a lobby among others are those of a lobby alone, some ticks later. A reset drops
// what is pending.
func TestPendingTimesOfASchedule(t *testing.T) {
	alone, shared := NewSchedule(false), NewSchedule(true)
	const period = 10 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 2))
	tick := func(late, took time.Duration, steps int, skipped uint64) {
		for _, s := range []*Schedule{alone, shared} {
			s.Frame(period, late, steps, skipped)
			s.Took(took)
		}
	}
	play := func(ticks int) {
		for range ticks {
			switch rng.IntN(20) {
			case 0:
				tick(2*period, 3*time.Second, 2, 1)
			case 1:
				tick(-time.Microsecond, period, 1, 0)
			default:
				tick(time.Duration(rng.IntN(1e6)), time.Duration(rng.IntN(1e6)), 1, 0)
			}
		}
	}
	play(1000)
	alone.Reset()
	shared.Reset()
	play(500)
	tick(2*period, 0, 2, 0) // pours the lateness of the ticks before
	for range maxPending {  // ... and these the times
		tick(0, 0, 1, 0)
	}
	for _, h := range [][2]*meter.Histogram{{alone.Lateness, shared.Lateness}, {alone.LatenessRaw, shared.LatenessRaw},
		{alone.Wall, shared.Wall}} {
		if a, b := h[0].Count(), h[1].Count(); a-b < 0 || a-b >= maxPending {
			t.Errorf("%d records alone, %d among others", a, b)
		}
		if a, b := h[0].Max(), h[1].Max(); a != b {
			t.Errorf("maximum %d alone, %d among others", a, b)
		}
	}
	if a, b := alone.SinceStart.Read().Count, shared.SinceStart.Read().Count; a-b >= maxPending {
		t.Errorf("%d records since the start alone, %d among others", a, b)
	}
	if n := alloctest.In(100, func() { tick(1, 1, 1, 0) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}
