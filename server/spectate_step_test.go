package server

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/protocol"
)

// The requests of a tick together lead to where they would lead one by one, and are answered once.
// None of them searches for a player before the tick ends.
func TestSpectateRequestsOfOneTick(t *testing.T) {
	b := newClientLobby(t, 5, Config{Players: 40, Spectators: 1, SpectateAll: true})
	b.play(1)
	s := b.addClient(client.Config{}, spectator)
	b.play(1)
	b.players[3].Leave(b.now)
	b.play(1)
	c := &b.lobby.conns[s.ID().Index()]
	var players []netid.ID
	for slot := range b.lobby.conns {
		if id := b.lobby.match.World.At(slot); b.lobby.spectate.playing(id) {
			players = append(players, id)
		}
	}
	if len(players) != 4 {
		t.Fatalf("%d players", len(players))
	}
	rng := rand.New(rand.NewPCG(5, 1))
	var message [protocol.SpectateSize]byte
	ask := func(mode protocol.SpectateMode, id netid.ID) {
		w := protocol.Spectate{Mode: mode, Player: uint32(id)}
		before := c.roster.view.target
		if !b.lobby.spectate.request(c, w.Append(message[:0], protocol.MessageSpectate)) {
			t.Fatal("no request")
		}
		if c.roster.view.target != before {
			t.Fatal("a request was served before the end of the tick")
		}
	}
	at := rng.IntN(len(players))
	for n := range 200 {
		ask(protocol.SpectatePlayer, players[at])
		for range rng.IntN(64) {
			switch rng.IntN(5) {
			case 0:
				at = rng.IntN(len(players))
				ask(protocol.SpectatePlayer, players[at])
			case 1:
				ask(protocol.SpectatePrevious, 0)
				at = (at + len(players) - 1) % len(players)
			default:
				ask(protocol.SpectateNext, 0)
				at = (at + 1) % len(players)
			}
		}
		if n%10 == 0 {
			ask(protocol.SpectateFree, 0)
		}
		b.lobby.spectate.update()
		switch got := c.roster.view.target; {
		case n%10 == 0 && got != 0:
			t.Fatalf("%d: looks through %v, want a free camera", n, got)
		case n%10 != 0 && got != players[at]:
			t.Fatalf("%d: looks through %v, want %v", n, got, players[at])
		}
	}
}
