package lobbysim

import (
	"fmt"
	"github.com/tickrate/tickrate/client"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// lobbies are made once: each run of the benchmark plays them on.
var lobbies []*Sim

// BenchmarkLobbies is many lobbies of ten players at 128 Hz on one core, each a tick in turn: what
// a tick costs where every lobby finds the caches full of the others, beside one alone, and how
// many fit into a core without the system calls. CPU time of the servers' ticks.
func BenchmarkLobbies(b *testing.B) {
	const players, rate = 10, 128
	ground := arena.Generate(players, 11)
	for _, c := range []struct {
		name string
		n    int
	}{{"alone", 1}, {"32-together", 32}} {
		b.Run(fmt.Sprintf("players=%d/%s", players, c.name), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			spent := time.Duration(0)
			for len(lobbies) < c.n {
				l, err := New(Config{
					Clients: players, Seed: uint64(11 + len(lobbies)), Decode: client.DecodeOwn,
					Link: impair.Profile{Delay: 15 * time.Millisecond, Jitter: 5 * time.Millisecond},
					Lobby: server.Config{Arena: ground, ArenaName: "test", Players: players,
						CPU: clock.ThreadCPU, Rules: sim.Rules{Seed: uint64(11 + len(lobbies)), Rate: rate}},
				})
				if err != nil {
					b.Fatal(err)
				}
				for range 2 * rate {
					if err := l.Step(); err != nil {
						b.Fatal(err)
					}
				}
				if in := int(l.Lobby.Stats.Count[metrics.Joined].Load()); in != players {
					b.Fatalf("%d of %d players are in", in, players)
				}
				lobbies = append(lobbies, l)
			}
			for _, l := range lobbies[:c.n] {
				l.cfg.WrapTick = func(tick func() error) error {
					from := clock.ThreadCPU()
					err := tick()
					spent += clock.ThreadCPU() - from
					return err
				}
			}
			b.ResetTimer()
			for i := range b.N {
				if err := lobbies[i%c.n].Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			perTick := float64(spent) / float64(b.N)
			b.ReportMetric(perTick, "cpu-ns/tick")
			b.ReportMetric(1e9/rate/perTick, "lobbies/core")
			b.ReportMetric(0, "ns/op")
		})
	}
}
