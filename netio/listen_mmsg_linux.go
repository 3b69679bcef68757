//go:build !portable

package netio

import (
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// ListenMmsg binds addr ("host:port"; an empty host is every address, port 0 any port) to a plain
// socket that the owner itself reads with recvmmsg and writes with sendmmsg. There is no
// goroutine and no ring: datagrams wait in the kernel until Receive. An error names the address.
func ListenMmsg(addr string, cfg Config) (Conn, error) {
	at, err := resolve(addr)
	if err != nil {
		return nil, err
	}
	fd, family, err := bindUDP(at, cfg.ReusePort)
	if err != nil {
		return nil, listenError(at, err)
	}
	cfg = cfg.withDefaults()
	setBufferSizes(fd, cfg.SocketBuffer)
	setDontFragment(fd)
	local, _, err := localAddr(fd)
	if err != nil {
		unix.Close(fd)
		return nil, listenError(at, err)
	}
	c := &mmsgConn{fd: fd, local: local, in: newMmsg(family), out: newMmsg(family), filter: cfg.Filter}
	c.gauge.open(fd, cfg.SocketBuffer)
	c.out.gso.probe(fd)
	return c, nil
}

type mmsgConn struct {
	fd      int
	local   netip.AddrPort
	in, out *mmsg
	count   counters
	filter  func([]byte) bool
	gauge   socketStats
	closed  bool
}

func (c *mmsgConn) Receive(b *Batch) (int, error) {
	b.alloc()
	b.n = 0
	if c.closed {
		return 0, net.ErrClosed
	}
	for {
		n, errno := c.in.recv(c.fd, b.slots[:])
		c.count.receives.Inc()
		if errno != 0 {
			return 0, errno
		}
		if n == 0 {
			return 0, nil
		}
		b.n = c.count.received(b.slots[:n], c.filter)
		if b.n > 0 { // else all were dropped; more may wait
			c.count.delivered.Add(uint64(b.n))
			return b.n, nil
		}
	}
}

func (c *mmsgConn) Send(b *Batch) error {
	if c.closed {
		return net.ErrClosed
	}
	if b.n > 0 {
		c.out.send(c.fd, b.slots[:b.n], &c.count)
	}
	return nil
}

func (c *mmsgConn) LocalAddr() netip.AddrPort { return c.local }

func (c *mmsgConn) Stats() Stats {
	s := c.count.stats()
	c.gauge.fill(&s)
	return s
}

func (c *mmsgConn) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.gauge.shutdown()
	return unix.Close(c.fd)
}
