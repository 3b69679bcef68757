package client

import (
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
)

// maxEvents is how many events wait for NextEvent.
const maxEvents = 256

// EventReset is the Kind of the one event that no server sends: a clock was too far off to be
// steered and was set anew. Actor is the player, Tick where the clock is, Amount how often it
// happened since the last such event. Part is ResetPredicted, where commands jump to other ticks,
// or ResetRender, where the picture jumps.
const EventReset sim.EventKind = 0xff

// The clocks of an EventReset.
const (
	ResetPredicted rig.Part = iota
	ResetRender
)

// events is the queue of the match's events.
type events struct {
	pending bool // NextEvent may have one
	ring    ringbuf.Ring[sim.Event]
	resets  [2]uint64 // of the clocks, as EventReset has reported
}

// NextEvent returns the next event, each once and in the order of the server, and an EventReset
// where a clock was set anew. The oldest of more than 256 are lost.
func (c *Client) NextEvent() (sim.Event, bool) {
	q := &c.events
	if !q.pending {
		return sim.Event{}, false
	}
	if e, ok := q.ring.Pop(); ok {
		return e, true
	}
	e, ok := q.nextReset(&c.clock)
	e.Actor = c.ID()
	return e, ok
}

// nextReset returns the EventReset that is due.
func (q *events) nextReset(clocks *clock.Clocks) (sim.Event, bool) {
	for part, now := range [...]struct {
		resets uint64
		at     time.Duration
	}{
		ResetPredicted: {clocks.Predicted.Resets, clocks.Predicted.At},
		ResetRender:    {clocks.Render.Resets, clocks.Render.At},
	} {
		if reported := &q.resets[part]; now.resets != *reported {
			t, _ := clocks.Rate.Since(now.at)
			count := uint16(min(now.resets-*reported, 1<<16-1))
			*reported = now.resets
			return sim.Event{Kind: EventReset, Part: rig.Part(part), Tick: t, Amount: count}, true
		}
	}
	q.pending = false
	return sim.Event{}, false
}
