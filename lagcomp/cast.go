package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// NoTeam is the team of what belongs to none, such as a barrel. It is no team of a rig.Pose.
const NoTeam uint8 = 255

// Refusal is why a sweep could not be judged.
type Refusal uint8

// The refusals.
const (
	Judged        Refusal = iota // it was judged: ID says whether it hit
	RefusedView                  // History.Holds is false of its view, as of the zero view
	RefusedRay                   // see NormalizeRay; the zero ray has no direction
	RefusedRadius                // not 0 to MaxSweepRadius
)

// String says what was expected.
func (r Refusal) String() string {
	return nameOf([]string{"judged", "view without history", "ray without an origin, a direction or a Max of 0 or more",
		"radius that is not 0 to 10"}, int(r))
}

// Hit is the nearest hit of a sweep. The zero Hit (ID 0, Part NoPart) is a miss.
type Hit struct {
	ID       uint32
	Slot     int
	Bone     rig.Bone  // a number: rig.Bodies.BoneName of the history names it
	Part     rig.Part  // of Bone
	Refused  Refusal   // of a miss: the sweep was not judged
	Distance float32   // metres along the ray
	Point    geom.Vec3 // Ray.At(Distance)
	Normal   geom.Vec3 // see rig.Hit
}

// hitOf completes a hit of the narrow phase.
func hitOf(ray geom.Ray, id uint32, slot int, h *rig.Hit) Hit {
	return Hit{id, slot, h.Bone, h.Part, Judged, h.Distance, ray.At(h.Distance), h.Normal}
}

// minGrouped is the most queries that are answered in the order given: grouping costs a pass over
// all frames, about as much as one query.
const minGrouped = 8

// cachedSlots is the largest history that stays in the caches, in slots; grouping gains nothing
// there.
const cachedSlots = 64

// answerInOrder reports whether n queries are better answered in the order given than grouped by
// frame.
func (h *History) answerInOrder(n int) bool { return n <= minGrouped || h.slots <= cachedSlots }

// groupByFrame calls judge with the numbers of n queries, those of one tick in a row, so that a
// frame's columns come from memory once.
func (h *History) groupByFrame(n int, from func(i int) tick.Tick, judge func(i int)) {
	if h.answerInOrder(n) {
		for i := range n {
			judge(i)
		}
		return
	}
	for first := 0; first < n; first += len(h.order) {
		count := min(n-first, len(h.order))
		clear(h.places)
		for i := range count {
			h.places[int(from(first+i))%len(h.frames)]++
		}
		at := int32(0)
		for f, n := range h.places {
			h.places[f], at = at, at+n
		}
		for i := range count {
			f := int(from(first+i)) % len(h.frames)
			h.order[h.places[f]] = int32(i)
			h.places[f]++
		}
		for _, i := range h.order[:count] {
			judge(first + int(i))
		}
	}
}

// shorten cuts a ray a little beyond a known hit, so that rounding decides nothing.
func shorten(ray geom.Ray, best *Hit) geom.Ray {
	if best.ID != 0 {
		ray.Max = min(ray.Max, best.Distance+0.01)
	}
	return ray
}

// nearer reports whether a hit comes before best, which may be a miss.
func nearer(distance float32, slot int, best *Hit) bool {
	return best.ID == 0 || distance < best.Distance || distance == best.Distance && slot < best.Slot
}

// expand returns the radius around feet at frame a, BoundHeight above them, that holds every
// player at frac of the way to b, except for the fast movers. ok is false if that is not known.
func (w *motionBounds) expand(h *History, a, b *frame, frac uint8) (radius float32, fastMovers []int32,
	ok bool) {
	if frac == 0 || a == b {
		return h.bodies.widest, nil, true
	}
	metres, fastMovers, ok := w.reach(h, a, b)
	// 2 mm of margin: positions at WorldReach are rounded to 1 mm.
	return h.bodies.widest + float32(float32(float32(frac)/256)*metres*(1+1e-5)) + 2e-3, fastMovers, ok
}
