// Package host runs lobbies as a server process. Datagrams, signals and operator input go in;
// datagrams, log lines and files come out. It owns what a lobby must not: the socket, the clocks
// that pace the ticks, worker threads, the journal of used tokens, recordings on disk and the HTTP
// port. All lobbies play on the goroutine of Run, and no other goroutine touches one that plays.
package host

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// Host runs lobbies on one UDP port.
type Host struct {
	*endpoint
	cfg     Config
	first   *hosted      // the lobby that the host began with, until it ends; belongs to the loop
	port    *server.Port // nil: there is one lobby alone, with a port of its own
	loop    loop
	list    atomic.Pointer[[]*hosted] // loop.lobbies, for other goroutines
	maps    sharedMaps
	making  making
	pool    *parallel.Pool
	query   *queryPort // nil: none
	console terminal
	encoder *background
	writers sync.WaitGroup       // recordings of lobbies that have ended
	labels  *httpapi.StageLabels // of no lobby
	figures portFigures
	pvs     string // what PVSFor decided
}

// portFigures are the figures of a shared port, of datagrams that belong to no lobby.
type portFigures struct {
	stats  metrics.Stats
	timer  metrics.TickTimer
	logged loggedCounts
	faults meter.Counter // lobbies that have panicked
}

// New opens the socket and, if asked for, the journal and the other ports. All are open when it
// returns.
func New(cfg Config) (*Host, error) {
	slots := orDefault(cfg.Lobby.Players, defaultPlayers) + cfg.Lobby.Spectators
	if n := cfg.Lobbies.most(); n > 0 {
		slots = min(slots*n, netcode.MaxClients)
	}
	e, err := openEndpoint(&cfg, slots)
	if err != nil {
		return nil, err
	}
	h := &Host{endpoint: e, cfg: cfg, console: newTerminal(), labels: httpapi.NewStageLabels(""),
		encoder: newBackground(cfg.Lobbies.most())}
	if err := h.open(); err != nil {
		h.pool.Close()
		return nil, errors.Join(err, h.query.close(), e.close())
	}
	return h, nil
}

// defaultPlayers is the default of server.Config.
const defaultPlayers = 64

// open makes the first lobbies and opens what depends on them.
func (h *Host) open() (err error) {
	cfg := &h.cfg
	if err = cfg.checkWorkers(); err != nil {
		return err
	}
	cfg.Lobby.Name = cfg.Name
	if cfg.Workers > 1 {
		h.pool = parallel.NewPool(cfg.Workers)
	}
	if err = h.openPort(); err != nil {
		return err
	}
	if err = h.makeAhead(); err != nil {
		return err
	}
	// Compression of the map took a hundred megabytes that nothing else will need.
	debug.FreeOSMemory()
	if cfg.Prefault != nil {
		cfg.Prefault()
		debug.FreeOSMemory()
	}
	if cfg.HTTP.Listen != "" {
		pages, err := httpapi.NewHostMux(h.directory(), cfg.HTTP.Secret)
		if err != nil {
			return err
		}
		web := webPages{mux: pages, refused: h.first.lobby.Stats.Count[metrics.DashRefused].Inc}
		if h.port != nil {
			web.refused = h.figures.stats.Count[metrics.DashRefused].Inc
			web.host, web.lobby = h.making.host(), h.plays
		}
		if err = h.openHTTP(cfg, web); err != nil {
			return err
		}
	}
	if err = h.openQuery(cfg); err != nil {
		return err
	}
	return h.openConsole(&cfg.Console)
}

// openPort makes the port that the lobbies share. A lobby alone makes its own.
func (h *Host) openPort() (err error) {
	if h.cfg.Lobbies.most() == 0 {
		return nil
	}
	h.figures.stats.Histograms = metrics.NewHistograms(true)
	h.figures.timer = metrics.NewTickTimer(h.since, nil, h.labels.Of("port").Enter)
	g := h.sessions
	rate := orDefault(int(h.cfg.Lobby.Rules.Rate), int(tick.DefaultRate))
	g.PacketsPerSecond = orDefault(g.PacketsPerSecond, 2*max(rate, int(tick.MaxRate))) // a datagram a tick
	h.port, err = server.NewPort(server.PortConfig{Netcode: g, Host: h.making.host(),
		Stats: &h.figures.stats, Timer: &h.figures.timer, Clock: h.since})
	return err
}

