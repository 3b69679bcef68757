package httpapi

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server/metrics"

	"github.com/tickrate/tickrate/bench/lobbysim"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// ground is the map of the tests.
var ground = sync.OnceValue(func() *arena.Arena {
	a, err := arena.Open("arena-16")
	if err != nil {
		panic(err)
	}
	return a
})

// newSim returns a lobby with clients in virtual time.
func newSim(t testing.TB, cfg server.Config, clients int) *lobbysim.Sim {
	t.Helper()
	if cfg.Arena == nil {
		cfg.Arena, cfg.ArenaName = ground(), "arena-16"
	}
	if cfg.Players == 0 {
		cfg.Players = 8
	}
	s, err := lobbysim.New(lobbysim.Config{Lobby: cfg, Clients: clients, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps plays n ticks.
func steps(t testing.TB, s *lobbysim.Sim, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// testHost is a lobby in virtual time behind the pages of a host without sockets.
type testHost struct {
	t     testing.TB
	sim   *lobbysim.Sim
	src   Source
	start time.Time
	calls chan func()
	ended chan struct{}
}

// newTestHost returns a lobby whose clients have played a number of ticks.
func newTestHost(t testing.TB, cfg server.Config, clients, ticks int) *testHost {
	t.Helper()
	l := &testHost{t: t, start: time.Now(), calls: make(chan func()), ended: make(chan struct{})}
	cfg.Clock = func() time.Duration { return time.Since(l.start) }
	if cfg.CPU == nil {
		cfg.CPU = cfg.Clock
	}
	l.sim = newSim(t, cfg, clients)
	l.src = Source{
		Lobby: l.sim.Lobby, Schedule: metrics.NewSchedule(), Status: l.sim.Lobby.Status,
		Rate: l.sim.Lobby.Config().Rules.Rate, Interval: l.sim.Lobby.Config().SendInterval, Workers: 1,
		Socket: func() netio.Stats { return netio.Stats{} }, Query: func() map[string]uint64 { return nil },
		Clock: func() time.Duration {
			return time.Since(l.start)
		}, Ended: l.ended, Stages: NewStageLabels(LobbyName), Do: l.do,
	}
	steps(t, l.sim, ticks)
	return l
}

// do is Source.Do; between runs what waits there.
func (l *testHost) do(ctx context.Context, f func(time.Duration, *server.Lobby)) error {
	done := make(chan struct{})
	select {
	case l.calls <- func() { f(l.sim.Now(), l.sim.Lobby); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ErrBusy
	}
}

func (l *testHost) between() {
	select {
	case f := <-l.calls:
		f()
	default:
	}
}

func (l *testHost) pages(secret string) http.Handler {
	l.t.Helper()
	mux, err := NewHostMux(directoryOf(&l.src, secret), secret)
	if err != nil {
		l.t.Fatal(err)
	}
	return mux
}

func (l *testHost) registry() *prometheus.Registry {
	l.t.Helper()
	l.src.Name = LobbyName
	r, err := newRegistry(func() []*Source { return []*Source{&l.src} })
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *testHost) count(c metrics.Count) uint64 { return l.sim.Lobby.Stats.Count[c].Load() }

// directoryOf is the directory of a host with one lobby alone.
func directoryOf(src *Source, secret string) Directory {
	pages := []*LobbyPages{NewLobbyPages(*src, secret)}
	return Directory{Lobbies: func() []*LobbyPages { return pages }, Stages: src.Stages}
}
