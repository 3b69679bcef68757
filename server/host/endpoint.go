package host

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/web"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// endpoint is the side of a host that faces the network: the socket, the admission of clients, and
// the HTTP port.
type endpoint struct {
	sock     netio.Conn           // the first of socks
	socks    []netio.Conn         // of the workers, on one port
	sessions netcode.ServerConfig // complete
	journal  *journal             // nil: none
	web      *web.Server          // nil: none
	connect  string               // URL that gives out tokens; "": none
	log      *rateLog
	start    time.Time
	// Between wall and monotonic clock since the start, as far as it was logged.
	drift time.Duration
}

// openEndpoint opens the socket first: tokens name the port that it gets.
func openEndpoint(cfg *Config, clients int) (e *endpoint, err error) {
	if clients < 1 || clients > netcode.MaxClients {
		return nil, fmt.Errorf("%d players: expected 1 to %d", clients, netcode.MaxClients)
	}
	e = &endpoint{log: newRateLog(cfg.Log), start: time.Now()}
	listen := netio.ListenGnet
	switch cfg.UDP.Backend {
	case "", "gnet":
	case "mmsg":
		listen = netio.ListenMmsg
	default:
		return nil, errBackend(cfg.UDP.Backend)
	}
	workers := max(1, cfg.Lobbies.Workers)
	if e.socks, err = netio.ListenShared(workers, listen, cfg.UDP.Listen, netio.Config{}); err != nil {
		return nil, err
	}
	e.sock = e.socks[0]
	e.sessions = e.complete(cfg.Lobby.Netcode, clients)
	if cfg.Files.Journal != "" {
		if e.journal, err = openJournal(cfg.Files.Journal, e.sessions.MaxTokens); err != nil {
			return nil, errors.Join(err, e.closeSockets())
		}
		e.sessions.Journal = e.journal.bytes
	} else if e.sessions.Journal == nil && e.sessions.TokenLifetime == 0 && !e.sessions.AllowTokenReuse {
		e.sessions.TokenLifetime = cmp.Or(cfg.HTTP.TokenLifetime, httpapi.DefaultTokenLifetime)
		if cfg.Lobby.Netcode.StartUnix == 0 {
			e.sessions.StartUnix = tokenStart(cfg.UDP.Listen)
		}
	}
	if workers > 1 { // a token used at one worker is refused by all
		if e.sessions.Tokens, err = netcode.NewUsedTokens(e.sessions); err != nil {
			return nil, errors.Join(err, e.closeSockets(), e.journal.close())
		}
	}
	if s := e.sock.Stats(); s.SmallBuffers() {
		e.log.Warn("the socket's buffers are smaller than asked for: a flood may cost players' datagrams; raise "+
			"net.core.rmem_max and net.core.wmem_max", "receive_kb", s.ReceiveBuffer>>10, "send_kb", s.SendBuffer>>10,
			"asked_kb", s.BufferRequested>>10)
	}
	return e, nil
}

// complete fills in what only a running host knows.
func (e *endpoint) complete(g netcode.ServerConfig, clients int) netcode.ServerConfig {
	g.Clients = clients
	g.ProtocolID = cmp.Or(g.ProtocolID, protocol.ProtocolID)
	if len(g.Addresses) == 0 {
		g.Addresses = []netip.AddrPort{e.tokenAddress()}
	}
	if g.Entropy == [32]byte{} {
		_, _ = rand.Read(g.Entropy[:]) // never fails: it ends the program
	}
	g.StartUnix = cmp.Or(g.StartUnix, time.Now().Unix())
	g.MaxTokens = cmp.Or(g.MaxTokens, max(8*clients, 1<<16))
	return g
}

// tokenStart returns the last second with tokens that a server without a journal refuses. The port
// is open, so an earlier server on it has ended: no token of a later second can have been used
// there. tokenStart waits for the end of the current second. A port that the kernel chose has no
// earlier server.
func tokenStart(listen string) int64 {
	now := time.Now().Unix()
	if _, port, err := net.SplitHostPort(listen); err != nil || port == "0" {
		return now - 1
	}
	for time.Now().Unix() == now {
		time.Sleep(time.Until(time.Unix(now+1, 0)))
	}
	return now
}

// tokenAddress is the address in tokens when none is configured.
func (e *endpoint) tokenAddress() netip.AddrPort {
	at := e.sock.LocalAddr()
	if !at.Addr().IsUnspecified() {
		return at
	}
	at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	e.log.Warn("tokens name an address of this machine: players on other machines need --public-addr HOST:PORT",
		"address", at)
	return at
}

