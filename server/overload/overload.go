// Package overload decides what a lobby leaves out when its ticks take too long. Durations of ticks
// go in; a load level comes out. The owner of the tick loop calls it; it reads no clock.
package overload

import (
	"time"

	"github.com/tickrate/tickrate/protocol"
)

// Level says what an overloaded lobby leaves out. Each level keeps the measures of those before it.
// Inputs are never dropped, and players are never kicked.
type Level int32

// The levels, in the order of escalation.
const (
	Normal      Level = iota // nothing is left out
	HalfRate                 // every second snapshot is left out
	QuarterRate              // three of four snapshots are
	// snapshots hold the 16 nearest players and rotate through the others; not with relevance off
	LowDetail
	NoSpectators // spectators are kicked
	NoNewPlayers // no session begins
	SlowMotion   // the match runs at four fifths of its speed, for all clients
	NumLevels    // how many there are
)

var levelNames = [NumLevels]string{"normal", "half_rate", "quarter_rate", "low_detail",
	"no_spectators", "no_new_players", "slow_motion"}

// String names the level.
func (l Level) String() string { return levelNames[l] }

// slowTimescale is the speed of a match on SlowMotion, in protocol.FullTimescale.
const slowTimescale = protocol.FullTimescale * 4 / 5

// Timescale is the speed of the match: seconds of the match in protocol.FullTimescale seconds of
// real time.
func (l Level) Timescale() uint16 {
	if l >= SlowMotion {
		return slowTimescale
	}
	return protocol.FullTimescale
}

// Controller raises and lowers the level. The zero value is on Normal.
type Controller struct {
	level      Level
	least      Level // never below it
	overruns   int   // in a row
	calm       int   // ticks in a row with time to spare
	sinceDown  int   // ticks since the last step down
	steppedOff bool  // there was one since the last step up
	// Calm ticks that lower the level, in recoverAfter; doubles when that was too early.
	wait int
}

// A tick overruns when it takes longer than its period, and is calm when it takes at most calmShare
// of it. Between the two the level stays: what it saves must not be what lowers it. A level that
// has to rise again soon after it fell waits twice as long the next time, up to maxWait times.
const (
	raiseAfter   = 60  // overruns in a row raise the level
	recoverAfter = 600 // calm ticks lower it
	calmShare    = 5   // eighths of a period
	maxWait      = 8
)

// StartAt puts the controller on a level, below which it never goes.
func (c *Controller) StartAt(least Level) { c.level, c.least = least, least }

// Level is the level now.
func (c *Controller) Level() Level { return c.level }

// Tick takes the duration of a tick and its period. It returns the level, and whether that has
// changed.
func (c *Controller) Tick(took, period time.Duration) (level Level, changed bool) {
	c.wait = max(c.wait, 1)
	c.sinceDown++
	switch {
	case took > period:
		return c.overrun()
	case 8*took > calmShare*period:
		c.overruns, c.calm = 0, 0
		return c.level, false
	}
	c.overruns = 0
	if c.level == c.least {
		if c.sinceDown > maxWait*recoverAfter {
			c.wait = 1
		}
		return c.level, false
	}
	if c.calm++; c.calm < c.wait*recoverAfter {
		return c.level, false
	}
	c.calm, c.sinceDown, c.steppedOff, c.level = 0, 0, true, c.level-1
	return c.level, true
}

func (c *Controller) overrun() (level Level, changed bool) {
	c.calm = 0
	if c.overruns++; c.overruns < raiseAfter || c.level == NumLevels-1 {
		return c.level, false
	}
	if c.overruns, c.level = 0, c.level+1; c.steppedOff && c.sinceDown <= 2*recoverAfter {
		c.wait = min(2*c.wait, maxWait)
	}
	c.steppedOff = false
	return c.level, true
}
