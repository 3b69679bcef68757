package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// NearSpan is the greatest To - From of a view that SlotsNear covers.
const NearSpan tick.Tick = 48

// Implementation constants of SlotsNear: any view within NearSpan lies in one of the spans.
const (
	spanStride = 32
	spanLength = spanStride + NearSpan
	maxSpans   = 8 // of a history that SlotsNear covers
)

// reachCache is the memory of SlotsNear.
type reachCache struct {
	spans [maxSpans]spanReach // that from tick t: spans[t/spanStride%maxSpans]
	near  []uint64            // of the last answer
}

// spanReach bounds where players were at any instant of a span of ticks.
type spanReach struct {
	from, to tick.Tick // the span; to is 0 while nothing is cached
	middle   tick.Tick
	metres   float32 // greatest distance of any other player from its place at middle
	known    bool    // false if too many players moved fast
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

// SlotsNear returns a bit a slot: the players that w may touch in any view of up to NearSpan ticks
// that the history holds. w.View is ignored. It spares callers that resolve a view of their own for
// each target from trying every player. ok is false if the answer is not known: the history lacks a
// tick or reaches too far, too many players moved fast, or w is not usable. The bits are valid until
// the next call. Displacements are summed once per tick. Forks may not call it.
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
		radius := maxBoundRadius + float32(m.metres*(1+1e-5)) + 2e-3 + w.Radius
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
// two ticks lies between two such places. A player that lives elsewhere in the span alone has died,
// which makes it a fast mover, or lives at its end.
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

// sum is the greatest distance that a player moved from frame a to b, other than the fast movers,
// which it marks.
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
