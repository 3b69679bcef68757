package lagcomp

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Implementation constants of the index.
const (
	gridBits    = 6  // log2 of the squares along a side; a larger map wraps around
	gridSize    = 4. // metres along a square
	gridSide    = 1 << gridBits
	maxIndices  = 64  // ticks that may have an index at once
	maxBoxCells = 100 // a box over more squares than this is searched row by row
)

// Sweeper answers shape-cast and overlap queries against the players of a History. It keeps a grid
// index for each tick with many queries. One owner calls it; the history must outlive it, and may
// go on recording.
type Sweeper struct {
	h            *History
	indices      *[maxIndices]index // of tick t: indices[t % maxIndices]
	marks        []uint64           // of OverlapSphere, a bit a slot, all 0 in between
	candidates   []int32            // of the query at hand
	bounds       motionBounds
	query        boxQuery
	castBatch    castBatch
	narrowPhase  narrowPhase
	reach        reachCache
	stats        []CastStats // of the sweeps at hand, nil: not wanted
	squareCost   int         // vectorSquareCost, except in tests
	indexAfter   int         // likewise
	indexMinRows int         // likewise
}

// NewSweeper makes a sweeper over h. All memory is allocated here: 1 MB and 1 KB a slot where
// there are enough slots for indices, else next to nothing.
func NewSweeper(h *History) *Sweeper {
	if h == nil {
		panic("lagcomp: NewSweeper of no history, want one of NewHistory")
	}
	s := &Sweeper{
		h: h, indices: new([maxIndices]index), marks: make([]uint64, (h.slots+63)/64),
		candidates: make([]int32, 0, h.slots+maxFastMovers), bounds: newMotionBounds(h.slots),
		narrowPhase: newNarrowPhase(h.slots), squareCost: vectorSquareCost, indexAfter: defaultIndexAfter,
		indexMinRows: defaultIndexMinRows,
	}
	s.reach = newReachCache(h.slots)
	if h.slots >= s.indexMinRows {
		s.makeIndexes()
	}
	return s
}

func (s *Sweeper) makeIndexes() {
	const n = gridSide * gridSide
	slots := s.h.slots
	s.castBatch = newCastBatch()
	heads, nodes := make([]uint32, maxIndices*n), make([]indexNode, maxIndices*slots)
	for i := range s.indices {
		s.indices[i].head = heads[i*n : (i+1)*n : (i+1)*n]
		s.indices[i].nodes = nodes[i*slots : (i+1)*slots : (i+1)*slots]
	}
}

// History is the history that the sweeper queries.
func (s *Sweeper) History() *History { return s.h }

// Cast judges sweeps[i] into hits[i]: the living player that the sphere touches first as the view
// shows it, neither Except nor of a team in Spare; the lowest slot where two are equally near. A
// sweep that cannot be judged misses, and Hit.Refused says why: a view without history, an unusable
// ray, or a radius outside 0 to MaxSweepRadius. Hit.Point is the sphere's centre at the touch. It
// panics if hits is the shorter.
func (s *Sweeper) Cast(sweeps []Sweep, hits []Hit) { s.CastFiltered(sweeps, hits, nil) }

// CastFiltered is Cast with a hit filter: visible says whether sweeps[i] may hit the player called
// id, and is asked only about players that would be hit otherwise. nil allows every hit.
func (s *Sweeper) CastFiltered(sweeps []Sweep, hits []Hit, visible func(i int, id uint32) bool) {
	if len(hits) < len(sweeps) {
		panic(fmt.Sprintf("lagcomp: Cast of %d sweeps into %d hits, want as many", len(sweeps), len(hits)))
	}
	if n := len(sweeps); n > 0 && sweeps[0].View == sweeps[n-1].View { // as those of grenades are
		s.expectQueries(sweeps[0].View, n)
	}
	batched := visible == nil && s.stats == nil
	cast := func(i int) {
		if batched && s.batch(i, sweeps, hits) {
			return
		}
		if s.replacesIndex(sweeps[i].View) {
			s.runBatch(sweeps, hits) // its cells are of the index that is built anew
		}
		s.castOne(i, &sweeps[i], visible, &hits[i])
	}
	// a fork may not use the history's memory for grouping
	if s.bounds.fork || s.h.answerInOrder(len(sweeps)) {
		for i := range sweeps {
			cast(i)
		}
	} else {
		s.h.groupByFrame(len(sweeps), func(i int) tick.Tick { return sweeps[i].View.From }, cast)
	}
	s.runBatch(sweeps, hits)
}

