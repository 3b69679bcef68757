package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// testHost is a lobby in virtual time behind the pages of a host without sockets.
type testHost struct {
	t     testing.TB
	sim   *lobbysim.Sim
	src   Source
	start time.Time
	calls chan func()
	ended chan struct{}
	// as a host publishes it, since handlers run beside the tick
	status atomic.Pointer[server.Status]
}

// newTestHost returns a lobby whose clients have played a number of ticks.
func newTestHost(t testing.TB, cfg server.Config, clients, ticks int) *testHost {
	t.Helper()
	l := &testHost{t: t, start: time.Now(), calls: make(chan func()), ended: make(chan struct{})}
	cfg.Clock = func() time.Duration { return time.Since(l.start) }
	if cfg.CPU == nil {
		cfg.CPU = cfg.Clock
	}
	l.sim = simtest.New(t, cfg, clients)
	l.src = Source{
		Lobby: l.sim.Lobby, Schedule: metrics.NewSchedule(false), Status: func() server.Status { return *l.status.Load() },
		Rate: l.sim.Lobby.Config().Rules.Rate, Interval: l.sim.Lobby.Config().SendInterval, Workers: 1,
		Worker: func() int { return 0 },
		Socket: func() netio.Stats { return netio.Stats{} }, Query: func() map[string]uint64 { return nil },
		Clock: func() time.Duration {
			return time.Since(l.start)
		}, Ended: l.ended, Stages: NewStageLabels(LobbyName), Do: l.do,
	}
	simtest.Steps(t, l.sim, ticks)
	l.publish()
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

func (l *testHost) publish() { l.status.Store(new(l.sim.Lobby.Status())) }

func (l *testHost) between() {
	l.publish()
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
	r, err := newRegistry(collector{sources: func() []*Source { return []*Source{&l.src} }, full: 1})
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
