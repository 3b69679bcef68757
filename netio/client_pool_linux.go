//go:build !portable

package netio

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// epollEvents is the most sockets that one epoll_wait returns.
const epollEvents = 512

// ClientPool is many clients of one server, each with its own address. One goroutine owns it; others
// may Send.
//
// Where the server is on this machine's IPv4 loopback, clients are addresses of few sockets, see
// sharedSockets. Otherwise each has its own, connected to the server. An epoll set tells which of
// those have datagrams, so a poll costs system calls only for them: one for each, and one for every
// 512. A socket is watched edge-triggered and emptied each time, so that no call finds nothing.
type ClientPool struct {
	remote  netip.AddrPort
	shared  *sharedSockets // nil: a socket for each client
	epoll   int
	clients []poolClient
	free    []int // numbers to reuse, the last one first
	events  []unix.EpollEvent
	pending []unix.EpollEvent // of events: sockets that were not drained yet
	in      *groReceiver
	count   counters
	closed  bool
}

// poolClient is one client and its socket. The generation tells an event of the number's former client
// from one of the present client.
type poolClient struct {
	fd         int // -1: none
	generation int32
}

// OpenClientPool opens n clients of the server at remote, numbered from 0.
func OpenClientPool(remote netip.AddrPort, n int) (*ClientPool, error) {
	f := &ClientPool{remote: canonical(remote), epoll: -1}
	if f.shared = newSharedSockets(f.remote); f.shared == nil {
		epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("netio: clients of %v: %w", remote, os.NewSyscallError("epoll_create1", err))
		}
		f.epoll, f.events, f.in = epoll, make([]unix.EpollEvent, epollEvents), newGROReceiver(groDepth)
	}
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
	i := len(f.clients)
	if n := len(f.free); n > 0 {
		i = f.free[n-1]
	}
	if err := f.open(i); err != nil {
		return -1, fmt.Errorf("netio: client %d of %v: %w", i, f.remote, err)
	}
	if n := len(f.free); n > 0 {
		f.free = f.free[:n-1]
	}
	return i, nil
}

func (f *ClientPool) open(i int) error {
	m := poolClient{}
	if i < len(f.clients) {
		m.generation = f.clients[i].generation + 1
	}
	var err error
	if f.shared != nil {
		m.fd, err = f.shared.open(i)
	} else {
		m.fd, err = f.connect(i, m.generation)
	}
	switch {
	case err != nil:
		return err
	case i == len(f.clients):
		f.clients = append(f.clients, m)
	default:
		f.clients[i] = m
	}
	return nil
}

// connect opens a socket of client i alone.
func (f *ClientPool) connect(i int, generation int32) (fd int, err error) {
	fd, family, err := openUDP(f.remote.Addr())
	if err != nil {
		return -1, err
	}
	if errno := bindOrConnect(unix.SYS_CONNECT, fd, f.remote, family); errno != 0 {
		unix.Close(fd)
		return -1, os.NewSyscallError("connect", errno)
	}
	enableGRO(fd)
	watch := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(i), Pad: generation}
	if err := unix.EpollCtl(f.epoll, unix.EPOLL_CTL_ADD, fd, &watch); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("epoll_ctl", err)
	}
	return fd, nil
}

// Remove closes client i and drops what waits in its socket. It may be called from within Poll.
func (f *ClientPool) Remove(i int) error {
	if !f.has(i) {
		return ErrNoClient
	}
	fd := f.clients[i].fd
	f.clients[i].fd = -1
	f.free = append(f.free, i)
	if f.shared != nil {
		return nil
	}
	return unix.Close(fd) // leaves the epoll set with it
}

func (f *ClientPool) has(i int) bool { return uint(i) < uint(len(f.clients)) && f.clients[i].fd >= 0 }

// Send sends data, at most MaxDatagram bytes, as client i. A datagram that the kernel does not
// take at once is lost and counted, without an error. A refusal is an error and loses the
// datagram: syscall.ECONNREFUSED when an earlier datagram found no server.
func (f *ClientPool) Send(i int, data []byte) error {
	if !f.has(i) {
		return ErrNoClient
	}
	if len(data) > MaxDatagram {
		panic(fmt.Sprintf("netio: client %d sends %d bytes, want at most %d", i, len(data), MaxDatagram))
	}
	if f.shared != nil {
		return f.shared.send(f, i, data)
	}
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(f.clients[i].fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(data))),
			uintptr(len(data)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		if errno != unix.EINTR {
			return f.count.sentByClient(1, len(data), errno)
		}
	}
}

