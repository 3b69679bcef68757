package lobbysim

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// codecParts lists lobbies of 64 whose bytes are taken apart.
var codecParts = []struct {
	name   string
	link   impair.Profile
	config server.Config
}{
	{"fight", impair.Profile{Delay: 25 * time.Millisecond}, server.Config{}},
	{"loss", bad, server.Config{}},
}

// BenchmarkCodecParts is the bytes a second that a client is sent in a firefight of 64, by codec and
// by part of the datagram, with the CPU time of a tick's snapshots.
func BenchmarkCodecParts(b *testing.B) {
	for _, c := range codecParts {
		for _, codec := range []schema.Codec{schema.Huffman, schema.Range} {
			b.Run(fmt.Sprintf("%s/%v", c.name, codec), func(b *testing.B) {
				cfg := c.config
				cfg.Codec = codec
				benchCodecParts(b, cfg, c.link)
			})
		}
	}
}

func benchCodecParts(b *testing.B, cfg server.Config, link impair.Profile) {
	const players, warmup, ticks = 64, 3 * 60, 5 * 60
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ground, err := arena.Open("arena-64")
	if err != nil {
		b.Fatal(err)
	}
	cfg.Arena, cfg.ArenaName, cfg.Players, cfg.CPU = ground, "arena-64", players, clock.ThreadCPU
	cfg.Rules = sim.Rules{Seed: 3, Mix: true, RespawnMillis: 2000}
	s, err := New(Config{Clients: players, Seed: 3, Decode: client.DecodeOwn, Lobby: cfg, Link: link})
	if err != nil {
		b.Fatal(err)
	}
	step := func(n int) {
		for range n {
			if err := s.Step(); err != nil {
				b.Fatal(err)
			}
		}
	}
	step(warmup)
	s.Lobby.Publish()
	before := s.Lobby.Summary().Bandwidth
	stage := s.Lobby.Stats.Stage[metrics.StageSnapshot]
	stage.Reset()
	from := s.Now()
	step(ticks)
	s.Lobby.Publish()
	after := s.Lobby.Summary().Bandwidth
	perClient := players * (s.Now() - from).Seconds()
	for i, n := range after.Sections {
		if n -= before.Sections[i]; n > 0 {
			b.ReportMetric(float64(n)/perClient, metrics.Section(i).String()+"-B/client/s")
		}
	}
	b.ReportMetric(float64(after.Bytes-before.Bytes)/perClient, "B/client/s")
	b.ReportMetric(stage.Mean(), "snapshot-ns/tick")
	b.ReportMetric(0, "ns/op")
}
