package host

import (
	"cmp"
	"slices"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/overload"
)

// idleWake is how often a worker reads its socket whose lobbies are not due.
const idleWake = 10 * time.Millisecond

// frozenWake is how often a worker looks for requests that has a lobby on the way to another host.
const frozenWake = 4 * time.Millisecond

// briskFor is for how long it does so after a request.
const briskFor = 300 * time.Millisecond

// relayWake is how often a worker reads its socket while other workers have players: the kernel deals
// datagrams out by their source, so that half of them or more reach a worker that has to pass them on.
const relayWake = time.Millisecond

// loop says when the lobbies of a worker play. It belongs to the goroutine of the worker.
type loop struct {
	lobbies []*hosted       // by ID; changed by replacing it
	due     []time.Duration // when each plays next
	turns   []turn          // of the phase in hand
	batch   []server.Due
	order   []int         // the turn of each entry of batch
	asleep  int           // of lobbies
	plans   []phasePlan   // by rate, of the lobbies with long ticks; see arrange
	woke    time.Duration // how late the thread woke, until a batch is played
	relay   bool          // the socket gets datagrams of other workers' lobbies
	brisk   time.Duration // until when the worker looks for requests every frozenWake
	load    loopLoad
}

// turn is what a lobby has to play now.
type turn struct {
	*hosted
	steps int
	late  time.Duration
	due   time.Duration // when the next of its ticks was due, or the first of those that were skipped
}

// plays reports whether ticks are left of the turn.
func (t *turn) plays() bool { return t.steps > 0 && t.pace.leaving == 0 }

// nextBatch gathers what is left of the turns: those of lobbies with long ticks only once no others
// are left.
func (l *loop) nextBatch() {
	l.batch, l.order = l.batch[:0], l.order[:0]
	short := slices.ContainsFunc(l.turns, func(t turn) bool { return t.plays() && !t.pace.long })
	for i := range l.turns {
		if t := &l.turns[i]; t.plays() && !(short && t.pace.long) {
			n := min(t.steps, t.rates.MaxBatch)
			l.batch = append(l.batch, server.Due{Lobby: t.lobby, Ticks: n})
			l.order = append(l.order, i)
		}
	}
}

// dropFrozen takes the lobbies out of the batch that stand still since it was gathered.
func (l *loop) dropFrozen() {
	n := 0
	for i, b := range l.batch {
		if t := &l.turns[l.order[i]]; t.pace.frozen {
			t.steps = 0
			continue
		}
		l.batch[n], l.order[n] = b, l.order[i]
		n++
	}
	l.batch, l.order = l.batch[:n], l.order[:n]
}

// played takes the ticks and the time of an entry of the batch from its turn, which it returns.
func (l *loop) played(entry int) *turn {
	t, b := &l.turns[l.order[entry]], &l.batch[entry]
	t.steps -= b.Ticks
	t.pace.busy += b.Took
	t.pace.took.add(b.Took / time.Duration(b.Ticks))
	return t
}

// loopLoad is how busy the loop is.
type loopLoad struct {
	busy  time.Duration // in this second
	share float64       // of the last second, 0 to 1
	work  int           // of the lobbies that were awake at the end of the last second
	spare spareTime
}

// crowded is the share of the processor from which a lobby may take no more than its part.
const crowded = 0.75

// slice is the time that a lobby may take for a tick: the whole period while the loop has time to
// spare, else a part of the period in proportion to its work. Lobbies that sleep leave their part to
// the others. A long tick may take no more than fits beside the short ones of many other lobbies. A
// lobby that needs more has to leave something out, before its neighbours are late; but nobody is
// kicked for that limit: on LowDetail a tick that took longer is within it.
func (l *loop) slice(x *hosted, took time.Duration) time.Duration {
	period, own := x.pace.ticks.Period(), x.work()
	if limit := x.pace.limit; limit > 0 {
		if x.pace.load.Level() >= overload.LowDetail {
			limit = max(limit, took)
		}
		period = min(period, limit)
	}
	if l.load.share < crowded || own >= l.load.work {
		return period
	}
	return period * time.Duration(own) / time.Duration(l.load.work)
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
	l.load.work = 0
	ticks := 0.0
	for _, x := range l.lobbies {
		if !x.pace.asleep {
			l.load.work += x.work()
		}
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
	if now < l.brisk {
		due = min(due, now+frozenWake)
	}
	if l.relay {
		due = min(due, now+relayWake)
	}
	return due
}
