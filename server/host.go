package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// HostConfig describes a server process. Zero fields mean the defaults named.
type HostConfig struct {
	Lobby  Config // of its Load, LoadMap takes the place; of its Gate, all but the key has defaults: the address bound to, fresh entropy, protocol.ProtocolID
	Listen string // UDP host:port
	Socket string // "gnet" (default) or "mmsg"

	Sights  string // folder that keeps what walls hide, by arena, for the next start; "" = none
	Journal string // file that remembers used tokens over a restart; made if need be; "" = none

	Record string // folder for recordings of the match, one file a round; made if need be; "" = none

	HTTP           string // host:port for health, figures, profiles and tokens; "" = none
	HTTPToken      string // secret for tokens over HTTP; "" = none, then tokens are for this machine only
	TokenSeconds   int    // that tokens over HTTP live; default DefaultTokenSeconds
	TimeoutSeconds int    // of silence that end a session, as those tokens say; negative never; default DefaultTimeoutSeconds

	MaxSteps, MaxBatch int // how to catch up, see ClockConfig; default 4 and 1

	// LoadMap finds maps for the console and the rotation. It is called on a goroutine of its own; default none is found.
	LoadMap func(MapSpec) (LoadedMap, error)

	Query string // UDP host:port at which server browsers ask (package query); "" = none
	Name  string // what they show, at most 255 bytes
	Build string // likewise

	Input io.Reader // lines for the console, by the operator; read to its end; default none
	Exec  []string  // files of such lines that are run first
	Dir   string    // where the console's files are; "" = nowhere: then none is read or written

	Workers int                   // that share the systems of a tick, the tick's own thread included, 1 to MaxWorkers; default 1
	Touch   func()                // has the system give the memory that this process has asked for, or as much as there is time for; all places are made before, and what another map takes comes before it is played. Default: each place is made when it is first taken
	Hiccup  func() metrics.Spread // since the last call, what a meter in this process says that the machine took, µs; default none

	Log io.Writer // also what the console answers the operator; default none
}

// Host is the shell around a lobby: its socket, its clock and its HTTP port.
type Host struct {
	*front
	lobby *Lobby
	pool  *parallel.Pool // that shares its systems; nil: nobody does
	query *queryPort     // nil: none
	walls string
	view  view

	terminal terminal
	shots    chan shotAsk // those who ask for receipts
	archive  *archive     // nil: nothing is recorded

	reading        sync.Mutex // held by whoever reads or resets the figures; the tick never takes it
	since          mark
	lateness, wall *meter.Histogram // ns, from the scheduled instant; and of the tick itself
	raw            *meter.Histogram // ns; lateness of the ticks that were played alone
	hiccup         func() metrics.Spread
	stalls         meter.Counter // ticks given up after a stall
	caught         meter.Counter // ticks played late, in a frame with others
	rates          ClockConfig   // filled
	interval       int           // ticks from one snapshot to the next
	playing        atomic.Pointer[playing]
	overruns       meter.Counter // ticks that took longer than their period
	shed           atomic.Int32  // the rung that the lobby is on
	delays         *meter.Native // as lateness, from the start
	began          atomic.Int64  // when the newest frame did, by clock; 0: none yet
	registry       *prometheus.Registry
	marker         *marker

	dropped    [packet.NumDrops]uint64 // as far as they were logged
	unbalanced uint64
}

