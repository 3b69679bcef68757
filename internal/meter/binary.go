package meter

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrBinary is AddBinary's error for bytes that are no histogram of the receiver's kind.
var ErrBinary = errors.New("meter: expected the bytes of a histogram of this range and resolution")

// AppendBinary appends the histogram, so that one of the same range and resolution can add it. All
// numbers are unsigned varints:
//
//	highest, resolution
//	sum, max, clamped
//	n                   buckets that are not empty
//	n times             gap to the bucket before, count
func (h *Histogram) AppendBinary(dst []byte) []byte {
	h.reading.Lock()
	defer h.reading.Unlock()
	t, filled := h.fold(), 0
	for _, n := range t.buckets {
		if n > 0 {
			filled++
		}
	}
	for _, v := range []int64{h.highest, int64(h.resolution), t.sum, t.max, t.clamped, int64(filled)} {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	last := 0
	for i, n := range t.buckets {
		if n > 0 {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(i-last)), uint64(n))
			last = i
		}
	}
	return dst
}

// AddBinary adds what AppendBinary wrote. Bytes of another kind, and numbers that no histogram has,
// are refused with ErrBinary, and h stays as it is. Counts above 2^32-1 in a bucket saturate.
func (h *Histogram) AddBinary(src []byte) error {
	r := varints{src: src}
	if r.next() != uint64(h.highest) || r.next() != uint64(h.resolution) {
		return ErrBinary
	}
	t := h.newTally()
	t.sum, t.max, t.clamped = r.signed(), r.signed(), r.signed()
	filled, at := r.next(), uint64(0)
	if filled > uint64(len(t.buckets)) {
		return ErrBinary
	}
	for i := range filled {
		gap, n := r.next(), r.next()
		if at += gap; gap > uint64(len(t.buckets)) || at >= uint64(len(t.buckets)) || n == 0 ||
			n > math.MaxUint32 || i > 0 && gap == 0 {
			return ErrBinary
		}
		t.buckets[at], t.count = uint32(n), t.count+int64(n)
	}
	if r.bad || len(r.src) > 0 || !h.plausible(t, int(at)) {
		return ErrBinary
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live.add(t)
	return nil
}

// plausible reports whether a tally's numbers can come from values in its buckets, the last of them
// top.
func (h *Histogram) plausible(t *histogram, top int) bool {
	if t.count == 0 {
		return t.sum == 0 && t.max == 0 && t.clamped == 0
	}
	return t.max <= h.highest && h.resolution.bucket(t.max) == top && t.clamped <= t.count &&
		t.sum >= t.max && float64(t.sum) <= float64(t.max)*float64(t.count)*(1+1e-9)
}

// varints reads unsigned varints. After the first that is wrong it reads zeros and is bad.
type varints struct {
	src []byte
	bad bool
}

func (r *varints) next() uint64 {
	v, n := binary.Uvarint(r.src)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.src = r.src[n:]
	return v
}

// signed reads a number below 2^63.
func (r *varints) signed() int64 {
	v := r.next()
	if v > math.MaxInt64 {
		r.bad = true
		return 0
	}
	return int64(v)
}
