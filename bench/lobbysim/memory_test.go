package lobbysim

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// A lobby with preallocated slots sends the same datagrams as one that allocates them on demand,
// for each relevance, while players join, leave, reconnect to used slots, fight, and change the
// map.
func TestReserveChangesNoDatagram(t *testing.T) {
	relevances := relevances
	if raceEnabled || testing.Short() {
		relevances = relevances[3:6]
	}
	for _, cfg := range relevances {
		t.Run(fmt.Sprintf("%v/%d kbps/%v m", cfg.Relevance, cfg.Kbps, cfg.ViewDistance), func(t *testing.T) {
			late, lateHits := datagramHash(t, cfg, onDemand)
			early, hits := datagramHash(t, cfg, preallocated)
			if late != early || hits != lateHits {
				t.Errorf("%x and %d hits, preallocated %x and %d", late, lateHits, early, hits)
			}
			if hits == 0 {
				t.Error("no player was hit")
			}
		})
	}
}

// allocation says when a lobby allocates its slots.
type allocation bool

const (
	onDemand     allocation = false
	preallocated allocation = true
)

// datagramHash is a hash of all datagrams that a lobby of 70 sends, and the number of its hits.
func datagramHash(t *testing.T, cfg server.Config, slots allocation) (sum, hits uint64) {
	t.Helper()
	const n = 70 // more than one word of slots, and more than a join burst sends at once
	h := fnv.New64a()
	cfg.Arena, cfg.ArenaName, cfg.Rules = arena.Generate(40, 5), "test", sim.Rules{Seed: 5, Mix: true}
	cfg.Players, cfg.Spectators, cfg.JoinBytes = n, 2, 1200
	b, err := New(Config{
		Clients: n, Spectators: 2, Seed: 5, Decode: client.DecodeOwn, Lobby: cfg,
		Link: impair.Profile{Loss: 0.03, Delay: 20 * time.Millisecond, Jitter: 5 * time.Millisecond},
		OnSend: func(to netip.AddrPort, data []byte) {
			fmt.Fprint(h, to)
			h.Write(data)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if slots == preallocated {
		b.Lobby.Reserve()
	}
	b.step(t, 3*time.Second)
	for i := 10; i < 20; i++ {
		b.Leave(i)
	}
	b.step(t, time.Second)
	for i := 10; i < 20; i++ {
		if err := b.Connect(i); err != nil {
			t.Fatal(err)
		}
	}
	b.step(t, 2*time.Second)
	if err := b.Lobby.InstallMap(b.Now(), server.LoadedMap{Arena: cfg.Arena, Name: "test"}); err != nil {
		t.Fatal(err)
	}
	b.step(t, 2*time.Second)
	if s := &b.Lobby.Stats; s.Count[metrics.Joined].Load() != n+10 {
		t.Fatalf("%d players came in", s.Count[metrics.Joined].Load())
	}
	return h.Sum64(), b.Lobby.Stats.Count[metrics.Hits].Load()
}

// A join into a lobby with preallocated slots allocates the session's ciphers, the name, and next
// to nothing else.
func TestJoiningAllocatesNearlyNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n, most, mostBytes = 200, 16, 4 << 10
	for _, cfg := range relevances {
		t.Run(fmt.Sprintf("%v/%d kbps", cfg.Relevance, cfg.Kbps), func(t *testing.T) {
			if j := join(t, n, cfg, preallocated); j.allocs > most*n || j.bytes > mostBytes*n {
				t.Errorf("%d allocations and %d bytes for %d players, expected at most %d and %d each",
					j.allocs, j.bytes, n, most, mostBytes)
			}
		})
	}
}

// joined is the cost of the ticks in which players joined.
type joined struct {
	bytes, allocs uint64
	cpu, worst    time.Duration // CPU time of all these ticks, and of the longest
}

// join lets n players join a lobby, all at once.
func join(t testing.TB, n int, cfg server.Config, slots allocation) (j joined) {
	t.Helper()
	runtime.LockOSThread() // CPU times are the thread's
	defer runtime.UnlockOSThread()
	cfg.Arena, cfg.ArenaName, cfg.Rules, cfg.Players = arena.Generate(n, 11), "test", sim.Rules{Seed: 11}, n
	var before, after runtime.MemStats
	b, err := New(Config{
		Clients: n, Seed: 11, Lobby: cfg,
		ChangeClient: func(_ int, c *client.Config) { c.Decode = client.DecodeAcks },
		WrapTick: func(tick func() error) error {
			runtime.ReadMemStats(&before)
			from := clock.ThreadCPU()
			err := tick()
			took := clock.ThreadCPU() - from
			runtime.ReadMemStats(&after)
			j.bytes = j.bytes + after.TotalAlloc - before.TotalAlloc
			j.allocs = j.allocs + after.Mallocs - before.Mallocs
			j.cpu, j.worst = j.cpu+took, max(j.worst, took)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if slots == preallocated {
		b.Lobby.Reserve()
		hugepage.Prefault(context.Background())
	}
	for range 90 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if in := int(b.Lobby.Stats.Count[metrics.Joined].Load()); in != n {
		t.Fatalf("%d of %d players are in", in, n)
	}
	return j
}

// BenchmarkJoin measures the allocations per client when all join at once, with slots allocated on
// demand and preallocated, and the ticks of that second and a half. Pages are fresh only once per
// process: for times run one case alone, once.
func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{200} {
		for _, slots := range []allocation{onDemand, preallocated} {
			b.Run(fmt.Sprintf("players=%d/reserved=%v", n, slots), func(b *testing.B) {
				var all, j joined
				for range b.N {
					j = join(b, n, server.Config{Relevance: server.RelevanceGrid, ViewDistance: 8,
						TeamFog: true}, slots)
					all.cpu, all.worst = all.cpu+j.cpu, all.worst+j.worst
				}
				b.ReportMetric(float64(j.bytes)/float64(n), "B/join")
				b.ReportMetric(float64(j.allocs)/float64(n), "allocs/join")
				b.ReportMetric(float64(all.cpu)/float64(b.N*n), "cpu-ns/join")
				b.ReportMetric(float64(all.worst)/float64(b.N), "worst-tick-cpu-ns/op")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
