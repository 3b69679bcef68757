package swarm

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/meter"
)

// Figures are what the players experienced, and whether the swarm kept its schedule, since they were last reset.
type Figures struct {
	Age            *meter.Histogram // of the newest snapshot, sampled by every player each four ticks, ns
	RTT            *meter.Histogram // smoothed, sampled likewise, ns
	Late           *meter.Histogram // how long after the begin of its slot each player had sent, ns, with the turns that were left out: each as late as it would have been
	Played         *meter.Histogram // likewise, without those
	StealCorrected *meter.Histogram // what Late would be had the machine taken nothing, see clock.StealCorrected: the same where it is not known what it took, and of turns that the relief played

	RunDelay RunDelay // by the machine

	Sent

	BytesDown      uint64
	DatagramsDown  uint64
	Mispredictions uint64
	Shots          uint64
	Fetched        uint64 // models and arenas that the server sent, as they were not here
	Said           uint64 // lines for the chat
	Churned        uint64 // players who left, each followed by another
	Observations   uint64 // times that the first client of a lobby looked who is there
	Seen           uint64 // others whom it saw, all times together
	Elapsed        time.Duration
	CPU            time.Duration // of the driving thread, and of its relief

	Sampled          int           // players whose datagrams are accounted for
	SampledDatagrams uint64        // that their sockets gave
	SampledBytes     uint64        // in those
	Meter            *client.Meter // of the same
}

func newFigures() Figures {
	return Figures{Age: meter.NewHistogram(0), RTT: meter.NewHistogram(0), Late: meter.NewHistogram(0), Played: meter.NewHistogram(0), StealCorrected: meter.NewHistogram(0), Meter: client.NewMeter()}
}

func (f *Figures) reset() {
	f.Age.Reset()
	f.RTT.Reset()
	f.Late.Reset()
	f.Played.Reset()
	f.StealCorrected.Reset()
	f.Meter.Reset()
	*f = Figures{Age: f.Age, RTT: f.RTT, Late: f.Late, Played: f.Played, StealCorrected: f.StealCorrected, Sampled: f.Sampled, Meter: f.Meter}
}

// RunDelay is what the machine took from the sending thread while it wanted to run: its run delay, as far as it was not other threads of the
// swarm that ran.
type RunDelay struct {
	Known    bool          // whether the system tells; else the rest is 0
	All      time.Duration // in all
	Bursts   uint64        // times that it took Burst or more at once
	InBursts time.Duration // of All
	Longest  time.Duration // at once

	LateWakes uint64        // times that the thread woke later than it asked to by Burst or more, beside what was taken: its timer was late
	Overslept time.Duration // in those; not part of All, and of nothing that is left out

	Stolen      time.Duration // by a hypervisor, of the processors that the swarm may use, to 10 ms; not part of All, and of nothing that is left out
	StolenKnown bool
}

// Burst is what the machine takes at once that makes several slots late.
const Burst = 500 * time.Microsecond

// woke adds a wake-up that was so much later than was asked for, beside what was taken.
func (t *RunDelay) woke(late time.Duration) {
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

// maxLateShare is the part of all turns that may break the budget before the figures are void.
const maxLateShare = 0.01

// MaxLate is the lateness that a swarm keeps to on an idle machine, at p99.9.
const MaxLate = 2 * time.Millisecond

// OnSchedule is whether it did. Figures may be of use that did not: Void says when they are not.
func (f *Figures) OnSchedule() bool { return f.Turns > 0 && f.Late.Quantile(0.999) < int64(MaxLate) }

// OnScheduleCorrected is whether it did but for what the machine took from it: then what made it late is the machine, and not the work.
func (f *Figures) OnScheduleCorrected() bool {
	return f.Turns > 0 && f.StealCorrected.Quantile(0.999) < int64(MaxLate)
}

// Void says why the figures are worth nothing, or "" if they are good: the generator proves itself.
func (f *Figures) Void() string {
	switch {
	case f.Sends == 0:
		return "the swarm sent nothing"
	case float64(f.LateTurns) > maxLateShare*float64(f.Turns):
		return fmt.Sprintf("the swarm did not keep its schedule: %.1f %% of what it sent was over half a tick late",
			100*float64(f.LateTurns)/float64(f.Turns))
	}
	return ""
}
