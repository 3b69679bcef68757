//go:build !portable

package netio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// gsoBatches are runs of datagrams to one peer that share a header of sendmmsg: the kernel passes
// its stack once for all of them and cuts them apart at the end (UDP_SEGMENT). All datagrams of a
// batch but the last have one length. The first refusal by the kernel or the network card turns
// batches off: from then on each datagram has its own header.
type gsoBatches struct {
	supported bool
	batches   [BatchSize]gsoBatch
	control   [BatchSize]segmentControl
}

// gsoBatch is the datagrams of one header.
type gsoBatch struct {
	datagrams   int32
	segmentSize int32 // length of all datagrams but the last
	full        bool  // a shorter datagram has closed it
}

// segmentControl is a control message with the segment length: cmsghdr and a u16, padded as
// CMSG_SPACE does.
type segmentControl struct {
	len   uint64
	level int32
	kind  int32
	size  uint16
	_     [6]byte
}

// maxGSO is the most datagrams of a batch: the kernel takes 64, and 64 KiB in all.
const maxGSO = 48

// probe finds out whether the socket supports UDP_SEGMENT.
func (t *gsoBatches) probe(fd int) {
	_, err := unix.GetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT)
	t.supported = err == nil && unsafe.Sizeof(uintptr(0)) == 8 // control is laid out for 64 bits
}

// begin starts batch i with its first datagram.
func (t *gsoBatches) begin(i int, h *unix.Msghdr, bytes int32) {
	t.batches[i] = gsoBatch{datagrams: 1, segmentSize: bytes}
	h.SetIovlen(1)
	h.Control = nil
	h.SetControllen(0)
}

// append adds a datagram to batch i and reports whether it fits. The batch's vectors end just
// before the datagram's.
func (t *gsoBatches) append(i int, h *unix.Msghdr, bytes int32) bool {
	r := &t.batches[i]
	if !t.supported || r.full || bytes > r.segmentSize || r.datagrams == maxGSO || bytes == 0 {
		return false
	}
	r.datagrams++
	r.full = bytes < r.segmentSize
	c := &t.control[i]
	*c = segmentControl{len: uint64(unix.CmsgLen(2)), level: unix.SOL_UDP, kind: unix.UDP_SEGMENT,
		size: uint16(r.segmentSize)}
	h.SetIovlen(int(r.datagrams))
	h.Control = (*byte)(unsafe.Pointer(c))
	h.SetControllen(int(unsafe.Sizeof(*c)))
	return true
}

// refused records that the kernel did not take batch i.
func (t *gsoBatches) refused(i int) {
	if t.batches[i].datagrams > 1 {
		t.supported = false
	}
}

// datagrams returns the number of datagrams in the batches from up to end.
func (t *gsoBatches) datagrams(from, end int) (n uint64) {
	for i := from; i < end; i++ {
		n += uint64(t.batches[i].datagrams)
	}
	return n
}
