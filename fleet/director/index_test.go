package director

import (
	"testing"

	"github.com/tickrate/tickrate/fleet/announce"
)

// TestHoldsLevelAtItsLimits: a host takes players as long as it does not drain and both figures are
// below their limits.
func TestHoldsLevelAtItsLimits(t *testing.T) {
	x := newIndex(limits{busy: 0.75, tickUS: 8000})
	for _, c := range []struct {
		host announce.Host
		want bool
	}{
		{announce.Host{Busy: 0.74, TickUS: 7999}, true},
		{announce.Host{Busy: 0.75, TickUS: 7999}, false},
		{announce.Host{Busy: 0.74, TickUS: 8000}, false},
		{announce.Host{Busy: 0.74, TickUS: 7999, Draining: true}, false},
	} {
		if got := x.holdsLevel(&hostEntry{Host: c.host}); got != c.want {
			t.Errorf("busy %g, tick %g us, draining %v: %v", c.host.Busy, c.host.TickUS, c.host.Draining, got)
		}
	}
}
