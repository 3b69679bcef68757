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

// ListenGnet binds addr ("host:port"; an empty host is every address, port 0 any port) to a gnet event loop that
// gathers datagrams in a ring while the owner does other things. Receive takes them from the ring, and when that is empty
// from the socket itself; Send goes straight to the loop's socket with sendmmsg.
//
// gnet binds with SO_REUSEPORT, under which two servers can share a port without knowing and each gets half of the
// datagrams. So the port is first bound for a moment without it, and if that fails the error names the address. Two
// servers that start within the same few microseconds can still slip past each other.
func ListenGnet(addr string, cfg Config) (Conn, error) { return listenGnet(addr, cfg, nil) }

// listenGnet puts wrap, if any, between the loop and its handler.
func listenGnet(addr string, cfg Config, wrap func(gnet.EventHandler) gnet.EventHandler) (*gnetConn, error) {
	at, err := resolve(addr)
	if err != nil {
		return nil, err
	}
	url, err := probe(at)
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

// probe binds at for a moment, to see that nobody has the port, and returns what gnet shall listen on. Port 0 becomes
// the one that the kernel chose for the probe: asked by two sockets that share ports, as gnet's do, it may give both
// the same.
func probe(at netip.AddrPort) (url string, err error) {
	fd, family, err := bindUDP(at)
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
	in     *mmsg // for reading past the loop
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

// read takes what the loop has not fetched yet, if it is resting. The ring is looked at once more, now that nothing can
// be added to it: what lies there is older.
func (c *gnetConn) read(b *Batch) int {
	d := c.drain
	if d.closing.Load() || !d.holder.CompareAndSwap(heldByNobody, heldByOwner) {
		return 0
	}
	defer d.holder.Store(heldByNobody)
	n := d.ring.take(b)
	for n == 0 {
		came, _ := c.in.recv(c.fd, b.slots[:]) // an error is the socket's end, which gnet will notice
		c.count.receives.Inc()
		if came == 0 {
			break
		}
		d.ownerRead.Store(true)
		n = c.count.received(b.slots[:came], d.filter) // 0: all were dropped, there may be more behind them
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

// stop ends the engine and waits until it has closed its socket. Engine.Stop would look only twice a second whether
// it is done, so it is given no time to wait and the end of Run is awaited instead.
func (c *gnetConn) stop() error {
	c.drain.closing.Store(true)
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.engine.Stop(now)
	err := <-c.done
	c.drain.ring = nil // gnet remembers its handlers by address for ever: leave it the shell
	return err
}
