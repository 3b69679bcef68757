package interpolate

import (
	"math"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// viewDelay is how far the view is behind the commands. Each delay is announced to the server half
// a second before it takes effect.
type viewDelay struct {
	lagcomp.ViewDelayTrack
	span  tick.Tick // the last with a delay: one is chosen with the first command of each span
	delay uint8     // announced by packets with a newest command of that span
}

// Errors, in 1/256 tick, from which on the delay takes a step towards the wanted one. A delay that
// is too short makes the picture stall, so it is corrected sooner than one that is too long.
const (
	delayShort = lagcomp.ViewDelayUnit / 8
	delayLong  = lagcomp.ViewDelayUnit * 5 / 4
	delayFar   = 4 * lagcomp.ViewDelayUnit
)

// instant is the view's instant for the command of tick t, in 1/256 tick. want is the delay that
// the clocks call for, in the same unit.
func (d *viewDelay) instant(t tick.Tick, want int64) int64 {
	if span := t / lagcomp.ViewDelaySpan; !d.Started() || span > d.span {
		d.choose(want)
		d.span = span
		d.Announce(t, d.delay, t)
	}
	at, _, _ := d.InstantAt(t, math.MaxInt64)
	return max(at, 1<<8)
}

// choose moves the delay towards the wanted one.
func (d *viewDelay) choose(want int64) {
	if !d.Started() {
		d.delay = uint8(min((want+lagcomp.ViewDelayUnit-1)/lagcomp.ViewDelayUnit, 255))
		return
	}
	off, step := want-int64(d.delay)*lagcomp.ViewDelayUnit, 0
	switch {
	case off > delayFar:
		step = 4
	case off > delayLong:
		step = 2
	case off > delayShort:
		step = 1
	case off < -2*delayFar:
		step = -4
	case off < -delayFar:
		step = -2
	case off < -delayLong:
		step = -1
	}
	d.delay = uint8(min(max(int(d.delay)+step, 0), 255))
}
