//go:build !portable

package netio

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// fleetDepth is how many trains one recvmmsg may take from a socket; fewer say that it is empty.
	fleetDepth = 4

	// trainBytes holds any train: an IP packet of 64 KiB.
	trainBytes = 64 << 10

	// trainControl holds the one control message that comes with a train: its segments' length.
	trainControl = 24
)

// trainIn receives trains of datagrams as the kernel has them (UDP_GRO): what left the server as one, or came in at a network card in a
// row, is one buffer here, which one walk through the kernel's stack has brought. Where the kernel does not know how, each datagram is
// a train of one.
type trainIn struct {
	hdrs    [fleetDepth]mmsghdr
	iovs    [fleetDepth]unix.Iovec
	bufs    [fleetDepth]*[trainBytes]byte
	control [fleetDepth][trainControl]byte
}

func newTrainIn() *trainIn {
	in := new(trainIn)
	for i := range in.hdrs {
		in.bufs[i] = new([trainBytes]byte)
		in.iovs[i].Base = &in.bufs[i][0]
		in.iovs[i].SetLen(trainBytes)
		h := &in.hdrs[i].hdr
		h.Iov = &in.iovs[i]
		h.SetIovlen(1)
		h.Control = &in.control[i][0]
	}
	return in
}

// ask has a socket give its trains whole.
func (in *trainIn) ask(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) }

// recv takes what waits in the socket, at most fleetDepth trains, and returns how many.
func (in *trainIn) recv(fd int) (int, unix.Errno) {
	for i := range in.hdrs {
		in.hdrs[i].hdr.SetControllen(trainControl)
	}
	return call(unix.SYS_RECVMMSG, fd, in.hdrs[:], unix.MSG_DONTWAIT|unix.MSG_TRUNC)
}

// train returns the bytes of train i of the last recv, and the length of its datagrams but the last, which may be shorter.
// A single datagram may be longer than the bytes, if it was cut.
func (in *trainIn) train(i int) (data []byte, segment int) {
	n := int(in.hdrs[i].n)
	segment = max(n, 1) // one datagram, perhaps an empty one
	const head = unix.SizeofCmsghdr
	if c := &in.control[i]; in.hdrs[i].hdr.Controllen >= head+4 {
		h := (*unix.Cmsghdr)(unsafe.Pointer(c))
		if h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO {
			segment = max(int(binary.NativeEndian.Uint32(c[head:])), 1)
		}
	}
	return in.bufs[i][:min(n, trainBytes)], segment
}
