package host

import (
	"cmp"
	"slices"
	"time"

	"github.com/tickrate/tickrate/server"
)

// idleWake is how often a worker reads its socket whose lobbies are not due.
const idleWake = 10 * time.Millisecond

// relayWake is how often a worker reads its socket while other workers have players: the kernel deals
// datagrams out by their source, so that half of them or more reach a worker that has to pass them on.
const relayWake = time.Millisecond

// loop says when the lobbies of a worker play. It belongs to the goroutine of the worker.
type loop struct {
	lobbies []*hosted       // by ID; changed by replacing it
	due     []time.Duration // when each plays next
	turns   []turn          // of the phase in hand
	batch   []server.Due
	asleep  int         // of lobbies
	plans   []phasePlan // by rate, of the lobbies with long ticks; see arrange
	relay   bool        // the socket gets datagrams of other workers' lobbies
	load    loopLoad
}

// turn is what a lobby has to play now.
type turn struct {
	*hosted
	steps int
	late  time.Duration
}

// plays reports whether ticks are left of the turn.
func (t *turn) plays() bool { return t.steps > 0 && t.pace.leaving == 0 }

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
	due := now + idleWake
	if len(l.due) > 0 {
		due = slices.Min(l.due)
	}
	if l.asleep > 0 {
		due = min(due, now+idleWake)
	}
	if l.relay {
		due = min(due, now+relayWake)
	}
	return due
}
