package client

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/sim"
)

func TestEventsOverrun(t *testing.T) {
	c := Client{events: events{pending: true, ring: ringbuf.New[sim.Event](maxEvents)}}
	for i := range 300 {
		c.events.ring.Push(sim.Event{Kind: sim.EventHit, Tick: tick.Tick(i + 1)})
	}
	if r := &c.events.ring; r.Lost() != 300-maxEvents || r.Added() != 300 {
		t.Errorf("overrun %d of %d", r.Lost(), r.Added())
	}
	for want := tick.Tick(300 - maxEvents + 1); want <= 300; want++ {
		if e, ok := c.NextEvent(); !ok || e.Tick != want {
			t.Fatalf("%+v, want tick %d", e, want)
		}
	}
	if _, ok := c.NextEvent(); ok {
		t.Error("one too many")
	}
}
