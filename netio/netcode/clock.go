package netcode

import "time"

// clockSlack is how far the two clocks may go apart before that counts. The wall clock comes in whole seconds.
const clockSlack = 2 * time.Second

// clock compares the wall clock with the monotonic one.
type clock struct {
	started       bool
	unix          int64         // the newest
	monotonicBase time.Duration // the monotonic time at which the wall clock showed since
	unixBase      int64
}

// observe takes both times and counts a jump. A step away from the last jump, however slowly it was made, counts once.
func (c *clock) observe(now time.Duration, unix int64, counters *Counters) {
	const end = 50 * 365 * 24 * 3600 // nanoseconds do not count farther than three centuries
	unix = min(max(unix, -end), 4*end)
	if c.started && unix == c.unix {
		return // a jump shows when the second ends
	}
	if !c.started {
		c.started, c.monotonicBase, c.unixBase = true, now, unix
	}
	c.unix = unix
	if apart := time.Duration(unix-c.unixBase)*time.Second - (now - c.monotonicBase); apart > clockSlack || apart < -clockSlack {
		counters.ClockJumps++
		counters.ClockJump = apart
		c.monotonicBase, c.unixBase = now, unix
	}
}
