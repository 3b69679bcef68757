package netio

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// ListenNet binds addr ("host:port"; an empty host is every address, port 0 any port) with
// package net and a goroutine that reads into a ring. It works on every system, at one system
// call per datagram. It drops and counts what the ring cannot hold, instead of leaving that to a
// kernel that may not tell.
func ListenNet(addr string, cfg Config) (Conn, error) {
	at, err := resolve(addr)
	if err != nil {
		return nil, err
	}
	network := "udp"
	if at.Addr().Is4() {
		network = "udp4"
	}
	cfg = cfg.withDefaults()
	udp, err := listenUDP(network, at, cfg.ReusePort)
	if err != nil {
		return nil, listenError(at, unwrapOp(err))
	}
	_ = udp.SetReadBuffer(cfg.SocketBuffer)
	_ = udp.SetWriteBuffer(cfg.SocketBuffer)
	c := &netConn{udp: udp, ring: newRing(cfg.RingDatagrams), filter: cfg.Filter, asked: cfg.SocketBuffer,
		done: make(chan struct{})}
	c.local = canonical(udp.LocalAddr().(*net.UDPAddr).AddrPort())
	go c.read()
	return c, nil
}

// listenUDP opens a socket of package net. Only with reuse it shares the port.
func listenUDP(network string, at netip.AddrPort, reuse bool) (*net.UDPConn, error) {
	if !reuse {
		return net.ListenUDP(network, net.UDPAddrFromAddrPort(at))
	}
	options := net.ListenConfig{Control: setReusePort}
	c, err := options.ListenPacket(context.Background(), network, at.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// unwrapOp removes the address that package net puts into its errors.
func unwrapOp(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

type netConn struct {
	udp    *net.UDPConn
	local  netip.AddrPort
	ring   *ring
	count  counters
	filter func([]byte) bool
	asked  int           // SocketBuffer
	done   chan struct{} // closed when the reader has ended
	closed bool
}

// read is the goroutine that fills the ring until the socket is closed.
func (c *netConn) read() {
	defer close(c.done)
	var scrap [1]slot
	allocBuffers(scrap[:])
	for {
		free := c.ring.run()
		full := len(free) == 0
		if full {
			free = scrap[:]
		}
		n, from, err := c.udp.ReadFromUDPAddrPort(free[0].buf[:])
		c.count.receives.Inc()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // a transient error, such as a refusal by a former peer
			time.Sleep(time.Millisecond)
			continue
		}
		free[0].addr, free[0].n = canonical(from), int32(n)
		kept := c.count.received(free[:1], c.filter)
		if full {
			c.count.ringFull.Add(uint64(kept))
		} else {
			c.ring.publish(kept)
		}
	}
}

func (c *netConn) Receive(b *Batch) (int, error) {
	if c.closed {
		b.Reset()
		return 0, net.ErrClosed
	}
	n := c.ring.take(b)
	c.count.delivered.Add(uint64(n))
	return n, nil
}

// Send may wait for a moment while the kernel's buffer is full, because package net always waits.
func (c *netConn) Send(b *Batch) error {
	if c.closed {
		return net.ErrClosed
	}
	for i := range b.n {
		d := b.At(i)
		c.count.sends.Inc()
		if _, err := c.udp.WriteToUDPAddrPort(d.Data, d.Addr); err != nil {
			c.count.sendFailed.Inc()
			continue
		}
		c.count.out.Inc()
		c.count.bytesOut.Add(uint64(len(d.Data)))
	}
	return nil
}

func (c *netConn) LocalAddr() netip.AddrPort { return c.local }

func (c *netConn) Stats() Stats {
	s := c.count.stats()
	s.BufferRequested = c.asked
	return s
}

func (c *netConn) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.udp.Close()
	<-c.done
	return err
}
