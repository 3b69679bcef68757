package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/internal/pace"
	"github.com/tickrate/tickrate/netio"
)

// HostConfig describes a server process.
type HostConfig struct {
	Lobby  Config
	Listen string // UDP host:port
	Socket string // "gnet" (default) or "mmsg"
	HTTP   string // host:port for health, figures and profiles; "" = none
	Log    io.Writer
}

// Host is the shell around a lobby: its socket, its clock and its HTTP port.
type Host struct {
	lobby *Lobby
	conn  netio.Conn
	web   *web
	log   io.Writer
	start time.Time

	reading        sync.Mutex // held by whoever reads or resets the figures; the tick never takes it
	since          mark
	lateness, wall *meter.Histogram // ns, from the scheduled instant; and of the tick itself
	stalls         meter.Counter    // ticks given up after a stall
}

// catchUp is how many late ticks are made up for at once; what lies further back is given up, and said.
const catchUp = 4

// NewHost opens the socket and, if asked for, the HTTP port. Both are open when it returns.
func NewHost(cfg HostConfig) (*Host, error) {
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	if cfg.Lobby.Gate.Entropy == [32]byte{} {
		_, _ = rand.Read(cfg.Lobby.Gate.Entropy[:]) // does not fail: it stops the program
	}
	cfg.Lobby.CPU, cfg.Lobby.Enter = pace.ThreadCPU, labels()
	lobby, err := NewLobby(cfg.Lobby)
	if err != nil {
		return nil, err
	}
	h := &Host{lobby: lobby, log: cfg.Log, start: time.Now(),
		lateness: meter.NewHistogram(0), wall: meter.NewHistogram(0)}
	switch cfg.Socket {
	case "", "gnet":
		h.conn, err = netio.ListenGnet(cfg.Listen, netio.Config{})
	case "mmsg":
		h.conn, err = netio.ListenMmsg(cfg.Listen, netio.Config{})
	default:
		err = fmt.Errorf("socket back end %q: expected gnet or mmsg", cfg.Socket)
	}
	if err != nil {
		return nil, err
	}
	if cfg.HTTP != "" {
		if h.web, err = h.openWeb(cfg.HTTP); err != nil {
			return nil, errors.Join(err, h.conn.Close())
		}
	}
	return h, nil
}

// labels returns a function that marks the calling goroutine with the stage it is in, for profiles
// (go tool pprof -tagfocus stage=snapshot). The label sets are made once: marking allocates nothing.
func labels() func(Stage) {
	sets := make([]context.Context, Stages+1)
	for i := range sets {
		sets[i] = pprof.WithLabels(context.Background(), pprof.Labels("lobby", "0", "stage", Stage(i).String()))
	}
	return func(s Stage) { pprof.SetGoroutineLabels(sets[s]) }
}

// clock is the time since the host was made.
func (h *Host) clock() time.Duration { return time.Since(h.start) }

// Addr is the UDP address that players connect to.
func (h *Host) Addr() netip.AddrPort { return h.conn.LocalAddr() }

// Run plays ticks until ctx ends, then says goodbye to every player and closes everything. It binds its goroutine to a
// thread.
func (h *Host) Run(ctx context.Context) error {
	pacer := pace.New()
	rate := h.lobby.cfg.Rules.Rate
	var skipped time.Duration // given up so far
	var err error
	for ctx.Err() == nil && err == nil {
		due := rate.At(h.lobby.match.Tick()+1) + skipped
		now := pacer.Until(due)
		h.lateness.Record(int64(now - due))
		err = h.lobby.Tick(now, time.Now().Unix(), h.conn)
		h.wall.Record(int64(pacer.Now() - now))
		if late := pacer.Now() - due; late > catchUp*rate.Period() {
			skipped += h.giveUp(late)
		}
	}
	return errors.Join(err, h.lobby.Close(pacer.Now(), h.conn), h.close())
}

// giveUp abandons the ticks that lie further back than can be made up for, and returns the time they would have taken.
// Each counts in the lateness: a schedule that moved must not hide why.
func (h *Host) giveUp(late time.Duration) time.Duration {
	period := h.lobby.cfg.Rules.Rate.Period()
	ticks := (late-catchUp*period)/period + 1
	for i := range ticks {
		h.lateness.Record(int64(late - i*period))
	}
	h.stalls.Add(uint64(ticks))
	fmt.Fprintf(h.log, "stalled %.0f ms, gave up %d ticks\n", float64(late)/1e6, ticks)
	return ticks * period
}

func (h *Host) close() error {
	err := h.conn.Close()
	if h.web != nil {
		err = errors.Join(err, h.web.close())
	}
	return err
}

// Check reports what is wrong with a configuration, before anything is opened.
func (c HostConfig) Check() error {
	if c.Socket != "" && c.Socket != "gnet" && c.Socket != "mmsg" {
		return fmt.Errorf("socket back end %q: expected gnet or mmsg", c.Socket)
	}
	_, err := c.Lobby.withDefaults()
	return err
}
