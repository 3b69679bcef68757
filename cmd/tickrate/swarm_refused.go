// Clients of a swarm that the server refuses, while the others play on.

package main

import (
	"fmt"
	"io"
)

// refusedClients are the clients of a swarm that the server has refused.
type refusedClients struct {
	asked               int       // players, the first clients
	w                   io.Writer // where each is told
	players, spectators int
	why                 error // of the last one
}

// add tells that client n was refused.
func (r *refusedClients) add(n int, why error) {
	r.why = why
	kind := "player"
	if n < r.asked {
		r.players++
	} else {
		kind = "spectator"
		r.spectators++
	}
	if r.players+r.spectators <= maxRefusals {
		fmt.Fprintf(r.w, "%s %d was refused: %v\n", kind, n, why)
	}
}

// maxRefusals is how many refusals are told one by one.
const maxRefusals = 3

// err is the error of a swarm that played without the refused clients; nil for none.
func (r *refusedClients) err() error {
	if r.why == nil {
		return nil
	}
	lost := swarmPlay{players: r.players, spectators: r.spectators}
	return fmt.Errorf("%s refused, the figures are of the others: %w", lost.people(), r.why)
}
