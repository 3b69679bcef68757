// Which servers the players of a swarm have joined, where their tokens name several.

package main

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/netcode"
)

// swarmChoice says which servers players have joined, and what their pings have shown.
type swarmChoice struct {
	Servers []serverChoice `json:"servers"`
	TookP50 float64        `json:"choice_ms_p50"` // from a player's first ping
}

// serverChoice is one address that tokens name.
type serverChoice struct {
	Address string `json:"address"`
	Players int    `json:"players"`        // that are there
	Pings   int    `json:"pings"`          // sent by all players
	Answers int    `json:"pings_answered"` // of these
	// Median of the shortest round trip of each player, of those with an answer; 0 without any.
	BestP50 float64 `json:"best_rtt_ms_p50"`
}

// choiceOf gathers the choices of clients; nil if none had several servers to choose from.
func choiceOf(choices []client.Choice) *swarmChoice {
	var out swarmChoice
	var at []netip.AddrPort
	var best [][]time.Duration
	var took []time.Duration
	for _, c := range choices {
		if c.Pings == nil {
			continue
		}
		took = append(took, c.Took)
		for _, p := range c.Pings {
			k := slices.Index(at, p.Address)
			if k < 0 {
				k = len(at)
				at, best = append(at, p.Address), append(best, nil)
				out.Servers = append(out.Servers, serverChoice{Address: p.Address.String()})
			}
			s := &out.Servers[k]
			s.Pings, s.Answers = s.Pings+netcode.PingRounds, s.Answers+p.Answered
			if p.Answered > 0 {
				best[k] = append(best[k], p.Best)
			}
			if p.Address == c.Server {
				s.Players++
			}
		}
	}
	if took == nil {
		return nil
	}
	out.TookP50 = millis(median(took))
	for k := range best {
		out.Servers[k].BestP50 = millis(median(best[k]))
	}
	return &out
}

// median returns the middle of all, the lower of two; 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// choices returns what each client of a swarm has chosen.
func choices(s *swarm.Swarm, clients int) []client.Choice {
	all := make([]client.Choice, clients)
	for i := range all {
		all[i] = s.Client(i).Choice()
	}
	return all
}

// print prints a choice, if there was one.
func (c *swarmChoice) print(w io.Writer) {
	if c == nil {
		return
	}
	fmt.Fprintf(w, "  servers chosen in %.0f ms (median):\n", c.TookP50)
	for _, s := range c.Servers {
		if s.Answers == 0 {
			fmt.Fprintf(w, "    %s  %s, no answer to %d pings\n", s.Address, several(s.Players, "player"), s.Pings)
			continue
		}
		fmt.Fprintf(w, "    %s  %s, best of three pings %.1f ms (median), %d of %d answered\n", s.Address,
			several(s.Players, "player"), s.BestP50, s.Answers, s.Pings)
	}
}
