package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// NoTeam in a Sweep or a OverlapQuery spares nobody but Except.
const NoTeam uint8 = 255

// Hit is the nearest hit of a shot; the zero Hit (ID 0, Part NoPart) is a miss.
type Hit struct {
	ID       uint32
	Slot     int
	Bone     rig.Bone
	Part     rig.Part  // of Bone
	Distance float32   // metres along the ray
	Point    geom.Vec3 // Ray.At(Distance)
	Normal   geom.Vec3 // see rig.Hit
}

// hitOf is what a ray met of a player.
func hitOf(ray geom.Ray, id uint32, slot int, h *rig.Hit) Hit {
	return Hit{id, slot, h.Bone, h.Part, h.Distance, ray.At(h.Distance), h.Normal}
}

// minGrouped are answered as they come: to put them in order looks at every frame's place, which takes as long as to answer one.
const minGrouped = 8

// cachedSlots is of how many a history stays in the caches anyway.
const cachedSlots = 64

// answerInOrder reports whether n questions are better answered as they come than by together.
func (h *History) answerInOrder(n int) bool { return n <= minGrouped || h.slots <= cachedSlots }

// groupByFrame calls judge with the numbers of n questions, those that look at one tick one after the other: its columns are then read
// from memory once, whatever order the questions came in.
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

// shorten is a ray that need not go further than a hit that is known, and a little, so that rounding decides nothing.
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

// expand is the radius round feet at a, BoundHigh above them, that holds whoever stands there at frac of the way to b, but for
// the flyers. False: nobody knows.
func (w *motionBounds) expand(h *History, a, b *frame, frac uint8) (radius float32, flyers []int32, ok bool) {
	if frac == 0 || a == b {
		return maxBoundRadius, nil, true
	}
	metres, flyers, ok := w.reach(h, a, b)
	// 2 mm: positions at WorldReach are rounded to 1.
	return maxBoundRadius + float32(float32(float32(frac)/256)*metres*(1+1e-5)) + 2e-3, flyers, ok
}
