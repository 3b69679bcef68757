package clock

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Render is the server time that is shown. It never runs backwards and never passes the newest
// snapshot.
type Render struct {
	At     time.Duration
	Over   time.Duration // how far a picture extrapolates beyond At, because no newer snapshot came
	Stalls uint64        // times it had to stop at the newest snapshot
	Resets uint64        // times it was too far behind to be steered
	begun  bool
	still  bool // it stands at the newest snapshot
}

const (
	steerTime   = 500 * time.Millisecond // time constant of steering
	steerLimit  = 20                     // a clock runs at most 1/20, 5 %, too fast or too slow
	renderReset = 500 * time.Millisecond // a clock further behind than this jumps

	// MaxOver is the longest time that a picture extrapolates.
	MaxOver  = 100 * time.Millisecond
	overEase = 4 // extrapolation decays by a fourth of the time: no player stops or runs backwards
)

// advance lets dt pass, steering towards want, up to the newest snapshot. reset reports that it was
// too far behind for that.
func (c *Render) advance(dt, want, newest time.Duration) (reset bool) {
	if !c.begun {
		c.begun, c.At = true, max(0, min(want, newest))
		return false
	}
	ahead := want - c.At
	next := c.At + dt + steer(ahead, dt)
	switch {
	case ahead > renderReset:
		next = want
		c.Resets++
		reset = true
	case ahead < -renderReset:
		next = c.At
	}
	c.Over = max(0, c.Over-dt/overEase)
	if next > newest {
		c.Over = min(c.Over+dt/overEase+next-newest, MaxOver)
		next = newest
		c.Stalls++
	}
	c.At = max(c.At, next)
	return reset
}

// Follow moves the clock to an instant in 1/256 tick, up to the newest snapshot. A picture
// extrapolates over the rest.
func (c *Render) Follow(rate tick.Rate, instant int64, newest tick.Tick) {
	at := rate.At(tick.Tick(instant>>8)) + time.Duration(instant&255)*rate.Period()/256
	limit := rate.At(newest)
	if c.Over = 0; at > limit {
		c.Over = min(at-limit, MaxOver)
		if !c.still {
			c.Stalls++
		}
		at = limit
	}
	c.still = at == limit
	c.begun, c.At = true, max(c.At, at)
}

// Still reports whether the clock waits for a snapshot.
func (c *Render) Still() bool { return c.still }

// steer is what to add to dt so that an error decays, at most 5 % of dt.
func steer(err, dt time.Duration) time.Duration {
	err = max(min(err, steerTime), -steerTime)
	errMicros, dtMicros := int64(err/time.Microsecond), int64(dt/time.Microsecond)
	by := time.Duration(errMicros * dtMicros / int64(steerTime/time.Microsecond) * int64(time.Microsecond))
	limit := dt / steerLimit
	return max(min(by, limit), -limit)
}
