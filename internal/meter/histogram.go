package meter

import (
	"math"
	"math/bits"
	"sync"
)

// DefaultHighest is the largest value that a histogram made with highest 0 holds: a minute in
// nanoseconds.
const DefaultHighest = 60_000_000_000

// Resolution is how exact quantiles are: the number of bits after the first of a value that its
// bucket tells apart. Memory doubles with each.
type Resolution uint8

// The resolutions, and the memory of a histogram of up to a second in nanoseconds.
const (
	Rough  Resolution = 4 // quantiles within 3 %, 1.8 KB
	Coarse Resolution = 6 // quantiles within 0.8 %, 6.6 KB
	Fine   Resolution = 9 // quantiles within 0.1 %, 45 KB
)

// Histogram keeps the distribution of integers in [0, highest] in buckets, and their exact count,
// sum and maximum. The unit is the caller's; nanoseconds by custom.
//
// Records go to one of two small tallies. A reader swaps the tallies, which takes as long as
// exchanging two pointers, and folds the resting one into the total at leisure: so a recording tick
// never waits while buckets are summed up.
type Histogram struct {
	highest    int64
	resolution Resolution

	mu   sync.Mutex // held for one record or one swap, never for a fold
	live *histogram // takes the records

	reading sync.Mutex // held while folding; taken before mu
	idle    *histogram // empty but during a fold; it and total are made by the first
	total   *histogram
}

// histogram is a tally: counts by bucket, and the three numbers that buckets only approximate. A
// count that reaches its maximum stays there.
type histogram struct {
	buckets []uint32
	count   int64
	sum     int64
	max     int64
	clamped int64
}

// NewHistogram returns an empty histogram for values up to highest; 0 means DefaultHighest. The
// first read doubles its memory twice.
func NewHistogram(highest int64, r Resolution) *Histogram {
	if highest == 0 {
		highest = DefaultHighest
	}
	if highest < 2 {
		panic("meter: histogram's highest value is below 2")
	}
	h := &Histogram{highest: highest, resolution: r}
	h.live = h.newTally()
	return h
}

func (h *Histogram) newTally() *histogram {
	return &histogram{buckets: make([]uint32, h.resolution.bucket(h.highest)+1)}
}

// bucket is the index of the bucket of v, which is not negative.
func (r Resolution) bucket(v int64) int {
	shift := max(0, bits.Len64(uint64(v))-1-int(r))
	return shift<<r + int(v>>shift)
}

// middle is the value in the middle of a bucket.
func (r Resolution) middle(bucket int) int64 {
	shift := max(0, bucket>>r-1)
	return int64(bucket-shift<<r)<<shift + 1<<shift>>1
}

// Record adds one value. A value below 0 counts as 0, one above the range as the highest; see
// Clamped.
func (h *Histogram) Record(v int64) { h.RecordN(v, 1) }

// RecordN adds n values that are the same, n being at least 1, in the time of one.
func (h *Histogram) RecordN(v, n int64) {
	h.mu.Lock()
	t := h.live
	if v < 0 || v > h.highest {
		v = min(max(v, 0), h.highest)
		t.clamped += n
	}
	t.count += n
	t.sum += n * v
	t.max = max(t.max, v)
	c := &t.buckets[h.resolution.bucket(v)]
	*c = uint32(min(uint64(*c)+uint64(n), math.MaxUint32))
	h.mu.Unlock()
}

// add pours from into t.
func (t *histogram) add(from *histogram) {
	if from.count == 0 {
		return
	}
	for i, n := range from.buckets {
		t.buckets[i] = uint32(min(uint64(t.buckets[i])+uint64(n), math.MaxUint32))
	}
	t.count += from.count
	t.sum += from.sum
	t.max = max(t.max, from.max)
	t.clamped += from.clamped
}

func (t *histogram) reset() {
	if t.count != 0 {
		clear(t.buckets)
	}
	*t = histogram{buckets: t.buckets}
}

// fold moves everything recorded so far into the total. The caller holds h.reading.
func (h *Histogram) fold() *histogram {
	if h.total == nil {
		h.idle, h.total = h.newTally(), h.newTally()
	}
	h.mu.Lock()
	h.live, h.idle = h.idle, h.live
	h.mu.Unlock()
	h.total.add(h.idle)
	h.idle.reset()
	return h.total
}

// Reset forgets everything recorded so far.
func (h *Histogram) Reset() {
	h.reading.Lock()
	defer h.reading.Unlock()
	h.fold().reset()
}
