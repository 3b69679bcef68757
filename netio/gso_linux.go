//go:build !portable

package netio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// gso are runs of datagrams to one peer that share a header of sendmmsg: the kernel walks its stack once for all of
// them and cuts them apart at the end (UDP_SEGMENT). All but the last of a train have one length. Where the kernel or
// the network card does not know how, the first refusal ends it: from then on each datagram has a header of its own.
type gsoBatches struct {
	supported bool
	batches   [BatchSize]gsoBatch
	control   [BatchSize]segmentControl
}

// buffer is what one header sends.
type gsoBatch struct {
	datagrams   int32
	segmentSize int32 // length of all parts but the last
	full        bool  // a shorter one has closed it
}

// segmentControl is a control message that carries the segment length: cmsghdr and a u16, padded as CMSG_SPACE does.
type segmentControl struct {
	len   uint64
	level int32
	kind  int32
	size  uint16
	_     [6]byte
}

// maxGSO is the most datagrams of a train: the kernel takes 64, and 64 KiB in all.
const maxGSO = 48

// probe finds out whether the socket takes trains.
func (t *gsoBatches) probe(fd int) {
	_, err := unix.GetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT)
	t.supported = err == nil && unsafe.Sizeof(uintptr(0)) == 8 // control is laid out for 64 bits
}

// begin starts train i with its first datagram.
func (t *gsoBatches) begin(i int, h *unix.Msghdr, bytes int32) {
	t.batches[i] = gsoBatch{datagrams: 1, segmentSize: bytes}
	h.SetIovlen(1)
	h.Control = nil
	h.SetControllen(0)
}

// append adds a datagram to train i, whose vectors end just before the datagram's, and reports whether it could.
func (t *gsoBatches) append(i int, h *unix.Msghdr, bytes int32) bool {
	r := &t.batches[i]
	if !t.supported || r.full || bytes > r.segmentSize || r.datagrams == maxGSO || bytes == 0 {
		return false
	}
	r.datagrams++
	r.full = bytes < r.segmentSize
	c := &t.control[i]
	*c = segmentControl{len: uint64(unix.CmsgLen(2)), level: unix.SOL_UDP, kind: unix.UDP_SEGMENT, size: uint16(r.segmentSize)}
	h.SetIovlen(int(r.datagrams))
	h.Control = (*byte)(unsafe.Pointer(c))
	h.SetControllen(int(unsafe.Sizeof(*c)))
	return true
}

// refused notes that the kernel did not take train i.
func (t *gsoBatches) refused(i int) {
	if t.batches[i].datagrams > 1 {
		t.supported = false
	}
}

// datagrams is how many datagrams the trains from up to end hold.
func (t *gsoBatches) datagrams(from, end int) (n uint64) {
	for i := from; i < end; i++ {
		n += uint64(t.batches[i].datagrams)
	}
	return n
}
