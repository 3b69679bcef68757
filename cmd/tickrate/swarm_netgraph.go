// Connection quality of single players of a swarm, as a game shows it to its player.

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
)

// maxGraphs bounds the players that have a netgraph in the figures.
const maxGraphs = 8

// graphs samples the netgraphs of a swarm's first players.
type graphs []graph

// graph samples the netgraph of a player.
type graph struct {
	player int
	of     client.Grapher
}

// newGraphs starts the netgraphs of the first players that have joined, at most maxGraphs.
func newGraphs(s *swarm.Swarm, players int) (g graphs) {
	for i := 0; i < players && len(g) < maxGraphs; i++ {
		if !s.Refused(i) {
			g = append(g, graph{player: i})
		}
	}
	g.take(s)
	return g
}

// take returns the netgraphs of the time since the last take.
func (g graphs) take(s *swarm.Swarm) []client.Netgraph {
	out := make([]client.Netgraph, len(g))
	for i := range g {
		out[i] = g[i].of.Take(s.Client(g[i].player))
	}
	return out
}

// followNetgraph prints a netgraph of a player every second. The result is called every tick and
// always returns false; it is nil for player -1.
func followNetgraph(w io.Writer, s *swarm.Swarm, player int) func() bool {
	if player < 0 {
		return nil
	}
	var g client.Grapher
	g.Take(s.Client(player))
	begin := time.Now()
	next := time.Second
	return func() bool {
		if at := time.Since(begin); at >= next {
			printWrapped(w, fmt.Sprintf("%4d s  %v", int(at.Seconds()), g.Take(s.Client(player))))
			next = at.Truncate(time.Second) + time.Second
		}
		return false
	}
}
