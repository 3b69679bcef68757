package server

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// BenchmarkBudget measures the CPU time of a whole tick without a byte budget, with one that is
// never reached, and with one that is always reached. Clients use all their abilities; their own
// CPU time is left out.
func BenchmarkBudget(b *testing.B) {
	const n = 100
	for _, kbps := range []int{0, 2000, 24} {
		b.Run(fmt.Sprintf("players=%d/kbps=%d", n, kbps), func(b *testing.B) {
			benchmarkBudget(b, n,
				Config{Players: n, Kbps: kbps, ViewDistance: 12, Rules: sim.Rules{Mix: true}})
		})
	}
}

func benchmarkBudget(b *testing.B, n int, cfg Config) {
	c := newClientLobby(b, n, cfg)
	c.firing(1)
	c.play(3)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rate := c.lobby.cfg.Rules.Rate
	spent, ticks := time.Duration(0), 0
	bytes, snapshots := c.count(metrics.BytesOut), c.count(metrics.Snapshots)
	for b.Loop() {
		c.now = rate.At(c.lobby.match.Tick() + 1)
		from := clock.ThreadCPU()
		if err := c.lobby.Tick(c.now, c.unix(), c.conn); err != nil {
			b.Fatal(err)
		}
		spent += clock.ThreadCPU() - from
		ticks++
		c.exchange()
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(ticks), "cpu-ns/tick")
	b.ReportMetric(float64(c.count(metrics.BytesOut)-bytes)/
		float64(max(1, c.count(metrics.Snapshots)-snapshots)), "B/snapshot")
	b.ReportMetric(0, "ns/op")
}

// firing makes all clients run, turn and use their abilities at random.
func (b *clientLobby) firing(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	b.brain = func(int) client.Intent {
		return client.Intent{MoveMag: 255, Yaw: geom.Angle(rng.Uint32()),
			Pitch: geom.Angle(rng.IntN(8000)), Buttons: sim.Buttons(rng.Uint32())}
	}
}
