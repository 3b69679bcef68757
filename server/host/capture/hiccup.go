package capture

import (
	"sync"
	"time"
)

const (
	maxHiccups = 1024

	// leastHiccup is the shortest delay that is kept: a machine that is busy has shorter ones always.
	leastHiccup = 500 * time.Microsecond
)

// span is a part of the time of a Recorder.
type span struct{ from, to time.Duration }

// overlap is the time that a list of spans has in common with another span. The spans of the list do
// not overlap each other.
func overlap(all []span, in span) (sum time.Duration) {
	for _, s := range all {
		sum += max(0, min(s.to, in.to)-max(s.from, in.from))
	}
	return sum
}

// hiccups are the newest delays of a thread that only sleeps.
type hiccups struct {
	mu     sync.Mutex
	newest [maxHiccups]span
	n      int // so far
}

// Hiccup notes that a thread of its own, which does nothing but sleep, woke late just now: see
// clock.NewHiccup. A nil Recorder notes nothing. A long delay is noted once, though the meter reports it for each period.
func (r *Recorder) Hiccup(late time.Duration) {
	if r == nil || late < leastHiccup {
		return
	}
	now, h := r.since(), &r.hiccups
	h.mu.Lock()
	defer h.mu.Unlock()
	from := now - late
	if h.n > 0 && from < h.newest[(h.n-1)%maxHiccups].to {
		return // reported already
	}
	h.newest[h.n%maxHiccups] = span{from, now}
	h.n++
}

// all returns the delays, in any order.
func (h *hiccups) all() []span {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]span(nil), h.newest[:min(h.n, maxHiccups)]...)
}
