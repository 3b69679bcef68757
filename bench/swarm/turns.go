package swarm

import (
	"sync/atomic"
	"time"
)

// maxCrowding is by how much more than its part of all players a slot may have to send, in eighths. Players who hear of the same ticks want to
// send at the same instants; a slot that let them all would be late, and make the next ones late.
const maxCrowding = 10

// clockError is the part of a tick by which a client's clock may run slower than was expected.
const clockError = 20

// queue is who has a turn in the slots of a schedule: whoever is due, one after the other round all of them, as many as fit into a slot. The
// others have it in the next one. Several hands may play one slot: each turn is one's.
type queue struct {
	at   atomic.Int64 // the slot that was begun last, times maxTurns, and how many turns are left of it
	next atomic.Int64 // player who is asked first
}

// maxTurns is more than a slot has turns.
const maxTurns = 1 << 20

// slot is the one that was begun last.
func (q *queue) slot() int64 { return q.at.Load() / maxTurns }

// begin begins a slot of so many turns, and reports whether it, or a later one, had not begun yet.
func (q *queue) begin(slot int64, turns int) bool {
	for {
		at := q.at.Load()
		if at/maxTurns >= slot {
			return false
		}
		if q.at.CompareAndSwap(at, slot*maxTurns+int64(turns)) {
			return true
		}
	}
}

// turn takes one of a slot's turns, if one is left.
func (q *queue) turn(slot int64) bool {
	for {
		at := q.at.Load()
		if at/maxTurns != slot || at%maxTurns == 0 {
			return false
		}
		if q.at.CompareAndSwap(at, at-1) {
			return true
		}
	}
}

// turns is how many a slot has.
func (s *Swarm) turns() int { return len(s.bots)*maxCrowding/8/slots + 1 }

// sweep plays a slot for thousands: of its turns, each goes to who is due at the instant now and in nobody's hand. It ends when none is left, or when on, which is asked after
// each, says no: then it was not all.
func (h *sender) sweep(slot int64, now time.Duration, on func(i int) bool) (all bool) {
	s := h.s
	h.beginSlot(slot)
	due := int64(min(now, time.Duration(slot+1)*s.period()) - s.cfg.Rate.Period()/clockError) // and not of the slots after it
	i := int(s.queue.next.Load())
	for range s.bots {
		was := s.due[i].Load()
		if due >= was && (!h.blind || s.bare(i)) && s.tryLock(i) {
			if was = s.due[i].Load(); due < was { // it had its turn just now
				s.unlock(i)
			} else if s.queue.turn(slot) {
				h.step(i, now, now-time.Duration(was))
				more := on(i)
				s.unlock(i)
				s.queue.next.Store(int64((i + 1) % len(s.bots)))
				if !more {
					h.recordLate()
					return false
				}
			} else {
				s.unlock(i)
				break
			}
		}
		if i++; i == len(s.bots) {
			i = 0
		}
	}
	h.recordLate()
	return true
}
