package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// front is the side of a host that faces the network: the socket, who may come in, and the HTTP port.
type front struct {
	refused func() // is called for each request for the live page that is refused; nil: nobody counts
	conn    netio.Conn
	gate    netcode.ServerConfig // complete
	journal *journal             // nil: none
	web     *web                 // nil: none
	connect string               // URL at which tokens are handed out; "": nowhere
	log     *logbook
	start   time.Time
	said    netcode.Counters // of netcode, as far as they were logged
	tails   tails
	drift   time.Duration // of the wall clock from the monotonic one since the start, as far as it was said
}

// maxDrift is how far the wall clock may go from the monotonic one before it is said.
const maxDrift = 2 * time.Second

// ahead is how far the wall clock is ahead of the monotonic one since the start.
func (f *front) ahead(wall time.Time) time.Duration {
	return wall.Round(0).Sub(f.start.Round(0)) - wall.Sub(f.start)
}

// watchClock says when somebody has set the wall clock, which tokens are compared with. Nothing else reads it.
func (f *front) watchClock(now, drift time.Duration) {
	if d := drift - f.drift; d > maxDrift || d < -maxDrift {
		f.drift = drift
		f.log.say(now, "clock", "the wall clock was set by %.1f s: tokens may expire at the wrong time", d.Seconds())
	}
}

// logDrops says what the gate has refused since the last call.
func (f *front) logDrops(now time.Duration, c *netcode.Counters) {
	for i, n := range c.Drops {
		why := netcode.Drop(i)
		n -= f.said.Drops[i]
		if why == netcode.DropUnknown {
			n = f.tails.strangers(n, c.Accepted[netcode.KindDisconnect]-f.said.Accepted[netcode.KindDisconnect])
		}
		f.log.sayMany(now, why.String(), int(n), "refused: %s [%s]", why.Error(), why.String())
	}
	f.said = *c
}

// openFront opens the socket first, since tokens name the port that it got.
func openFront(cfg HostConfig, clients int) (f *front, err error) {
	if clients < 1 || clients > netcode.MaxClients { // before anything is sized by it
		return nil, fmt.Errorf("%d players: expected 1 to %d", clients, netcode.MaxClients)
	}
	f = &front{log: newLogbook(cfg.Log), start: time.Now()}
	switch cfg.Socket {
	case "", "gnet":
		f.conn, err = netio.ListenGnet(cfg.Listen, netio.Config{})
	case "mmsg":
		f.conn, err = netio.ListenMmsg(cfg.Listen, netio.Config{})
	default:
		err = errSocket(cfg.Socket)
	}
	if err != nil {
		return nil, err
	}
	f.gate = f.guard(cfg.Lobby.Netcode, clients)
	if cfg.Journal != "" {
		if f.journal, err = openJournal(cfg.Journal, f.gate.MaxTokens); err != nil {
			return nil, errors.Join(err, f.conn.Close())
		}
		f.gate.Journal = f.journal.bytes
	} else if f.gate.Journal == nil && f.gate.TokenLifetime == 0 && !f.gate.AllowTokenReuse {
		f.gate.TokenLifetime = time.Duration(or(cfg.TokenSeconds, DefaultTokenSeconds)) * time.Second
		if cfg.Lobby.Netcode.StartUnix == 0 {
			f.gate.StartUnix = tokenStart(cfg.Listen)
		}
	}
	if s := f.conn.Stats(); s.SmallBuffers() {
		fmt.Fprintf(f.log, "the socket got buffers of %d kB to receive and %d kB to send, of %d kB asked for: a flood may cost players' datagrams; raise net.core.rmem_max and net.core.wmem_max\n",
			s.ReceiveBuffer>>10, s.SendBuffer>>10, s.BufferRequested>>10)
	}
	return f, nil
}

func errSocket(name string) error {
	return fmt.Errorf("socket back end %q: expected gnet or mmsg", name)
}

// guard completes a gate with what only a running host knows.
func (f *front) guard(g netcode.ServerConfig, clients int) netcode.ServerConfig {
	g.Clients = clients
	if g.ProtocolID == 0 {
		g.ProtocolID = protocol.ProtocolID
	}
	if len(g.Addresses) == 0 {
		g.Addresses = []netip.AddrPort{f.name()}
	}
	if g.Entropy == [32]byte{} {
		_, _ = rand.Read(g.Entropy[:]) // does not fail: it stops the program
	}
	if g.StartUnix == 0 {
		g.StartUnix = time.Now().Unix()
	}
	if g.MaxTokens == 0 {
		g.MaxTokens = max(8*clients, 1<<16)
	}
	return g
}

// tokenStart returns the last second whose tokens a server without a journal refuses. The server has its port already, so
// an earlier server on this port has ended: once the present second is over, no token issued later can have been used
// there, and tokenStart waits for that. A port that the kernel chose has no earlier server.
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

// name is what tokens call this server when nobody says what others call it.
func (f *front) name() netip.AddrPort {
	at := f.conn.LocalAddr()
	if !at.Addr().IsUnspecified() {
		return at
	}
	at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	fmt.Fprintf(f.log, "tokens name this server %v: players on other machines need --public-addr HOST:PORT\n", at)
	return at
}

// openHTTP opens the HTTP port with the given pages, and the one that hands out tokens.
func (f *front) openHTTP(cfg HostConfig, mux *http.ServeMux) (err error) {
	if cfg.HTTP == "" {
		return nil
	}
	if f.web, err = listenWeb(cfg.HTTP); err != nil {
		return err
	}
	private := f.web.loopback()
	if !private && cfg.HTTPToken == "" {
		fmt.Fprintf(f.log, "no tokens over HTTP: %v can be reached from other machines, and --http-token is not set\n", f.web.listener.Addr())
	}
	lifetime := or(cfg.TokenSeconds, DefaultTokenSeconds)
	mux.Handle("/v1/connect", NewConnect(ConnectConfig{
		Key: f.gate.PrivateKey, ProtocolID: f.gate.ProtocolID, Servers: f.gate.Addresses,
		TokenSeconds: lifetime, TimeoutSeconds: cfg.TimeoutSeconds, Bearer: cfg.HTTPToken, Private: private,
		// In the lifetime of a token these are no more than the server can remember.
		Burst: f.gate.MaxTokens / 2, PerSecond: max(1, f.gate.MaxTokens/2/lifetime),
	}))
	if private || cfg.HTTPToken != "" {
		f.connect = "http://" + f.web.listener.Addr().String() + "/v1/connect"
	}
	f.web.serve(guarded(mux, private, cfg.HTTPToken, f.refused))
	return nil
}

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// clock is the time since the host was made.
func (f *front) clock() time.Duration { return time.Since(f.start) }

// Addr is the UDP address that players connect to.
func (f *front) Addr() netip.AddrPort { return f.conn.LocalAddr() }

// HTTPAddr is the address of the HTTP port, "" if there is none.
func (f *front) HTTPAddr() string {
	if f.web == nil {
		return ""
	}
	return f.web.listener.Addr().String()
}

// ConnectURL is where a POST gets a token, "" if nowhere.
func (f *front) ConnectURL() string { return f.connect }

// close closes everything that is open; the journal last, since nobody must reach into it any more.
func (f *front) close() error {
	err := f.conn.Close()
	if f.web != nil {
		err = errors.Join(err, f.web.close())
	}
	f.log.flush(f.clock(), true)
	return errors.Join(err, f.journal.close())
}
