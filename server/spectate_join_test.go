package server

import (
	"testing"

	"github.com/tickrate/tickrate/client"
)

// A spectator that sees all players joins as a player does: its snapshots take no more than
// Config.JoinBytes until it holds the world. That holds for one that follows a player and for a free
// camera, and again after a resync.
func TestSpectatorJoinsByTheBudget(t *testing.T) {
	alone(t)
	for _, free := range []bool{false, true} {
		cfg := Config{Players: 120, Spectators: 1, SpectateAll: true, JoinBytes: 2 * minJoinBytes}
		b := newClientLobby(t, cfg.Players, cfg)
		b.turnPlayers(5)
		b.play(2)
		s := b.addClient(client.Config{}, spectator)
		c := &b.lobby.conns[b.lobby.cfg.Players-1] // the spectator's slot
		for n := 0; n < 60 && !c.session.ready; n++ {
			b.tickAll()
		}
		if c.roster.role != roleSpectator || c.repl.pacing.sent != 0 {
			t.Fatal("the spectator has snapshots, or another slot")
		}
		for round := range 2 {
			if free {
				b.free(s)
			}
			if round == 1 {
				c.repl.dropBaselines()
			}
			joining, blocks := 0, 0
			for range 240 {
				before := c.session.stats.down
				b.tickAll()
				if c.repl.pacing.sent != b.lobby.match.Tick() {
					continue
				}
				if c.repl.view.selection == rowsAll {
					blocks++
					continue
				}
				joining++
				if n := int(c.session.stats.down - before); n > cfg.JoinBytes || blocks > 0 {
					t.Errorf("free camera %v, round %d: snapshot %d of %d bytes, after %d of blocks", free, round,
						joining, n, blocks)
				}
			}
			if joining < 2 || blocks < 40 {
				t.Errorf("free camera %v, round %d: %d snapshots by the budget, %d of blocks", free, round,
					joining, blocks)
			}
		}
		if n := s.Stats(); n.Undecoded != 0 || n.Diverged != 0 {
			t.Errorf("free camera %v: %+v", free, n)
		}
		b.rowsMatch(100)
	}
}
