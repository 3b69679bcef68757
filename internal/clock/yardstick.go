package clock

import (
	"slices"
	"time"
)

// Yardstick measures how fast the processor under the calling thread runs. It times a fixed loop of
// arithmetic in registers, and compares its CPU time with that at full speed. A virtual machine can
// run at two thirds of its speed for a while. All work then takes 1.5 times as much CPU time, and
// steal time does not show it. A goroutine that calls a Yardstick must be locked to its thread.
//
// Measurements form blocks. Full speed is the least median of a block so far, so a processor that has
// been slow since the start counts as fast. The least time of all would not do: about once in a
// million times the clock of a thread reports much too little.
type Yardstick struct {
	cpu    func() time.Duration // CPU time of the calling thread
	full   time.Duration        // CPU time of the work at full speed; 0: not known yet
	block  [yardstickBlock]time.Duration
	n      int           // measurements in block
	at     time.Duration // when the newest measurement was made
	newest float64       // ratio of the newest measurement
	sink   uint64        // keeps the compiler from leaving the work out
}

// YardstickPeriod is the least time between two measurements. One takes some 15 µs of CPU time. The
// first call makes a whole block of them.
const YardstickPeriod = 5 * time.Millisecond

// SlowdownUnit is what a histogram of slowdowns, which counts nanoseconds, has for full speed.
const SlowdownUnit = time.Second

const (
	yardstickSteps = 1 << 14 // of the loop
	yardstickBlock = 15      // measurements of a block, which has one median
)

// NewYardstick returns a yardstick. cpu is the CPU time of the calling thread.
func NewYardstick(cpu func() time.Duration) *Yardstick { return &Yardstick{cpu: cpu} }

// Slowdown measures, and returns how many times as long as at full speed work takes: 1 or more. The
// result is the mean of this measurement and the one before, as it is for the time between them.
// Within YardstickPeriod of a measurement it makes no other: it returns that one alone, and fresh is
// false. now is the time of any monotonic clock.
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
	y.block[y.n] = took
	if y.n++; y.n == len(y.block) {
		slices.Sort(y.block[:])
		if median := max(y.block[len(y.block)/2], 1); y.full == 0 || median < y.full {
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
