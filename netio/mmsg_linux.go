//go:build !portable

package netio

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is struct mmsghdr of <sys/socket.h>.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
}

// mmsg is the memory of recvmmsg and sendmmsg: one header, one vector and one address per
// datagram. It belongs to one direction of one socket. The kernel gets pointers into the Go heap,
// which does not move, for the length of a call that cannot block.
type mmsg struct {
	hdrs   [BatchSize]mmsghdr
	iovs   [BatchSize]unix.Iovec
	names  [BatchSize]sockaddr
	family uint16 // of the socket, for sending

	gso gsoBatches // for sending
}

func newMmsg(family uint16) *mmsg {
	m := &mmsg{family: family}
	for i := range m.hdrs {
		h := &m.hdrs[i].hdr
		h.Iov = &m.iovs[i]
		h.SetIovlen(1)
		h.Name = (*byte)(unsafe.Pointer(&m.names[i]))
	}
	return m
}

// recv fills slots, at most BatchSize, from the socket and returns their number. Lengths are
// those on the wire, also of truncated datagrams. EAGAIN is 0 and no error.
//
// It uses a raw system call, because the call cannot block: the scheduler need not know, and a
// thread that keeps time keeps its processor.
func (m *mmsg) recv(fd int, slots []slot) (int, unix.Errno) {
	for i := range slots {
		m.iovs[i].Base = &slots[i].buf[0]
		m.iovs[i].SetLen(slotBytes)
		m.hdrs[i].hdr.Namelen = unix.SizeofSockaddrInet6
	}
	n, errno := call(unix.SYS_RECVMMSG, fd, m.hdrs[:len(slots)], unix.MSG_DONTWAIT|unix.MSG_TRUNC)
	for i := range slots[:n] {
		slots[i].addr = getSockaddr(&m.names[i])
		slots[i].n = int32(m.hdrs[i].n)
	}
	return n, errno
}

// send gives slots to the kernel and counts each one once.
func (m *mmsg) send(fd int, slots []slot, count *counters) {
	ready := m.address(slots, count)
	for from := 0; from < ready; {
		n, errno := call(unix.SYS_SENDMMSG, fd, m.hdrs[from:ready], unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		count.sends.Inc()
		var bytes uint64
		for i := from; i < from+n; i++ {
			bytes += uint64(m.hdrs[i].n)
		}
		count.out.Add(m.gso.datagrams(from, from+n))
		count.bytesOut.Add(bytes)
		from += n
		switch {
		case n > 0: // a short count hides the error: call again from there
		case errno == 0 || errno == unix.ENOBUFS: // no room now
			count.sendAgain.Add(m.gso.datagrams(from, ready))
			return
		default: // this one cannot be sent; the next may have another peer
			m.gso.refused(from)
			count.sendFailed.Add(m.gso.datagrams(from, from+1))
			from++
		}
	}
}

// address points headers at the slots that this socket can reach, one header for a GSO batch, and
// returns the number of headers.
func (m *mmsg) address(slots []slot, count *counters) int {
	n, vectors := 0, 0
	var peer netip.AddrPort // of header n-1
	for i := range slots {
		s := &slots[i]
		iov := &m.iovs[vectors]
		iov.Base = &s.buf[0]
		iov.SetLen(int(s.n))
		if n > 0 && s.addr == peer && m.gso.append(n-1, &m.hdrs[n-1].hdr, s.n) {
			vectors++
			continue
		}
		size := putSockaddr(&m.names[n], s.addr, m.family)
		if size == 0 {
			count.sendFailed.Inc()
			continue
		}
		peer = s.addr
		h := &m.hdrs[n].hdr
		h.Iov, h.Namelen = iov, size
		m.gso.begin(n, h, s.n)
		vectors++
		n++
	}
	return n
}

// call is recvmmsg or sendmmsg on a socket. It repeats interrupted calls; EAGAIN is 0 and no
// error.
func call(trap uintptr, fd int, hdrs []mmsghdr, flags uintptr) (int, unix.Errno) {
	for {
		n, _, errno := unix.RawSyscall6(trap, uintptr(fd), uintptr(unsafe.Pointer(&hdrs[0])),
			uintptr(len(hdrs)), flags, 0, 0)
		switch errno {
		case 0:
			return int(n), 0
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return 0, 0
		}
		return 0, errno
	}
}