// NewHost opens the socket and, if asked for, the journal and the HTTP port. All are open when it returns.
func NewHost(cfg HostConfig) (*Host, error) {
	start, marker := time.Now(), newMarker(lobbyName)
	cfg.Lobby.CPU, cfg.Lobby.Clock, cfg.Lobby.EnterStage = clock.ThreadCPU, func() time.Duration { return time.Since(start) }, marker.enter
	f, err := openFront(cfg, or(cfg.Lobby.Players, defaultPlayers)+cfg.Lobby.Spectators)
	if err != nil {
		return nil, err
	}
	cfg.Lobby.Netcode, cfg.Lobby.Name, cfg.Lobby.Console = f.gate, cfg.Name, filesIn(cfg.Dir)
	rates, err := cfg.clock()
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	var tape *archive
	if cfg.Record != "" {
		if tape, err = newArchive(cfg.Record, cfg.Log); err != nil {
			return nil, errors.Join(err, f.close())
		}
		cfg.Lobby.Record = tape.take
	}
	var walls string
	if cfg.Lobby, walls, err = withWalls(cfg.Lobby, cfg.Sights); err != nil {
		return nil, errors.Join(err, f.close())
	}
	h := &Host{rates: rates, front: f, marker: marker, walls: walls, archive: tape, terminal: newTerminal(), shots: make(chan shotAsk), delays: metrics.NewSeconds(), lateness: meter.NewHistogram(0), raw: meter.NewHistogram(0), hiccup: cfg.Hiccup, wall: meter.NewHistogram(0)}
	cfg.Lobby.LoadMap = h.loader(cfg)
	if h.pool, err = cfg.workers(); err == nil {
		h.lobby, err = NewLobby(cfg.Lobby)
	}
	if err == nil {
		h.interval = h.lobby.cfg.SendInterval
		if cfg.Touch != nil {
			h.lobby.Reserve()
			cfg.Touch()
		}
		h.lobby.PackContent()
		debug.FreeOSMemory() // a hundred megabytes that packing took, and nothing else will
		if cfg.HTTP != "" {
			h.view = newView(h.lobby)
		}
		h.registry, err = newRegistry(h)
	}
	if err == nil {
		f.refused = h.lobby.Stats.Count[metrics.DashRefused].Inc
		err = f.openHTTP(cfg, h.pages(cfg.HTTPToken))
	}
	if err == nil {
		err = h.startQuery(cfg)
	}
	if err == nil {
		if err = h.startConsole(cfg); err != nil {
			err = errors.Join(err, h.query.close())
		}
	}
	if err != nil {
		h.pool.Close()
		return nil, errors.Join(err, f.close())
	}
	return h, nil
}

// PVS is a line about what the map's walls hide and what that took to work out, "" where nobody asked.
func (h *Host) Walls() string { return h.walls }

// Run plays ticks until ctx ends, then says goodbye to every player and closes everything. It binds its goroutine to a
// thread.
func (h *Host) Run(ctx context.Context) error {
	pacer := clock.New()
	if h.archive != nil {
		h.archive.tape.Truncated = h.lobby.Stats.Count[metrics.RecordingsTruncated].Inc
		go h.archive.write()
	}
	defer close(h.terminal.ended)
	h.marker.rest()
	clock := NewClock(h.rates, pacer.Now())
	var overload overload.Controller
	var err error
	for second := clock.Due(); ctx.Err() == nil && err == nil && !h.terminal.quit; {
		now := pacer.Until(clock.Due())
		steps, late, givenUp := clock.Frame(now)
		h.late(clock, steps, late, givenUp)
		h.began.Store(int64(h.clock()))
		h.raw.Record(int64(late))
		wall := time.Now()
		for steps > 0 && err == nil && !h.terminal.quit {
			n := min(steps, h.rates.MaxBatch)
			steps -= n
			began := pacer.Now()
			err = h.tick(began, wall.Unix(), n)
			took := (pacer.Now() - began) / time.Duration(n)
			h.wall.Record(int64(took))
			if took > clock.Period() {
				h.overruns.Inc()
			}
			h.display(began, late, took)
			if rung, changed := overload.Tick(took, clock.Period()); changed {
				h.shift(clock, rung)
			}
		}
		if now >= second {
			second += time.Second
			h.note()
			h.watch(wall)
			h.publish(now)
		}
	}
	h.view.close()
	bye := h.farewell(pacer, err)
	h.lobby.FinishRecording()
	h.archive.close()
	err = errors.Join(err, bye, h.query.close(), h.close())
	h.pool.Close()
	return err
}

// errFault is what a lobby ends with that has a fault.
var errFault = errors.New("lobby 0 closed: internal fault")

