package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// spanReach caches which players may have been near a sweep at any instant of a span of ticks.
type spanReach struct {
	from, to tick.Tick // the span; from is 0 while nothing is cached
	metres   float32   // greatest distance of any other player from its place at from
	known    bool      // false if too many players moved fast
	// slots that metres does not cover: fast movers, and players that did not live all the time
	alwaysNear []uint64
	near       []uint64 // of the last answer
}

// SlotsNear returns a bit a slot: the players that w may touch in any view between ticks from and
// to. w.View is ignored. It spares callers that resolve a view of their own for each target from
// trying every player. ok is false if the answer is not known: one of the ticks is not held, too
// many players moved fast, or w is not usable. The bits are valid until the next call. Sweeps of
// one tick should use one span, since the displacement over a span is summed once. Forks may not
// call it.
func (s *Sweeper) SlotsNear(w *Sweep, from, to tick.Tick) (near []uint64, ok bool) {
	ray, fit := NormalizeRay(w.Ray)
	if !fit || !validRadius(w.Radius) || s.bounds.fork {
		return nil, false
	}
	m := &s.spanReach
	if m.from != from || m.to != to {
		m.measure(s.h, from, to, s.bounds.scratch)
	}
	radius := maxBoundRadius + float32(m.metres*(1+1e-5)) + 2e-3 + w.Radius
	if !m.known || radius > kernel.MaxRadius {
		return nil, false
	}
	a := s.h.frame(from)
	if a == nil { // forgotten since
		return nil, false
	}
	copy(m.near, m.alwaysNear)
	s.candidates = a.rayCandidates(&ray, radius, s.candidates)
	for _, slot := range s.candidates {
		m.near[slot>>6] |= 1 << (slot & 63)
	}
	return m.near, true
}

// measure sums the displacement of each tick of a span. A player that lives at its start and is no
// fast mover was never farther from its place there than the sum; a place between two ticks lies
// between two such places.
func (m *spanReach) measure(h *History, from, to tick.Tick, rows []int32) {
	m.from, m.to, m.metres, m.known = from, to, 0, false
	a, b := h.frame(from), h.frame(to)
	if a == nil || b == nil || from > to {
		m.from = 0 // not recorded yet
		return
	}
	clear(m.alwaysNear)
	most := a.rowCount
	for f := b; f != a; f = h.frame(f.previous) {
		step := &f.displacement
		if step.to == 0 {
			step.measure(h.frame(f.previous), f, &stepLimits, rows)
		}
		if step.count == overflow {
			return
		}
		m.metres += step.metres
		for _, slot := range step.fastMovers[:step.count] {
			m.alwaysNear[slot>>6] |= 1 << (slot & 63)
		}
		most = max(most, f.rowCount)
	}
	for slot := range most {
		if !a.hittable(slot) && h.aliveBetween(slot, a, b) {
			m.alwaysNear[slot>>6] |= 1 << (slot & 63)
		}
	}
	m.known = true
}

// aliveBetween reports whether a slot holds a living player at some tick after a, up to b.
func (h *History) aliveBetween(slot int, a, b *frame) bool {
	for f := b; f != a; f = h.frame(f.previous) {
		if f.hittable(slot) {
			return true
		}
	}
	return false
}
