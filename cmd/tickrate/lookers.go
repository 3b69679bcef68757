package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// mixedTickets are tokens of a swarm in which the first so many play and the others look on, each kind from tickets of its own, a lobby's each.
// Client n goes to the lobby of number n modulo their count.
func mixedTickets(players int, play, look []*tokenSource) func(n int) ([]byte, error) {
	return func(n int) ([]byte, error) {
		if n < players {
			return play[n%len(play)].Token(n)
		}
		raw, err := look[n%len(look)].Token(n)
		if err != nil {
			return nil, fmt.Errorf("to look on: %w", err)
		}
		return raw, nil
	}
}

// marked is m, or one for who looks on.
func marked(m netcode.Mint, looksOn bool) netcode.Mint {
	if looksOn {
		protocol.MarkSpectator(m.UserData[:])
	}
	return m
}

// tokens are those of swarm's players, and behind them of those who look on.
func (f swarmFlags) tokens(c *cobra.Command, play []*tokenSource) (func(n int) ([]byte, error), error) {
	if f.spectators == 0 {
		return mixedTickets(f.players, play, nil), nil
	}
	f.looksOn = true
	look, err := f.tickets(c)
	if err != nil {
		return nil, err
	}
	return mixedTickets(f.players, play, look), nil
}

// people says how many play, and how many look on.
func (f *swarmFlags) people() string {
	if f.spectators == 0 {
		return fmt.Sprintf("%d players", f.players)
	}
	return fmt.Sprintf("%d players and %d spectators", f.players, f.spectators)
}
