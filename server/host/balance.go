package host

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server"
)

const (
	uneven = 0.15 // difference of two workers' shares of a processor from which lobbies move
	even   = 0.05 // difference at which no more move

	// maxMoves is the most lobbies that a worker gives away at a time: each is silent for up to a tick.
	maxMoves = 8

	// moveEvery is the least time from one round of moves to the next. It covers a whole second, for
	// which shares are measured, after all lobbies have arrived.
	moveEvery = 2500 * time.Millisecond
)

// shares are what a worker shows the others of its load.
type shares struct {
	busy     atomic.Uint64 // bits of a float64: share of a processor in the last second
	sessions atomic.Int64  // as of the last second
	seen     []float64     // of all workers; belongs to the worker
	uneven   int           // seconds in a row in which the shares were so
	moved    meter.Counter // lobbies that were given away
}

// busyShare is the share of a processor that the worker took in the last second, 0 to 1.
func (w *worker) busyShare() float64 { return math.Float64frombits(w.shares.busy.Load()) }

// relays reports whether other workers have sessions, and shows them those of this one.
func (h *Host) relays(of *worker) (relay bool) {
	of.shares.sessions.Store(int64(of.netcode().Connected()))
	for _, w := range h.workers {
		relay = relay || w != of && w.shares.sessions.Load() > 0
	}
	return relay
}

// arrival is a lobby on its way from one worker to another.
type arrival struct {
	lobby    *hosted
	sessions *server.Moving
	from     *worker
	waiting  []job // of its work for the background
}

// leastBusy returns the worker for a new lobby: of those that are about as busy as the least busy one,
// the one with the least work. Any goroutine may call it.
func (h *Host) leastBusy() (best *worker) {
	work := make([]int, len(h.workers))
	for _, x := range *h.list.Load() {
		work[x.worker.Load().index] += x.work()
	}
	shares := make([]float64, len(h.workers)) // read once: they change
	for i, w := range h.workers {
		shares[i] = w.busyShare()
	}
	least := slices.Min(shares)
	for i, w := range h.workers {
		if shares[i]-least <= uneven && (best == nil || work[i] < work[best.index]) {
			best = w
		}
	}
	return best
}

// balance gives lobbies to the least busy worker if this one is the busiest, and by much for two
// seconds. It is called once a second, between ticks.
func (w *worker) balance(now time.Duration) {
	h, s := w.host, &w.shares
	if len(h.workers) == 1 {
		return
	}
	s.seen = s.seen[:0]
	for _, other := range h.workers {
		s.seen = append(s.seen, other.busyShare())
	}
	to := leastOf(s.seen)
	if busiestOf(s.seen) != w.index || s.seen[w.index]-s.seen[to] <= uneven {
		s.uneven = 0
		return
	}
	last := h.balanced.Load()
	if s.uneven++; s.uneven < 2 || now-time.Duration(last) < moveEvery {
		return
	}
	room := h.workers[to].room()
	loads := make([]float64, len(w.loop.lobbies))
	for i, x := range w.loop.lobbies {
		if x.pace.leaving == 0 && x.slots <= room {
			loads[i] = x.pace.share
		}
	}
	moves := chooseMoves(s.seen[w.index]-s.seen[to], loads)
	if len(moves) == 0 || !h.balanced.CompareAndSwap(last, int64(now)) {
		return
	}
	for _, i := range moves {
		x := w.loop.lobbies[i]
		if room -= x.slots; room >= 0 {
			x.pace.to = h.workers[to]
			w.depart(x)
		}
	}
}

// room is the number of free sessions of the worker as of the last second. Any goroutine may call it.
func (w *worker) room() int { return w.host.sessions.Clients - int(w.shares.sessions.Load()) }

// busiestOf returns the index of the greatest share, the first of several.
func busiestOf(shares []float64) (best int) {
	for i, s := range shares {
		if s > shares[best] {
			best = i
		}
	}
	return best
}

// leastOf returns the index of the smallest share, the first of several.
func leastOf(shares []float64) (best int) {
	for i, s := range shares {
		if s < shares[best] {
			best = i
		}
	}
	return best
}

// chooseMoves returns which lobbies a worker gives to another one, given the difference of their
// shares and the loads of its lobbies: the one that leaves the smallest difference first, until it
// is even or no move makes it much smaller.
func chooseMoves(difference float64, loads []float64) (moves []int) {
	for len(moves) < maxMoves && difference > even {
		best, left := -1, difference
		for i, load := range loads {
			if after := math.Abs(difference - 2*load); load > 0 && after < left {
				best, left = i, after
			}
		}
		if best < 0 || len(moves) == 0 && difference-left < even/4 {
			return moves
		}
		moves = append(moves, best)
		difference -= 2 * loads[best]
		loads[best] = 0
	}
	return moves
}

// move gives a lobby to another worker.
func (w *worker) move(now time.Duration, x *hosted, to *worker) {
	x.pace.to = nil
	_ = w.port.Flush(now, w.sock) // an error shows at the next tick
	sessions := w.port.Detach(now, x.lobby)
	if sessions == nil {
		return
	}
	w.loop.wake(now, x) // its clock is that of a lobby that plays
	w.loop.remove(x)
	w.backlog.flush()
	w.shares.moved.Inc()
	a := arrival{lobby: x, sessions: sessions, from: w, waiting: w.backlog.take(x)}
	x.worker.Store(to)
	to.inbox <- a // it has room for all lobbies
}

// takeArrivals takes in the lobbies that move here. It runs between ticks.
func (w *worker) takeArrivals(now time.Duration) {
	for range len(w.inbox) {
		a := <-w.inbox
		if err := w.takeArrival(now, &a); err != nil {
			w.host.log.Error("lobby goes back to its worker", "lobby", a.lobby.name(), "err", err)
			back := a.from
			a.from = w
			a.lobby.worker.Store(back)
			back.inbox <- a
		}
	}
}

// takeArrival takes in a lobby that moves here. With an error nothing has changed.
func (w *worker) takeArrival(now time.Duration, a *arrival) error {
	if err := w.port.Attach(now, a.sessions); err != nil {
		return err
	}
	x := a.lobby
	x.moveMarks(w.capture)
	w.loop.adopt(x)
	w.backlog.waiting = append(w.backlog.waiting, a.waiting...)
	w.faulted-- // a fault of its work is looked for anew
	if x.lobby.Console().Pending() > 0 {
		w.requests.stepping = append(w.requests.stepping, x)
	}
	return nil
}
