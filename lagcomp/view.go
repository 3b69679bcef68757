package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// ViewAt is the view between neighbouring ticks at an instant, in 1/256 tick (see Instant). An
// instant before tick 1 gives tick 1; one past the newest tick must not be asked for.
func ViewAt(instant int64) tick.View { return viewAt(max(instant, 1<<8)) }

// MaxDelay is the longest delay that Delay returns, in 1/256 tick.
const MaxDelay = 1<<16 - 1

// Delay is how far behind tick fired its shooter looked, in 1/256 tick, at most MaxDelay; 0 for an
// invalid view or one that lies ahead. A projectile keeps it, see DelayedView.
func Delay(fired tick.Tick, v tick.View) uint16 {
	if !v.Valid() {
		return 0
	}
	return uint16(min(max(int64(fired)<<8-Instant(v), 0), MaxDelay))
}

// DelayedView is the view of tick now with a delay, within what h holds. With nothing recorded it
// is the zero view, which hits nothing.
func (h *History) DelayedView(now tick.Tick, delay uint16) tick.View {
	if h.newest == 0 {
		return tick.View{}
	}
	at := int64(now)<<8 - int64(delay)
	return ViewAt(min(max(at, int64(h.Oldest())<<8), int64(h.newest)<<8))
}
