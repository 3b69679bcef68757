package lobbysim

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// Players of a full lobby that join at once over long links hold the world after two seconds and five
// round trips. From then on each is sent 20 snapshots a second, in no more bytes than deltas of that
// age need.
func TestCrowdJoinsOverLongLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("full lobbies")
	}
	for _, c := range []struct {
		players int
		delay   time.Duration // each way
		most    int           // kbit/s a client
	}{
		{700, 15 * time.Millisecond, 500},
		{700, 65 * time.Millisecond, 700},
		{700, 100 * time.Millisecond, 900},
		{400, 100 * time.Millisecond, 900},
		{400, 200 * time.Millisecond, 1200},
	} {
		t.Run(fmt.Sprintf("%d/%v", c.players, c.delay), func(t *testing.T) {
			a := arena.Generate(c.players, 11)
			b, err := New(Config{
				Clients: c.players, Seed: 11, Decode: client.DecodeOwn,
				Link:  impair.Profile{Delay: c.delay, Jitter: 5 * time.Millisecond},
				Lobby: server.Config{Arena: a, ArenaName: "test", Players: c.players, Rules: sim.Rules{Seed: 11}},
			})
			if err != nil {
				t.Fatal(err)
			}
			b.Lobby.Reserve()
			play := func(ticks int) {
				for range ticks {
					if err := b.Step(); err != nil {
						t.Fatal(err)
					}
				}
			}
			play(120 + int(c.delay*10*60/time.Second)) // the handshake alone takes several round trips
			if n := b.Lobby.Summary().Census; n.Ready != c.players || n.Joining != 0 {
				t.Errorf("%d clients, %d of them in their join burst", n.Ready, n.Joining)
			}
			s := &b.Lobby.Stats
			bytes, snapshots := s.Count[metrics.BytesOut].Load(), s.Count[metrics.Snapshots].Load()
			play(60)
			kbps := int(s.Count[metrics.BytesOut].Load()-bytes) * 8 / 1000 / c.players
			snapshots = s.Count[metrics.Snapshots].Load() - snapshots
			t.Logf("%d kbit/s, %d snapshots a second for each client", kbps, int(snapshots)/c.players)
			if kbps > c.most || int(snapshots) < 19*c.players {
				t.Errorf("%d kbit/s, %d snapshots a second for %d clients", kbps, snapshots, c.players)
			}
		})
	}
}
