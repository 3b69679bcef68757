package swarm

import (
	"fmt"
	"time"
)

// Sent counts what players decided and sent.
type Sent struct {
	Ticks     uint64 // command ticks of all players
	LateTicks uint64 // of them, those made so late that the server may have missed them: our fault, not its
	Turns     uint64 // times that a player had its turn in the schedule, those that were left out included
	LateTurns uint64 // of them, those that had sent over half a tick late, or were left out
	ByBackup  uint64 // of them, those that a relief played
	Sends     uint64 // datagrams
	BytesUp   uint64
}

func (a *Sent) add(b Sent) {
	a.Ticks += b.Ticks
	a.LateTicks += b.LateTicks
	a.Turns += b.Turns
	a.LateTurns += b.LateTurns
	a.ByBackup += b.ByBackup
	a.Sends += b.Sends
	a.BytesUp += b.BytesUp
}

// sender is who lets players decide and send: the driver of a swarm, or its relief. One goroutine owns each, and has the player who is at hand;
// what it counts is its own until the driver gathers it.
type sender struct {
	s         *Swarm
	blind     bool // it has bare players only
	sent      Sent
	err       error // of the first datagram that could not be sent
	view      Observation
	slot      int64 // that is played
	n         int   // players who had their turn in it since it was last told how late
	sentUntil func() (now, own time.Duration)
}

// chunk is how many players have their turn between two looks at the clock: each is as late as the last of them.
const chunk = 8

// beginSlot begins to play a slot.
func (h *sender) beginSlot(slot int64) { h.slot, h.n = slot, 0 }

// step lets player i decide at the instant now about the ticks that are due, and send; late is how much later that is than it should be for the server to
// have the commands in time.
func (h *sender) step(i int, now, late time.Duration) {
	s, b := h.s, &h.s.bots[i]
	now = max(now, b.at) // the other hand may have seen a later instant
	b.at = now
	for due := b.client.Advance(now); due > 0; due-- {
		b.client.Command(b.brain.Decide(h.observe(i)))
		h.sent.Ticks++
		if late > s.slack(b) {
			h.sent.LateTicks++
		}
	}
	h.send(i, now)
	s.due[i].Store(int64(b.client.Due()))
	if h.n++; h.n == chunk {
		h.recordLate()
	}
}

// send sends what player i has to say.
func (h *sender) send(i int, now time.Duration) {
	out := h.s.bots[i].client.Outgoing(now)
	for k := range out.Len() {
		_, data := out.At(k)
		h.sent.Sends++
		h.sent.BytesUp += uint64(len(data))
		if err := h.s.fleet[i%len(h.s.fleet)].Send(i/len(h.s.fleet), data); err != nil && h.err == nil {
			h.err = fmt.Errorf("player %d: %w", i, err)
		}
	}
}

// observe is what bot i decides by: a bare one knows nothing.
func (h *sender) observe(i int) *Observation {
	h.view = Observation{Tick: 1, Rate: h.s.cfg.Rate}
	if !h.s.bare(i) {
		h.s.observe(i, &h.view)
	}
	return &h.view
}

// recordLate notes how late those are who had their turn since it did so last: how long after the begin of the slot.
func (h *sender) recordLate() {
	if h.n == 0 {
		return
	}
	now, own := h.sentUntil()
	due := time.Duration(h.slot) * h.s.period()
	h.s.Figures.Played.RecordN(int64(now-due), int64(h.n))
	h.late(now-due, own-due, h.n)
	h.n = 0
}

// late counts turns that had sent, or would have, so long after their slot's begin, and in the swarm's own schedule.
func (h *sender) late(by, own time.Duration, turns int) {
	f := &h.s.Figures
	f.Late.RecordN(int64(by), int64(turns))
	f.StealCorrected.RecordN(int64(max(own, 0)), int64(turns))
	h.sent.Turns += uint64(turns)
	if by > h.s.cfg.Rate.Period()/2 {
		h.sent.LateTurns += uint64(turns)
	}
}
