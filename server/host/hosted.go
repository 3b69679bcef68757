package host

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/internal/textlog"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// hosted is a lobby of a host, with what paces, measures and records it.
type hosted struct {
	lobby    *server.Lobby
	worker   atomic.Pointer[worker] // that plays it
	rates    ClockConfig            // filled
	slots    int                    // of players and spectators
	pace     pace
	schedule *metrics.Schedule
	labels   *httpapi.StageLabels
	dash     *httpapi.DashFeed   // nil: no live page
	recorder *recorder           // nil: nothing is recorded
	pages    *httpapi.LobbyPages // nil: no HTTP port
	published
	mapInUse
	captured
	ended  chan struct{}         // closed when the lobby has ended
	moving atomic.Bool           // to another host, or from one: it takes no new players
	fault  atomic.Pointer[fault] // the first of its work in the background, until it is logged
}

// published are figures of a lobby, made once a second.
type published struct {
	status atomic.Pointer[server.Status]
	tick   atomic.Int64               // that hardly a tick takes longer than, ns
	score  atomic.Pointer[scoreboard] // nil without a query port
	people atomic.Pointer[[]uint64]   // client ids of its sessions; nil before the first second
	joined uint64                     // players that the host has counted; belongs to the worker
	logged loggedCounts               // likewise
}

// mapInUse is what a lobby has of the host's maps. It belongs to the worker, but for content.
type mapInUse struct {
	shared  *sharedMap       // the map that it plays; nil: a map of its own
	content string           // pack of its maps, constant; "" for the host's own
	loading <-chan loadedMap // the map that it asked for; nil: none
}

// pace is when a lobby plays, and at which load level. It belongs to its worker.
type pace struct {
	ticks   *Clock
	load    overload.Controller
	phase   int
	phases  int           // of the grid's period that are for this lobby alone; see loop.arrange
	window  window        // when its ticks may begin, if they are long and of another rate
	long    bool          // its ticks are long: they wait for those of other lobbies
	limit   time.Duration // of a tick, for the short ones of others to fit beside it; 0: none
	took    tickTime
	busy    time.Duration // in its ticks, in this second
	share   float64       // of its worker's processor in the last second, 0 to 1
	second  time.Duration // when figures are published next
	asleep  bool          // the lobby is empty, see loop.sleep
	frozen  bool          // no tick is played: the lobby moves to another host, or from one
	leaving packet.Reason // why the lobby ends; 0: it does not
	to      *worker       // where the lobby moves; see worker.depart
}

// id names the lobby in this process.
func (x *hosted) id() uint32 { return x.lobby.ID() }

// name labels the lobby in metrics, profiles and answers.
func (x *hosted) name() string { return lobbyName(x.id()) }

func lobbyName(id uint32) string { return fmt.Sprint(id) }

// newHosted makes a lobby with all that a host provides, for a worker. Any goroutine may call it;
// worker.add makes the lobby play.
func (h *Host) newHosted(w *worker, c server.Config) (x *hosted, err error) {
	x = &hosted{schedule: metrics.NewSchedule(w.port != nil), labels: h.labels.Of(lobbyName(c.ID)),
		ended: make(chan struct{})}
	x.worker.Store(w)
	if h.cfg.Slowdown != nil {
		x.schedule.FullSpeed = meter.NewHistogram(0, meter.Coarse)
	}
	if x.rates, err = h.cfg.clock(c.Rules.Rate); err != nil {
		return nil, err
	}
	c.CPU, c.Clock, c.EnterStage = clock.ThreadCPU, h.since, x.labels.Enter
	x.mark(h, w, &c)
	if w.port != nil { // its thread has other lobbies: time elapsed is CPU time, and costs less to read
		c.Port, c.CPU, c.Clock, c.SparseTiming = w.port, h.since, nil, true
	}
	c.Netcode, c.Console, c.Background = h.sessions, filesIn(h.cfg.Console.Dir), x.leave
	c.FlightRecorder = h.dumpFolder() != ""
	if h.cfg.Files.Recordings != "" {
		name := ""
		if !h.alone() {
			name = "-lobby" + lobbyName(c.ID)
		}
		if x.recorder, err = newRecorder(h.cfg.Files.Recordings, name, h.log.Logger); err != nil {
			return nil, err
		}
		x.recorder.excerpts.keep = w.capture != nil
		c.Record = x.recorder.take
	}
	if h.pool != nil {
		c.Runner = h.pool
	}
	c.LoadMap = h.loader(x)
	if x.lobby, err = server.NewLobby(c); err != nil {
		return nil, err
	}
	x.slots = x.lobby.Config().Players
	if h.cfg.Prefault != nil {
		x.lobby.Reserve()
	}
	x.lobby.PackContent()
	h.addCommands(x)
	x.publishStatus()
	if h.cfg.HTTP.Listen == "" {
		return x, nil
	}
	x.dash = httpapi.NewDashFeed(x.lobby, func() string { return x.schedule.Level().String() }, h.since)
	x.pages = httpapi.NewLobbyPages(h.source(x), h.cfg.HTTP.Secret)
	return x, nil
}

