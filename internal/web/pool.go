package web

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// pool is the connections of a port, and the listener that they come from. A connection waits, for a
// request or the rest of one, or it is busy with a handler. A connection too many takes the place of
// the one that has waited longest, of the address that has the most.
type pool struct {
	net.Listener
	most, each int // connections in all, and of an address

	mu      sync.Mutex // guards the fields below
	waiting list.List  // of *conn; the longest first
	all     tally
	of      map[netip.Prefix]tally // by address
}

// tally counts connections.
type tally struct{ open, busy int }

func (t tally) plus(open, busy int) tally { return tally{t.open + open, t.busy + busy} }

// count changes the tally of all connections and that of an address.
func (p *pool) count(from netip.Prefix, open, busy int) {
	p.all = p.all.plus(open, busy)
	if p.of[from] = p.of[from].plus(open, busy); p.of[from].open == 0 {
		delete(p.of, from)
	}
}

// maxBusy is how many connections of a limit handlers may hold: an eighth stays free, one at least, for
// requests about health.
func maxBusy(connections int) int { return connections - max(1, connections/8) }

// conn is a connection of a pool, which guards its fields.
type conn struct {
	net.Conn
	from netip.Prefix
	wait *list.Element // in pool.waiting; nil: busy, or closed
	busy bool
	gone bool
}

// newPool returns a pool of at most that many connections, 8 or more. An address may have a quarter of
// them.
func newPool(l net.Listener, most int) *pool {
	return &pool{Listener: l, most: most, each: most / 4, of: map[netip.Prefix]tally{}}
}

// Network is what limits for each client count by: an IPv4 address, or the /64 network of an IPv6
// address, since one client has all addresses of it. It is zero for the zero address.
func Network(of netip.Addr) netip.Prefix {
	of = of.Unmap()
	bits := 32
	if of.Is6() {
		bits = 64
	}
	network, _ := of.Prefix(bits) // fails for the zero address alone
	return network
}

// remote is the network of a connection's client.
func remote(c net.Conn) netip.Prefix {
	at, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	return Network(at.AddrPort().Addr())
}

// Accept returns the next connection that has a place.
func (p *pool) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		x := &conn{Conn: c, from: remote(c)}
		if p.admit(x) {
			return x, nil
		}
		_ = c.Close()
	}
}

// admit gives a connection a place. It returns false if all others are busy.
func (p *pool) admit(x *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.of[x.from].open >= p.each:
		if !p.evict(x.from) {
			return false
		}
	case p.all.open >= p.most:
		if !p.evict(p.largest()) && !p.evict(netip.Prefix{}) {
			return false
		}
	}
	p.count(x.from, 1, 0)
	x.wait = p.waiting.PushBack(x)
	return true
}

// largest is the address with the most connections.
func (p *pool) largest() (at netip.Prefix) {
	for from, n := range p.of {
		if n.open > p.of[at].open {
			at = from
		}
	}
	return at
}

// evict closes the connection of an address that has waited longest; of any address, if from is zero.
func (p *pool) evict(from netip.Prefix) bool {
	for e := p.waiting.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*conn); from == (netip.Prefix{}) || c.from == from {
			p.remove(c)
			_ = c.Conn.Close() // its goroutine sees an error and ends
			return true
		}
	}
	return false
}

// remove takes a connection out, once.
func (p *pool) remove(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	if c.busy {
		p.count(c.from, -1, -1)
		return
	}
	p.waiting.Remove(c.wait)
	p.count(c.from, -1, 0)
}

// changed is http.Server.ConnState.
func (p *pool) changed(of net.Conn, state http.ConnState) {
	c, ok := of.(*conn)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case state == http.StateClosed:
		p.remove(c)
	case state == http.StateIdle && c.busy && !c.gone:
		c.busy = false
		p.count(c.from, 0, -1)
		c.wait = p.waiting.PushBack(c)
	}
}

// begin makes a connection busy. It returns false if as many are busy as may be, in all or of its
// address, unless the request is urgent.
func (p *pool) begin(c *conn, urgent bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.gone || c.busy {
		return true
	}
	if !urgent && (p.all.busy >= maxBusy(p.most) || p.of[c.from].busy >= maxBusy(p.each)) {
		return false
	}
	p.waiting.Remove(c.wait)
	c.busy = true
	p.count(c.from, 0, 1)
	return true
}

type connKey struct{}

// remember is http.Server.ConnContext.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Health is the path of requests that are always answered, and of those below it.
const Health = "/healthz"

// IsHealth reports whether a request is about health.
func IsHealth(r *http.Request) bool {
	return r.URL.Path == Health || strings.HasPrefix(r.URL.Path, Health+"/")
}

// answer serves h with the connection of each request busy.
func (p *pool) answer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(connKey{}).(*conn)
		if c != nil && !p.begin(c, IsHealth(r)) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests are being answered; try again", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Bounds of the connections of a port.
const (
	mostConns  = 1024
	leastConns = 8
)

// connsOf is the number of connections of a port in a process that may open as many files.
func connsOf(files uint64) int { return int(min(max(files/4, leastConns), mostConns)) }
