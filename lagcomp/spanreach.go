package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// NearSpan is the longest view, To - From in ticks, that SlotsNear answers for.
const NearSpan tick.Tick = 48

// Implementation constants of SlotsNear. A span starts every spanStride ticks and is NearSpan ticks
// longer, so each view of up to NearSpan ticks lies within one span.
const (
	spanStride = 32
	spanLength = spanStride + NearSpan
	maxSpans   = 8 // a history of more spans gets no answer
)

// reachCache is the memory of SlotsNear.
type reachCache struct {
	spans [maxSpans]spanReach // the span that starts at tick t is at t/spanStride%maxSpans
	near  []uint64            // of the last answer
}

// spanReach bounds where players were at any instant of a span of ticks.
type spanReach struct {
	from, to tick.Tick // the span; to is 0 while nothing is cached
	middle   tick.Tick
	metres   float32 // bound of the distance of any other player from its place at middle
	known    bool    // false if a tick is missing or too many players moved fast
	// slots that metres does not cover: fast movers, and players that did not live all the time
	alwaysNear []uint64
}

func newReachCache(slots int) (c reachCache) {
	words := (slots + 63) / 64
	sets := make([]uint64, (maxSpans+1)*words)
	for i := range c.spans {
		c.spans[i].alwaysNear = sets[i*words : (i+1)*words]
	}
	c.near = sets[maxSpans*words:]
	return c
}

// SlotsNear returns a set with a bit per slot: the players that w can touch in any view of up to
// NearSpan ticks that the history holds. w.View is ignored. Callers with a view per target need to
// test these targets only. ok is false if the answer is not known: the history lacks a tick or is
// too long, too many players moved fast, w is not usable, or s is a fork. The set is valid until the
// next call. The first call after a new tick measures the spans that changed.
func (s *Sweeper) SlotsNear(w *Sweep) (near []uint64, ok bool) {
	ray, fit := NormalizeRay(w.Ray)
	if !fit || !validRadius(w.Radius) || s.bounds.fork || s.h.newest == 0 {
		return nil, false
	}
	c := &s.reach
	clear(c.near)
	oldest, newest := s.h.Oldest(), s.h.newest
	for k, n := oldest/spanStride, 0; ; k, n = k+1, n+1 {
		m := &c.spans[k%maxSpans]
		from, to := max(k*spanStride, oldest), min(k*spanStride+spanLength, newest)
		if m.from != from || m.to != to {
			m.measure(s.h, from, to, s.bounds.scratch)
		}
		// 1e-5 and 2 mm are more than the rounding errors of the sum and of the ray test.
		radius := s.h.bodies.widest + float32(m.metres*(1+1e-5)) + 2e-3 + w.Radius
		if n == maxSpans || !m.known || radius > kernel.MaxRadius {
			return nil, false
		}
		for i, word := range m.alwaysNear {
			c.near[i] |= word
		}
		s.candidates = s.h.frame(m.middle).rayCandidates(&ray, radius, s.candidates)
		for _, slot := range s.candidates {
			c.near[slot>>6] |= 1 << (slot & 63)
		}
		if to == newest {
			return c.near, true
		}
	}
}

// measure sums the displacement of each tick of a span. A player that lives at its middle and is no
// fast mover was never farther from its place there than the sum of either half; a place between
// two ticks lies between two such places. A player that is not alive at the middle has died in the
// span, which makes it a fast mover, or is alive at its end.
func (m *spanReach) measure(h *History, from, to tick.Tick, rows []int32) {
	*m = spanReach{from: from, to: to, middle: from + (to-from)/2, alwaysNear: m.alwaysNear}
	clear(m.alwaysNear)
	a, middle, b := h.frame(from), h.frame(m.middle), h.frame(to)
	if a == nil || middle == nil || b == nil {
		m.to = 0 // not recorded yet
		return
	}
	before, ok := m.sum(h, a, middle, rows)
	if !ok {
		return
	}
	after, ok := m.sum(h, middle, b, rows)
	if !ok {
		return
	}
	for slot, nr2 := range b.nr2[:b.rowCount] {
		if nr2 != kernel.Never && !middle.hittable(slot) {
			m.alwaysNear[slot>>6] |= 1 << (slot & 63)
		}
	}
	m.metres, m.known = max(before, after), true
}

// sum bounds how far a player moved from frame a to b by the sum of each tick's longest step. It
// marks the fast movers, and leaves them out.
func (m *spanReach) sum(h *History, a, b *frame, rows []int32) (metres float32, ok bool) {
	for f := b; f != a; {
		previous := h.frame(f.previous)
		if previous == nil || previous.tick < a.tick {
			return 0, false
		}
		step := &f.displacement
		if step.to == 0 {
			step.measure(previous, f, &stepLimits, rows)
		}
		if step.count == overflow {
			return 0, false
		}
		metres += step.metres
		for _, slot := range step.fastMovers[:step.count] {
			m.alwaysNear[slot>>6] |= 1 << (slot & 63)
		}
		f = previous
	}
	return metres, true
}
