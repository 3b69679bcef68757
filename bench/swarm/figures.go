package swarm

import (
	"time"

	"github.com/tickrate/tickrate/internal/meter"
)

// Figures are what the players experienced, and whether the swarm kept its schedule, since they were last reset.
type Figures struct {
	Age  *meter.Histogram // of the newest snapshot, sampled by every player each tick, ns
	RTT  *meter.Histogram // smoothed, sampled likewise, ns
	Late *meter.Histogram // how late each slot of the schedule began, ns

	Ticks          uint64 // command ticks of all players
	Sends          uint64 // datagrams sent
	LateSends      uint64 // sent later than Budget after their scheduled instant
	Missed         uint64 // slots of the schedule that were given up
	BytesUp        uint64
	BytesDown      uint64
	DatagramsDown  uint64
	Lost           uint64 // packages of the server that never came
	Mispredictions uint64
	Resets         uint64 // clocks that had to jump
	Shots          uint64
	Elapsed        time.Duration
	CPU            time.Duration // of the driving thread
}

func newFigures() Figures {
	return Figures{Age: meter.NewHistogram(0), RTT: meter.NewHistogram(0), Late: meter.NewHistogram(0)}
}

func (f *Figures) reset() {
	f.Age.Reset()
	f.RTT.Reset()
	f.Late.Reset()
	*f = Figures{Age: f.Age, RTT: f.RTT, Late: f.Late}
}

// Budget is the latest that a slot of the schedule may begin and still count as kept: half a tick at 60 Hz.
const Budget = 8 * time.Millisecond

// lateShare is the part of all sends that may break the budget before the figures are void.
const lateShare = 0.01

// Void says why the figures are worth nothing, or "" if they are good: the generator proves itself.
func (f *Figures) Void() string {
	switch {
	case f.Sends == 0:
		return "the swarm sent nothing"
	case f.Missed > 0:
		return "the swarm gave up slots of its schedule"
	case float64(f.LateSends) > lateShare*float64(f.Sends):
		return "more than 1 % of the swarm's sends were over 8 ms late"
	}
	return ""
}
