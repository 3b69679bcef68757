package lagcomp

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// OverlapQuery is a capsule at one instant: a blast or a blade. A capsule without length is a
// ball.
type OverlapQuery struct {
	Capsule geom.Capsule // metres; radius and half the length add up to at most MaxSweepRadius
	View    tick.View
	Except  uint32 // ID, never touched; 0 excludes no player
	Spare   Teams  // never touched; 0: all teams may be touched
}

// OverlapHit is a player that a query touches.
type OverlapHit struct {
	Query    int // index of the query
	Slot     int
	ID       uint32
	Bone     rig.Bone
	Distance float32  // metres from the bone's surface to the capsule's axis
	Pose     rig.Pose // as the view shows it
}

// boundingSphere returns the sphere around a capsule, and whether the query is usable: finite,
// within WorldReach, and not too large.
func (z *OverlapQuery) boundingSphere() (ball geom.Sphere, ok bool) {
	c := &z.Capsule
	middle := c.A.Lerp(c.B, 0.5)
	reach := float32(c.B.Sub(c.A).Len()/2) + c.Radius
	return geom.Sphere{Center: middle, Radius: reach}, inWorld(c.A) && inWorld(c.B) && c.Radius >= 0 &&
		reach <= MaxSweepRadius
}

// TestCapsule is the narrow-phase test of a capsule against a pose of bodies in a table, for client
// and server. Flags and ids are ignored. An unusable capsule, or a pose beyond WorldReach, touches
// nothing.
func TestCapsule(b *rig.Bodies, c geom.Capsule, p *rig.Pose) (bone rig.Bone, metres float32, ok bool) {
	z := OverlapQuery{Capsule: c}
	ball, fit := z.boundingSphere()
	bound := b.Bound(p)
	reach := bound.Radius + ball.Radius + 1e-2 // the middle is rounded
	if !fit || !inWorld(p.Pos) || bound.Center.Sub(ball.Center).LenSq() > float32(reach*reach) {
		return 0, 0, false
	}
	axis := c
	axis.Radius = 0
	bone, metres = b.NearestToCapsule(axis, p)
	return bone, metres, metres <= c.Radius
}

// Overlap appends to out the living players that each query touches, and returns it: queries in
// the order given, the players of one query by ascending slot. A view without history (see
// History.Holds), or an unusable query, touches no player. It panics on a fork.
func (s *Sweeper) Overlap(zones []OverlapQuery, out []OverlapHit) []OverlapHit {
	if s.bounds.fork {
		panic(fmt.Sprintf("lagcomp: Overlap of %d zones by a fork, want the sweeper it was forked from", len(zones)))
	}
	first := len(out)
	sorted, last := true, 0
	s.h.groupByFrame(len(zones), func(i int) tick.Tick { return zones[i].View.From }, func(i int) {
		sorted, last = sorted && i >= last, i
		out = s.overlapOne(i, &zones[i], out)
	})
	if !sorted {
		sortTouches(out[first:])
	}
	return out
}

// sortTouches sorts by query, then slot. It is a heap sort, which needs no memory.
func sortTouches(t []OverlapHit) {
	before := func(a, b *OverlapHit) bool {
		return a.Query < b.Query || a.Query == b.Query &&
			a.Slot < b.Slot
	}
	sink := func(i, n int) {
		for {
			child := 2*i + 1
			if child >= n {
				return
			}
			if child+1 < n && before(&t[child], &t[child+1]) {
				child++
			}
			if !before(&t[i], &t[child]) {
				return
			}
			t[i], t[child] = t[child], t[i]
			i = child
		}
	}
	for i := len(t)/2 - 1; i >= 0; i-- {
		sink(i, len(t))
	}
	for n := len(t) - 1; n > 0; n-- {
		t[0], t[n] = t[n], t[0]
		sink(0, n)
	}
}

func (s *Sweeper) overlapOne(i int, z *OverlapQuery, out []OverlapHit) []OverlapHit {
	a, b := s.h.viewFrames(z.View)
	ball, ok := z.boundingSphere()
	if a == nil || !ok {
		return out
	}
	judge := func(slot int) {
		if !a.canHit(slot, z.Except, z.Spare) {
			return
		}
		p := lerpRow(a, b, z.View.Frac, slot)
		if bone, metres, ok := TestCapsule(a.bodies.Bodies, z.Capsule, &p); ok {
			out = append(out, OverlapHit{i, slot, p.ID, bone, metres, p})
		}
	}
	var q boxQuery
	s.boxQuery(&q, a, b, z.View.Frac, geom.AABB{Min: ball.Center, Max: ball.Center}, ball.Radius+1e-2)
	if q.cellCount > maxBoxCells {
		for slot := range a.rowCount {
			judge(slot)
		}
		return out
	}
	s.markCandidates(a, &q, ball)
	for w := range s.marks {
		for word := s.marks[w]; word != 0; word &= word - 1 {
			judge(w<<6 | bits.TrailingZeros64(word))
		}
		s.marks[w] = 0
	}
	return out
}
