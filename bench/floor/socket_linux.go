package floor

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	batchSize = 64 // datagrams of a call

	// slotBytes is the memory of a datagram: an odd number of cache lines, so that slots share few sets.
	slotBytes = 21 * 64

	// bufferBytes is asked for each buffer of a socket.
	bufferBytes = 8 << 20

	// chargedBytes is what the kernel charges a buffer for a datagram, at most.
	chargedBytes = 2560
)

// socket is a UDP socket of the loop.
type socket struct {
	fd    int
	peers uint16 // port of the other side, in network order
}

// open opens the socket at an address, on any port.
func (s *socket) open(at [4]byte) (err error) {
	s.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("the floor's socket: %w", err)
	}
	for _, b := range [][2]int{{unix.SO_RCVBUFFORCE, unix.SO_RCVBUF}, {unix.SO_SNDBUFFORCE, unix.SO_SNDBUF}} {
		if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, b[0], bufferBytes) != nil {
			_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, b[1], bufferBytes) // room tells what was given
		}
	}
	_ = unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
	if err := unix.Bind(s.fd, &unix.SockaddrInet4{Addr: at}); err != nil {
		s.close()
		return fmt.Errorf("the floor's socket at %v: %w", at, err)
	}
	return nil
}

func (s *socket) close() { _ = unix.Close(s.fd) }

// room is how many datagrams the receive buffer surely holds.
func (s *socket) room() int {
	granted, _ := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return max(granted/chargedBytes, batchSize/2)
}

// mmsghdr is struct mmsghdr of <sys/socket.h>.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
}

// batch is the memory of recvmmsg or sendmmsg.
type batch struct {
	hdrs    [batchSize]mmsghdr
	iovs    [batchSize]unix.Iovec
	names   [batchSize]unix.RawSockaddrInet4
	segment [batchSize]segmentControl
	stride  int
	memory  []byte
}

// segmentControl is a control message with the length of the datagrams of a header (UDP_SEGMENT).
type segmentControl struct {
	unix.Cmsghdr
	bytes uint16
	_     [6]byte
}

// init points a header, a vector and an address at each slot of the given size; 0: the caller has the
// memory.
func (b *batch) init(slot int) {
	b.stride, b.memory = slot, make([]byte, batchSize*slot)
	for i := range b.hdrs {
		h := &b.hdrs[i].hdr
		h.Iov = &b.iovs[i]
		h.SetIovlen(1)
		h.Name, h.Namelen = (*byte)(unsafe.Pointer(&b.names[i])), unix.SizeofSockaddrInet4
		if slot > 0 {
			b.iovs[i].Base = &b.slot(i)[0]
			b.iovs[i].SetLen(slot)
		}
	}
}

// slot is the memory of slot i.
func (b *batch) slot(i int) []byte { return b.memory[i*b.stride : (i+1)*b.stride] }

// data is what slot i received.
func (b *batch) data(i int) []byte { return b.slot(i)[:b.hdrs[i].n] }

// address makes a header of the run of datagrams from slot first on, all of the same length.
func (b *batch) address(header, first, run int, to unix.RawSockaddrInet4, bytes int) {
	h := &b.hdrs[header].hdr
	b.names[header] = to
	h.Iov = &b.iovs[first]
	h.SetIovlen(run)
	h.Control = nil
	h.SetControllen(0)
	if run > 1 {
		s := &b.segment[header]
		s.Level, s.Type, s.bytes = unix.IPPROTO_UDP, unix.UDP_SEGMENT, uint16(bytes)
		s.SetLen(unix.CmsgLen(2))
		h.Control = (*byte)(unsafe.Pointer(s))
		h.SetControllen(unix.CmsgSpace(2))
	}
}

// receive fills slots and returns their number; none waiting is no error.
func (b *batch) receive(fd int) (int, error) {
	n, errno := call(unix.SYS_RECVMMSG, fd, b.hdrs[:])
	if errno == unix.EAGAIN {
		return 0, nil
	}
	return n, errOf(errno)
}

// send sends the first headers. What the kernel has no room for is lost.
func (b *batch) send(fd, headers int) error {
	for from := 0; from < headers; {
		n, errno := call(unix.SYS_SENDMMSG, fd, b.hdrs[from:headers])
		switch {
		case errno == unix.EAGAIN || errno == unix.ENOBUFS:
			return nil
		case errno != 0:
			return errno
		}
		from += n
	}
	return nil
}

// call is recvmmsg or sendmmsg without waiting.
func call(trap uintptr, fd int, hdrs []mmsghdr) (int, unix.Errno) {
	for {
		n, _, errno := unix.RawSyscall6(trap, uintptr(fd), uintptr(unsafe.Pointer(&hdrs[0])), uintptr(len(hdrs)),
			unix.MSG_DONTWAIT, 0, 0)
		if errno != unix.EINTR {
			return int(n), errno
		}
	}
}

// errOf is an error number as an error; nil for 0.
func errOf(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// controlOf is the pointer to a control message for a header.
func controlOf(f *packetInfo) *byte { return (*byte)(unsafe.Pointer(f)) }

// networkPort is a port in network order.
func networkPort(port int) uint16 {
	b := [2]byte{byte(port >> 8), byte(port)}
	return *(*uint16)(unsafe.Pointer(&b))
}

// addressOf is the address of client i, and indexOf its inverse.
func addressOf(i int) [4]byte     { return [4]byte{127, 1, byte(i >> 8), byte(i)} }
func indexOf(address [4]byte) int { return int(address[2])<<8 | int(address[3]) }
