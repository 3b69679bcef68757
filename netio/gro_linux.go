//go:build !portable

package netio

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// groDepth is how many trains one recvmmsg may take from a socket; fewer say that it is empty.
	groDepth = 4

	// groBufferSize holds any train: an IP packet of 64 KiB.
	groBufferSize = 64 << 10

	// groControlSize holds the one control message that comes with a train: its segments' length.
	groControlSize = 24
)

// groReceiver receives trains of datagrams as the kernel has them (UDP_GRO): what left the server as one, or came in at a network card in a
// row, is one buffer here, which one walk through the kernel's stack has brought. Where the kernel does not know how, each datagram is
// a train of one.
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

// enable has a socket give its trains whole.
func (in *groReceiver) enable(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) }

// recv takes what waits in the socket, at most groDepth trains, and returns how many.
func (in *groReceiver) recv(fd int) (int, unix.Errno) {
	for i := range in.hdrs {
		in.hdrs[i].hdr.SetControllen(groControlSize)
	}
	return call(unix.SYS_RECVMMSG, fd, in.hdrs[:], unix.MSG_DONTWAIT|unix.MSG_TRUNC)
}

// buffer returns the bytes of train i of the last recv, and the length of its datagrams but the last, which may be shorter.
// A single datagram may be longer than the bytes, if it was cut.
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
