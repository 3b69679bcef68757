package server

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
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
