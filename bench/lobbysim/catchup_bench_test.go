package lobbysim

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// BenchmarkCatchUp is what a client is sent that holds nothing yet, by codec: a player or a
// spectator that joins a lobby of 64, on an empty map and on one full of barrels and cubes. ms/join
// is from its first datagram until it holds everything, and B/join is the UDP payload until then,
// with the handshake.
func BenchmarkCatchUp(b *testing.B) {
	for _, c := range []struct {
		name      string
		objects   int
		spectator bool
	}{{"join=64", 0, false}, {"join=64+240", 240, false}, {"spectator=64+240", 240, true}} {
		for codec := range schema.Codecs {
			b.Run(fmt.Sprintf("%s/%v", c.name, codec), func(b *testing.B) {
				bytes, wait := 0, time.Duration(0)
				for b.Loop() {
					bytes, wait = catchUp(b, codec, c.objects, c.spectator)
				}
				b.ReportMetric(float64(bytes), "B/join")
				b.ReportMetric(float64(wait.Milliseconds()), "ms/join")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// catchUp plays a lobby of 64 and has one more client join.
func catchUp(tb testing.TB, codec schema.Codec, things int, spectator bool) (bytes int, wait time.Duration) {
	const players = 64
	game := sim.DefaultGame()
	for i := range things {
		at := geom.Vec3{X: float32(i%16)*5 - 40, Z: float32(i/16)*5 - 40}
		if i%3 > 0 {
			game.Layout.Barrels = append(game.Layout.Barrels, at)
		} else {
			at.Y = 5
			game.Layout.Cubes = append(game.Layout.Cubes, at)
		}
	}
	var to netip.AddrPort
	cfg := Config{
		Clients: players + 1, Seed: 3, Decode: client.DecodeOwn,
		Link: impair.Profile{Delay: 25 * time.Millisecond},
		Lobby: server.Config{Arena: arena.Generate(players, 3), ArenaName: "test", Players: players,
			Codec: codec,
			Rules: sim.Rules{Seed: 3, Mix: true, Game: game}},
		ChangeClient: func(n int, c *client.Config) {
			if n == players {
				c.Decode = client.DecodeFull
			}
		},
		OnSend: func(addr netip.AddrPort, data []byte) {
			if addr == to {
				bytes += len(data)
			}
		},
	}
	if spectator {
		cfg.Spectators, cfg.Lobby.Spectators = 1, 1
	} else {
		cfg.Lobby.Players++
	}
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	step := func() {
		if err := s.Step(); err != nil {
			tb.Fatal(err)
		}
	}
	s.Leave(players)
	for s.Now() < 3*time.Second {
		step()
	}
	if err := s.Connect(players); err != nil {
		tb.Fatal(err)
	}
	c, from := s.Clients[players], s.Now()
	for to = s.ClientAddr(players); !s.holdsAll(c, things); {
		if step(); s.Now() > from+5*time.Second {
			tb.Fatal("the client does not catch up")
		}
	}
	return bytes, s.Now() - from
}

// holdsAll reports whether a client has all players and objects of the lobby.
func (b *Sim) holdsAll(c *client.Client, things int) bool {
	f := b.Lobby.Frame(c.Newest())
	if c.Newest() == 0 || f == nil {
		return false
	}
	var row [16]int32
	for slot := range f.Slots() {
		if f.ID(slot) != 0 {
			if id, ok := c.Row(f.Tick, slot, row[:]); !ok || id != f.ID(slot) {
				return false
			}
		}
	}
	return len(c.Objects.Append(nil)) >= things
}
