package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// heldTicks is how many snapshots a view may be chosen from: a second and a half at 20 Hz.
const heldTicks = 32

// held lists the newest snapshot ticks of which anything has arrived, ascending.
type held struct {
	n     int
	ticks [heldTicks]tick.Tick
}

// add notes tick t and reports whether it is new; one older than a full list is left out.
func (h *held) add(t tick.Tick) bool {
	at := h.n
	for at > 0 && h.ticks[at-1] > t {
		at--
	}
	if at > 0 && h.ticks[at-1] == t || at == 0 && h.n == heldTicks {
		return false
	}
	if h.n == heldTicks {
		copy(h.ticks[:], h.ticks[1:at])
		h.ticks[at-1] = t
		return true
	}
	copy(h.ticks[at+1:h.n+1], h.ticks[at:h.n])
	h.ticks[at] = t
	h.n++
	return true
}

func (h *held) newest() tick.Tick { return h.ticks[h.n-1] }

// around finds the two snapshots next to an instant, given which have begun by then: before all of them, and after the newest, it is one
// snapshot alone, twice.
func (h *held) around(begun func(tick.Tick) bool) (from, to tick.Tick) {
	k := h.n - 1
	for k >= 0 && !begun(h.ticks[k]) {
		k--
	}
	from, to = h.ticks[max(k, 0)], h.ticks[min(k+1, h.n-1)]
	if to-from > tick.MaxViewSpan { // nothing came for seconds: the gap cannot be named, so it is not crossed
		to = from
	}
	return from, to
}

// at finds the two snapshots around an instant in 1/256 tick, as view does.
func (h *held) at(instant int64) tick.View {
	from, to := h.around(func(t tick.Tick) bool { return int64(t)<<8 <= instant })
	return lagcomp.ViewBetween(from, to, instant)
}

// view finds the two snapshots around the instant at and how far between them it lies, rounded down to 1/256. At or beyond the
// newest snapshot, and before the oldest, it is that snapshot alone.
func (h *held) view(rate tick.Rate, at time.Duration) tick.View {
	from, to := h.around(func(t tick.Tick) bool { return rate.At(t) <= at })
	if from == to {
		return tick.View{From: from, To: to}
	}
	begin, end := rate.At(from), rate.At(to)
	return tick.View{From: from, To: to, Frac: uint8((at - begin) * 256 / (end - begin))}
}
