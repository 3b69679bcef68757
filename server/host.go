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

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/internal/pace"
	"github.com/tickrate/tickrate/netio/wire"
)

// HostConfig describes a server process. Zero fields mean the defaults named.
type HostConfig struct {
	Lobby  Config // of its Gate, all but the key has defaults: the address bound to, fresh entropy, wire.ProtocolID
	Listen string // UDP host:port
	Socket string // "gnet" (default) or "mmsg"

	Sights  string // folder that keeps what walls hide, by arena, for the next start; "" = none
	Journal string // file that remembers used tokens over a restart; made if need be; "" = none

	HTTP           string // host:port for health, figures, profiles and tokens; "" = none
	HTTPToken      string // secret for tokens over HTTP; "" = none, then tokens are for this machine only
	TokenSeconds   int    // that tokens over HTTP live; default DefaultTokenSeconds
	TimeoutSeconds int    // of silence that end a session, as those tokens say; negative never; default DefaultTimeoutSeconds

	Query string // UDP host:port at which server browsers ask (package query); "" = none
	Name  string // what they show, at most 255 bytes
	Build string // likewise

	Input io.Reader // lines for the console, by the operator; read to its end; default none
	Exec  []string  // files of such lines that are run first
	Dir   string    // where the console's files are; "" = nowhere: then none is read or written

	Log io.Writer // also what the console answers the operator; default none
}

// Host is the shell around a lobby: its socket, its clock and its HTTP port.
type Host struct {
	*front
	lobby *Lobby
	query *queryPort // nil: none
	walls string

	terminal terminal

	reading        sync.Mutex // held by whoever reads or resets the figures; the tick never takes it
	since          mark
	lateness, wall *meter.Histogram // ns, from the scheduled instant; and of the tick itself
	stalls         meter.Counter    // ticks given up after a stall
	overruns       meter.Counter    // ticks that took longer than their period
	shed           atomic.Int32     // the rung that the lobby is on
	late           *meter.Native    // as lateness, from the start
	began          atomic.Int64     // when the newest tick did, by clock; 0: none yet
	registry       *prometheus.Registry
	marker         *marker

	dropped    [wire.NumDrops]uint64 // as far as they were logged
	unbalanced uint64
}

// catchUp is how many late ticks are made up for at once; what lies further back is given up, and said.
const catchUp = 4

// NewHost opens the socket and, if asked for, the journal and the HTTP port. All are open when it returns.
func NewHost(cfg HostConfig) (*Host, error) {
	start, marker := time.Now(), newMarker(lobbyName)
	cfg.Lobby.CPU, cfg.Lobby.Clock, cfg.Lobby.Enter = pace.ThreadCPU, func() time.Duration { return time.Since(start) }, marker.enter
	f, err := openFront(cfg, or(cfg.Lobby.Players, defaultPlayers))
	if err != nil {
		return nil, err
	}
	cfg.Lobby.Gate, cfg.Lobby.Name, cfg.Lobby.Console = f.gate, cfg.Name, filesIn(cfg.Dir)
	var walls string
	if cfg.Lobby, walls, err = withWalls(cfg.Lobby, cfg.Sights); err != nil {
		return nil, errors.Join(err, f.close())
	}
	h := &Host{front: f, marker: marker, walls: walls, terminal: newTerminal(), late: newNanos(), lateness: meter.NewHistogram(0), wall: meter.NewHistogram(0)}
	if h.lobby, err = NewLobby(cfg.Lobby); err == nil {
		h.lobby.Prepare()
		debug.FreeOSMemory() // a hundred megabytes that packing took, and nothing else will
		h.registry, err = newRegistry(h)
	}
	if err == nil {
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
		return nil, errors.Join(err, f.close())
	}
	return h, nil
}

// Walls is a line about what the map's walls hide and what that took to work out, "" where nobody asked.
func (h *Host) Walls() string { return h.walls }

// defaultPlayers is that of Config.
const defaultPlayers = 64

