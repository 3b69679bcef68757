package server

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// Row 10 through the lobby: an idle player is warned and then kicked with a reason. Active players
// stay, and so do all players without a limit.
func TestRow10LobbyRemovesTheIdle(t *testing.T) {
	for _, on := range []bool{true, false} {
		cfg := Config{}
		if on {
			cfg.IdleWarn, cfg.IdleKick = 3*time.Second, 6*time.Second
		}
		l := newTestLobby(t, cfg)
		idler, player, waver := l.namedClient("idle"), l.namedClient("plays"), l.namedClient("wavers")
		bot := l.lobby.match.Join() // has no connection
		began := l.now
		warned, gone := time.Duration(0), time.Duration(0)
		for n := range 60 * 10 {
			for _, c := range l.clients {
				if c.peer == nil || c.netcode.State() != netcode.Connected {
					continue
				}
				if c.receive(); c.netcode.State() != netcode.Connected {
					continue
				}
				cmd := sim.Command{Tick: l.lobby.match.Tick() + 1, MoveMag: 255}
				if c == player || c == waver && n == 4*60 {
					cmd.Yaw = 1
				}
				if c == player {
					cmd.Yaw += 7 * 64
					cmd.Pitch = 0
					cmd.MoveYaw = uint8(n / 60)
				}
				c.sendSections(section(cmd)...)
			}
			l.tick()
			if _, lines := idler.receivedRoster(); warned == 0 && len(lines) > 0 {
				if lines[0] != "6 : " {
					t.Fatalf("told %q", lines)
				}
				warned = l.now - began
			}
			if why, over := idler.peer.Closed(); over && gone == 0 {
				if gone = l.now - began; why != packet.ReasonIdle {
					t.Errorf("gone for %v", why)
				}
			}
		}
		if l.lobby.match.Vital(bot) == nil {
			t.Errorf("limits %v: a player without a connection is gone", on)
		}
		_, lines := waver.receivedRoster()
		switch {
		case !on &&
			(l.count(metrics.Disconnected) != 0 || l.count(metrics.IdleWarned) != 0 || len(lines) != 0):
			t.Errorf("without limits %d were dismissed", l.count(metrics.Disconnected))
		case on && (warned < 3*time.Second || warned > 4500*time.Millisecond ||
			gone < 6*time.Second || gone > 7500*time.Millisecond):
			t.Errorf("warned after %v, gone after %v", warned, gone)
		case on && (l.count(metrics.IdleKicked) != 1 || l.count(metrics.Disconnected) != 1 ||
			l.count(metrics.IdleWarned) != 3 || len(lines) != 2):
			t.Errorf("%d removed, %d warned; who moved once was told %q",
				l.count(metrics.IdleKicked), l.count(metrics.IdleWarned), lines)
		}
	}
}

// slowInput takes the commands of a window one after the other, oldest first.
func (p *idlePlayers) slowInput(slot int, commands []sim.Command) {
	player := &p.players[slot]
	player.passive.Turn(uint16(commands[0].Yaw), uint16(commands[0].Pitch))
	for i := len(commands) - 1; i >= 0; i-- {
		input := commands[i]
		input.Tick, input.View = 0, tick.View{}
		if input != player.input {
			player.input = input
			player.tracker.Step(p.match.Tick(), input, p.limits)
		}
	}
}

// A lobby that always plays two ticks at once removes the idle players of all slots.
func TestIdleOfAllSlots(t *testing.T) {
	l := newTestLobby(t, Config{IdleKick: 3 * time.Second})
	for range 4 {
		l.namedClient("idle")
	}
	for range 60 * 4 {
		for _, c := range l.clients {
			if c.netcode.State() == netcode.Connected {
				if c.receive(); c.netcode.State() == netcode.Connected {
					c.sendSections(section(sim.Command{Tick: l.lobby.match.Tick() + 1})...)
				}
			}
		}
		l.now = l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick() + 2)
		if err := l.lobby.Ticks(l.now, l.unix(), l.conn, 2); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.count(metrics.IdleKicked); n != 4 {
		t.Errorf("%d of 4 idle players were removed", n)
	}
}

// A window of commands counts as its commands one after the other, also between warnings and after
// new limits.
func TestIdleWindow(t *testing.T) {
	l := newTestLobby(t, Config{})
	limits := idle.Limits{Warn: 20, Kick: 50}
	fast := idlePlayers{core: &l.lobby.core, limits: limits, players: make([]idlePlayer, 1)}
	slow := idlePlayers{core: &l.lobby.core, limits: limits, players: make([]idlePlayer, 1)}
	rng := rand.New(rand.NewPCG(1, 2))
	var window [4]sim.Command
	for n := range 2000 {
		for range rng.IntN(3) * rng.IntN(2) {
			copy(window[1:], window[:])
			window[0] = sim.Command{Tick: tick.Tick(n), Buttons: sim.Buttons(rng.IntN(2)) * sim.Jump}
		}
		window := window[:1+rng.IntN(len(window))]
		fast.input(0, window)
		slow.slowInput(0, window)
		if rng.IntN(100) == 0 {
			fast.players[0].tracker, slow.players[0].tracker = idle.Tracker[sim.Command]{}, idle.Tracker[sim.Command]{}
		}
		if a, b := fast.due(0), slow.due(0); a != b || fast.players[0] != slow.players[0] {
			t.Fatalf("step %d: %v %+v, one by one %v %+v", n, a, fast.players[0], b, slow.players[0])
		}
		if n%3 == 0 {
			l.tick()
		}
	}
}
