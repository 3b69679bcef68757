package clock

import (
	"slices"
	"time"
)

// window keeps the newest samples of a delay that is level but for noise, and reads percentiles off
// them. A step of the level is detected: what lay before it is forgotten at once, since it would
// pass for noise as long as it is remembered.
type window struct {
	grain time.Duration // rounding of samples: a smaller excess over the others is no evidence
	n     int
	next  int // index into ring
	noise int // samples marked as noise

	low, high time.Duration            // extremes before the newest run began
	run       int                      // newest samples in a row above high; negative: below low
	beyond    [stepProof]time.Duration // the samples of the run

	noisy  [windowSize]bool          // by index of ring
	ring   [windowSize]time.Duration // in order of arrival
	sorted [windowSize]time.Duration
}

const (
	windowSize = 64 // 3.2 s of snapshots at 20 Hz
	stepProof  = 4  // samples in a row beyond all others are a step
)

// add takes a sample and reports whether it proves a step; then only the samples of the step
// remain. Four of 64 samples without a trend lie in a row beyond the other 60 once in 635,000
// times, and such an error costs only the older samples.
func (w *window) add(v time.Duration) (step bool) {
	if w.run == 0 || w.run > 0 && v <= w.high || w.run < 0 && v >= w.low {
		w.run = 0
		w.low, w.high = w.limits(v)
	}
	switch {
	case v > w.high:
		w.beyond[w.run] = v
		w.run++
	case v < w.low:
		w.beyond[-w.run] = v
		w.run--
	}
	w.put(v)
	if w.run < stepProof && w.run > -stepProof {
		return false
	}
	w.n, w.next, w.run, w.noise = 0, 0, 0, 0
	for _, v := range w.beyond[1:] { // the first sample may lie inside the step
		w.put(v)
	}
	return true
}

// limits are the values that a sample must exceed to count towards a step: the extremes of all
// samples but noise, widened by the rounding, or v itself if there are none. A rounded level may
// look constant for long and then differ by the whole grain. Below, half of that suffices: a
// falling lead means late commands, which is better believed too early.
func (w *window) limits(v time.Duration) (low, high time.Duration) {
	low, high = far, -far
	if w.noise == 0 && w.n > 0 {
		low, high = w.sorted[0], w.sorted[w.n-1]
	} else {
		for i, v := range w.ring[:w.n] {
			if !w.noisy[i] {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return v, v
	}
	return low - w.grain/2, high + w.grain
}

// addNoise takes a sample that is an outlier for a known reason: it is no evidence for or against a
// step.
func (w *window) addNoise(v time.Duration) {
	at := w.next
	w.put(v)
	w.noisy[at] = true
	w.noise++
}

// put replaces the oldest sample by one that is no noise.
func (w *window) put(v time.Duration) {
	if w.n == windowSize {
		at, _ := slices.BinarySearch(w.sorted[:w.n], w.ring[w.next])
		copy(w.sorted[at:], w.sorted[at+1:w.n])
		w.n--
		if w.noisy[w.next] {
			w.noise--
		}
	}
	at, _ := slices.BinarySearch(w.sorted[:w.n], v)
	copy(w.sorted[at+1:w.n+1], w.sorted[at:w.n])
	w.sorted[at] = v
	w.n++
	w.ring[w.next], w.noisy[w.next] = v, false
	w.next = (w.next + 1) % windowSize
}

// percentile is the smallest sample that at least that many percent do not exceed, 0 without
// samples.
func (w *window) percentile(percent int) time.Duration {
	if w.n == 0 {
		return 0
	}
	return w.sorted[max(0, (percent*w.n+99)/100-1)]
}

// midmean is the interquartile mean: exact for rounded samples like a mean, robust like a median.
func (w *window) midmean() (mean time.Duration) {
	if w.n == 0 {
		return 0
	}
	half := w.sorted[w.n/4 : w.n-w.n/4]
	for _, v := range half {
		mean += (v - half[0]) // small, whatever the clocks show
	}
	return half[0] + mean/time.Duration(len(half))
}

// late is the 95th percentile, or what a run of high samples exceeds, a proven step or not.
func (w *window) late() time.Duration {
	if w.run > 0 {
		return slices.Min(w.beyond[:w.run])
	}
	return w.percentile(95)
}

// early is the 5th percentile, or what a run of low samples stays below.
func (w *window) early() time.Duration {
	if w.run < 0 {
		return slices.Max(w.beyond[:-w.run])
	}
	return w.percentile(5)
}
