package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
)

// TestFirstSnapshotsOutOfOrder: who looks at the first snapshot that came does not go back to an older one that comes late; it waits until
// the render clock has passed the first.
func TestFirstSnapshotsOutOfOrder(t *testing.T) {
	c := Client{rate: 60, state: Joined, peer: packet.NewPeer(0, packet.Config{})}
	c.welcome.SendInterval, c.cfg.Every = 3, 1
	c.held.add(693)
	c.render.begun, c.render.at = true, c.rate.At(688)
	step := func() tick.View {
		c.render.at += c.rate.Period()
		c.look(0)
		return c.view
	}
	first := tick.View{From: 693, To: 693}
	if v := step(); v != first {
		t.Fatalf("with one snapshot: %v", v)
	}
	c.held.add(690)
	c.held.add(696)
	for c.render.at < c.rate.At(692) {
		if v := step(); v != first {
			t.Fatalf("at %v: %v after %v", c.render.at, v, first)
		}
	}
	c.render.at = c.rate.At(694) + time.Microsecond
	if c.look(0); c.view.From != 693 || c.view.To != 696 {
		t.Errorf("behind the first: %v", c.view)
	}
}
