// Package host runs a lobby as a server process. Datagrams, signals and operator input go in;
// datagrams, log lines and files come out. It owns what a lobby must not: the sockets, the clocks
// that pace the ticks, worker threads, the journal of used tokens, recordings on disk and the HTTP
// port. Lobby.Ticks runs on the goroutine of Run, and no other goroutine touches the lobby.
package host

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// Host runs one lobby.
type Host struct {
	*endpoint
	lobby    *server.Lobby
	rates    ClockConfig // filled
	pool     *parallel.Pool
	query    *queryPort // nil: none
	console  terminal
	recorder *recorder // nil: nothing is recorded
	encoder  *background
	dash     *httpapi.DashFeed
	labels   *httpapi.StageLabels
	schedule *metrics.Schedule
	status   atomic.Pointer[server.Status] // as of the last second
	logged   loggedCounts
	pvs      string // what PVSFor decided
}

// New opens the socket and, if asked for, the journal and the other ports. All are open when it
// returns.
func New(cfg Config) (*Host, error) {
	slots := orDefault(cfg.Lobby.Players, defaultPlayers) + cfg.Lobby.Spectators
	e, err := openEndpoint(&cfg, slots)
	if err != nil {
		return nil, err
	}
	h := &Host{endpoint: e, console: newTerminal(), labels: httpapi.NewStageLabels(httpapi.LobbyName),
		schedule: metrics.NewSchedule()}
	if err := h.open(&cfg); err != nil {
		h.pool.Close()
		return nil, errors.Join(err, h.query.close(), e.close())
	}
	return h, nil
}

// defaultPlayers is the default of server.Config.
const defaultPlayers = 64

// open makes the lobby and opens what depends on it.
func (h *Host) open(cfg *Config) (err error) {
	if err = cfg.checkWorkers(); err != nil {
		return err
	}
	if h.rates, err = cfg.clock(); err != nil {
		return err
	}
	if err = h.openLobby(cfg); err != nil {
		return err
	}
	if cfg.HTTP.Listen != "" {
		h.dash = httpapi.NewDashFeed(h.lobby, func() string { return h.schedule.Level().String() }, h.since)
		pages, err := httpapi.NewLobbyMux(h.source(cfg), cfg.HTTP.Secret)
		if err != nil {
			return err
		}
		if err = h.openHTTP(cfg, pages, h.lobby.Stats.Count[metrics.DashRefused].Inc); err != nil {
			return err
		}
	}
	if err = h.openQuery(cfg); err != nil {
		return err
	}
	return h.openConsole(&cfg.Console)
}

// openLobby makes the lobby with all that a host provides.
func (h *Host) openLobby(cfg *Config) (err error) {
	c := &cfg.Lobby
	c.CPU, c.Clock, c.EnterStage = clock.ThreadCPU, h.since, h.labels.Enter
	c.Netcode, c.Name, c.Console = h.sessions, cfg.Name, filesIn(cfg.Console.Dir)
	h.encoder = newBackground()
	c.Background = h.encoder.add
	if cfg.Files.Recordings != "" {
		if h.recorder, err = newRecorder(cfg.Files.Recordings, h.log); err != nil {
			return err
		}
		c.Record = h.recorder.take
	}
	if *c, h.pvs, err = server.PVSFor(*c, cachedPVS(cfg.Files.PVSCache)); err != nil {
		return err
	}
	if cfg.Workers > 1 {
		h.pool = parallel.NewPool(cfg.Workers)
		c.Runner = h.pool
	}
	c.LoadMap = h.loader(*cfg)
	if h.lobby, err = server.NewLobby(*c); err != nil {
		return err
	}
	if cfg.Prefault != nil {
		h.lobby.Reserve()
		cfg.Prefault()
	}
	h.lobby.PackContent()
	// Compression of the map took a hundred megabytes that nothing else will need.
	debug.FreeOSMemory()
	h.publishStatus()
	return nil
}

// source is what the HTTP port serves.
func (h *Host) source(cfg *Config) httpapi.Source {
	return httpapi.Source{
		Lobby: h.lobby, Schedule: h.schedule, Status: func() server.Status { return *h.status.Load() },
		Rate: h.rates.Simulation, Interval: h.lobby.Config().SendInterval, Workers: h.pool.Workers(),
		Socket: h.sock.Stats, Hiccup: cfg.Hiccup,
		Query: func() map[string]uint64 { return h.query.counters() },
		Clock: h.since, Ended: h.console.ended, Stages: h.labels, Dash: h.dash, Do: h.console.do,
	}
}

// Lobby returns the lobby: for tests, and for reading Stats and Summary.
func (h *Host) Lobby() *server.Lobby { return h.lobby }

// PVS says in one sentence whether the walls of the map leave players out of snapshots, "" if that
// was not asked.
func (h *Host) PVS() string { return h.pvs }

