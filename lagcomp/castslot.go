package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// BracketingTicks is the view by which a client that looks at v sees one player of whom not every snapshot told: before is the newest tick up to
// v.From that told of it, after the oldest from v.To on, each 0 for none. Client and server both call it, each with what it knows the
// client to hold, so both see the player at the same place.
//
//	both ticks of v          v, however far apart
//	two others               between those, at v's instant
//	those too far apart      where it was seen last: nobody glides through what may lie between
//	none after               where it was seen last
//	none before              where it is seen first
//	none                     the zero view, which shows nobody
//
// glide is how far apart is too far, in ticks.
func BracketingTicks(v tick.View, before, after, glide tick.Tick) tick.View {
	switch {
	case before == v.From && after == v.To:
		return v
	case before == 0:
		return tick.View{From: after, To: after}
	case after == 0 || after-before > min(glide, tick.MaxViewSpan):
		return tick.View{From: before, To: before}
	}
	return tick.View{From: before, To: after, Frac: interpFraction(v, before, after)}
}

// interpFraction is how far from tick a to tick b view v lies, a <= v.From <= v.To <= b, rounded down to 1/256.
func interpFraction(v tick.View, a, b tick.Tick) uint8 {
	if a == b {
		return 0
	}
	at := uint64(v.From-a)*256 + uint64(v.To-v.From)*uint64(v.Frac)
	return uint8(min(at/uint64(b-a), 255))
}

// MaxInterpGap is how many send intervals of a client may lie between two snapshots that told of a player for it to glide from one to the
// other: more than two, as a thin line tells of those who matter little each third or fourth time.
const MaxInterpGap = 8

// CastSlot is best, or what w hits of the one player in a slot as view v shows it, if that comes before it by the rules of
// Sweeper.Cast; w.View is not looked at. ok is whether the player is hit at all, be it behind best.
func (h *History) CastSlot(w *Sweep, slot int, v tick.View, best Hit) (nearest Hit, ok bool) {
	a, b := h.viewFrames(v)
	ray, fit := NormalizeRay(w.Ray)
	if a == nil || !fit || !validRadius(w.Radius) || uint(slot) >= uint(a.rowCount) || !a.canHit(slot, w.Except, w.Team) {
		return best, false
	}
	p := lerpRow(a, b, v.Frac, slot)
	hit, ok := testPose(ray, w.Radius, &p)
	if ok && nearer(hit.Distance, slot, &best) {
		best = hitOf(ray, p.ID, slot, &hit)
	}
	return best, ok
}
