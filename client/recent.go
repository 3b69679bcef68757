package client

import (
	"slices"
	"time"
)

// recent keeps the newest samples of something that stays level but for noise, and steps now and then: how long packages take. They are
// kept sorted, so that a percentile is read off. What lay before a step is forgotten at once: it would pass for noise, for as long as it
// is remembered.
type recent struct {
	grain time.Duration // to which samples are rounded: by less than that they lie beyond others without a reason
	n     int
	next  int // of ring
	loud  int // how many are noisy

	low, high time.Duration            // least and greatest before the newest went beyond
	run       int                      // so many of the newest lie in a row beyond high, or if negative below low
	beyond    [stepProof]time.Duration // these

	noisy  [recentSize]bool          // by ring
	ring   [recentSize]time.Duration // in the order in which they came
	sorted [recentSize]time.Duration
}

const (
	recentSize = 64 // 3.2 s of snapshots at 20 Hz
	stepProof  = 4  // samples in a row beyond all the others are a step
)

// add takes a sample in and reports whether it makes a step certain; then nothing is remembered but the samples that show it. That four of
// 64 that mean nothing lie beyond the other 60, in a row, happens once in 635,000 times, and all that is lost then is the others.
func (r *recent) add(v time.Duration) (step bool) {
	if r.run == 0 || r.run > 0 && v <= r.high || r.run < 0 && v >= r.low {
		r.run = 0
		r.low, r.high = r.edges(v)
	}
	switch {
	case v > r.high:
		r.beyond[r.run] = v
		r.run++
	case v < r.low:
		r.beyond[-r.run] = v
		r.run--
	}
	r.put(v, false)
	if r.run < stepProof && r.run > -stepProof {
		return false
	}
	r.n, r.next, r.run, r.loud = 0, 0, 0, 0
	for _, v := range r.beyond[1:] { // the first may be of the midst of the step
		r.put(v, false)
	}
	return true
}

// edges are what a sample must lie beyond to show a step: the least and the greatest but noise, with room for their rounding; v's own if there
// are none. A level that is rounded may look the same for long, and then differ by all of grain. Below, half of that is room enough: lower
// leads are commands that come late, and it is better to believe that too early.
func (r *recent) edges(v time.Duration) (low, high time.Duration) {
	low, high = far, -far
	if r.loud == 0 && r.n > 0 {
		low, high = r.sorted[0], r.sorted[r.n-1]
	} else {
		for i, v := range r.ring[:r.n] {
			if !r.noisy[i] {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return v, v
	}
	return low - r.grain/2, high + r.grain
}

// noise takes a sample in that has a reason of its own to be out of the way: it neither shows a step nor speaks against one.
func (r *recent) noise(v time.Duration) { r.put(v, true) }

// put puts a sample in the oldest one's place.
func (r *recent) put(v time.Duration, noise bool) {
	if r.n == recentSize {
		at, _ := slices.BinarySearch(r.sorted[:r.n], r.ring[r.next])
		copy(r.sorted[at:], r.sorted[at+1:r.n])
		r.n--
		if r.noisy[r.next] {
			r.loud--
		}
	}
	if noise {
		r.loud++
	}
	at, _ := slices.BinarySearch(r.sorted[:r.n], v)
	copy(r.sorted[at+1:r.n+1], r.sorted[at:r.n])
	r.sorted[at] = v
	r.n++
	r.ring[r.next], r.noisy[r.next] = v, noise
	r.next = (r.next + 1) % recentSize
}

// rank is the sample that so many of 100 are not above, 0 without any.
func (r *recent) rank(percent int) time.Duration {
	if r.n == 0 {
		return 0
	}
	return r.sorted[max(0, (percent*r.n+99)/100-1)]
}

// middle is the mean of the middle half: as exact as a mean where samples are rounded, as firm as a median.
func (r *recent) middle() (mean time.Duration) {
	if r.n == 0 {
		return 0
	}
	half := r.sorted[r.n/4 : r.n-r.n/4]
	for _, v := range half {
		mean += (v - half[0]) // small, whatever the clocks show
	}
	return half[0] + mean/time.Duration(len(half))
}

// late is what 95 of 100 samples are not above, or what the newest all are above, whether they turn out to be a step or not.
func (r *recent) late() time.Duration {
	if r.run > 0 {
		return slices.Min(r.beyond[:r.run])
	}
	return r.rank(95)
}

// early is what 95 of 100 samples are not below, or what the newest all are below.
func (r *recent) early() time.Duration {
	if r.run < 0 {
		return slices.Max(r.beyond[:-r.run])
	}
	return r.rank(5)
}
