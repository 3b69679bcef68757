package interpolate

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// maxTicks is how many snapshots a view may choose from: a second and a half at 20 Hz.
const maxTicks = 32

// ticks lists the newest snapshots that have arrived, in part or whole, ascending.
type ticks struct {
	n    int
	list [maxTicks]tick.Tick
}

// add inserts tick t and reports whether it is new. A tick older than a full list is ignored.
func (h *ticks) add(t tick.Tick) bool {
	at := h.n
	for at > 0 && h.list[at-1] > t {
		at--
	}
	if at > 0 && h.list[at-1] == t || at == 0 && h.n == maxTicks {
		return false
	}
	if h.n == maxTicks {
		copy(h.list[:], h.list[1:at])
		h.list[at-1] = t
		return true
	}
	copy(h.list[at+1:h.n+1], h.list[at:h.n])
	h.list[at] = t
	h.n++
	return true
}

func (h *ticks) newest() tick.Tick { return h.list[h.n-1] }

// pair returns the two snapshots around the k-th; before the first and after the newest it is one
// snapshot twice. So is a gap of seconds: a view cannot name it.
func (h *ticks) pair(k int) (from, to tick.Tick) {
	from, to = h.list[max(k, 0)], h.list[min(k+1, h.n-1)]
	if to-from > tick.MaxViewSpan {
		to = from
	}
	return from, to
}

// viewAt is the view of an instant in 1/256 tick.
func (h *ticks) viewAt(instant int64) tick.View {
	k := h.n - 1
	for k >= 0 && int64(h.list[k])<<8 > instant {
		k--
	}
	from, to := h.pair(k)
	return lagcomp.ViewBetween(from, to, instant)
}

// viewAtTime is the view of an instant of server time, the fraction rounded down to 1/256.
func (h *ticks) viewAtTime(rate tick.Rate, at time.Duration) tick.View {
	k := h.n - 1
	for k >= 0 && rate.At(h.list[k]) > at {
		k--
	}
	from, to := h.pair(k)
	if from == to {
		return tick.View{From: from, To: to}
	}
	begin, end := rate.At(from), rate.At(to)
	return tick.View{From: from, To: to, Frac: uint8((at - begin) * 256 / (end - begin))}
}