// webPages are what openHTTP serves beside /v1/connect.
type webPages struct {
	mux     *http.ServeMux
	refused func()               // counts requests that were refused; nil: not
	lobby   func(id uint32) bool // whether a lobby plays; nil: tokens name none
	host    uint32               // of protocol.LobbyRef
	// whether the host drains, and gives no token any more; nil: never
	draining func() bool
}

// openHTTP opens the HTTP port with pages and with /v1/connect, which gives out tokens.
func (e *endpoint) openHTTP(cfg *Config, pages webPages) (err error) {
	if e.web, err = web.Listen(cfg.HTTP.Listen); err != nil {
		return err
	}
	access := httpapi.Access{Loopback: e.web.Loopback(), Secret: cfg.HTTP.Secret}
	open := access.Loopback || access.Secret != ""
	if !open {
		e.log.Warn("no tokens over HTTP: the port can be reached from other machines, and --http-token is not set",
			"http", e.web.Addr())
	}
	lifetime := cmp.Or(cfg.HTTP.TokenLifetime, httpapi.DefaultTokenLifetime)
	pages.mux.Handle("/v1/connect", httpapi.NewConnect(httpapi.ConnectConfig{
		Key: e.sessions.PrivateKey, ProtocolID: e.sessions.ProtocolID, Servers: e.sessions.Addresses,
		TokenLifetime: lifetime, SessionTimeout: cfg.HTTP.SessionTimeout, Access: access,
		Lobby: pages.lobby, Host: pages.host, Draining: pages.draining,
		// In the lifetime of a token these are no more than the server can remember.
		Burst:     e.sessions.MaxTokens / 2,
		PerSecond: max(1, e.sessions.MaxTokens/2/max(1, int(lifetime/time.Second))),
	}))
	if open {
		e.connect = "http://" + e.web.Addr() + "/v1/connect"
	}
	e.web.Serve(httpapi.Guard(pages.mux, access, pages.refused))
	return nil
}

// since is the time since the start of the host.
func (e *endpoint) since() time.Duration { return time.Since(e.start) }

// Addr is the UDP address that players connect to.
func (e *endpoint) Addr() netip.AddrPort { return e.sock.LocalAddr() }

// HTTPAddr is the address of the HTTP port, "" if there is none.
func (e *endpoint) HTTPAddr() string {
	if e.web == nil {
		return ""
	}
	return e.web.Addr()
}

// ConnectURL is the URL that gives a token for a POST, "" if there is none.
func (e *endpoint) ConnectURL() string { return e.connect }

// refusals logs what a netcode server refuses.
type refusals struct {
	logged  netcode.Counters // as far as they were logged
	repeats disconnectRepeats
}

// log writes what was refused since the last call.
func (r *refusals) log(to *rateLog, now time.Duration, c *netcode.Counters) {
	for i, n := range c.Drops {
		why := netcode.Drop(i)
		n -= r.logged.Drops[i]
		if why == netcode.DropUnknown {
			n = r.repeats.unknown(n,
				c.Accepted[netcode.KindDisconnect]-r.logged.Accepted[netcode.KindDisconnect])
		}
		to.events(now, slog.LevelWarn, why.String(), int(n), "refused: %s [%s]", why.Error(), why.String())
	}
	r.logged = *c
}

// maxDrift is the drift between wall and monotonic clock that is logged.
const maxDrift = 2 * time.Second

// wallDrift is how far the wall clock has moved ahead of the monotonic one since the start.
func (e *endpoint) wallDrift(wall time.Time) time.Duration {
	return wall.Round(0).Sub(e.start.Round(0)) - wall.Sub(e.start)
}

// watchWallClock logs that the wall clock was set. Only the expiry of tokens depends on it.
func (e *endpoint) watchWallClock(now, drift time.Duration) {
	if d := drift - e.drift; d > maxDrift || d < -maxDrift {
		e.drift = drift
		e.log.event(now, slog.LevelWarn, "clock", "the wall clock was set by %.1f s: tokens may expire at the wrong "+
			"time", d.Seconds())
	}
}

// close closes everything that is open, the journal last: the netcode server writes into it.
func (e *endpoint) close() error {
	err := e.closeSockets()
	if e.web != nil {
		err = errors.Join(err, e.web.Close())
	}
	e.log.flush(e.since(), flushAll)
	return errors.Join(err, e.journal.close())
}

func (e *endpoint) closeSockets() (err error) {
	for _, sock := range e.socks {
		err = errors.Join(err, sock.Close())
	}
	return err
}
