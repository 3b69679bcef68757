package client

import (
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
)

// maxEvents is how many events wait for NextEvent.
const maxEvents = 256

// EventReset is the Kind of the one event that no server sends: a clock was too far off to be steered
// and was set anew. Actor is the player, Tick where the clock is, Amount how often it happened since the
// last such event. Part is ResetPredicted, where commands jump to other ticks, or ResetRender, where
// the picture jumps.
const EventReset sim.EventKind = 0xff

// The clocks of an EventReset.
const (
	ResetPredicted rig.Part = iota
	ResetRender
)

// events is a queue of the match's events that overwrites its oldest.
type events struct {
	pending  bool // NextEvent may have one
	in, out  uint64
	ring     []sim.Event // allocated with the first
	overrun  uint64      // overwritten because NextEvent was not called
	received uint64
	resets   [2]uint64 // of the clocks, as EventReset has told
}

func (q *events) add(e sim.Event) {
	if q.in-q.out == maxEvents {
		q.out++
		q.overrun++
	}
	if q.ring == nil {
		q.ring = make([]sim.Event, maxEvents)
	}
	q.ring[q.in%maxEvents] = e
	q.in++
	q.received++
}

// NextEvent returns the next event, each once and in the order of the server, and an EventReset where
// a clock was set anew.
func (c *Client) NextEvent() (sim.Event, bool) {
	q := &c.events
	if !q.pending {
		return sim.Event{}, false
	}
	if q.in == q.out {
		return c.nextReset()
	}
	e := q.ring[q.out%maxEvents]
	q.out++
	return e, true
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
		e := sim.Event{Kind: EventReset, Part: rig.Part(part), Tick: t, Actor: c.ID(), Amount: uint16(min(n-*told, 1<<16-1))}
		*told = n
		return e, true
	}
	c.events.pending = false
	return sim.Event{}, false
}
