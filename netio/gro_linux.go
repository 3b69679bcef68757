//go:build !portable

package netio

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// groDepth is the most buffers that one recvmmsg takes from one client's socket; fewer mean that
	// it is empty.
	groDepth = 4

	// groBufferSize holds the largest buffer, an IP packet of 64 KiB.
	groBufferSize = 64 << 10

	// groStride is the distance of two buffers. It is an odd number of cache lines, because the first
	// lines of buffers at a power of two share few cache sets.
	groStride = groBufferSize + 65*64

	// groControlSize holds the control messages of a buffer: the length of its datagrams, and the
	// address that they came to.
	groControlSize = 64
)

// groReceiver receives datagrams in the buffers in which the kernel has them (UDP_GRO): datagrams
// that left the server in one GSO send, or came to a network card in a row, are one buffer and
// one pass through the kernel's stack. Without UDP_GRO, each datagram is one buffer.
type groReceiver struct {
	hdrs    []mmsghdr
	iovs    []unix.Iovec
	memory  []byte
	control [][groControlSize]byte
	names   []unix.RawSockaddrInet4 // sources; of sockets that are not connected
}

func newGROReceiver(depth int) *groReceiver {
	in := &groReceiver{hdrs: make([]mmsghdr, depth), iovs: make([]unix.Iovec, depth),
		memory: make([]byte, depth*groStride), control: make([][groControlSize]byte, depth)}
	for i := range in.hdrs {
		in.iovs[i].Base = &in.memory[i*groStride]
		in.iovs[i].SetLen(groBufferSize)
		h := &in.hdrs[i].hdr
		h.Iov = &in.iovs[i]
		h.SetIovlen(1)
		h.Control = &in.control[i][0]
	}
	return in
}

// keepSources keeps the IPv4 address that each buffer came from.
func (in *groReceiver) keepSources() {
	in.names = make([]unix.RawSockaddrInet4, len(in.hdrs))
	for i := range in.hdrs {
		in.hdrs[i].hdr.Name = (*byte)(unsafe.Pointer(&in.names[i]))
	}
}

// enableGRO turns on UDP_GRO for a socket.
func enableGRO(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) }

// recv takes at most as many buffers from the socket as there is memory for, and returns their
// number.
func (in *groReceiver) recv(fd int) (int, unix.Errno) {
	for i := range in.hdrs {
		h := &in.hdrs[i].hdr
		h.SetControllen(groControlSize)
		if h.Name != nil {
			h.Namelen = unix.SizeofSockaddrInet4
		}
	}
	return call(unix.SYS_RECVMMSG, fd, in.hdrs, unix.MSG_DONTWAIT|unix.MSG_TRUNC)
}

// groBuffer is a buffer with the datagrams of one flow.
type groBuffer struct {
	data    []byte
	segment int     // length of the datagrams; the last one may be shorter
	to      [4]byte // IPv4 address that they came to, with IP_PKTINFO
}

// buffer returns buffer i of the last recv. A truncated datagram is longer than the bytes.
func (in *groReceiver) buffer(i int) groBuffer {
	n := int(in.hdrs[i].n)
	// One datagram, perhaps an empty one, unless a control message tells otherwise.
	b := groBuffer{data: in.memory[i*groStride:][:min(n, groBufferSize)], segment: max(n, 1)}
	const head = unix.SizeofCmsghdr
	for c := in.control[i][:min(in.hdrs[i].hdr.Controllen, groControlSize)]; len(c) >= head+4; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&c[0]))
		switch {
		case h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO:
			b.segment = max(int(binary.NativeEndian.Uint32(c[head:])), 1)
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(c) >= head+12:
			b.to = [4]byte(c[head+8:])
		}
		c = c[min(unix.CmsgSpace(int(h.Len)-unix.CmsgLen(0)), len(c)):]
	}
	return b
}
