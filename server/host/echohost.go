package host

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// EchoHost runs an Echo as a server process.
type EchoHost struct {
	*endpoint
	mu      sync.Mutex // held during a tick, and by readers of the figures
	echo    *Echo
	clients []echoClient // by slot
	refused refusals
}

// echoClient is a session, kept for the log: netcode drops it when the session ends.
type echoClient struct {
	id uint64
	at netip.AddrPort
}

const (
	echoPeriod = time.Millisecond // between two reads of the socket while datagrams come
	// The same while none come; keep-alives need only ten reads a second.
	echoIdle      = 10 * time.Millisecond
	echoIdleAfter = 20 * time.Millisecond // time since the last datagram
	// batches of disconnects per millisecond; a socket buffer holds that many
	closeBatches = 16
)

// NewEchoHost opens the socket and, if asked for, the journal and the HTTP port. All are open when
// it returns. Of the lobbies' configuration only Netcode, Players and Ahead count, and all lobbies
// together may have up to netcode.MaxClients players.
func NewEchoHost(cfg Config) (*EchoHost, error) {
	lobbies := max(1, cfg.Lobbies.Ahead)
	e, err := openEndpoint(&cfg, lobbies*orDefault(cfg.Lobby.Players, defaultPlayers))
	if err != nil {
		return nil, err
	}
	h := &EchoHost{endpoint: e, clients: make([]echoClient, e.sessions.Clients)}
	if h.echo, err = NewEcho(e.sessions, lobbies); err == nil {
		h.echo.OnEvent = h.logEvent
		if cfg.HTTP.Listen != "" {
			mux := httpapi.NewMux(httpapi.Healthy, pprof.Profile)
			mux.HandleFunc("GET /stats", h.serveStats)
			err = e.openHTTP(&cfg, webPages{mux: mux, lobby: func(id uint32) bool { return int(id) < lobbies }})
		}
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return h, nil
}

// Run answers until ctx ends, then disconnects all clients and closes everything. It locks its
// goroutine to a thread.
func (h *EchoHost) Run(ctx context.Context) (err error) {
	pacer := clock.New()
	var lastHeard, lastSecond time.Duration
	var spare spareTime
	for now := pacer.Now(); ctx.Err() == nil && err == nil; {
		wall := time.Now()
		h.mu.Lock()
		n, errTick := h.echo.Tick(now, wall.Unix(), h.sock)
		ended := pacer.Now()
		spare.add(ended, ended-now, h.echo.server)
		h.mu.Unlock()
		err = errTick
		if n > 0 {
			lastHeard = now
		}
		if now-lastSecond >= time.Second {
			lastSecond = now
			h.everySecond(now, h.wallDrift(wall))
		}
		period := echoPeriod
		if now-lastHeard > echoIdleAfter {
			period = echoIdle
		}
		now = pacer.Until(now + period)
	}
	return errors.Join(err, h.disconnectAll(pacer), h.close())
}

// disconnectAll disconnects all clients, paced: each client gets ten adjacent datagrams, and a full
// socket buffer would drop them all.
func (h *EchoHost) disconnectAll(pacer *clock.Pacer) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.echo.Close(pacer.Now())
	for left := 1; left > 0 && err == nil; pacer.Until(pacer.Now() + echoPeriod) {
		for i := 0; i < closeBatches && left > 0 && err == nil; i++ {
			left, err = h.echo.Flush(h.sock)
		}
	}
	return err
}

// logEvent logs session start, migration and end.
func (h *EchoHost) logEvent(kind netcode.EventKind, client int) {
	s, live := h.echo.server.Session(client)
	if live {
		h.clients[client] = echoClient{s.ClientID, s.Address}
	}
	c := h.clients[client]
	h.log.event(h.since(), kind.String(), "client %d at %v, slot %d: %v", c.id, c.at, client, kind)
}

// everySecond logs what was refused, and that the wall clock was set.
func (h *EchoHost) everySecond(now, drift time.Duration) {
	h.refused.log(h.log, now, h.echo.server.Counters())
	h.watchWallClock(now, drift)
	h.log.flush(now, flushDue)
}

// EchoReport is the figures of an echo host since its start, as GET /stats answers them. Received
// equals Accepted plus the sum of Drops, always.
type EchoReport struct {
	Type       string            `json:"type"`    // "stats-echo"
	Version    int               `json:"version"` // metrics.ReportVersion
	Elapsed    float64           `json:"elapsed_ms"`
	CPU        float64           `json:"cpu_ms"`
	Slots      int               `json:"slots"`
	Connected  int               `json:"connected"`
	Lobbies    []int             `json:"lobbies"` // connected, by lobby
	NoRoom     int               `json:"refused_no_room"`
	Handshakes int               `json:"handshakes"` // pending
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

func (h *EchoHost) serveStats(w http.ResponseWriter, _ *http.Request) {
	httpapi.WriteJSON(w, h.report())
}

func (h *EchoHost) report() EchoReport {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.echo.server
	c := s.Counters()
	r := EchoReport{
		Type: "stats-echo", Version: metrics.ReportVersion,
		Elapsed: 1000 * h.since().Seconds(), CPU: 1000 * clock.ProcessCPU().Seconds(),
		Slots: s.Clients(), Connected: s.Connected(),
		Lobbies: slices.Clone(h.echo.lobbies.clients), NoRoom: h.echo.lobbies.refused,
		Handshakes: s.PendingHandshakes(), Pressure: s.Pressure(),
		Received: c.Received, Kinds: byKind(c.Accepted[:]),
		Drops: map[string]uint64{}, Sent: byKind(c.Sent[:]),
		Takeovers: c.Takeovers, Migrations: c.Migrations, Kicks: c.Kicks,
		Amplified: c.Amplification, TooLong: h.echo.TooLong(), Socket: h.sock.Stats(),
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

// QueryAddr is "": an echo has no query port.
func (h *EchoHost) QueryAddr() string { return "" }
