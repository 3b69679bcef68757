package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// TestRow44EveryInputSinceTheAck: each packet has all commands that the server is not known to
// have, at most sim.MaxWindow: an outage of up to the buffer's length costs no tick.
func TestRow44EveryInputSinceTheAck(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 441, extras: 1})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	longest := 0
	s.afterFrame = func(time.Duration, *testClient) {
		c := s.client
		cmds := c.uplink.unacked(&c.predict)
		longest = max(longest, len(cmds))
		for i, cmd := range cmds {
			if want := cmds[0].Tick + tick.Tick(i); cmd.Tick != want {
				t.Fatalf("command %d of the window is of tick %d, want %d", i, cmd.Tick, want)
			}
		}
		if n := len(cmds); n > 0 && (cmds[n-1].Tick != c.predict.Newest ||
			n < sim.MaxWindow && c.predict.Issued(cmds[0].Tick-1) && cmds[0].Tick > c.uplink.acked+1) {
			t.Fatalf("commands %d to %d, the newest is %d and %d is acknowledged",
				cmds[0].Tick, cmds[n-1].Tick, c.predict.Newest, c.uplink.acked)
		}
	}
	l.run(3 * time.Second)
	for silence := 1; silence <= 5; silence++ { // ticks
		// a buffer of six ticks once it is lowered by one
		s.client.clock.Predicted.Boost = 5 * l.rules.Rate.Period()
		l.run(4 * time.Second)
		before := *l.inbox(s)
		for range 20 {
			s.up.loss = 1
			l.run(time.Duration(silence) * l.rules.Rate.Period())
			s.up.loss = 0
			l.run(300 * time.Millisecond)
		}
		if in := l.inbox(s); in.Missing != before.Missing || in.Conflict != 0 {
			t.Errorf("silences of %d ticks: %d ticks without their command",
				silence, in.Missing-before.Missing)
		}
	}
	s.up.loss = 1
	l.run(time.Second)
	if longest != sim.MaxWindow {
		t.Errorf("windows of up to %d commands, want %d", longest, sim.MaxWindow)
	}
}
