package meter

import (
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// significantDigits is how exact a quantile is: within 0.1 % of the true value.
const significantDigits = 3

// DefaultHighest is the largest value a histogram made by NewHistogram(0) holds: a minute in
// nanoseconds.
const DefaultHighest = 60_000_000_000

// Histogram keeps the distribution of integers in [0, highest] to three significant digits, and
// their exact count, sum and maximum. The unit is the caller's; nanoseconds by custom.
//
// Records go to one of two small tallies. A reader swaps the tallies, which takes as long as
// exchanging two pointers, and folds the resting one into the total at leisure: so a recording tick
// never waits while 200 kB are summed up.
type Histogram struct {
	highest int64

	mu   sync.Mutex // held for one record or one swap, never for a fold
	live *histogram // takes the records

	reading sync.Mutex // held while folding; taken before mu
	idle    *histogram // empty but during a fold; it and total are made by the first
	total   *histogram
}

// histogram is a histogram with the three numbers hdr would only approximate.
type histogram struct {
	hdr     *hdr.Histogram
	count   int64
	sum     int64
	max     int64
	clamped int64
}

// NewHistogram returns an empty histogram for values up to highest; 0 means DefaultHighest. It
// takes about 660 kB at the default range, two thirds of them from the first read on, so keep one a
// stage rather than one a player.
func NewHistogram(highest int64) *Histogram {
	if highest == 0 {
		highest = DefaultHighest
	}
	if highest < 2 {
		panic("meter: histogram's highest value is below 2")
	}
	return &Histogram{highest: highest, live: newTally(highest)}
}

func newTally(highest int64) *histogram {
	return &histogram{hdr: hdr.New(1, highest, significantDigits)}
}

// Record adds one value. A value below 0 counts as 0, one above the range as the highest; see
// Clamped.
func (h *Histogram) Record(v int64) { h.RecordN(v, 1) }

// RecordN adds n values that are the same, n being at least 1, in the time of one.
func (h *Histogram) RecordN(v, n int64) {
	h.mu.Lock()
	h.live.record(v, n, h.highest)
	h.mu.Unlock()
}

// record never meets hdr's error path, which would allocate: the value is in range by then.
func (t *histogram) record(v, n, highest int64) {
	if v < 0 || v > highest {
		v = min(max(v, 0), highest)
		t.clamped += n
	}
	t.count += n
	t.sum += n * v
	t.max = max(t.max, v)
	_ = t.hdr.RecordValues(v, n)
}

// add pours from into t.
func (t *histogram) add(from *histogram) {
	if from.count == 0 {
		return
	}
	t.hdr.Merge(from.hdr)
	t.count += from.count
	t.sum += from.sum
	t.max = max(t.max, from.max)
	t.clamped += from.clamped
}

func (t *histogram) reset() {
	if t.count != 0 {
		t.hdr.Reset()
	}
	*t = histogram{hdr: t.hdr}
}

// fold moves everything recorded so far into the total. The caller holds h.reading.
func (h *Histogram) fold() *histogram {
	if h.total == nil {
		h.idle, h.total = newTally(h.highest), newTally(h.highest)
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
