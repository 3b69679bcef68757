// What swarm says of the links of its players.

package main

import (
	"fmt"
	"io"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/netio/impair"
)

// swarmLink is what the links of all players did, from the start on.
type swarmLink struct {
	Profile string       `json:"profile"`
	Up      swarmLinkWay `json:"up"`
	Down    swarmLinkWay `json:"down"`
}

// swarmLinkWay counts datagrams one way.
type swarmLinkWay struct {
	Sent      uint64 `json:"sent"`
	Delivered uint64 `json:"delivered"` // copies included
	Lost      uint64 `json:"lost"`
	Damaged   uint64 `json:"damaged"`
}

// linkOf is nil for perfect links.
func linkOf(s *swarm.Swarm, profile string) *swarmLink {
	up, down := s.LinkStats()
	if up.Pushed+down.Pushed == 0 {
		return nil
	}
	way := func(s impair.Stats) swarmLinkWay {
		return swarmLinkWay{Sent: s.Pushed, Delivered: s.Delivered, Lost: s.Lost + s.Blackholed + s.QueueDrops,
			Damaged: s.Corrupted + s.Truncated}
	}
	return &swarmLink{Profile: profile, Up: way(up), Down: way(down)}
}

// print prints a line about the links; of nil none.
func (l *swarmLink) print(w io.Writer) {
	if l == nil {
		return
	}
	share := func(n, of uint64) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	fmt.Fprintf(w, "  link %s: lost %.1f %% up, %.1f %% down\n", l.Profile, share(l.Up.Lost, l.Up.Sent),
		share(l.Down.Lost, l.Down.Sent))
}
