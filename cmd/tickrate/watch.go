package main

import (
	"fmt"
	"io"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
)

// mostGraphs is how many players' netgraphs a swarm tells in the end.
const mostGraphs = 8

// graphs follow the connections of a swarm's first players.
type graphs []client.Grapher

func newGraphs(s *swarm.Swarm, players int) graphs {
	g := make(graphs, min(players, mostGraphs))
	g.take(s)
	return g
}

// take is how they fared since the last take.
func (g graphs) take(s *swarm.Swarm) []client.Netgraph {
	out := make([]client.Netgraph, len(g))
	for i := range g {
		out[i] = g[i].Take(s.Client(i))
	}
	return out
}

// watch prints a line a second of how a player's connection fares. What it returns is asked every tick, and stops nothing; it is nil if
// nobody is watched.
func watch(w io.Writer, s *swarm.Swarm, player int) func() bool {
	if player < 0 {
		return nil
	}
	var g client.Grapher
	g.Take(s.Client(player))
	begin := time.Now()
	next := time.Second
	return func() bool {
		if at := time.Since(begin); at >= next {
			fmt.Fprintf(w, "%4d s  %v\n", int(at.Seconds()), g.Take(s.Client(player)))
			next = at.Truncate(time.Second) + time.Second
		}
		return false
	}
}
