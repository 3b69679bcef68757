package client

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

func TestEventsOverrun(t *testing.T) {
	c := Client{events: events{pending: true}}
	for i := range 300 {
		c.events.add(sim.Event{Kind: sim.EventHit, Tick: tick.Tick(i + 1)})
	}
	if s := c.events; s.ring.Lost() != 300-maxEvents || s.received != 300 {
		t.Errorf("overrun %d of %d", s.ring.Lost(), s.received)
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