// Lobby returns the lobby that the host began with: for tests, and for reading Stats and Summary. It
// is nil if that lobby has ended, and others play.
func (h *Host) Lobby() *server.Lobby {
	if x := h.initial(); x != nil {
		return x.lobby
	}
	return nil
}

// initial is the lobby that the host began with, nil if it has ended. Any goroutine may call it.
func (h *Host) initial() *hosted {
	if list := *h.list.Load(); len(list) > 0 && list[0].id() == 0 {
		return list[0]
	}
	return nil
}

// PVS says in one sentence whether the walls of the map leave players out of snapshots, "" if that
// was not asked.
func (h *Host) PVS() string { return h.pvs }

// Run plays ticks until ctx ends, then disconnects all players and closes everything. It locks its
// goroutine to a thread.
func (h *Host) Run(ctx context.Context) error {
	pacer := clock.New()
	h.encoder.start()
	made := h.loop.lobbies
	h.loop.lobbies = nil
	for _, x := range made {
		h.loop.insert(pacer.Now(), x)
		x.start()
	}
	defer close(h.console.ended)
	h.first.labels.Rest()
	err := h.play(ctx, pacer)
	for _, x := range h.loop.lobbies {
		x.dash.Close()
	}
	bye := h.disconnectAll(pacer, err)
	for _, x := range h.loop.lobbies {
		x.lobby.FinishRecording()
		close(x.ended)
	}
	h.encoder.close()
	for f, ok := h.encoder.fault(); ok; f, ok = h.encoder.fault() {
		h.logFault(f.of, f.value, f.stack)
		if h.port == nil && !errors.Is(err, errFault) {
			err = errors.Join(err, errFault)
		}
	}
	h.writers.Wait()
	for _, x := range h.loop.lobbies {
		x.recorder.close()
	}
	err = errors.Join(err, bye, h.query.close(), h.close())
	h.pool.Close()
	return err
}

// netcode is the netcode server of the host's socket.
func (h *Host) netcode() *netcode.Server {
	if h.port != nil {
		return h.port.Netcode()
	}
	return h.first.lobby.Netcode()
}

// everySecond logs what was refused, and publishes what server browsers see.
func (h *Host) everySecond(now time.Duration, wall time.Time) {
	at := h.since()
	h.logRefused(at, h.netcode().Counters())
	if h.port != nil {
		h.figures.logged.log(h.log, at, &h.figures.stats)
	}
	h.watchWallClock(at, h.wallDrift(wall))
	h.log.flush(at, flushDue)
	h.publishScore(now)
}

// loggedCounts are the counters that were logged already.
type loggedCounts struct {
	drops      [packet.NumDrops]uint64
	unbalanced uint64
	chunks     uint64 // of recordings, dropped
}

// log writes what has grown since the last call.
func (c *loggedCounts) log(to *rateLog, now time.Duration, s *metrics.Stats) {
	for i := range s.PacketDrops {
		why, n := packet.Drop(i), s.PacketDrops[i].Load()
		to.events(now, why.String(), int(n-c.drops[i]), "dropped: %s [%s]", why.Error(), why.String())
		c.drops[i] = n
	}
	if n := s.Count[metrics.UnbalancedTicks].Load(); n != c.unbalanced {
		to.event(now, "unbalanced", "a datagram was not counted once: %d ticks by now; please report this", n)
		c.unbalanced = n
	}
	if n := s.Count[metrics.RecordingChunksDropped].Load(); n != c.chunks {
		to.event(now, "recording", "RECORDING: not encoded in time: %d seconds of it are missing by now", n)
		c.chunks = n
	}
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}
