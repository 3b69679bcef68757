package server

import (
	"testing"

	"github.com/tickrate/tickrate/client"
)

// Where each team has a half of the slots, spectators that come before the players leave both halves
// to them, and all slots can be taken.
func TestSpectatorsLeaveTeamsTheirSlots(t *testing.T) {
	alone(t)
	for _, c := range []struct{ players, spectators int }{{128, 20}, {160, 3}} {
		b := newClientLobby(t, 0, Config{Players: c.players, Spectators: c.spectators, Relevance: RelevanceGrid,
			ViewDistance: 30})
		for range c.spectators {
			b.addSpectator(client.Config{}, spectator)
		}
		b.play(1)
		for range c.players {
			b.addSpectator(client.Config{}, nil)
		}
		b.play(3)
		n := [2]int{}
		second := b.lobby.cfg.firstSlot(1)
		for slot := range b.lobby.conns {
			id := b.lobby.match.World.At(slot)
			switch spectates := b.lobby.match.Spectates(id); {
			case id == 0:
				t.Fatalf("%+v: slot %d is empty", c, slot)
			case spectates:
				n[1]++
			default:
				n[0]++
				// team 1 has what remains of the slots of players after the whole groups of team 0
				if team := int(b.lobby.match.Vital(id).Team); team == 0 && slot >= second ||
					team == 1 && slot < second {
					t.Errorf("%+v: slot %d has a player of team %d", c, slot, team)
				}
			}
			if slot < c.players && c.players%32 == 0 && b.lobby.match.Spectates(id) {
				t.Errorf("%+v: slot %d has a spectator", c, slot)
			}
		}
		if n != [2]int{c.players, c.spectators} {
			t.Errorf("%+v: %d players and spectators", c, n)
		}
	}
}
