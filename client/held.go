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

// at finds the two snapshots around an instant in 1/256 tick, as view does.
func (h *held) at(instant int64) tick.View {
	to := h.n - 1
	if newest := h.ticks[to]; instant >= int64(newest)<<8 {
		return tick.View{From: newest, To: newest}
	}
	for to > 0 && int64(h.ticks[to-1])<<8 > instant {
		to--
	}
	if to == 0 {
		return tick.View{From: h.ticks[0], To: h.ticks[0]}
	}
	from := h.ticks[to-1]
	if h.ticks[to]-from > tick.MaxViewSpan { // nothing came for seconds: the gap cannot be named, so it is not crossed
		return tick.View{From: from, To: from}
	}
	return lagcomp.Between(from, h.ticks[to], instant)
}

// view finds the two snapshots around the instant at and how far between them it lies, rounded down to 1/256. At or beyond the
// newest snapshot, and before the oldest, it is that snapshot alone.
func (h *held) view(rate tick.Rate, at time.Duration) tick.View {
	to := h.n - 1
	if newest := h.ticks[to]; at >= rate.At(newest) {
		return tick.View{From: newest, To: newest}
	}
	for to > 0 && rate.At(h.ticks[to-1]) > at {
		to--
	}
	if to == 0 {
		return tick.View{From: h.ticks[0], To: h.ticks[0]}
	}
	from := h.ticks[to-1]
	if h.ticks[to]-from > tick.MaxViewSpan { // nothing came for seconds: the gap cannot be named, so it is not crossed
		return tick.View{From: from, To: from}
	}
	begin, end := rate.At(from), rate.At(h.ticks[to])
	return tick.View{From: from, To: h.ticks[to], Frac: uint8((at - begin) * 256 / (end - begin))}
}
