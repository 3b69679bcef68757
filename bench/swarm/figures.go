package swarm

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/meter"
)

// Figures are what the players experienced, and how the swarm kept its schedule, since the last
// Reset.
type Figures struct {
	Age *meter.Histogram // of the newest snapshot, a sample of each player every four ticks, ns
	RTT *meter.Histogram // smoothed, sampled likewise, ns
	// From a slot's start until a pass's datagrams were sent, ns; with skipped passes.
	Late *meter.Histogram

	Played *meter.Histogram // Late without skipped passes
	// Late without run delay, see clock.StealCorrected; Late where that is not known.
	StealCorrected *meter.Histogram

	RunDelay RunDelay

	Sent

	BytesDown      uint64
	DatagramsDown  uint64
	Mispredictions uint64
	Shots          uint64
	Fetched        uint64 // models and maps that a server sent
	Said           uint64 // chat lines
	Churned        uint64 // players that left and were replaced
	Observations   uint64 // times that the first player of a lobby looked around
	Seen           uint64 // other players that it saw, all times together
	Elapsed        time.Duration
	CPU            time.Duration // of the driving thread and its backup

	Sampled          int           // players that count the bits they receive
	SampledRefused   int           // of them, those that a server has refused
	SampledDatagrams uint64        // from their sockets
	SampledBytes     uint64        // in those
	Meter            *client.Meter // of the same
}

func newFigures() Figures {
	fine := func() *meter.Histogram { return meter.NewHistogram(0, meter.Fine) }
	return Figures{
		Age: fine(), RTT: fine(), Late: fine(), Played: fine(), StealCorrected: fine(),
		Meter: client.NewMeter(),
	}
}

func (f *Figures) reset() {
	for _, h := range []*meter.Histogram{f.Age, f.RTT, f.Late, f.Played, f.StealCorrected} {
		h.Reset()
	}
	f.Meter.Reset()
	*f = Figures{
		Age: f.Age, RTT: f.RTT, Late: f.Late, Played: f.Played, StealCorrected: f.StealCorrected,
		Sampled: f.Sampled, SampledRefused: f.SampledRefused, Meter: f.Meter,
	}
}

// RunDelay is the time that the machine took from the sending thread while it was runnable, less
// that of other threads of the swarm.
type RunDelay struct {
	Known    bool          // the system tells; otherwise the rest is 0
	All      time.Duration // in total
	Bursts   uint64        // times that it took Burst or more at once
	InBursts time.Duration // of All
	Longest  time.Duration // at once

	// Wake-ups later than requested by Burst or more, beside run delay: a late timer.
	LateWakes uint64
	Overslept time.Duration // in those; not part of All, and not corrected for

	Stolen      time.Duration // by a hypervisor, of the swarm's processors, to 10 ms; likewise
	StolenKnown bool
}

// Burst is a run delay that makes several slots late.
const Burst = 500 * time.Microsecond

// addWake counts a wake-up that was that much later than requested, beside run delay.
func (t *RunDelay) addWake(late time.Duration) {
	if late >= Burst {
		t.LateWakes++
		t.Overslept += late
	}
}

func (t *RunDelay) add(d time.Duration) {
	t.All += d
	t.Longest = max(t.Longest, d)
	if d >= Burst {
		t.Bursts++
		t.InBursts += d
	}
}

// maxLateShare is the share of late passes that makes the figures void.
const maxLateShare = 0.01

// MaxLate is the 99.9th percentile of Late that a swarm keeps on an idle machine.
const MaxLate = 2 * time.Millisecond

// OnSchedule reports whether the swarm kept MaxLate. Figures may be valid without that, see Void.
func (f *Figures) OnSchedule() bool { return f.Passes > 0 && f.Late.Quantile(0.999) < int64(MaxLate) }

// OnScheduleCorrected reports whether it did apart from run delay: then the machine made it late.
func (f *Figures) OnScheduleCorrected() bool {
	return f.Passes > 0 && f.StealCorrected.Quantile(0.999) < int64(MaxLate)
}

// Void says why the figures are not valid, "" if they are.
func (f *Figures) Void() string {
	switch {
	case f.Sends == 0:
		return "the swarm sent nothing"
	case float64(f.LatePasses) > maxLateShare*float64(f.Passes):
		late := 100 * float64(f.LatePasses) / float64(f.Passes)
		return fmt.Sprintf("the swarm did not keep its schedule: "+
			"%.1f %% of passes were over half a tick late", late)
	}
	return ""
}
