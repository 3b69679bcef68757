package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// spanReach is who may have been near a sweep at some instant of a span of ticks, and its memory.
type spanReach struct {
	from, to   tick.Tick // what the rest is about; 0: nothing
	metres     float32   // from where they were at from, nobody was further off at any tick up to to
	known      bool      // false: too many flew
	alwaysNear []uint64  // but for these slots: who flew, or did not live all the time
	near       []uint64
}

// SlotsNear says, a bit a slot, whom w may touch as any view shows them whose ticks lie between from and to, whatever of those each is
// seen at; w.View is not looked at. It spares a shooter who saw each player at ticks of its own the trial of almost all of them. ok is
// false if that is not known: either tick is not held, too many flew, or w is of no use. The bits are s's until the next call. All sweeps
// of a tick should ask for one span: what everybody moved in it is added up once. Forks cannot ask.
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

// measure adds up the steps of a span. Who lived at its start, and flew in none of them, was never further from there than the sum;
// what lies between two of its ticks lies between two such places.
func (m *spanReach) measure(h *History, from, to tick.Tick, rows []int32) {
	m.from, m.to, m.metres, m.known = from, to, 0, false
	a, b := h.frame(from), h.frame(to)
	if a == nil || b == nil || from > to {
		m.from = 0 // it may come
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

// aliveBetween reports whether somebody lives in a slot at some tick from a on up to b.
func (h *History) aliveBetween(slot int, a, b *frame) bool {
	for f := b; f != a; f = h.frame(f.previous) {
		if f.hittable(slot) {
			return true
		}
	}
	return false
}
