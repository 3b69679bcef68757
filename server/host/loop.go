package host

import (
	"cmp"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
)

// maxPhases is the number of instants in a period at which lobbies play. The lobbies of a phase read
// the socket once, and their datagrams leave together.
const maxPhases = 8

// idleWake is how often a worker reads its socket whose lobbies are not due.
const idleWake = 10 * time.Millisecond

// loop says when the lobbies of a worker play. It belongs to the goroutine of the worker.
type loop struct {
	lobbies []*hosted       // by ID; changed by replacing it
	due     []time.Duration // when each plays next
	turns   []turn          // of the phase in hand
	batch   []server.Due
	asleep  int // of lobbies
	load    loopLoad
}

// turn is what a lobby has to play now.
type turn struct {
	*hosted
	steps int
	late  time.Duration
}

// loopLoad is how busy the loop is.
type loopLoad struct {
	busy  time.Duration // in this second
	share float64       // of the last second, 0 to 1
	spare spareTime
}

// crowded is the share of the processor from which a lobby may take no more than its part.
const crowded = 0.75

// slice is the time that a lobby may take for a tick: the whole period while the loop has time to
// spare, else its part of the period. A lobby that needs more is the one that has to leave
// something out, before its neighbours are late.
func (l *loop) slice(period time.Duration) time.Duration {
	if l.load.share < crowded {
		return period
	}
	return period / time.Duration(max(1, len(l.lobbies)))
}

// insert gives a lobby to the loop that has played in none. now is the clock of the worker.
func (l *loop) insert(now time.Duration, x *hosted) {
	l.setPhase(x, l.freePhase(l.work()), now)
	x.pace.second = now + time.Second + time.Duration(len(l.lobbies))*10*time.Millisecond%time.Second
	l.add(x)
}

// adopt gives a lobby to the loop that has played in another one. It keeps its clock, unless its
// phase is crowded here.
func (l *loop) adopt(x *hosted) {
	work := l.work()
	if free := l.freePhase(work); work[x.pace.phase] > work[free]+x.work() {
		timescale := x.pace.ticks.timescale
		l.setPhase(x, free, x.pace.ticks.Due()-x.pace.ticks.Period())
		x.pace.ticks.Dilate(timescale)
	}
	l.add(x)
}

// setPhase gives a lobby a clock of a phase, first due within two periods of an instant.
func (l *loop) setPhase(x *hosted, phase int, from time.Duration) {
	x.pace.phase = phase
	offset := time.Duration(phase) * x.rates.Simulation.Period() / maxPhases
	x.pace.ticks = newClockAt(x.rates, offset, from)
}

func (l *loop) add(x *hosted) {
	i, _ := slices.BinarySearchFunc(l.lobbies, x.id(), func(y *hosted, id uint32) int {
		return cmp.Compare(y.id(), id)
	})
	l.lobbies = slices.Insert(slices.Clone(l.lobbies), i, x)
	l.due = slices.Insert(l.due, i, x.pace.ticks.Due())
}

// remove takes a lobby from the loop.
func (l *loop) remove(x *hosted) {
	if i := slices.Index(l.lobbies, x); i >= 0 {
		l.rouse(x)
		l.lobbies = slices.Delete(slices.Clone(l.lobbies), i, i+1)
		l.due = slices.Delete(l.due, i, i+1)
	}
}

// work is how much a lobby may have to do: slots played in a second.
func (x *hosted) work() int { return x.lobby.Config().Players * int(x.rates.Simulation) }

// work is the work of the lobbies by phase.
func (l *loop) work() (work [maxPhases]int) {
	for _, x := range l.lobbies {
		work[x.pace.phase] += x.work()
	}
	return work
}

// freePhase returns the phase with the least work. Few lobbies share few phases: each phase costs a
// wake-up.
func (l *loop) freePhase(work [maxPhases]int) int {
	phases := min(maxPhases, 1+len(l.lobbies)/4)
	best := 0
	for phase := range phases {
		if work[phase] < work[best] {
			best = phase
		}
	}
	return best
}

// measureShares begins a new second. elapsed is what the last one took.
func (l *loop) measureShares(elapsed time.Duration) {
	l.load.share, l.load.busy = l.load.busy.Seconds()/elapsed.Seconds(), 0
	ticks := 0.0
	for _, x := range l.lobbies {
		x.pace.share, x.pace.busy = x.pace.busy.Seconds()/elapsed.Seconds(), 0
		ticks += x.pace.share
	}
	if ticks == 0 {
		return
	}
	for _, x := range l.lobbies { // what the loop does for all of them counts, too
		x.pace.share *= l.load.share / ticks
	}
}

// next is when the loop has to wake.
func (l *loop) next(now time.Duration) time.Duration {
	if len(l.due) == 0 {
		return now + idleWake
	}
	due := slices.Min(l.due)
	if l.asleep > 0 {
		due = min(due, now+idleWake)
	}
	return due
}

// newClockAt returns a clock on the grid of all clocks with the same rate and offset, so that they
// are due at the same instants. Its first tick is due within two periods.
func newClockAt(cfg ClockConfig, offset, now time.Duration) *Clock {
	c := NewClock(cfg, offset)
	if now > offset {
		c.count = 1 + tick.Tick((now-offset)/cfg.Simulation.Period())
	}
	return c
}
