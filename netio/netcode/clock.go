package netcode

import "time"

// clockSlack is how far the two clocks may go apart before that counts. The wall clock comes in whole seconds.
const clockSlack = 2 * time.Second

// clock compares the wall clock with the monotonic one.
type clock struct {
	told bool
	unix int64         // the newest
	zero time.Duration // the monotonic time at which the wall clock showed since
	base int64
}

// tell takes both times and counts a jump. A step away from the last jump, however slowly it was made, counts once.
func (c *clock) tell(now time.Duration, unix int64, counters *Counters) {
	const end = 50 * 365 * 24 * 3600 // nanoseconds do not count farther than three centuries
	unix = min(max(unix, -end), 4*end)
	if c.told && unix == c.unix {
		return // a jump shows when the second ends
	}
	if !c.told {
		c.told, c.zero, c.base = true, now, unix
	}
	c.unix = unix
	if apart := time.Duration(unix-c.base)*time.Second - (now - c.zero); apart > clockSlack || apart < -clockSlack {
		counters.ClockJumps++
		counters.ClockJump = apart
		c.zero, c.base = now, unix
	}
}
