package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// TestRow70SpectatorShowsItsTarget is row 70 of docs/features.md at the client: a spectator has what
// the picture from its target's eyes and a falling body need, as the server has it. That is where it
// looks, what its hands do (shots, reloads), when it dies, where the dead body slides, and its next
// life.
func TestRow70SpectatorShowsItsTarget(t *testing.T) {
	const players = 6
	s, err := New(Config{
		Clients: players + 1, Spectators: 1, Seed: 7, Link: impair.Profile{Delay: 25 * time.Millisecond, Loss: 0.03},
		Lobby: server.Config{Arena: boardArena(t, "arena-16"), ArenaName: "arena-16", Players: players,
			Spectators: 1, Rules: sim.Rules{Seed: 7, Mix: true, RespawnMillis: 1500}},
	})
	if err != nil {
		t.Fatal(err)
	}
	watcher := s.Clients[players]
	var row, want [netstate.PublicFields]int32
	var last netstate.PlayerState
	var newest tick.Tick
	shots, turns, reloads, deaths, slides, lives := 0, 0, 0, 0, 0, 0
	for s.Now() < 40*time.Second {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		at := watcher.Newest()
		target, spectates := watcher.Spectate.Target()
		if at == newest || !spectates || target == 0 {
			continue
		}
		was := newest
		newest = at
		id, ok := watcher.Row(was, target.Index(), row[:])
		frame := s.Lobby.Frame(was)
		if !ok || id != target || frame == nil {
			continue
		}
		if frame.Row(target.Index(), want[:]); row != want {
			t.Fatalf("tick %d: the target's row is %v, the server's %v", was, row, want)
		}
		var is netstate.PlayerState
		is.Restore(row[:])
		dead, died := is.Flags&1 == 0, last.Flags&1 != 0
		switch {
		case dead && died:
			deaths++
		case dead && is.Pos != last.Pos:
			slides++
		case !dead && !died && last.Flags != 0:
			lives++
		}
		if is.Shots != last.Shots {
			shots++
		}
		if is.Reloading && !last.Reloading {
			reloads++
		}
		if is.Yaw != last.Yaw || is.Pitch != last.Pitch {
			turns++
		}
		last = is
	}
	if shots < 5 || turns < 50 || reloads == 0 || deaths == 0 || slides == 0 || lives == 0 {
		t.Errorf("%d shots, %d turns, %d reloads, %d deaths, %d slides of the dead, %d respawns", shots, turns,
			reloads, deaths, slides, lives)
	}
}
