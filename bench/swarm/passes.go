package swarm

import (
	"runtime"
	"sync/atomic"
	"time"
)

// maxCrowding is how many passes a slot may have, in eighths of its equal share. Players that follow
// the same server ticks want to send at the same instants; a slot with all of them would be late
// and make the next ones late.
const maxCrowding = 10

// clockError is the part of a tick by which a client's clock may run slower than expected.
const clockError = 20

// passTable says which player may play when. A pass lets one player decide and send. The driver and
// its backup share it.
type passTable struct {
	due   []atomic.Int64 // by player: ns, nothing to do before
	busy  []atomic.Bool  // by player: locked by a sender
	queue queue
	latch latch // closed while the driver touches more than single players
}

// tryLock locks player i, unless it is locked.
func (t *passTable) tryLock(i int) bool { return t.busy[i].CompareAndSwap(false, true) }

func (t *passTable) unlock(i int) { t.busy[i].Store(false) }

// lock locks player i. The other sender has it for microseconds, or until its thread runs again.
func (t *passTable) lock(i int) {
	for !t.tryLock(i) {
		runtime.Gosched()
	}
}

// queue hands out the passes of a schedule's slots: to due players in a round robin, as many as fit
// into a slot. The others have theirs in the next. Several senders may play one slot.
type queue struct {
	at   atomic.Int64 // newest slot times maxPasses, plus the passes that it has left
	next atomic.Int64 // player that is checked first
}

// maxPasses is more than a slot has passes.
const maxPasses = 1 << 20

// slot is the newest slot.
func (q *queue) slot() int64 { return q.at.Load() / maxPasses }

// begin starts a slot with a number of passes. False if it, or a later one, has started.
func (q *queue) begin(slot int64, passes int) bool {
	for {
		at := q.at.Load()
		if at/maxPasses >= slot {
			return false
		}
		if q.at.CompareAndSwap(at, slot*maxPasses+int64(passes)) {
			return true
		}
	}
}

// take takes one of a slot's passes, if one is left.
func (q *queue) take(slot int64) bool {
	for {
		at := q.at.Load()
		if at/maxPasses != slot || at%maxPasses == 0 {
			return false
		}
		if q.at.CompareAndSwap(at, at-1) {
			return true
		}
	}
}

// passesPerSlot is how many passes a slot has.
func (s *Swarm) passesPerSlot() int { return len(s.players)*maxCrowding/8/int(s.slots()) + 1 }

// sweep plays a slot: its passes go to the players that are due at the instant now and not locked.
// It ends when no pass is left, or when goOn, which is called after each pass, returns false: then
// all is false.
func (h *sender) sweep(slot int64, now time.Duration, goOn func(i int) bool) (all bool) {
	s, t := h.s, &h.s.passes
	h.begin(slot)
	// Of this slot.
	due := int64(min(now, time.Duration(slot+1)*s.period()) - s.cfg.Rate.Period()/clockError)
	i := int(t.queue.next.Load())
	for range s.players {
		was := t.due[i].Load()
		if due >= was && (!h.blindOnly || s.cfg.blind(i)) && t.tryLock(i) {
			if was = t.due[i].Load(); due < was { // the other sender was here just now
				t.unlock(i)
			} else if t.queue.take(slot) {
				h.step(i, now, now-time.Duration(was))
				more := goOn(i)
				t.unlock(i)
				t.queue.next.Store(int64((i + 1) % len(s.players)))
				if !more {
					h.recordLate()
					return false
				}
			} else {
				t.unlock(i)
				break
			}
		}
		if i++; i == len(s.players) {
			i = 0
		}
	}
	h.recordLate()
	return true
}

// latch admits a second goroutine while its owner keeps it open. The zero value is closed.
type latch struct{ open, in atomic.Bool }

// enter enters if the latch is open; leave must follow, soon after closing.
func (g *latch) enter() bool {
	g.in.Store(true)
	if g.open.Load() {
		return true
	}
	g.in.Store(false)
	return false
}

func (g *latch) leave() { g.in.Store(false) }

// closing reports whether the owner wants the goroutine inside to leave.
func (g *latch) closing() bool { return !g.open.Load() }

// tryClose closes the latch if nobody is inside.
func (g *latch) tryClose() bool {
	if g.open.Store(false); !g.in.Load() {
		return true
	}
	g.open.Store(true)
	return false
}

// close closes the latch and waits until nobody is inside.
func (g *latch) close() {
	for g.open.Store(false); g.in.Load(); {
		runtime.Gosched()
	}
}
