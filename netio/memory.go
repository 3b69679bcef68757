package netio

import (
	"errors"
	"net"
	"net/netip"
	"slices"
)

// Memory is a network inside one goroutine: datagrams arrive at once and in order, and only a
// full queue drops any. It is for tests in virtual time; package impair adds a bad link. Use
// NewMemory.
type Memory struct {
	ends map[netip.AddrPort][]*memoryConn // looked up, never iterated
	port uint16
}

// NewMemory returns a network without endpoints.
func NewMemory() *Memory { return &Memory{ends: make(map[netip.AddrPort][]*memoryConn), port: 49151} }

// ErrAddrInUse: another endpoint of a Memory network has the address.
var ErrAddrInUse = errors.New("address already in use")

// memoryRing is the default queue of an endpoint: 720 kB, since a test may hold dozens.
const memoryRing = 512

// Listen opens an endpoint. Port 0 takes the next free port from 49152 up. It uses only
// RingDatagrams of cfg, by default 512, and ReusePort; a full ring drops datagrams
// (Stats.RingFull). Of n endpoints that share an address, number source port modulo n gets a
// datagram.
func (m *Memory) Listen(addr netip.AddrPort, cfg Config) (Conn, error) {
	addr = canonical(addr)
	for auto := addr.Port() == 0; auto; {
		if m.port++; m.port == 0 {
			m.port = 49152
		}
		addr = netip.AddrPortFrom(addr.Addr(), m.port)
		auto = m.ends[addr] != nil
	}
	if same := m.ends[addr]; same != nil && !(cfg.ReusePort && same[0].shared) {
		return nil, listenError(addr, ErrAddrInUse)
	}
	if cfg.RingDatagrams <= 0 {
		cfg.RingDatagrams = memoryRing
	}
	c := &memoryConn{network: m, addr: addr, shared: cfg.ReusePort, ring: newRing(cfg.RingDatagrams)}
	m.ends[addr] = append(m.ends[addr], c)
	return c, nil
}

type memoryConn struct {
	network *Memory
	addr    netip.AddrPort
	shared  bool // with endpoints that have the same address
	ring    *ring
	count   counters
	closed  bool
}

func (c *memoryConn) Receive(b *Batch) (int, error) {
	if c.closed {
		b.Reset()
		return 0, net.ErrClosed
	}
	n := c.ring.take(b)
	c.count.delivered.Add(uint64(n))
	return n, nil
}

func (c *memoryConn) Send(b *Batch) error {
	if c.closed {
		return net.ErrClosed
	}
	for i := range b.Len() {
		d := b.At(i)
		ends := c.network.ends[canonical(d.Addr)]
		if len(ends) == 0 { // a real network would take it and lose it
			c.count.sendFailed.Inc()
			continue
		}
		c.count.out.Inc()
		c.count.bytesOut.Add(uint64(len(d.Data)))
		ends[int(c.addr.Port())%len(ends)].arrive(d.Data, c.addr)
	}
	return nil
}

func (c *memoryConn) arrive(data []byte, from netip.AddrPort) {
	c.count.in.Inc()
	c.count.bytesIn.Add(uint64(len(data)))
	free := c.ring.run()
	if len(free) == 0 {
		c.count.ringFull.Inc()
		return
	}
	free[0].addr, free[0].n = from, int32(copy(free[0].buf[:], data))
	c.ring.publish(1)
}

func (c *memoryConn) LocalAddr() netip.AddrPort { return c.addr }
func (c *memoryConn) Stats() Stats              { return c.count.stats() }

func (c *memoryConn) Close() error {
	if !c.closed {
		c.closed = true
		left := slices.DeleteFunc(c.network.ends[c.addr], func(end *memoryConn) bool { return end == c })
		if c.network.ends[c.addr] = left; len(left) == 0 {
			delete(c.network.ends, c.addr)
		}
	}
	return nil
}