// Run plays ticks until ctx ends, then says goodbye to every player and closes everything. It binds its goroutine to a
// thread.
func (h *Host) Run(ctx context.Context) error {
	pacer := pace.New()
	defer close(h.terminal.ended)
	h.marker.rest()
	rate := h.lobby.cfg.Rules.Rate
	var skipped time.Duration // given up so far
	var overload Overload
	var err error
	for ctx.Err() == nil && err == nil && !h.terminal.quit {
		due := rate.At(h.lobby.match.Tick()+1) + skipped
		now := pacer.Until(due)
		h.lateness.Record(int64(now - due))
		h.late.Record(int64(now - due))
		h.began.Store(int64(h.clock()))
		wall := time.Now()
		err = h.tick(now, wall.Unix())
		took := pacer.Now() - now
		h.wall.Record(int64(took))
		if took > rate.Period() {
			h.overruns.Inc()
		}
		if rung, changed := overload.Tick(took > rate.Period()); changed {
			h.lobby.Shed(rung)
			h.shed.Store(int32(rung))
			fmt.Fprintf(h.log, "ticks take too long or no longer do: sheds %v\n", rung)
		}
		if h.lobby.match.Tick()%tick.Tick(rate) == 0 {
			h.watch(wall)
			h.publish(now)
		}
		if late := pacer.Now() - due; late > catchUp*rate.Period() {
			skipped += h.giveUp(late)
		}
	}
	return errors.Join(err, h.farewell(pacer, err), h.query.close(), h.close())
}

// errFault is what a lobby ends with that has a fault.
var errFault = errors.New("lobby 0 closed: internal fault")

// tick runs what was typed, and plays one tick. A panic in it ends this lobby and nothing else.
func (h *Host) tick(now time.Duration, unix int64) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(h.log, "lobby 0, tick %d, seed %d: %v\n%s", h.lobby.match.Tick(), h.lobby.cfg.Rules.Seed, fault, debug.Stack())
			err = errFault
		}
	}()
	h.lines(now)
	return h.lobby.Tick(now, unix, h.conn)
}

// farewell tells every player that the lobby ends, and if by a fault of its own; what is left of it may have another. It does so a
// little at a time.
func (h *Host) farewell(pacer *pace.Pacer, ended error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("not every player was told: %v", fault)
		}
	}()
	why := wire.ReasonClosing
	if errors.Is(ended, errFault) {
		why = wire.ReasonFault
	}
	for more := true; more && err == nil; pacer.Until(pacer.Now() + time.Millisecond) {
		more, err = h.lobby.closeSome(pacer.Now(), h.conn, why)
	}
	return err
}

// watch writes once a second what was refused and dropped, and whether the wall clock was set.
func (h *Host) watch(wall time.Time) {
	now := h.clock()
	s := &h.lobby.Stats
	h.logDrops(now, h.lobby.gate.Counters())
	for i := range s.Drops {
		why, n := wire.Drop(i), s.Drops[i].Load()
		h.log.sayMany(now, why.String(), int(n-h.dropped[i]), "dropped: %s [%s]", why.Error(), why.String())
		h.dropped[i] = n
	}
	if n := s.Count[Unbalanced].Load(); n != h.unbalanced {
		h.log.say(now, "unbalanced", "a datagram was not counted once: %d ticks by now; please report this", n)
		h.unbalanced = n
	}
	h.watchClock(now, h.ahead(wall))
	h.log.flush(now, false)
}

// giveUp abandons the ticks that lie further back than can be made up for, and returns the time they would have taken.
// Each counts in the lateness: a schedule that moved must not hide why.
func (h *Host) giveUp(late time.Duration) time.Duration {
	period := h.lobby.cfg.Rules.Rate.Period()
	ticks := (late-catchUp*period)/period + 1
	for i := range ticks {
		h.lateness.Record(int64(late - i*period))
		h.late.Record(int64(late - i*period))
	}
	h.stalls.Add(uint64(ticks))
	h.log.say(h.clock(), "stall", "stalled %.0f ms, gave up %d ticks", float64(late)/1e6, ticks)
	return ticks * period
}

// Check reports what is wrong with a lobby's configuration, before anything is opened.
func (c HostConfig) Check() error {
	if err := c.CheckSocket(); err != nil {
		return err
	}
	c.Lobby.Name = c.Name
	_, err := c.Lobby.withDefaults()
	return err
}

// CheckSocket reports a socket back end that does not exist.
func (c HostConfig) CheckSocket() error {
	if c.Socket != "" && c.Socket != "gnet" && c.Socket != "mmsg" {
		return errSocket(c.Socket)
	}
	return nil
}
