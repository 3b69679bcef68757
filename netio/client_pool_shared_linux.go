//go:build !portable

package netio

import (
	"net/netip"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// clientBuffer is the receive buffer that is asked for per client, in bytes. Linux doubles it: a
	// client then has what a socket of its own has by default, room for about 90 datagrams.
	clientBuffer = 104 << 10

	// fewSharers is the least number of clients for which a shared socket pays.
	fewSharers = 16

	// maxSharers is the most clients of a socket.
	maxSharers = 1 << 11

	// sharedDepth is the most buffers that one recvmmsg takes from a shared socket.
	sharedDepth = 32

	// generations is how many clients in a row get a number with different addresses, so that late
	// datagrams of one client do not reach the next.
	generations = 120
)

// sharedSockets are sockets of many clients each, of a server on the IPv4 loopback: all of 127/8 is
// this machine's, so one socket sends as, and receives for, an address of each client (IP_PKTINFO).
// One system call then moves datagrams of many clients. The kernel touches one socket, not a
// thousand, as on a server whose clients are on other machines.
type sharedSockets struct {
	remote  unix.RawSockaddrInet4
	sharers int   // clients of a socket
	fds     []int // client i's is fds[i/sharers]
	in      *groReceiver
	from    int // index into fds of the buffers in in
	next    int // buffer of in that is delivered next
	got     int // buffers in in

	single sync.Mutex  // of batch
	batch  ClientBatch // of one datagram
}

// newSharedSockets returns nil where clients need sockets of their own: a server that is not on the
// IPv4 loopback, or receive buffers too small for many clients.
func newSharedSockets(remote netip.AddrPort) *sharedSockets {
	if !remote.Addr().Is4() || !remote.Addr().IsLoopback() {
		return nil
	}
	s := &sharedSockets{remote: unix.RawSockaddrInet4{Family: unix.AF_INET, Port: networkPort(remote.Port()),
		Addr: remote.Addr().As4()}}
	fd, err := s.bind()
	if err != nil {
		return nil
	}
	s.fds = append(s.fds, fd)
	granted, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF) // twice the size
	if s.sharers = min(granted/2/clientBuffer, maxSharers); s.sharers < fewSharers {
		_ = s.close()
		return nil
	}
	s.in = newGROReceiver(sharedDepth)
	s.in.keepSources()
	return s
}

// bind opens a socket that receives for every loopback address.
func (s *sharedSockets) bind() (int, error) {
	fd, _, err := bindUDP(netip.AddrPortFrom(netip.IPv4Unspecified(), 0), false)
	if err != nil {
		return -1, err
	}
	enableGRO(fd)
	setDontFragment(fd)
	_ = unix.BindToDevice(fd, "lo") // without it foreign datagrams arrive, and Poll drops them
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, clientBuffer*maxSharers) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, clientBuffer*maxSharers)
	}
	for _, option := range []int{unix.IP_PKTINFO, unix.IP_RECVERR} {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, option, 1); err != nil {
			unix.Close(fd)
			return -1, os.NewSyscallError("setsockopt", err)
		}
	}
	return fd, nil
}

// open returns the socket of client i, the next number or one that was given out before.
func (s *sharedSockets) open(i int) (fd int, err error) {
	if i/s.sharers == len(s.fds) {
		fd, err := s.bind()
		if err != nil {
			return -1, err
		}
		s.fds = append(s.fds, fd)
	}
	return s.fds[i/s.sharers], nil
}

// address is the address of client i. The next client of the same number has another one.
func (s *sharedSockets) address(i int, generation int32) [4]byte {
	i %= s.sharers
	return [4]byte{127, byte(1 + generation%generations), byte(i >> 8), byte(i)}
}

// client returns the number and the generation of the client with an address at a socket.
func (s *sharedSockets) client(socket int, address [4]byte) (i int, generation byte) {
	return socket*s.sharers + int(address[2])<<8 + int(address[3]), address[1] - 1
}

// clientHeaders is the memory of a sendmmsg. Its pointers lead into the list of a ClientBatch.
type clientHeaders struct {
	hdrs    []mmsghdr
	iovs    [BatchSize]unix.Iovec
	control [BatchSize]packetInfo
	to      unix.RawSockaddrInet4
}

// packetInfo is a control message with the address that a datagram comes from: cmsghdr and
// in_pktinfo, padded as CMSG_SPACE does.
type packetInfo struct {
	unix.Cmsghdr
	info unix.Inet4Pktinfo
	_    [4]byte
}

