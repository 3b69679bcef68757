package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"sync"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// EchoHost is the shell around an Echo: its socket, its clock and its HTTP port.
type EchoHost struct {
	*front
	busy  sync.Mutex // held in a tick, and by who reads the figures
	echo  *Echo
	names []guestName // by slot
}

// guestName is who a session is with, for the log: netcode forgets it with the session.
type guestName struct {
	id uint64
	at netip.AddrPort
}

const (
	echoPeriod = time.Millisecond      // between two looks at the socket while anything comes
	echoIdle   = 10 * time.Millisecond // and while nothing does: keep-alives are due ten times a second
	echoAwake  = 20 * time.Millisecond // since the last datagram, before that
	farewell   = 16                    // batches of goodbyes a millisecond, which a socket's buffer takes
)

// NewEchoHost opens the socket and, if asked for, the journal and the HTTP port. All are open when it returns. Of the lobby's
// configuration only Gate and Players count, and there may be up to netcode.MaxClients players.
func NewEchoHost(cfg HostConfig) (*EchoHost, error) {
	f, err := openFront(cfg, or(cfg.Lobby.Players, defaultPlayers))
	if err != nil {
		return nil, err
	}
	h := &EchoHost{front: f, names: make([]guestName, f.gate.Clients)}
	if h.echo, err = NewEcho(f.gate); err == nil {
		h.echo.Told = h.told
		mux := newMux(healthy, pprof.Profile)
		mux.HandleFunc("GET /stats", h.serveStats)
		err = f.openHTTP(cfg, mux)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return h, nil
}

// Run answers until ctx ends, then disconnects everybody and closes everything. It binds its goroutine to a thread.
func (h *EchoHost) Run(ctx context.Context) (err error) {
	pacer := clock.New()
	var heard, watched time.Duration
	for now := pacer.Now(); ctx.Err() == nil && err == nil; {
		wall := time.Now()
		h.busy.Lock()
		n, errTick := h.echo.Tick(now, wall.Unix(), h.conn)
		h.busy.Unlock()
		err = errTick
		if n > 0 {
			heard = now
		}
		if now-watched >= time.Second {
			watched = now
			h.watch(now, h.ahead(wall))
		}
		period := echoPeriod
		if now-heard > echoAwake {
			period = echoIdle
		}
		now = pacer.Until(now + period)
	}
	return errors.Join(err, h.goodbye(pacer), h.close())
}

// goodbye disconnects everybody, a little at a time: a datagram that finds the socket's buffer full is lost, and the ten of one
// client lie side by side.
func (h *EchoHost) goodbye(pacer *clock.Pacer) (err error) {
	h.busy.Lock()
	defer h.busy.Unlock()
	h.echo.Close(pacer.Now())
	for left := 1; left > 0 && err == nil; pacer.Until(pacer.Now() + echoPeriod) {
		for i := 0; i < farewell && left > 0 && err == nil; i++ {
			left, err = h.echo.Flush(h.conn)
		}
	}
	return err
}

// told writes who comes and goes.
func (h *EchoHost) told(kind netcode.EventKind, client int) {
	s, live := h.echo.server.Session(client)
	if live {
		h.names[client] = guestName{s.ClientID, s.Address}
	}
	h.log.say(h.clock(), kind.String(), "client %d at %v, slot %d: %v", h.names[client].id, h.names[client].at, client, kind)
}

// watch writes once a second what was refused, and whether the wall clock was set.
func (h *EchoHost) watch(now, drift time.Duration) {
	h.logDrops(now, h.echo.server.Counters())
	h.watchClock(now, drift)
	h.log.flush(now, false)
}

// EchoReport is an echo host's figures since its start, as the HTTP port gives them (GET /stats). metrics.Received is metrics.Accepted plus
// the sum of Drops, always.
type EchoReport struct {
	Seconds    float64           `json:"seconds"`
	CPUSeconds float64           `json:"cpu_seconds"`
	Slots      int               `json:"slots"`
	Connected  int               `json:"connected"`
	Waiting    int               `json:"waiting"` // handshakes
	Pressure   float64           `json:"handshake_pressure"`
	Received   uint64            `json:"rx_datagrams"`
	Accepted   uint64            `json:"rx_accepted"`
	Kinds      map[string]uint64 `json:"rx_accepted_by_kind"`
	Drops      map[string]uint64 `json:"drops"`
	Sent       map[string]uint64 `json:"tx_by_kind"`
	Takeovers  uint64            `json:"takeovers"`
	Migrations uint64            `json:"migrated"`
	Kicks      uint64            `json:"flood_kicked"`
	Amplified  uint64            `json:"amplification_blocked"`
	TooLong    uint64            `json:"tx_too_long"`
	Socket     netio.Stats       `json:"socket"`
}

func (h *EchoHost) serveStats(w http.ResponseWriter, _ *http.Request) { writeJSON(w, h.report()) }

func (h *EchoHost) report() EchoReport {
	h.busy.Lock()
	defer h.busy.Unlock()
	s := h.echo.server
	c := s.Counters()
	r := EchoReport{
		Seconds: h.clock().Seconds(), CPUSeconds: clock.ProcessCPU().Seconds(), Slots: s.Clients(), Connected: s.Connected(),
		Waiting: s.PendingHandshakes(), Pressure: s.Pressure(), Received: c.Received, Kinds: byKind(c.Accepted[:]), Drops: map[string]uint64{},
		Sent: byKind(c.Sent[:]), Takeovers: c.Takeovers, Migrations: c.Migrations, Kicks: c.Kicks, Amplified: c.Amplification,
		TooLong: h.echo.TooLong(), Socket: h.conn.Stats(),
	}
	for _, n := range c.Accepted {
		r.Accepted += n
	}
	for i, n := range c.Drops {
		if n > 0 {
			r.Drops[netcode.Drop(i).String()] = n
		}
	}
	return r
}

func byKind(counts []uint64) map[string]uint64 {
	m := map[string]uint64{}
	for i, n := range counts {
		m[netcode.Kind(i).String()] = n
	}
	return m
}

// QueryAddr is "": an echo has nothing to tell.
func (h *EchoHost) QueryAddr() string { return "" }
