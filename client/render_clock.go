package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

// renderClock is the server time that the client looks at. It never goes back, and never past the newest snapshot.
type renderClock struct {
	at     time.Duration
	begun  bool
	still  bool          // it stands at the newest snapshot
	stalls uint64        // times it had to stop at the newest snapshot
	over   time.Duration // how far a picture may be carried on beyond at, because nothing newer came
	resets uint64        // times it was too far behind to be steered
}

const (
	steerTime   = 500 * time.Millisecond // an error is steered away with this time constant
	steerMost   = 20                     // by at most a 20th, 5 %, of the time that passes
	renderReset = 500 * time.Millisecond // further behind than this, it jumps
)

// advance lets dt pass, steering towards want, up to the newest snapshot. It reports whether it was too far behind for that.
func (c *renderClock) advance(dt, want, newest time.Duration) (reset bool) {
	if !c.begun {
		c.begun, c.at = true, max(0, min(want, newest))
		return false
	}
	ahead := want - c.at
	next := c.at + dt + steer(ahead, dt)
	switch {
	case ahead > renderReset:
		next = want
		c.resets++
		reset = true
	case ahead < -renderReset:
		next = c.at
	}
	c.over = max(0, c.over-dt/overEase)
	if next > newest {
		c.over = min(c.over+dt/overEase+next-newest, mostOver)
		next = newest
		c.stalls++
	}
	c.at = max(c.at, next)
	return reset
}

// follow moves the clock to an instant in 1/256 tick, up to the newest snapshot. The picture is carried on for what lies beyond.
func (c *renderClock) follow(rate tick.Rate, instant int64, newest tick.Tick) {
	at, most := rate.At(tick.Tick(instant>>8))+time.Duration(instant&255)*rate.Period()/256, rate.At(newest)
	if c.over = 0; at > most {
		c.over = min(at-most, mostOver)
		if !c.still {
			c.stalls++
		}
		at = most
	}
	c.still = at == most
	c.begun, c.at = true, max(c.at, at)
}

// A picture that is carried on comes back to the clock slowly: everybody seems to slow down by a fourth, nobody stops or goes back.
const (
	mostOver = 100 * time.Millisecond // that a picture is carried on at most; then it stands
	overEase = 4
)

// steer is what to add to dt so that an error fades, at most 5 % of dt.
func steer(err, dt time.Duration) time.Duration {
	err = max(min(err, steerTime), -steerTime)
	by := time.Duration(int64(err/time.Microsecond) * int64(dt/time.Microsecond) / int64(steerTime/time.Microsecond) * int64(time.Microsecond))
	most := dt / steerMost
	return max(min(by, most), -most)
}
