package impair

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// ProxyConfig configures a Proxy.
type ProxyConfig struct {
	Listen string // UDP host:port for clients; default 127.0.0.1 and any port
	To     string // UDP host:port of the server (required)

	Up   Profile // from clients to server; each client has its own link
	Down Profile // from server to clients; its Rebind has no effect
	Seed uint64  // of all links: the nth client has the nth pair of seeds

	Clients     int           // most at a time, one socket each; default 1024
	Idle        time.Duration // silence after which a client is removed; default a minute
	MaxInFlight int           // datagrams of all clients, 1.5 kB each; default 32768
}

// maxInFlightEach is the most datagrams on their way in one link, so that no client takes all the
// room.
const maxInFlightEach = 4096

// Check returns an error if a field of c is out of range. It neither binds nor resolves.
func (c ProxyConfig) Check() error {
	switch {
	case c.To == "":
		return errors.New("impair: no server to pass datagrams to")
	case c.Clients < 0 || c.Clients > 1<<16:
		return fmt.Errorf("impair: %d clients, want 1 to %d", c.Clients, 1<<16)
	case c.MaxInFlight < 0 || c.MaxInFlight > 1<<24:
		return fmt.Errorf("impair: %d datagrams on their way, want 1 to %d", c.MaxInFlight, 1<<24)
	case c.Idle < 0:
		return fmt.Errorf("impair: clients forgotten after %v", c.Idle)
	}
	if err := c.Up.Check(); err != nil {
		return fmt.Errorf("%w (to the server)", err)
	}
	if err := c.Down.Check(); err != nil {
		return fmt.Errorf("%w (to the clients)", err)
	}
	return nil
}

// Proxy passes datagrams between clients and a server through a bad link each way, in real time.
// The server sees every client at its own socket. The configuration bounds the memory.
type Proxy struct {
	cfg   ProxyConfig
	to    netip.AddrPort
	udp   *net.UDPConn
	start time.Time

	inFlight atomic.Int64 // datagrams on their way
	routines sync.WaitGroup

	mu      sync.Mutex // lock it before a client's
	clients map[netip.AddrPort]*proxyClient
	count   ProxyStats // without what the present clients count
}

// NewProxy binds the client side and resolves the server. Run does the rest; without Run, Close
// releases the port.
func NewProxy(cfg ProxyConfig) (*Proxy, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	setZero(&cfg.Listen, "127.0.0.1:0")
	setZero(&cfg.Clients, 1024)
	setZero(&cfg.Idle, time.Minute)
	setZero(&cfg.MaxInFlight, 32768)
	to, err := net.ResolveUDPAddr("udp", cfg.To)
	if err != nil {
		return nil, fmt.Errorf("impair: server address: %w", err)
	}
	if to.IP == nil {
		to.IP = net.IPv4(127, 0, 0, 1) // ":7913" is here
	}
	at, err := net.ResolveUDPAddr("udp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("impair: address to listen on: %w", err)
	}
	udp, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("impair: %w", err) // names the address
	}
	p := &Proxy{cfg: cfg, to: to.AddrPort(), udp: udp, start: time.Now(),
		clients: map[netip.AddrPort]*proxyClient{}}
	if p.circular() {
		_ = udp.Close()
		return nil, fmt.Errorf("impair: %v would pass datagrams to itself", p.Addr())
	}
	_ = udp.SetReadBuffer(4 << 20) // up to the system's limit
	return p, nil
}

// circular reports whether the server is the proxy.
func (p *Proxy) circular() bool {
	at, to := p.Addr(), netip.AddrPortFrom(p.to.Addr().Unmap(), p.to.Port())
	return at == to || at.Port() == to.Port() && at.Addr().IsUnspecified() &&
		(to.Addr().IsLoopback() || to.Addr().IsUnspecified())
}

// Addr returns the address for clients.
func (p *Proxy) Addr() netip.AddrPort {
	at := p.udp.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// Close releases the port and ends Run.
func (p *Proxy) Close() error { return p.udp.Close() }

// Run passes datagrams until the context ends or Close is called. Then it closes every socket,
// waits for its goroutines and returns nil. It can run once.
func (p *Proxy) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = p.udp.Close() })
	defer stop()
	p.listen()
	_ = p.udp.Close()
	p.sweep(-1)
	p.routines.Wait()
	return nil
}

// now is the clock of all links.
func (p *Proxy) now() time.Duration { return time.Since(p.start) }

// listen takes the clients' datagrams until the socket is closed.
func (p *Proxy) listen() {
	var buf [MaxDatagram + 1]byte // a longer datagram is noticed
	swept := p.now()
	for {
		_ = p.udp.SetReadDeadline(p.start.Add(swept + p.sweepEvery()))
		n, from, err := p.udp.ReadFromUDPAddrPort(buf[:])
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			if g := p.client(from); g != nil {
				g.push(&g.up, buf[:n])
			}
		case !isTimeout(err): // a transient error, such as a refusal by a former client
			time.Sleep(time.Millisecond)
		}
		if now := p.now(); now-swept >= p.sweepEvery() {
			swept = now
			p.sweep(p.cfg.Idle)
		}
	}
}

// sweepEvery returns the time between two sweeps.
func (p *Proxy) sweepEvery() time.Duration { return min(time.Second, p.cfg.Idle) }

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// client finds the client at an address or adds it; nil if there is no room.
func (p *Proxy) client(from netip.AddrPort) *proxyClient {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.clients[from]
	if g != nil {
		return g
	}
	if len(p.clients) >= p.cfg.Clients {
		p.count.Refused++
		return nil
	}
	g = newProxyClient(p, from, p.count.Joined)
	p.count.Joined++
	p.clients[from] = g
	p.routines.Go(g.pump)
	return g
}

// sweep forgets the clients that have been silent for longer than idle.
func (p *Proxy) sweep(idle time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for at, g := range p.clients {
		g.mu.Lock()
		if now-g.received > idle {
			delete(p.clients, at)
			p.inFlight.Add(-int64(g.up.link.Len() + g.down.link.Len()))
			p.count.Up.add(g.up.finalStats())
			p.count.Down.add(g.down.finalStats())
			g.closed = true
			close(g.quit)
		}
		g.mu.Unlock()
	}
}
