package agent

import "time"

// Offset estimates how far the clock of another machine is ahead of this one, by four instants of a
// question and its answer, as NTP does:
//
//	t0 question leaves, t3 answer arrives    by the clock here
//	t1 question arrives, t2 answer leaves    by the clock there
//
// The estimate ((t1-t0)+(t2-t3))/2 is wrong by half of the round trip (t3-t0)-(t2-t1) at most, so
// the question with the shortest round trip counts. The zero value knows nothing.
type Offset struct {
	samples [offsetSamples]offsetSample
	count   int // of all time
}

// offsetSamples is how many questions are remembered: older ones are of clocks that have drifted.
const offsetSamples = 32

// offsetNeeded is the least number of questions for an estimate.
const offsetNeeded = 3

type offsetSample struct{ offset, bound time.Duration }

// Add adds the instants of a question, nanoseconds since 1970. It returns false for instants that
// cannot be: an answer before its question, or a longer time there than here.
func (o *Offset) Add(t0, t1, t2, t3 int64) bool {
	if t0 <= 0 || t1 <= 0 || t3 < t0 || t2 < t1 || t2-t1 > t3-t0 {
		return false
	}
	if far := time.Duration(t1 - t0); far > maxOffset || far < -maxOffset {
		return false
	}
	trip, ahead := (t3-t0)-(t2-t1), (t1-t0)+(t2-t3)
	o.samples[o.count%offsetSamples] = offsetSample{time.Duration(ahead / 2), time.Duration(trip+1) / 2}
	o.count++
	return true
}

// maxOffset is the largest offset that is believed.
const maxOffset = 10 * 365 * 24 * time.Hour

// Known reports whether there is an estimate.
func (o *Offset) Known() bool { return o.count >= offsetNeeded }

// Estimate is how far the other clock is ahead, and by how much that is wrong at most.
func (o *Offset) Estimate() (ahead, bound time.Duration) {
	best := o.samples[0]
	for _, s := range o.samples[:min(o.count, offsetSamples)] {
		if s.bound < best.bound {
			best = s
		}
	}
	return best.offset, best.bound
}
