package lobbysim

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// newcomer is a lobby and how a client joins it.
type newcomer struct {
	name      string
	players   int // in the lobby
	objects   int // barrels and cubes on its map
	spectator bool
}

// unarmed is a bot that attacks nobody.
type unarmed struct{ swarm.Brain }

// Decide implements swarm.Brain.
func (b unarmed) Decide(s *swarm.Observation) client.Intent {
	in := b.Brain.Decide(s)
	in.Buttons &^= sim.Fire | sim.Throw | sim.Melee | sim.Rocket
	return in
}

// BenchmarkCatchUp is what a client is sent that holds nothing yet, by codec. ns/join is, in virtual time, from its
// first datagram until it holds everything, B/join the UDP payload until then, handshake included.
func BenchmarkCatchUp(b *testing.B) {
	for _, c := range []newcomer{
		{"players=64", 64, 0, false}, {"players=64/objects=240", 64, 240, false},
	} {
		// The others differ from these in changes alone.
		for _, codec := range []schema.Codec{schema.Huffman, schema.HuffmanZstd} {
			b.Run(fmt.Sprintf("%s/%v", c.name, codec), func(b *testing.B) {
				bytes, wait := 0, time.Duration(0)
				for b.Loop() {
					bytes, wait = catchUp(b, codec, c)
				}
				b.ReportMetric(float64(bytes), "B/join")
				b.ReportMetric(float64(wait), "ns/join")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// catchUp plays a lobby for three seconds and has one more client join.
func catchUp(tb testing.TB, codec schema.Codec, n newcomer) (bytes int, wait time.Duration) {
	players, game := n.players, sim.DefaultGame()
	for i := range n.objects {
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
		Link:  impair.Profile{Delay: 25 * time.Millisecond},
		Brain: func(n int) swarm.Brain { return unarmed{swarm.NewBot(3, n)} }, // nothing flies
		Lobby: server.Config{Arena: arena.Generate(players, 3), ArenaName: "test", Players: players,
			Codec: codec,
			Rules: sim.Rules{Seed: 3, Mix: true, Game: game}},
		ChangeClient: func(i int, c *client.Config) {
			if i == players {
				c.Decode = client.DecodeFull
			}
		},
		OnSend: func(addr netip.AddrPort, data []byte) {
			if addr == to {
				bytes += len(data)
			}
		},
	}
	if n.spectator {
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
	for to = s.ClientAddr(players); !s.holdsAll(c, n.objects); {
		if step(); s.Now() > from+5*time.Second {
			tb.Fatal("the client does not catch up")
		}
	}
	return bytes, s.Now() - from
}

// holdsAll reports whether a client has all players and objects of the lobby.
func (b *Sim) holdsAll(c *client.Client, objects int) bool {
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
	return len(c.Objects.Append(nil)) >= objects
}
