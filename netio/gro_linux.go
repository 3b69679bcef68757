//go:build !portable

package netio

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// groDepth is the most buffers that one recvmmsg takes from a socket; fewer mean that it is
	// empty.
	groDepth = 4

	// groBufferSize holds the largest buffer, an IP packet of 64 KiB.
	groBufferSize = 64 << 10

	// groControlSize holds the control message of a buffer: the length of its datagrams.
	groControlSize = 24
)

// groReceiver receives datagrams in the buffers in which the kernel has them (UDP_GRO): datagrams
// that left the server in one GSO send, or came to a network card in a row, are one buffer and
// one pass through the kernel's stack. Without UDP_GRO, each datagram is one buffer.
type groReceiver struct {
	hdrs    [groDepth]mmsghdr
	iovs    [groDepth]unix.Iovec
	bufs    [groDepth]*[groBufferSize]byte
	control [groDepth][groControlSize]byte
}

func newGROReceiver() *groReceiver {
	in := new(groReceiver)
	for i := range in.hdrs {
		in.bufs[i] = new([groBufferSize]byte)
		in.iovs[i].Base = &in.bufs[i][0]
		in.iovs[i].SetLen(groBufferSize)
		h := &in.hdrs[i].hdr
		h.Iov = &in.iovs[i]
		h.SetIovlen(1)
		h.Control = &in.control[i][0]
	}
	return in
}

// enable turns on UDP_GRO for a socket.
func (in *groReceiver) enable(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) }

// recv takes at most groDepth buffers from the socket and returns their number.
func (in *groReceiver) recv(fd int) (int, unix.Errno) {
	for i := range in.hdrs {
		in.hdrs[i].hdr.SetControllen(groControlSize)
	}
	return call(unix.SYS_RECVMMSG, fd, in.hdrs[:], unix.MSG_DONTWAIT|unix.MSG_TRUNC)
}

// buffer returns the bytes of buffer i of the last recv, and the length of its datagrams; the
// last one may be shorter. A truncated datagram is longer than the bytes.
func (in *groReceiver) buffer(i int) (data []byte, segment int) {
	n := int(in.hdrs[i].n)
	segment = max(n, 1) // one datagram, perhaps an empty one
	const head = unix.SizeofCmsghdr
	if c := &in.control[i]; in.hdrs[i].hdr.Controllen >= head+4 {
		h := (*unix.Cmsghdr)(unsafe.Pointer(c))
		if h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO {
			segment = max(int(binary.NativeEndian.Uint32(c[head:])), 1)
		}
	}
	return in.bufs[i][:min(n, groBufferSize)], segment
}