// sentByClient counts n datagrams that the kernel took, or one that it did not, and returns the
// error of a refusal.
func (c *counters) sentByClient(n, bytes int, errno unix.Errno) error {
	switch errno {
	case 0:
		c.out.Add(uint64(n))
		c.bytesOut.Add(uint64(bytes))
		return nil
	case unix.EAGAIN, unix.ENOBUFS:
		c.sendAgain.Inc()
		return nil
	}
	c.sendFailed.Inc()
	return errno
}

// SendBatch sends the datagrams of b as Send does, and empties it. It returns the first error and the
// client that it hit.
func (f *ClientPool) SendBatch(b *ClientBatch) (client int, err error) {
	defer b.reset()
	if f.shared == nil {
		return f.sendEach(b)
	}
	return f.shared.sendBatch(f, b)
}

// Poll calls fn for the datagrams that have arrived for at most limit clients, without waiting.
// It returns their number and whether there may be more. Datagrams of one client come in order.
// data is valid until fn returns. fn may call Send, Add and Remove, but not Poll.
func (f *ClientPool) Poll(limit int, fn func(i int, data []byte)) (delivered int, more bool) {
	if f.shared != nil {
		return f.shared.poll(f, limit, fn)
	}
	for ; limit > 0 && !f.closed; limit-- {
		if len(f.pending) == 0 {
			if f.pending = f.wait(); len(f.pending) == 0 {
				return delivered, false
			}
		}
		e := f.pending[0]
		f.pending = f.pending[1:]
		delivered += f.drain(int(e.Fd), e.Pad, fn)
	}
	return delivered, !f.closed
}

// wait returns the sockets that have datagrams, without waiting.
func (f *ClientPool) wait() []unix.EpollEvent {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(f.epoll),
			uintptr(unsafe.Pointer(&f.events[0])),
			uintptr(len(f.events)), 0, 0, 0)
		switch errno {
		case 0:
			return f.events[:n]
		case unix.EINTR:
			continue
		}
		return nil
	}
}

// drain delivers everything in one client's socket, as long as the number is the same client's.
func (f *ClientPool) drain(i int, generation int32, fn func(i int, data []byte)) (delivered int) {
	for refusals := 0; refusals < 2; {
		m := f.clients[i]
		if m.fd < 0 || m.generation != generation {
			break
		}
		n, errno := f.in.recv(m.fd)
		if errno != 0 { // an earlier datagram was refused; data may wait behind that error
			refusals++
			continue
		}
		for k := range n {
			f.count.bytesIn.Add(uint64(f.in.hdrs[k].n))
			delivered += f.deliver(i, m, f.in.buffer(k), fn)
		}
		if n < groDepth {
			break
		}
	}
	return delivered
}

// deliver calls fn for the datagrams of a GRO buffer, which came to client m of number i.
func (f *ClientPool) deliver(i int, m poolClient, b groBuffer, fn func(i int, data []byte)) (delivered int) {
	for {
		data := b.data[:min(b.segment, len(b.data))]
		b.data = b.data[len(data):]
		f.count.in.Inc()
		switch {
		case len(data) > MaxDatagram:
			f.count.oversize.Inc()
		case f.clients[i] == m:
			delivered++
			fn(i, data[:len(data):len(data)])
		}
		if len(b.data) == 0 {
			return delivered
		}
	}
}

// LocalAddr returns the address that client i sends from; the zero AddrPort if there is no such
// client.
func (f *ClientPool) LocalAddr(i int) netip.AddrPort {
	if !f.has(i) {
		return netip.AddrPort{}
	}
	at, _, _ := localAddr(f.clients[i].fd)
	if f.shared != nil {
		return netip.AddrPortFrom(netip.AddrFrom4(f.shared.address(i, f.clients[i].generation)), at.Port())
	}
	return at
}

// Len returns one more than the highest number ever given out.
func (f *ClientPool) Len() int { return len(f.clients) }

// Stats may be called by the owner only.
func (f *ClientPool) Stats() ClientPoolStats {
	s := f.count.stats()
	return ClientPoolStats{
		DatagramsIn: s.DatagramsIn - s.Oversize, BytesIn: s.BytesIn, Oversize: s.Oversize,
		DatagramsOut: s.DatagramsOut, BytesOut: s.BytesOut, SendAgain: s.SendAgain, SendFailed: s.SendFailed,
		KernelDrops: f.kernelDrops(), Clients: len(f.clients) - len(f.free),
	}
}

// kernelDrops sums the drops of the open sockets up.
func (f *ClientPool) kernelDrops() (sum uint64) {
	add := func(fd int) {
		n, _ := kernelDrops(fd)
		sum += n
	}
	if f.shared != nil {
		for _, fd := range f.shared.fds {
			add(fd)
		}
		return sum
	}
	for i := range f.clients {
		if f.has(i) {
			add(f.clients[i].fd)
		}
	}
	return sum
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
	if f.shared != nil {
		return f.shared.close()
	}
	return unix.Close(f.epoll)
}
