package netcode

import "time"

// clockSlack is how far the clocks may differ before it counts as a jump. The wall clock comes in
// whole seconds.
const clockSlack = 2 * time.Second

// clock compares the wall clock with the monotonic clock.
type clock struct {
	started       bool
	unix          int64         // the newest value
	monotonicBase time.Duration // monotonic time at which the wall clock showed unixBase
	unixBase      int64
}

// observe takes both times and counts a jump when they differ by more than clockSlack since the
// last one.
func (c *clock) observe(now time.Duration, unix int64, counters *Counters) {
	const end = 50 * 365 * 24 * 3600 // a Duration holds no more than three centuries
	unix = min(max(unix, -end), 4*end)
	if c.started && unix == c.unix {
		return // a jump shows when the second is over
	}
	if !c.started {
		c.started, c.monotonicBase, c.unixBase = true, now, unix
	}
	c.unix = unix
	if apart := time.Duration(unix-c.unixBase)*time.Second - (now - c.monotonicBase); apart > clockSlack ||
		apart < -clockSlack {
		counters.ClockJumps++
		counters.ClockJump = apart
		c.monotonicBase, c.unixBase = now, unix
	}
}