// source is what the HTTP port serves of a lobby.
func (h *Host) source(x *hosted) httpapi.Source {
	return httpapi.Source{
		Name: x.name(), Content: contentHash(x.lobby.Config()), Lobby: x.lobby, Schedule: x.schedule,
		Status: func() server.Status { return *x.status.Load() },
		Rate:   x.rates.Simulation, Interval: x.lobby.Config().SendInterval, Workers: h.pool.Workers(),
		Worker: func() int { return x.worker.Load().index },
		Socket: h.ownSocket(), Hiccup: h.cfg.Hiccup, Slowdown: h.cfg.Slowdown,
		Query: func() map[string]uint64 { return h.query.counters() },
		Clock: h.since, Ended: x.ended, Stages: x.labels, Dash: x.dash, Do: h.doFor(x),
	}
}

// ownSocket returns the figures of the socket of a lobby alone, nil for lobbies that share one.
func (h *Host) ownSocket() func() netio.Stats {
	if !h.alone() {
		return nil
	}
	return h.sock.Stats
}

// start begins what runs beside the ticks.
func (x *hosted) start() {
	if x.recorder != nil {
		x.recorder.run(x.lobby.Stats.Count[metrics.RecordingsTruncated].Inc)
	}
}

// finish ends what runs beside the ticks. What the lobby has recorded is written after it.
func (h *Host) finish(x *hosted) {
	x.dash.Close()
	close(x.ended)
	h.lateFault(x)
	h.making.release()
	h.maps.release(x.shared)
	if loading := x.loading; loading != nil {
		go func() { h.maps.release((<-loading).shared) }()
	}
	defer func() {
		if fault := recover(); fault != nil { // of a lobby that has ended by one
			h.log.Error("recording ends early", "lobby", x.name(), "err", fault)
		}
	}()
	defer func() {
		if x.recorder != nil {
			h.writers.Add(1)
			x.leave(func() { go func() { defer h.writers.Done(); x.recorder.close() }() })
		}
	}()
	x.lobby.FinishRecording()
}

// over reports whether the lobby has ended.
func (x *hosted) over() bool {
	select {
	case <-x.ended:
		return true
	default:
		return false
	}
}

// publishStatus makes what is played readable for other goroutines.
func (x *hosted) publishStatus() {
	s := x.lobby.Status()
	x.status.Store(&s)
}

// publish publishes what other goroutines read of a lobby, and logs what was dropped.
func (h *Host) publish(now time.Duration, x *hosted) {
	x.publishStatus()
	x.tick.Store(int64(x.pace.took.most()))
	h.publishScore(now, x)
	if joined := x.lobby.Stats.Count[metrics.Joined].Load(); joined != x.joined {
		fresh := joined - x.joined
		if joined < x.joined { // the figures were reset
			fresh = joined
		}
		h.arrivals.add(h.since(), int(fresh))
		x.joined = joined
	}
	people := x.lobby.AppendClientIDs(nil)
	x.people.Store(&people)
	for _, line := range x.lobby.TakeNotices() {
		h.logOf(x).Info(line)
	}
	x.logged.log(h.log, h.since(), &x.lobby.Stats)
}

// logOf is the log of records about one lobby, which have its number if there are several.
func (h *Host) logOf(x *hosted) *slog.Logger {
	if h.alone() {
		return h.log.Logger
	}
	return h.log.With("lobby", x.name())
}

// setLevel puts a lobby on another load level.
func (h *Host) setLevel(x *hosted, level overload.Level) {
	x.lobby.SetLoadLevel(level)
	x.schedule.SetLevel(level)
	x.pace.ticks.Dilate(level.Timescale())
	h.logOf(x).Warn("load level changed", "level", level)
}

// logStall says that ticks were given up.
func (h *Host) logStall(x *hosted, late time.Duration, skipped uint64) {
	if skipped == 0 {
		return
	}
	ticks := "ticks"
	if skipped == 1 {
		ticks = "tick"
	}
	stall := late + time.Duration(skipped)*x.pace.ticks.Period()
	h.log.event(h.since(), slog.LevelWarn, "stall", "stalled %.0f ms, skipped %d %s", float64(stall)/1e6, skipped, ticks)
}

// errFault ends a lobby that panicked.
var errFault = errors.New("lobby 0 closed: internal fault")

// logFault writes where and why a lobby has panicked.
func (h *Host) logFault(x *hosted, fault any, stack []byte) {
	h.faults.Inc()
	match := x.lobby.Match()
	h.log.Error("lobby ends by an internal fault", "lobby", x.name(), "tick", match.Tick(), "seed",
		match.Rules().Seed, "err", fault, textlog.Stack, string(stack))
	h.dumpFault(x, fault, stack)
}

// lateFault logs what a lobby that has ended left behind, if that has panicked. Any goroutine may call
// it.
func (h *Host) lateFault(x *hosted) {
	if f := x.fault.Swap(nil); f != nil {
		h.logFault(x, f.value, f.stack)
	}
}
