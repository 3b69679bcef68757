package impair

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// proxyClient is one client of a Proxy. Three goroutines use it: the proxy's, which pushes the
// client's datagrams; a reader, which pushes the server's answers; and the pump, which delivers
// what has arrived from both links.
type proxyClient struct {
	proxy *Proxy
	addr  netip.AddrPort
	wake  chan struct{} // the next arrival may have changed
	quit  chan struct{}

	mu       sync.Mutex
	up       direction
	down     direction
	received time.Duration // when the client last sent
	closed   bool

	out     *net.UDPConn // to the server; only the pump uses out and binding
	binding uint32       // binding of out
}

// direction is one direction of a client.
type direction struct {
	link  *Link
	count DirectionStats // without what the link counts
}

// stats returns the counts of the direction and its link.
func (l *direction) stats() DirectionStats {
	w := l.count
	w.InFlight = uint64(l.link.Len())
	rebound := w.Rebound
	w.Stats = l.link.Stats()
	w.Rebound = rebound // counts sockets, the link's counts addresses
	return w
}

// finalStats returns the stats of a direction that ends.
func (l *direction) finalStats() DirectionStats {
	w := l.stats()
	w.Abandoned, w.InFlight = w.InFlight, 0
	return w
}

// maxFreeEach is the most buffers that a link of a proxy keeps for reuse.
const maxFreeEach = 32

// newProxyClient returns client number of a proxy, whose links have seeds of their own.
func newProxyClient(p *Proxy, addr netip.AddrPort, number uint64) *proxyClient {
	g := &proxyClient{proxy: p, addr: addr, wake: make(chan struct{}, 1), quit: make(chan struct{}),
		received: p.now()}
	seeds := rng(p.cfg.Seed ^ number<<32)
	g.up.link = New(p.cfg.Up, seeds.next())
	g.down.link = New(p.cfg.Down, seeds.next())
	g.up.link.keep, g.down.link.keep = maxFreeEach, maxFreeEach
	return g
}

// push puts a datagram on one of the client's links.
func (g *proxyClient) push(to *direction, data []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	now := g.proxy.now()
	if to == &g.up {
		g.received = now
	}
	to.count.Received++
	before := to.link.Len()
	switch {
	case len(data) > MaxDatagram:
		to.count.Oversize++
		return
	case before >= maxInFlightEach || g.proxy.inFlight.Load() >= int64(g.proxy.cfg.MaxInFlight):
		to.count.Overflow++
		return
	}
	next, any := to.link.Next()
	to.link.Push(now, data, 0)
	g.proxy.inFlight.Add(int64(to.link.Len() - before))
	if at, ok := to.link.Next(); ok && (!any || at < next) {
		select {
		case g.wake <- struct{}{}:
		default: // awake already
		}
	}
}

// pop takes a datagram that has arrived. The data is valid until the next pop, which only the
// pump calls.
func (g *proxyClient) pop(from *direction) (data []byte, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, false
	}
	if data, _, ok = from.link.Pop(g.proxy.now()); ok {
		g.proxy.inFlight.Add(-1)
	}
	return data, ok
}

// pump delivers datagrams and sleeps until the next one arrives.
func (g *proxyClient) pump() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for up, down := true, true; up || down; {
			up, down = g.deliverUp(), g.deliverDown()
		}
		timer.Reset(g.untilNext())
		select {
		case <-g.quit:
			if g.out != nil {
				_ = g.out.Close()
			}
			return
		case <-g.wake:
		case <-timer.C:
		}
	}
}

// untilNext returns the time until a datagram arrives.
func (g *proxyClient) untilNext() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := time.Hour
	now := g.proxy.now()
	for _, l := range []*Link{g.up.link, g.down.link} {
		if at, ok := l.Next(); ok {
			rest = min(rest, at-now)
		}
	}
	return max(rest, 0)
}

// deliverUp sends a datagram to the server, if one has arrived.
func (g *proxyClient) deliverUp() bool {
	data, ok := g.pop(&g.up)
	if !ok {
		return false
	}
	g.rebind(g.up.link.Binding()) // of the last Pop; only the pump pops
	if g.out == nil {
		g.countFailed(&g.up)
	} else if _, err := g.out.Write(data); err != nil {
		g.countFailed(&g.up)
	}
	return true
}

// deliverDown sends a datagram to the client, if one has arrived.
func (g *proxyClient) deliverDown() bool {
	data, ok := g.pop(&g.down)
	if !ok {
		return false
	}
	if _, err := g.proxy.udp.WriteToUDPAddrPort(data, g.addr); err != nil {
		g.countFailed(&g.down)
	}
	return true
}

// countFailed counts a datagram that the system did not take.
func (g *proxyClient) countFailed(l *direction) {
	g.mu.Lock()
	l.count.SendFailed++
	g.mu.Unlock()
}

// rebind opens the socket to the server, and a new one at another port when the binding has
// changed. Answers to the old port are lost, as behind a real NAT. Late datagrams of an older
// binding use the new port.
func (g *proxyClient) rebind(bound uint32) {
	if g.out != nil && int32(bound-g.binding) <= 0 {
		return
	}
	out, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(g.proxy.to))
	if err != nil { // for instance no free socket: keep the old one until the next try
		return
	}
	if g.out != nil {
		_ = g.out.Close()
		g.mu.Lock()
		g.up.count.Rebound++
		g.mu.Unlock()
	}
	g.out, g.binding = out, bound
	g.proxy.routines.Go(func() { g.read(out) })
}

// read pushes the server's answers until the socket is closed.
func (g *proxyClient) read(from *net.UDPConn) {
	var buf [MaxDatagram + 1]byte
	for {
		n, err := from.Read(buf[:])
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // for instance no server yet
			time.Sleep(time.Millisecond)
		default:
			g.push(&g.down, buf[:n])
		}
	}
}
