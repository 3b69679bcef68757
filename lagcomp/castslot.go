package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// BracketingTicks returns the view of one player for a client that looks at v, where not every
// snapshot carried that player. before is the newest tick up to v.From that did, after the oldest
// from v.To on; 0 is none. Client and server both call it with what they know the client to hold,
// so both see the player at the same place.
//
//	both ticks of v          v, however far apart
//	two others               between those, at v's instant
//	two that are too far     where it was seen last: nothing is interpolated across a gap
//	none after               where it was seen last
//	none before              the zero view, which shows no player
//
// maxGap is the longest gap, in ticks, that is interpolated.
func BracketingTicks(v tick.View, before, after, maxGap tick.Tick) tick.View {
	switch {
	case before == v.From && after == v.To:
		return v
	case before == 0:
		return tick.View{}
	case after == 0 || after-before > min(maxGap, tick.MaxViewSpan):
		return tick.View{From: before, To: before}
	}
	return tick.View{From: before, To: after, Frac: interpFraction(v, before, after)}
}

// interpFraction is how far view v lies from tick a to tick b, a <= v.From <= v.To <= b, rounded
// down to 1/256.
func interpFraction(v tick.View, a, b tick.Tick) uint8 {
	if a == b {
		return 0
	}
	at := uint64(v.From-a)*256 + uint64(v.To-v.From)*uint64(v.Frac)
	return uint8(min(at/uint64(b-a), 255))
}

// MaxInterpGap is the longest gap between two snapshots of a player that a client interpolates, in
// its send intervals. It is more than two, since a connection below its demand gets distant
// players every third or fourth time.
const MaxInterpGap = 8

// besideRay reports whether the player of a row is on the same side of the vertical plane through a
// ray in two frames, too far from it to be hit in either or between them.
func besideRay(w *Sweep, a, b *frame, slot int) bool {
	dir, from := w.Ray.Dir, w.Ray.Origin
	p := a.rows[slot].Pos
	before := float32(dir.X*(p.Z-from.Z)) - float32(dir.Z*(p.X-from.X))
	after := before
	if slot < b.rowCount {
		p = b.rows[slot].Pos
		after = float32(dir.X*(p.Z-from.Z)) - float32(dir.Z*(p.X-from.X))
	}
	reach := a.bodies.widest + 0.1 + w.Radius // 0.1: rounding
	most := float32(reach*reach) * (float32(dir.X*dir.X) + float32(dir.Z*dir.Z))
	return (before > 0) == (after > 0) && before*before > most && after*after > most
}

// CastSlot tests w against the one player in a slot as view v shows it. It returns best, or that
// hit if it comes before best by the rules of Sweeper.Cast; w.View is ignored. ok is whether the
// player is hit at all, be it behind best.
func (h *History) CastSlot(w *Sweep, slot int, v tick.View, best Hit) (nearest Hit, ok bool) {
	a, b := h.viewFrames(v)
	if a == nil || !validRadius(w.Radius) || uint(slot) >= uint(a.rowCount) ||
		!a.canHit(slot, w.Except, w.Spare) || besideRay(w, a, b, slot) {
		return best, false
	}
	ray, fit := NormalizeRay(w.Ray)
	if !fit {
		return best, false
	}
	p := lerpRow(a, b, v.Frac, slot)
	hit, ok := testPose(h.bodies.Bodies, ray, w.Radius, &p)
	if ok && nearer(hit.Distance, slot, &best) {
		best = hitOf(ray, p.ID, slot, &hit)
	}
	return best, ok
}