// Run plays ticks until ctx ends, then disconnects all players and closes everything. It locks its
// goroutine to a thread.
func (h *Host) Run(ctx context.Context) error {
	pacer := clock.New()
	h.encoder.start()
	if h.recorder != nil {
		h.recorder.run(h.lobby.Stats.Count[metrics.RecordingsTruncated].Inc)
	}
	defer close(h.console.ended)
	h.labels.Rest()
	err := h.play(ctx, pacer)
	h.dash.Close()
	bye := h.disconnectAll(pacer, err)
	h.lobby.FinishRecording()
	h.encoder.close()
	if f := h.encoder.fault.Load(); f != nil && !errors.Is(err, errFault) {
		err = errors.Join(err, h.logFault(f.value, f.stack))
	}
	h.recorder.close()
	err = errors.Join(err, bye, h.query.close(), h.close())
	h.pool.Close()
	return err
}

// play plays frames of ticks until ctx ends, the operator quits, or an error.
func (h *Host) play(ctx context.Context, pacer *clock.Pacer) (err error) {
	ticks := NewClock(h.rates, pacer.Now())
	var load overload.Controller
	for second := ticks.Due(); ctx.Err() == nil && err == nil && !h.console.quit; {
		now := pacer.Until(ticks.Due())
		steps, late, skipped := ticks.Frame(now)
		h.schedule.Frame(ticks.Period(), late, steps, skipped)
		h.logStall(ticks.Period(), late, skipped)
		h.schedule.Begin(h.since())
		wall := time.Now()
		for steps > 0 && err == nil && !h.console.quit {
			n := min(steps, h.rates.MaxBatch)
			steps -= n
			began := pacer.Now()
			err = h.tick(began, wall.Unix(), n)
			took := (pacer.Now() - began) / time.Duration(n)
			h.schedule.Wall.Record(int64(took))
			if took > ticks.Period() {
				h.schedule.Overruns.Inc()
			}
			h.dash.Tick(began, late, took)
			if level, changed := load.Tick(took, ticks.Period()); changed {
				h.setLevel(ticks, level)
			}
		}
		if now >= second {
			second += time.Second
			h.everySecond(now, wall)
		}
	}
	return err
}

// errFault ends a lobby that panicked.
var errFault = errors.New("lobby 0 closed: internal fault")

// setLevel puts the lobby on another load level.
func (h *Host) setLevel(ticks *Clock, level overload.Level) {
	h.lobby.SetLoadLevel(level)
	h.schedule.SetLevel(level)
	ticks.Dilate(level.Timescale())
	fmt.Fprintf(h.log, "load level is now %v\n", level)
}

// tick runs console lines and requests, and plays n ticks. A panic, of a tick or of what it left for
// the background, ends this lobby and nothing else.
func (h *Host) tick(now time.Duration, unix int64, n int) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = h.logFault(fault, debug.Stack())
		}
	}()
	h.runConsole(now)
	err = h.lobby.Ticks(now, unix, h.sock, n)
	h.encoder.flush()
	if f := h.encoder.fault.Load(); f != nil {
		err = h.logFault(f.value, f.stack)
	}
	return err
}

// logFault logs a panic of the lobby, and returns the error that ends the lobby.
func (h *Host) logFault(value any, stack []byte) error {
	match := h.lobby.Match()
	fmt.Fprintf(h.log, "lobby 0, tick %d, seed %d: %v\n%s", match.Tick(), match.Rules().Seed, value, stack)
	return errFault
}

// disconnectAll tells every player that the lobby ends, some at a time: the buffer of the socket is
// small. After a fault of the lobby this may fault too.
func (h *Host) disconnectAll(pacer *clock.Pacer, ended error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("not every player was told: %v", fault)
		}
	}()
	reason := packet.ReasonClosing
	if errors.Is(ended, errFault) {
		reason = packet.ReasonFault
	}
	for more := true; more && err == nil; pacer.Until(pacer.Now() + time.Millisecond) {
		more, err = h.lobby.CloseSome(pacer.Now(), h.sock, reason)
	}
	return err
}

// everySecond publishes what other goroutines read, and logs what was refused and dropped.
func (h *Host) everySecond(now time.Duration, wall time.Time) {
	h.publishStatus()
	for _, line := range h.lobby.TakeNotices() {
		fmt.Fprintln(h.log, line)
	}
	at := h.since()
	h.logRefused(at, h.lobby.Netcode().Counters())
	h.logged.log(h.log, at, &h.lobby.Stats)
	h.watchWallClock(at, h.wallDrift(wall))
	h.log.flush(at, flushDue)
	h.publishScore(now)
}

// publishStatus makes what is played readable for other goroutines.
func (h *Host) publishStatus() {
	s := h.lobby.Status()
	h.status.Store(&s)
}

// logStall says that ticks were given up.
func (h *Host) logStall(period, late time.Duration, skipped uint64) {
	if skipped == 0 {
		return
	}
	ticks := "ticks"
	if skipped == 1 {
		ticks = "tick"
	}
	stall := late + time.Duration(skipped)*period
	h.log.event(h.since(), "stall", "stalled %.0f ms, skipped %d %s", float64(stall)/1e6, skipped, ticks)
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
