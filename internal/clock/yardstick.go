package clock

import "time"

// Yardstick measures how fast the processor of a thread runs: it does a fixed piece of work, arithmetic
// in registers alone, and compares its CPU time with the least that it ever took. A virtual machine
// whose neighbours share its cores, or whose clock falls, runs at two thirds of its speed for a while;
// the CPU time of everything else grows by as much, and no figure of the system says why. A Yardstick
// belongs to one thread.
type Yardstick struct {
	cpu     func() time.Duration // CPU time of the calling thread
	fastest time.Duration        // of all measurements; 0: none yet
	at      time.Duration        // of the newest measurement
	newest  float64
	sink    uint64 // keeps the compiler from leaving the work out
}

// YardstickPeriod is the least time between two measurements. Each takes some 15 microseconds of CPU
// time.
const YardstickPeriod = 5 * time.Millisecond

// yardstickSteps is the length of the work.
const yardstickSteps = 1 << 14

// NewYardstick returns a yardstick that reads a clock of the calling thread's CPU time.
func NewYardstick(cpu func() time.Duration) *Yardstick { return &Yardstick{cpu: cpu} }

// Slowdown is how many times as long as at its fastest work takes on this processor, between the
// measurement before and this one: 1 at full speed. now is any clock that grows; within
// YardstickPeriod of the newest measurement there is none, and fresh is false.
func (y *Yardstick) Slowdown(now time.Duration) (times float64, fresh bool) {
	if y.fastest != 0 && now-y.at < YardstickPeriod {
		return y.newest, false
	}
	y.at = now
	began := y.cpu()
	y.work()
	took := max(y.cpu()-began, 1)
	if y.fastest == 0 || took < y.fastest {
		y.fastest = took
	}
	before := y.newest
	y.newest = float64(took) / float64(y.fastest)
	if before == 0 {
		before = y.newest
	}
	return (before + y.newest) / 2, true
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