func (s *Sweeper) castOne(i int, w *Sweep, visible func(int, uint32) bool, hit *Hit) {
	*hit = Hit{}
	if s.stats != nil {
		s.stats[i] = CastStats{}
	}
	a, b := s.h.viewFrames(w.View)
	ray, ok := NormalizeRay(w.Ray)
	switch {
	case a == nil:
		hit.Refused = RefusedView
		return
	case !ok:
		hit.Refused = RefusedRay
		return
	case !validRadius(w.Radius):
		hit.Refused = RefusedRadius
		return
	}
	near, fastMovers := s.candidatesFor(a, b, w, &ray)
	if len(near) == 0 && len(fastMovers) == 0 { // most sweeps are short and meet no player
		return
	}
	var ask narrowQuery // field by field: a literal would be copied
	ask.ray, ask.radius, ask.a, ask.b, ask.frac, ask.except, ask.spare = ray, w.Radius, a, b, w.View.Frac,
		w.Except, w.Spare
	if visible != nil {
		s.narrowPhase.nearestHit(&ask, near, fastMovers, func(id uint32) bool { return visible(i, id) }, hit)
		return
	}
	s.narrowPhase.nearestHit(&ask, near, fastMovers, nil, hit)
	if s.stats != nil {
		s.narrowPhase.writeStats(&ask, hit, &s.stats[i])
	}
}

// candidatesFor lists the rows that a sweep may touch, and the fast movers, which may be among
// them. It searches a box around a short sweep, the grid squares along a long one, or all rows.
func (s *Sweeper) candidatesFor(a, b *frame, w *Sweep, ray *geom.Ray) (near, fastMovers []int32) {
	in := s.indexOf(a)
	if in == nil {
		wide, fastMovers, ok := s.bounds.expand(s.h, a, b, w.View.Frac)
		if !ok {
			return s.h.allRows[:a.rowCount], nil
		}
		return s.rayCandidates(ray, a, wide+w.Radius), fastMovers
	}
	end := ray.At(min(ray.Max, 4*WorldReach))
	q := &s.query
	s.boxQuery(q, a, b, w.View.Frac, geom.AABB{Min: ray.Origin.Min(end), Max: ray.Origin.Max(end)},
		w.Radius)
	switch {
	case q.cellCount <= maxBoxCells:
		s.candidates = in.box(q, w.Spare, s.candidates[:0])
		if len(q.fastMovers) > 0 {
			s.candidates = s.bounds.appendMovers(q, s.candidates)
		}
		return s.candidates, nil
	case s.gridWalk(in, *ray, q):
		return s.candidates, q.fastMovers
	}
	return s.rayCandidates(ray, a, q.reach), q.fastMovers
}

// SphereOverlap is a player that a sphere touches.
type SphereOverlap struct {
	Slot int
	Pose rig.Pose // as the view shows it
}

// OverlapSphere appends to out the living players of any team that a sphere touches at a view, by
// ascending slot, and returns it. It appends none if there is no such history, the sphere is not
// finite or its radius is outside 0 to MaxSweepRadius.
func (s *Sweeper) OverlapSphere(v tick.View, ball geom.Sphere, out []SphereOverlap) []SphereOverlap {
	a, b := s.h.viewFrames(v)
	if a == nil || !inWorld(ball.Center) || !validRadius(ball.Radius) {
		return out
	}
	q := &s.query
	s.boxQuery(q, a, b, v.Frac, geom.AABB{Min: ball.Center, Max: ball.Center}, ball.Radius)
	if q.cellCount > maxBoxCells {
		for slot := range a.rowCount {
			out = a.appendOverlap(b, v.Frac, slot, ball, out)
		}
		return out
	}
	s.markCandidates(a, q, ball)
	for w, word := range s.marks {
		if word == 0 {
			continue
		}
		s.marks[w] = 0
		for ; word != 0; word &= word - 1 {
			out = a.appendOverlap(b, v.Frac, w<<6|bits.TrailingZeros64(word), ball, out)
		}
	}
	return out
}

// appendOverlap appends the player of a row if the sphere touches it.
func (f *frame) appendOverlap(b *frame, frac uint8, slot int, ball geom.Sphere,
	out []SphereOverlap) []SphereOverlap {
	if f.canHit(slot, 0, 0) {
		if p := lerpRow(f, b, frac, slot); TestSphere(f.bodies.Bodies, ball, &p) {
			out = append(out, SphereOverlap{slot, p})
		}
	}
	return out
}

// boxQuery is a box that holds the feet, at the first frame of a view, of every player that may be
// touched at its instant, except for the fast movers.
type boxQuery struct {
	lo, hi     geom.Vec3
	x0, z0     int // first square
	nx, nz     int
	cellCount  int // nx * nz
	reach      float32
	frame      *frame
	fastMovers []int32
}

