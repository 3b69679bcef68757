// Package host runs lobbies as a server process. Datagrams, signals and operator input go in;
// datagrams, log lines and files come out. It owns what a lobby must not: the socket, the clocks
// that pace the ticks, worker threads, the journal of used tokens, recordings on disk and the HTTP
// port. Each lobby plays on the goroutine of its worker, and no other goroutine touches one that
// plays.
package host

import (
	"context"
	"errors"
	"log/slog"
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
	cfg      Config
	workers  []*worker
	steering *server.Steering          // of several workers; nil: there is one
	list     atomic.Pointer[[]*hosted] // the lobbies of all workers, by ID
	maps     sharedMaps
	making   making
	pool     *parallel.Pool
	query    *queryPort // nil: none
	console  terminal
	encoder  *background
	writers  sync.WaitGroup       // recordings of lobbies that have ended
	labels   *httpapi.StageLabels // of no lobby
	faults   meter.Counter        // lobbies that have panicked
	arrivals arrivals             // of players
	pvs      string               // what PVSFor decided

	balanced atomic.Int64   // when lobbies have moved last, by the clock of the workers
	stopping atomic.Bool    // the workers are to end
	playing  sync.WaitGroup // workers that play
	ended    chan struct{}  // closed when the workers have ended
	drain    drain
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
	h := &Host{endpoint: e, cfg: cfg, labels: httpapi.NewStageLabels(""), ended: make(chan struct{}),
		drain: drain{begun: make(chan struct{})}}
	h.encoder = newBackground(cfg.Lobbies.most(), h.lateFault)
	h.list.Store(new([]*hosted))
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
	if cfg.TickWorkers > 1 {
		h.pool = parallel.NewPool(cfg.TickWorkers)
	}
	if err = h.openWorkers(); err != nil {
		return err
	}
	if err = h.makeAhead(); err != nil {
		return err
	}
	// Maps and content are made with garbage that nothing else will need.
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
		web := webPages{mux: pages, draining: h.Draining, refused: h.workers[0].figures.stats.Count[metrics.HTTPRefused].Inc}
		if h.alone() {
			web.refused = h.initial().lobby.Stats.Count[metrics.HTTPRefused].Inc
		} else {
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

// alone reports whether the host has one lobby alone, whose end is that of the host.
func (h *Host) alone() bool { return h.cfg.Lobbies.most() == 0 }

// openWorkers makes the workers, and the ports that lobbies share. A lobby alone makes its own.
func (h *Host) openWorkers() error {
	g := h.sessions
	rate := orDefault(int(h.cfg.Lobby.Rules.Rate), int(tick.DefaultRate))
	g.PacketsPerSecond = orDefault(g.PacketsPerSecond, 2*max(rate, int(tick.MaxRate))) // a datagram a tick
	if len(h.socks) > 1 {
		h.steering = server.NewSteering(len(h.socks), g.Clients)
	}
	for i, sock := range h.socks {
		w := &worker{host: h, index: i, sock: sock, backlog: backlog{to: h.encoder},
			speed:    newSpeed(h.cfg.Slowdown),
			requests: requests{calls: make(chan call), ended: h.ended},
			inbox:    make(chan arrival, h.cfg.Lobbies.most())}
		if w.capture = h.cfg.Capture.NewThread(); w.capture != nil {
			w.sock = markedConn{sock, w.capture}
		}
		h.workers = append(h.workers, w)
		if h.alone() {
			return nil
		}
		if err := w.openPort(g); err != nil {
			return err
		}
	}
	return nil
}

// stop makes the workers end. Any goroutine may call it.
func (h *Host) stop() { h.stopping.Store(true) }

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
// goroutine to a thread: that of the first worker.
func (h *Host) Run(ctx context.Context) (err error) {
	defer close(h.ended)
	h.encoder.start()
	if ctx.Err() != nil {
		h.stop()
	}
	defer context.AfterFunc(ctx, h.stop)()
	pacer, errs := clock.New(), make([]error, len(h.workers))
	var running sync.WaitGroup
	h.playing.Add(len(h.workers))
	for i, w := range h.workers[1:] {
		running.Go(func() {
			pacer.Bind()
			errs[i+1] = w.run(pacer)
		})
	}
	errs[0] = h.workers[0].run(pacer)
	running.Wait()
	err = errors.Join(errs...)
	h.encoder.close()
	for _, x := range *h.list.Load() {
		if f := x.fault.Load(); f != nil && h.alone() && !errors.Is(err, errFault) {
			err = errors.Join(err, errFault)
		}
		h.lateFault(x)
		close(x.ended)
	}
	h.writers.Wait()
	for _, x := range *h.list.Load() {
		x.recorder.close()
	}
	err = errors.Join(err, h.query.close(), h.close())
	h.pool.Close()
	return err
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
		to.events(now, slog.LevelWarn, why.String(), int(n-c.drops[i]), "dropped: %s [%s]", why.Error(), why.String())
		c.drops[i] = n
	}
	if n := s.Count[metrics.UnbalancedTicks].Load(); n != c.unbalanced {
		to.event(now, slog.LevelError, "unbalanced", "a datagram was not counted once: %d ticks by now; please report this", n)
		c.unbalanced = n
	}
	if n := s.Count[metrics.RecordingChunksDropped].Load(); n != c.chunks {
		to.event(now, slog.LevelError, "recording", "recording: not encoded in time: %d seconds of it are missing by now", n)
		c.chunks = n
	}
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}