// shift puts the lobby on another rung of overload.
func (h *Host) shift(clock *Clock, rung overload.Level) {
	h.lobby.SetLoadLevel(rung)
	h.shed.Store(int32(rung))
	clock.Dilate(rung.Timescale())
	fmt.Fprintf(h.log, "ticks take too long or no longer do: sheds %v\n", rung)
}

// tick runs what was typed, and plays so many ticks. A panic in it ends this lobby and nothing else.
func (h *Host) tick(now time.Duration, unix int64, ticks int) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(h.log, "lobby 0, tick %d, seed %d: %v\n%s", h.lobby.match.Tick(), h.lobby.cfg.Rules.Seed, fault, debug.Stack())
			err = errFault
		}
	}()
	h.lines(now)
	h.handShots()
	if ticks == 1 {
		return h.lobby.Tick(now, unix, h.conn)
	}
	return h.lobby.Ticks(now, unix, h.conn, ticks)
}

// farewell tells every player that the lobby ends, and if by a fault of its own; what is left of it may have another. It does so a
// little at a time.
func (h *Host) farewell(pacer *clock.Pacer, ended error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("not every player was told: %v", fault)
		}
	}()
	why := packet.ReasonClosing
	if errors.Is(ended, errFault) {
		why = packet.ReasonFault
	}
	for more := true; more && err == nil; pacer.Until(pacer.Now() + time.Millisecond) {
		more, err = h.lobby.join.closeSome(pacer.Now(), h.conn, why)
	}
	return err
}

// watch writes once a second what was refused and dropped, and whether the wall clock was set.
func (h *Host) watch(wall time.Time) {
	now := h.clock()
	s := &h.lobby.Stats
	h.logDrops(now, h.lobby.netcode.Counters())
	for i := range s.PacketDrops {
		why, n := packet.Drop(i), s.PacketDrops[i].Load()
		h.log.sayMany(now, why.String(), int(n-h.dropped[i]), "dropped: %s [%s]", why.Error(), why.String())
		h.dropped[i] = n
	}
	if n := s.Count[metrics.UnbalancedTicks].Load(); n != h.unbalanced {
		h.log.say(now, "unbalanced", "a datagram was not counted once: %d ticks by now; please report this", n)
		h.unbalanced = n
	}
	h.watchClock(now, h.ahead(wall))
	h.log.flush(now, false)
}

// late counts by how much the ticks of a frame are late, those that were given up too: a schedule that moved must not hide why.
func (h *Host) late(clock *Clock, steps int, late time.Duration, givenUp uint64) {
	period := clock.Period()
	for i := range steps {
		h.delayed(late - time.Duration(i)*period)
	}
	h.caught.Add(uint64(max(0, steps-1)))
	if givenUp == 0 {
		return
	}
	for i := range min(givenUp, mostGivenUp) {
		h.delayed(late + time.Duration(i+1)*period)
	}
	h.stalls.Add(givenUp)
	ticks := "ticks"
	if givenUp == 1 {
		ticks = "tick"
	}
	h.log.say(h.clock(), "stall", "stalled %.0f ms, gave up %d %s", float64(late+time.Duration(givenUp)*period)/1e6, givenUp, ticks)
}

// delayed counts one tick that is late by so much.
func (h *Host) delayed(by time.Duration) {
	h.lateness.Record(int64(by))
	h.delays.Record(int64(by))
}

// mostGivenUp bounds what one stall adds to the lateness: nobody reads the hours of a machine that slept.
const mostGivenUp = 1 << 12

// Check reports what is wrong with a lobby's configuration, before anything is opened.
func (c HostConfig) Check() error {
	if err := c.CheckSocket(); err != nil {
		return err
	}
	if err := c.checkWorkers(); err != nil {
		return err
	}
	c.Lobby.Name = c.Name
	if _, err := c.Lobby.withDefaults(); err != nil {
		return err
	}
	_, err := c.clock()
	return err
}

// CheckSocket reports a socket back end that does not exist.
func (c HostConfig) CheckSocket() error {
	if c.Socket != "" && c.Socket != "gnet" && c.Socket != "mmsg" {
		return errSocket(c.Socket)
	}
	return nil
}
