package clock

import (
	"slices"
	"time"
)

// Yardstick measures how fast the processor of a thread runs: it does a fixed piece of work, arithmetic
// in registers alone, and compares its CPU time with what the work takes at full speed. A virtual
// machine whose neighbors share its cores runs at two thirds of its speed for a while; the CPU time of
// everything else grows by as much, and no figure of the system says why. A Yardstick belongs to one
// thread.
//
// Full speed is the least median of any yardstickWindow measurements in a row. The least time of all
// would not do: once in some hundred thousand times the clock of a thread says half of what it took.
type Yardstick struct {
	cpu    func() time.Duration // CPU time of the calling thread
	full   time.Duration        // CPU time of the work at full speed; 0: not known yet
	window [yardstickWindow]time.Duration
	n      int           // measurements in window
	at     time.Duration // of the newest measurement
	newest float64
	sink   uint64 // keeps the compiler from leaving the work out
}

// YardstickPeriod is the least time between two measurements. Each takes some 15 microseconds of CPU
// time; the first one takes yardstickWindow times as long.
const YardstickPeriod = 5 * time.Millisecond

const (
	yardstickSteps  = 1 << 14 // of the work
	yardstickWindow = 15      // measurements that have one median
)

// NewYardstick returns a yardstick that reads a clock of the calling thread's CPU time.
func NewYardstick(cpu func() time.Duration) *Yardstick { return &Yardstick{cpu: cpu} }

// Slowdown is how many times as long as at full speed work takes on this processor, between the
// measurement before and this one; at least 1. now is any clock that grows. Within YardstickPeriod of
// the newest measurement there is none: the result is that measurement, and fresh is false.
func (y *Yardstick) Slowdown(now time.Duration) (times float64, fresh bool) {
	if y.full != 0 && now-y.at < YardstickPeriod {
		return y.newest, false
	}
	y.at = now
	took := y.measure()
	for y.full == 0 {
		took = y.measure()
	}
	before := y.newest
	y.newest = max(1, float64(took)/float64(y.full))
	if before == 0 {
		before = y.newest
	}
	return (before + y.newest) / 2, true
}

// measure does the work once, and returns its CPU time.
func (y *Yardstick) measure() time.Duration {
	began := y.cpu()
	y.work()
	took := y.cpu() - began
	y.window[y.n] = took
	if y.n++; y.n == len(y.window) {
		slices.Sort(y.window[:])
		if median := max(y.window[len(y.window)/2], 1); y.full == 0 || median < y.full {
			y.full = median
		}
		y.n = 0
	}
	return took
}

func (y *Yardstick) work() {
	a, b, c := y.sink|1, uint64(2), uint64(3)
	for i := range uint64(yardstickSteps) {
		a = a*3 + 1
		b = b*5 + a
		c ^= b + i
	}
	y.sink = c
}
