//go:build !portable

package netio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// trains are runs of datagrams to one peer that share a header of sendmmsg: the kernel walks its stack once for all of
// them and cuts them apart at the end (UDP_SEGMENT). All but the last of a train have one length. Where the kernel or
// the network card does not know how, the first refusal ends it: from then on each datagram has a header of its own.
type trains struct {
	able    bool
	of      [BatchSize]train
	control [BatchSize]control
}

// train is what one header sends.
type train struct {
	parts   int32
	segment int32 // length of all parts but the last
	ended   bool  // a shorter one has closed it
}

// control is a control message that carries the segment length: cmsghdr and a u16, padded as CMSG_SPACE does.
type control struct {
	len   uint64
	level int32
	kind  int32
	size  uint16
	_     [6]byte
}

// maxTrain is the most datagrams of a train: the kernel takes 64, and 64 KiB in all.
const maxTrain = 48

// probe finds out whether the socket takes trains.
func (t *trains) probe(fd int) {
	_, err := unix.GetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT)
	t.able = err == nil && unsafe.Sizeof(uintptr(0)) == 8 // control is laid out for 64 bits
}

// begin starts train i with its first datagram.
func (t *trains) begin(i int, h *unix.Msghdr, bytes int32) {
	t.of[i] = train{parts: 1, segment: bytes}
	h.SetIovlen(1)
	h.Control = nil
	h.SetControllen(0)
}

// couple adds a datagram to train i, whose vectors end just before the datagram's, and reports whether it could.
func (t *trains) couple(i int, h *unix.Msghdr, bytes int32) bool {
	r := &t.of[i]
	if !t.able || r.ended || bytes > r.segment || r.parts == maxTrain || bytes == 0 {
		return false
	}
	r.parts++
	r.ended = bytes < r.segment
	c := &t.control[i]
	*c = control{len: uint64(unix.CmsgLen(2)), level: unix.SOL_UDP, kind: unix.UDP_SEGMENT, size: uint16(r.segment)}
	h.SetIovlen(int(r.parts))
	h.Control = (*byte)(unsafe.Pointer(c))
	h.SetControllen(int(unsafe.Sizeof(*c)))
	return true
}

// refused notes that the kernel did not take train i.
func (t *trains) refused(i int) {
	if t.of[i].parts > 1 {
		t.able = false
	}
}

// datagrams is how many datagrams the trains from up to end hold.
func (t *trains) datagrams(from, end int) (n uint64) {
	for i := from; i < end; i++ {
		n += uint64(t.of[i].parts)
	}
	return n
}
