//go:build !linux || portable

package netio

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ClientPool is many client sockets, each connected to the same server from its own port. One
// goroutine owns it; others may Send. Without epoll, one goroutine per client reads into a shared
// queue.
type ClientPool struct {
	remote  netip.AddrPort
	clients []*poolClient // nil: none
	free    []int
	readers sync.WaitGroup
	count   counters
	closed  bool

	mu      sync.Mutex
	arrived []arrival // filled by the readers
	polled  []arrival // being delivered, or empty
	spare   []*slotBuffer
}

type poolClient struct {
	udp *net.UDPConn
	i   int
}

type arrival struct {
	from *poolClient
	buf  *slotBuffer
	n    int
}

// maxQueued is the most datagrams that wait for Poll.
const maxQueued = 1 << 16

// OpenClientPool opens n clients of the server at remote, numbered from 0.
func OpenClientPool(remote netip.AddrPort, n int) (*ClientPool, error) {
	f := &ClientPool{remote: canonical(remote)}
	for range n {
		if _, err := f.Add(); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// Add opens one more client and returns its number: that of the client removed last, or a new
// one.
func (f *ClientPool) Add() (int, error) {
	if f.closed {
		return -1, net.ErrClosed
	}
	udp, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(f.remote))
	if err != nil {
		return -1, fmt.Errorf("netio: client %d of %v: %w", len(f.clients)-len(f.free), f.remote,
			unwrapOp(err))
	}
	m := &poolClient{udp: udp, i: len(f.clients)}
	if n := len(f.free); n > 0 {
		m.i, f.free = f.free[n-1], f.free[:n-1]
		f.clients[m.i] = m
	} else {
		f.clients = append(f.clients, m)
	}
	f.readers.Add(1)
	go f.read(m)
	return m.i, nil
}

// read is a client's goroutine, until its socket is closed.
func (f *ClientPool) read(m *poolClient) {
	defer f.readers.Done()
	buf := new(slotBuffer)
	for {
		n, err := m.udp.Read(buf[:])
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		f.mu.Lock()
		if len(f.arrived) < maxQueued {
			f.arrived = append(f.arrived, arrival{m, buf, n})
			buf = nil
			if k := len(f.spare); k > 0 {
				buf, f.spare = f.spare[k-1], f.spare[:k-1]
			}
		}
		f.mu.Unlock()
		if buf == nil {
			buf = new(slotBuffer)
		}
	}
}

// Remove closes client i and drops what waits in its socket. It may be called from within Poll.
func (f *ClientPool) Remove(i int) error {
	if !f.has(i) {
		return ErrNoClient
	}
	m := f.clients[i]
	f.clients[i] = nil
	f.free = append(f.free, i)
	return m.udp.Close()
}

func (f *ClientPool) has(i int) bool { return uint(i) < uint(len(f.clients)) && f.clients[i] != nil }

// Send sends data, at most MaxDatagram bytes, as client i. A refusal is an error, and the
// datagram is lost.
func (f *ClientPool) Send(i int, data []byte) error {
	if !f.has(i) {
		return ErrNoClient
	}
	if len(data) > MaxDatagram {
		panic(fmt.Sprintf("netio: client %d sends %d bytes, want at most %d", i, len(data), MaxDatagram))
	}
	if _, err := f.clients[i].udp.Write(data); err != nil {
		f.count.sendFailed.Inc()
		return unwrapOp(err)
	}
	f.count.out.Inc()
	f.count.bytesOut.Add(uint64(len(data)))
	return nil
}

// SendBatch sends the datagrams of b as Send does, and empties it. It returns the first error and the
// client that it hit.
func (f *ClientPool) SendBatch(b *ClientBatch) (client int, err error) {
	defer b.reset()
	return f.sendEach(b)
}

// clientHeaders is unused: each datagram is a system call.
type clientHeaders struct{}

// Poll calls fn for all datagrams that have arrived, without waiting, and returns their number;
// more is false. Datagrams of one client come in order. data is valid until fn returns. fn may
// call Send, Add and Remove, but not Poll.
func (f *ClientPool) Poll(_ int, fn func(i int, data []byte)) (delivered int, more bool) {
	f.mu.Lock()
	f.arrived, f.polled = f.polled[:0], f.arrived
	f.mu.Unlock()
	for _, a := range f.polled {
		if f.closed || f.clients[a.from.i] != a.from {
			continue
		}
		f.count.in.Inc()
		f.count.bytesIn.Add(uint64(a.n))
		if a.n > MaxDatagram {
			f.count.oversize.Inc()
			continue
		}
		delivered++
		fn(a.from.i, a.buf[:a.n:a.n])
	}
	f.mu.Lock()
	for _, a := range f.polled {
		f.spare = append(f.spare, a.buf)
	}
	f.mu.Unlock()
	return delivered, false
}

// LocalAddr returns the address that client i sends from; the zero AddrPort if there is no such
// client.
func (f *ClientPool) LocalAddr(i int) netip.AddrPort {
	if !f.has(i) {
		return netip.AddrPort{}
	}
	return canonical(f.clients[i].udp.LocalAddr().(*net.UDPAddr).AddrPort())
}

// Len returns one more than the highest number ever given out.
func (f *ClientPool) Len() int { return len(f.clients) }

// Stats may be called by the owner only.
func (f *ClientPool) Stats() ClientPoolStats {
	s := f.count.stats()
	return ClientPoolStats{
		DatagramsIn: s.DatagramsIn - s.Oversize, BytesIn: s.BytesIn, Oversize: s.Oversize,
		DatagramsOut: s.DatagramsOut, BytesOut: s.BytesOut, SendFailed: s.SendFailed,
		Clients: len(f.clients) - len(f.free),
	}
}

// Close closes all clients. A second Close does nothing.
func (f *ClientPool) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	for i := range f.clients {
		if f.has(i) {
			_ = f.Remove(i)
		}
	}
	f.readers.Wait()
	return nil
}