// boxQuery makes q a search around a box for spheres of a radius.
func (s *Sweeper) boxQuery(q *boxQuery, a, b *frame, frac uint8, box geom.AABB, radius float32) {
	lo, hi := box.Min, box.Max
	q.frame, q.fastMovers = a, nil
	wide, fastMovers, ok := s.bounds.expand(s.h, a, b, frac)
	if !ok {
		q.cellCount = maxBoxCells + 1
		q.reach = kernel.MaxRadius + 1 // all rows
		return
	}
	q.reach, q.fastMovers = wide+radius, fastMovers
	grow := q.reach + 1e-2 // positions at WorldReach are rounded to 1/2048 m
	q.lo = geom.Vec3{X: lo.X - grow, Y: lo.Y - rig.BoundHeight - grow, Z: lo.Z - grow}
	q.hi = geom.Vec3{X: hi.X + grow, Y: hi.Y - rig.BoundHeight + grow, Z: hi.Z + grow}
	x1, z1 := gridCoord(q.hi.X), gridCoord(q.hi.Z)
	q.x0, q.z0 = gridCoord(q.lo.X), gridCoord(q.lo.Z)
	q.nx, q.nz = min(x1-q.x0+1, gridSide), min(z1-q.z0+1, gridSide)
	q.cellCount = q.nx * q.nz
}

// gridCoord is the grid square of a coordinate; squares far outside the world share one number.
func gridCoord(x float32) int {
	const far = 1 << 16
	return int(float32(min(max(x, -far), far)*(1/gridSize))+far) - far
}

// rayCandidates lists, from all rows, those that a sweep may touch within a reach.
func (s *Sweeper) rayCandidates(ray *geom.Ray, f *frame, reach float32) []int32 {
	if reach > kernel.MaxRadius {
		return s.h.allRows[:f.rowCount]
	}
	return f.rayCandidates(ray, reach, s.candidates)
}

// markCandidates sets the bits of the rows that a sphere may touch: that sorts them, and counts a
// fast mover once.
func (s *Sweeper) markCandidates(f *frame, q *boxQuery, ball geom.Sphere) {
	if in := s.indexOf(f); in != nil {
		s.candidates = in.box(q, 0, s.candidates[:0])
	} else {
		s.candidates = s.ballCandidates(ball, q)
	}
	for _, slot := range s.candidates {
		s.marks[slot>>6] |= 1 << (slot & 63)
	}
	for _, slot := range q.fastMovers {
		s.marks[slot>>6] |= 1 << (slot & 63)
	}
}

// ballCandidates lists, from all rows, those that a sphere may touch.
func (s *Sweeper) ballCandidates(ball geom.Sphere, q *boxQuery) []int32 {
	f := q.frame
	if q.reach > kernel.MaxRadius {
		return append(s.candidates[:0], s.h.allRows[:f.rowCount]...)
	}
	n, grown := f.rowCount, q.reach+1e-2 // as the box has it
	c := f.spheres(n)
	widest := f.bodies.widest
	at := kernel.Ball{X: ball.Center.X, Y: ball.Center.Y - rig.BoundHeight, Z: ball.Center.Z,
		Grow: float32(grown*grown) - float32(widest*widest), Widest: widest}
	return kernel.BallCandidates(at, &c, s.candidates[:0])
}

// box appends to out the rows whose feet lie in the query's box, but for those of spared
// teams.
func (in *index) box(q *boxQuery, spare Teams, out []int32) []int32 {
	for j := 0; j < q.nz; j += 4 {
		for i := 0; i < q.nx; i += 16 {
			x0, z0 := q.x0+i, q.z0+j
			for block := in.block(x0, z0, min(q.nx-i, 16), min(q.nz-j, 4)); block != 0; block &= block - 1 {
				at := bits.TrailingZeros64(block)
				for entry := in.head[cellOf(x0+at&15, z0+at>>4)]; entry != 0; {
					row, slot := &in.nodes[entry-1], int32(entry-1)
					entry = row.next()
					// One branch: seven in turn would be predicted wrong time and again.
					if geom.Bit(row.x < q.lo.X)|geom.Bit(row.x > q.hi.X)|geom.Bit(row.z < q.lo.Z)|
						geom.Bit(row.z > q.hi.Z)|geom.Bit(row.y < q.lo.Y)|geom.Bit(row.y > q.hi.Y)|
						geom.Bit(spare.Has(row.team())) == 0 {
						out = append(out, slot)
					}
				}
			}
		}
	}
	return out
}

func cellOf(x, z int) int { return z&(gridSide-1)<<gridBits | x&(gridSide-1) }
