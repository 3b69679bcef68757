package server

import (
	"testing"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// An overloaded lobby sends fewer snapshots to all alike, then rejects new players. Commands are
// still applied, and no player is kicked.
func TestThreat33Shed(t *testing.T) {
	b := newClientLobby(t, 4, Config{})
	b.play(3)
	for i, c := range []struct {
		level overload.Level
		want  uint64 // snapshots in 6 s for 4 clients
	}{{overload.Normal, 480}, {overload.HalfRate, 240}, {overload.QuarterRate, 120},
		{overload.NoNewPlayers, 120}, {overload.Normal, 480}} {
		b.lobby.SetLoadLevel(c.level)
		b.play(2)
		before, missing := b.count(metrics.Snapshots), b.count(metrics.InputsMissing)
		b.play(6)
		if got := b.count(metrics.Snapshots) - before; got+8 < c.want ||
			got > c.want+8 || b.count(metrics.InputsMissing) != missing {
			t.Errorf("%d, %v shed: %d snapshots of %d, %d inputs missing", i,
				c.level, got, c.want, b.count(metrics.InputsMissing)-missing)
		}
		if c.level == overload.NoNewPlayers {
			who := b.newClient("")
			who.beginConnect(nil)
			if who.handshake() || who.netcode.State() != netcode.ConnectionDenied ||
				b.refused(netcode.DropClosing) == 0 {
				t.Errorf("%d: a newcomer is %v", i, who.netcode.State())
			}
		}
	}
	for n, p := range b.players {
		if s := p.Stats(); s.Undecoded != 0 || s.Resyncs != 0 || s.Prediction.Mispredictions != 0 {
			t.Errorf("client %d: %+v", n, s)
		}
	}
	b.joinedClient().checkUnharmed()
}
