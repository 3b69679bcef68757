//go:build !portable

package netio

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// ListenGnet binds addr ("host:port"; an empty host is every address, port 0 any port) with a
// gnet event loop that gathers datagrams in a ring. Receive takes them from the ring, and reads
// the socket itself when the ring is empty. gnet shares its port (SO_REUSEPORT), and a second
// server on it would take half of the datagrams. So ListenGnet first binds the port without
// sharing, unless Config.ReusePort is set, and returns an error with the address if that fails. Two
// servers that start within the same few microseconds can still get the same port.
func ListenGnet(addr string, cfg Config) (Conn, error) { return listenGnet(addr, cfg, nil) }

// listenGnet puts wrap, if any, between the loop and its handler.
func listenGnet(addr string, cfg Config, wrap func(gnet.EventHandler) gnet.EventHandler) (*gnetConn, error) {
	at, err := resolve(addr)
	if err != nil {
		return nil, err
	}
	url, err := probe(at, cfg.ReusePort)
	if err != nil {
		return nil, listenError(at, err)
	}
	cfg = cfg.withDefaults()
	c := &gnetConn{done: make(chan error, 1)}
	c.drain = newDrainer(cfg, &c.count)
	var handler gnet.EventHandler = c.drain
	if wrap != nil {
		handler = wrap(handler)
	}
	go func() {
		c.done <- gnet.Run(handler, url, gnet.WithNumEventLoop(1), gnet.WithLogger(silence{}))
	}()
	if err := c.boot(cfg.SocketBuffer); err != nil {
		return nil, listenError(at, err)
	}
	return c, nil
}

// probe binds at for a moment, to find the port free or shared, and returns the URL for gnet. Port 0
// becomes the port that the kernel chose for the probe, because the kernel may give the same port
// to two sockets that share ports.
func probe(at netip.AddrPort, reuse bool) (url string, err error) {
	fd, family, err := bindUDP(at, reuse)
	if err != nil {
		return "", err
	}
	local, _, err := localAddr(fd)
	unix.Close(fd)
	if err != nil {
		return "", err
	}
	at = netip.AddrPortFrom(at.Addr(), local.Port())
	switch {
	case at.Addr() != netip.IPv6Unspecified():
		return "udp://" + at.String(), nil
	case family == unix.AF_INET:
		return fmt.Sprintf("udp4://0.0.0.0:%d", at.Port()), nil
	}
	return fmt.Sprintf("udp://:%d", at.Port()), nil // gnet would make [::] refuse IPv4
}

type gnetConn struct {
	drain  *drainer
	engine gnet.Engine
	done   chan error // what gnet.Run returned
	fd     int
	local  netip.AddrPort
	in     *mmsg // for reads by the owner
	out    *mmsg
	count  counters
	gauge  socketStats
	closed bool
}

// boot waits for the engine and learns its socket before the first datagram is read.
func (c *gnetConn) boot(bufferBytes int) error {
	var b booted
	select {
	case b = <-c.drain.booted:
	case err := <-c.done:
		if err == nil {
			err = net.ErrClosed
		}
		return err
	}
	if b.err != nil {
		<-c.done
		return b.err
	}
	c.engine, c.fd = b.engine, b.fd
	c.gauge.open(c.fd, bufferBytes)
	setBufferSizes(c.fd, bufferBytes)
	setDontFragment(c.fd)
	local, family, err := localAddr(c.fd)
	if err != nil {
		c.stop()
		return err
	}
	c.local, c.in, c.out = local, newMmsg(family), newMmsg(family)
	c.out.gso.probe(c.fd)
	return nil
}

func (c *gnetConn) Receive(b *Batch) (int, error) {
	if c.closed {
		b.Reset()
		return 0, net.ErrClosed
	}
	n := c.drain.ring.take(b)
	if n == 0 {
		n = c.read(b)
	}
	c.count.delivered.Add(uint64(n))
	return n, nil
}

// read takes datagrams from the socket while the loop sleeps. It looks at the ring once more
// first: with the socket held nothing can be added to it, and what lies there is older.
func (c *gnetConn) read(b *Batch) int {
	d := c.drain
	if d.closing.Load() || !d.holder.CompareAndSwap(heldByNobody, heldByOwner) {
		return 0
	}
	defer d.holder.Store(heldByNobody)
	n := d.ring.take(b)
	for n == 0 {
		came, _ := c.in.recv(c.fd, b.slots[:]) // gnet notices an error of the socket
		c.count.receives.Inc()
		if came == 0 {
			break
		}
		d.ownerRead.Store(true)
		n = c.count.received(b.slots[:came], d.filter) // 0: all were dropped; more may wait
	}
	b.n = n
	return n
}

func (c *gnetConn) Send(b *Batch) error {
	if c.closed || c.drain.closing.Load() {
		return net.ErrClosed
	}
	if b.n > 0 {
		c.out.send(c.fd, b.slots[:b.n], &c.count)
	}
	return nil
}

func (c *gnetConn) LocalAddr() netip.AddrPort { return c.local }

func (c *gnetConn) Stats() Stats {
	s := c.count.stats()
	c.gauge.fill(&s)
	return s
}

func (c *gnetConn) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.gauge.shutdown()
	return c.stop()
}

// stop ends the engine and waits until it has closed its socket. Engine.Stop polls only twice a
// second, so it gets no time to wait, and stop waits for the end of Run instead.
func (c *gnetConn) stop() error {
	c.drain.closing.Store(true)
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.engine.Stop(now)
	err := <-c.done
	c.drain.ring = nil // gnet keeps its handlers for ever: release the memory
	return err
}
