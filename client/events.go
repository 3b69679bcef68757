package client

import (
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

// events is a queue of the match's events that overwrites its oldest.
type events struct {
	pending  bool // NextEvent may have one
	ring     ringbuf.Ring[sim.Event]
	received uint64
	resets   [2]uint64 // of the clocks, as EventReset has told
}

func (q *events) add(e sim.Event) {
	if q.received == 0 {
		q.ring = ringbuf.New[sim.Event](maxEvents)
	}
	q.ring.Push(e)
	q.received++
}

// NextEvent returns the next event, each once and in the order of the server, and an EventReset
// where a clock was set anew.
func (c *Client) NextEvent() (sim.Event, bool) {
	q := &c.events
	if !q.pending {
		return sim.Event{}, false
	}
	if e, ok := q.ring.Pop(); ok {
		return e, true
	}
	return c.nextReset()
}

// nextReset returns the EventReset that is due.
func (c *Client) nextReset() (sim.Event, bool) {
	resets := [...]uint64{ResetPredicted: c.clock.Predicted.Resets, ResetRender: c.clock.Render.Resets}
	for part, n := range resets {
		told := &c.events.resets[part]
		if n == *told {
			continue
		}
		at := c.clock.Predicted.At
		if rig.Part(part) == ResetRender {
			at = c.clock.Render.At
		}
		t, _ := c.clock.Rate.Since(at)
		count := uint16(min(n-*told, 1<<16-1))
		e := sim.Event{Kind: EventReset, Part: rig.Part(part), Tick: t, Actor: c.ID(), Amount: count}
		*told = n
		return e, true
	}
	c.events.pending = false
	return sim.Event{}, false
}
