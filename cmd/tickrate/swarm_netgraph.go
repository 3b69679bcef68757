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

// netgraphFigures is a netgraph as JSON.
type netgraphFigures struct {
	Over           float64        `json:"elapsed_ms"`
	RTT            float64        `json:"rtt_ms"`           // smoothed
	Jitter         float64        `json:"jitter_ms"`        // 95th percentile of snapshot lateness
	Loss           float32        `json:"loss"`             // uplink loss, smoothed, 0 to 1
	Buffer         int8           `json:"buffer_ticks"`     // commands queued on the server
	BufferWanted   float64        `json:"buffer_wanted_ms"` // that the predicted clock steers for
	InterpDelay    float64        `json:"interp_ms"`        // view delay behind the newest tick
	SnapshotAge    float64        `json:"age_ms"`           // of the newest snapshot
	Snapshots      uint64         `json:"snapshots"`        // received
	Mispredictions uint64         `json:"mispredictions"`   // owner rows unlike the prediction
	Replayed       uint64         `json:"replayed_ticks"`
	InputsMissing  uint64         `json:"inputs_missing"` // ticks that the server played without it
	Stalls         uint64         `json:"stalls"`         // frames in which the picture waited
	HardResets     uint64         `json:"hard_resets"`
	Down           client.Traffic `json:"down_bytes"`
	Up             uint64         `json:"up_bytes"` // of UDP payload
}

// netgraphsOf converts netgraphs.
func netgraphsOf(graphs []client.Netgraph) []netgraphFigures {
	all := make([]netgraphFigures, len(graphs))
	for i, g := range graphs {
		all[i] = netgraphFigures{
			Over: millis(g.Over), RTT: millis(g.RTT), Jitter: millis(g.Jitter), Loss: g.Loss, Buffer: g.Buffer,
			BufferWanted: millis(g.BufferWanted), InterpDelay: millis(g.InterpDelay),
			SnapshotAge: millis(g.SnapshotAge), Snapshots: g.Snapshots, Mispredictions: g.Mispredictions,
			Replayed: g.Replayed, InputsMissing: g.InputsMissing, Stalls: g.Stalls, HardResets: g.HardResets,
			Down: g.Down, Up: g.Up,
		}
	}
	return all
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
			line := fmt.Sprintf("%4d s  %v", int(at.Seconds()), g.Take(s.Client(player)))
			if isTerminal(w) {
				printWrapped(w, line)
			} else {
				fmt.Fprintln(w, line) // one a second, for grep
			}
			next = at.Truncate(time.Second) + time.Second
		}
		return false
	}
}