// prepare sets what all datagrams have in common.
func (h *clientHeaders) prepare(to unix.RawSockaddrInet4) {
	h.hdrs, h.to = make([]mmsghdr, BatchSize), to
	for k := range h.hdrs {
		c, m := &h.control[k], &h.hdrs[k].hdr
		c.Level, c.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
		c.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
		m.Name, m.Namelen = (*byte)(unsafe.Pointer(&h.to)), unix.SizeofSockaddrInet4
		m.Iov, m.Control = &h.iovs[k], (*byte)(unsafe.Pointer(c))
		m.SetIovlen(1)
		m.SetControllen(unix.CmsgSpace(unix.SizeofInet4Pktinfo))
	}
}

// set makes header k a datagram.
func (h *clientHeaders) set(k int, from [4]byte, data []byte) {
	h.control[k].info.Spec_dst = from
	h.iovs[k].Base = unsafe.SliceData(data)
	h.iovs[k].SetLen(len(data))
}

// send sends one datagram of client i.
func (s *sharedSockets) send(f *ClientPool, i int, data []byte) error {
	s.single.Lock()
	defer s.single.Unlock()
	s.batch.Add(i, data)
	_, err := f.SendBatch(&s.batch)
	return err
}

// sendBatch sends the datagrams of b. Neighbours of one socket leave in one system call.
func (s *sharedSockets) sendBatch(f *ClientPool, b *ClientBatch) (client int, err error) {
	if b.headers.hdrs == nil {
		b.headers.prepare(s.remote)
	}
	failed := func(i int, bad error) {
		if bad != nil && err == nil {
			client, err = i, bad
		}
	}
	for k := 0; k < len(b.list); {
		first, fd := k, -1
		for ; k < len(b.list); k++ {
			i, data := b.at(k)
			if !f.has(i) || fd >= 0 && f.clients[i].fd != fd {
				break
			}
			fd = f.clients[i].fd
			b.headers.set(k, s.address(i, f.clients[i].generation), data)
		}
		if first == k { // a client that has left
			failed(b.list[k].client, ErrNoClient)
			k++
			continue
		}
		failed(s.sendRun(fd, b, first, k, &f.count))
	}
	return client, err
}

// sendRun sends the datagrams from first up to end of a batch and returns the first error.
func (s *sharedSockets) sendRun(fd int, b *ClientBatch, first, end int,
	count *counters) (client int, err error) {
	for first < end {
		hdrs := b.headers.hdrs[first:end]
		n, errno := call(unix.SYS_SENDMMSG, fd, hdrs, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if n > 0 { // a short count hides the error: call again from there
			bytes := 0
			for i := range hdrs[:n] {
				bytes += int(hdrs[i].n)
			}
			_ = count.sentByClient(n, bytes, 0)
			first += n
			continue
		}
		if errno == 0 {
			errno = unix.EAGAIN
		}
		s.forget(fd, errno)
		if bad := count.sentByClient(1, 0, errno); bad != nil && err == nil {
			client, err = b.list[first].client, bad
		}
		first++
	}
	return client, err
}

// forget empties the error queue of a socket (ICMP refusals).
func (s *sharedSockets) forget(fd int, errno unix.Errno) {
	for errno != 0 && errno != unix.EAGAIN && errno != unix.ENOBUFS {
		var m unix.Msghdr
		_, _, errno = unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)),
			unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if errno == 0 {
			errno = unix.EINTR // there may be more
		}
	}
}

// poll is ClientPool.Poll.
func (s *sharedSockets) poll(f *ClientPool, limit int,
	fn func(i int, data []byte)) (delivered int, more bool) {
	for ; limit > 0 && !f.closed; limit-- {
		if s.next == s.got && !s.receive() {
			return delivered, false
		}
		k := s.next
		s.next++
		f.count.bytesIn.Add(uint64(s.in.hdrs[k].n))
		b := s.in.buffer(k)
		i, generation := s.client(s.from, b.to)
		known := f.has(i) && byte(f.clients[i].generation%generations) == generation
		if from := &s.in.names[k]; !known || from.Port != s.remote.Port || from.Addr != s.remote.Addr {
			f.count.in.Add(uint64(max((len(b.data)+b.segment-1)/b.segment, 1)))
			continue
		}
		delivered += f.deliver(i, f.clients[i], b, fn)
	}
	return delivered, !f.closed
}

// receive takes buffers from the next socket that has some.
func (s *sharedSockets) receive() bool {
	for range s.fds {
		if s.from++; s.from >= len(s.fds) {
			s.from = 0
		}
		fd := s.fds[s.from]
		n, errno := s.in.recv(fd)
		if errno != 0 { // an earlier datagram was refused; data may wait behind that error
			s.forget(fd, errno)
			n, _ = s.in.recv(fd)
		}
		if s.next, s.got = 0, n; n > 0 {
			return true
		}
	}
	return false
}

func (s *sharedSockets) close() (err error) {
	for _, fd := range s.fds {
		if bad := unix.Close(fd); bad != nil {
			err = bad
		}
	}
	s.fds = nil
	return err
}
