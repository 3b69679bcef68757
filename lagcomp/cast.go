package lagcomp

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Shot is one ray to be judged at the instant its shooter was looking at.
type Shot struct {
	Ray     geom.Ray  // as Aim wants it; Max where the map stops it
	View    tick.View // already clamped
	Shooter uint32    // ID, never hit by its own shot
	Team    uint8     // the shooter's, never hit either; NoTeam spares nobody
}

// NoTeam in a Shot spares nobody but the shooter.
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

// Cast judges shots[i] into hits[i]: the living player nearest along the ray, not the shooter nor its team, as the
// shooter's view showed it; the lowest slot where two are equally near. A shot whose view has no history (see At) or
// whose ray is of no use (see Aim) misses. It panics if hits is the shorter.
//
// Nobody is interpolated but the few near the ray: the broad phase looks at everybody at the view's first tick, with
// bounds wide enough for all they moved until the view's instant.
func (h *History) Cast(shots []Shot, hits []Hit) { h.CastSeen(shots, hits, nil) }

// CastSeen is Cast where shooters were not shown everybody. seen says whether the shooter of shots[i] had the player called
// id in its view; one that it had not cannot be hit, and the shot goes on to whoever is behind. It is asked only of who would be
// hit otherwise, and nil takes everybody to be seen.
func (h *History) CastSeen(shots []Shot, hits []Hit, seen func(s *Shot, id uint32) bool) {
	if len(hits) < len(shots) {
		panic(fmt.Sprintf("lagcomp: Cast of %d shots into %d hits", len(shots), len(hits)))
	}
	// While memory brings the poses near one shot, the one before is judged.
	var last *look
	h.together(len(shots), func(i int) tick.Tick { return shots[i].View.From }, func(i int) {
		next := &h.looks[0]
		if last == next {
			next = &h.looks[1]
		}
		if next.shot = i; !h.look(&shots[i], next) {
			hits[i] = Hit{}
			return
		}
		if last != nil {
			h.judge(&shots[last.shot], last, seen, &hits[last.shot])
		}
		last = next
	})
	if last != nil {
		h.judge(&shots[last.shot], last, seen, &hits[last.shot])
	}
}

// look is a shot after the broad phase, and its memory.
type look struct {
	shot   int
	q      question
	near   []int32 // in rows, or everyone
	flyers []int32
	rows   []int32
}

// look names the rows near a shot and sends for them; false: it hits nobody.
func (h *History) look(s *Shot, l *look) bool {
	a, b := h.between(s.View)
	ray, ok := Aim(s.Ray)
	if a == nil || !ok {
		return false
	}
	l.q = question{ray: ray, a: a, b: b, frac: s.View.Frac, except: s.Shooter, team: s.Team}
	h.candidates = l.rows
	near, flyers := h.near(ray, a, b, s.View.Frac)
	l.near, l.flyers = near, append(l.flyers[:0], flyers...)
	if len(near) <= fewRows {
		kernel.Fetch(words(a.rows), words(b.rows), near)
	}
	return true
}

// fewRows is of how many at most the poses are sent for ahead: more would push each other out.
const fewRows = 64

func (h *History) judge(s *Shot, l *look, seen func(*Shot, uint32) bool, hit *Hit) {
	if seen == nil {
		h.sieve.judge(&l.q, l.near, l.flyers, nil, hit)
		return
	}
	h.sieve.judge(&l.q, l.near, l.flyers, func(id uint32) bool { return seen(s, id) }, hit)
}

// fewQuestions are answered as they come: to put them in order looks at every frame's place, which takes as long as to answer one.
const fewQuestions = 8

// fewSlots is of how many a history stays in the caches anyway.
const fewSlots = 64

// single reports whether n questions are better answered as they come than by together.
func (h *History) single(n int) bool { return n <= fewQuestions || h.slots <= fewSlots }

// together calls judge with the numbers of n questions, those that look at one tick one after the other: its columns are then read
// from memory once, whatever order the questions came in.
func (h *History) together(n int, from func(i int) tick.Tick, judge func(i int)) {
	if h.single(n) {
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

// short is a ray that need not go further than a hit that is known, and a little, so that rounding decides nothing.
func short(ray geom.Ray, best *Hit) geom.Ray {
	if best.ID != 0 {
		ray.Max = min(ray.Max, best.Distance+0.01)
	}
	return ray
}

// nearer reports whether a hit comes before best, which may be a miss.
func nearer(distance float32, slot int, best *Hit) bool {
	return best.ID == 0 || distance < best.Distance || distance == best.Distance && slot < best.Slot
}

// near lists every slot that test could hit, in two parts which may overlap, and may name rows beyond those used; the memory
// is the history's until the next call.
func (h *History) near(ray geom.Ray, a, b *frame, frac uint8) (near, flyers []int32) {
	radius, flyers, ok := h.ways.widen(h, a, b, frac)
	if !ok {
		return h.everyone[:a.used], nil
	}
	return a.along(&ray, radius, h.candidates), flyers
}

// widen is the radius round feet at a, BoundHigh above them, that holds whoever stands there at frac of the way to b, but for
// the flyers. False: nobody knows.
func (w *ways) widen(h *History, a, b *frame, frac uint8) (radius float32, flyers []int32, ok bool) {
	if frac == 0 || a == b {
		return widest, nil, true
	}
	metres, flyers, ok := w.reach(h, a, b)
	// 2 mm: positions at Reach are rounded to 1.
	return widest + float32(float32(float32(frac)/256)*metres*(1+1e-5)) + 2e-3, flyers, ok
}
