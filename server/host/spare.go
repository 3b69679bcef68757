package host

import (
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

const (
	spareWindow = 100 * time.Millisecond // over which the idle time of a loop is measured
	spareShare  = 0.5                    // of the idle time, for connection requests beyond the budget
)

// spareTime lets a netcode server open more tokens while its loop is idle.
type spareTime struct {
	since, busy time.Duration
}

// add counts what the loop was busy until now.
func (s *spareTime) add(now, busy time.Duration, of *netcode.Server) {
	s.busy += busy
	if gone := now - s.since; gone >= spareWindow {
		of.SetSpare(spareShare * (1 - s.busy.Seconds()/gone.Seconds()))
		s.since, s.busy = now, 0
	}
}
