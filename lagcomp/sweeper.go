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
	gridBits    = 6  // squares along a side of the map, as a power of two; a larger map wraps round
	gridSize    = 4. // metres along a square
	gridSide    = 1 << gridBits
	maxIndices  = 64  // ticks that may have an index at once
	maxBoxCells = 100 // a box over more squares than this is searched row by row instead
)

// Sweeper answers questions about spheres near players of a History: short ways and small balls, many of them in a tick.
// It keeps an index of squares for each tick that many ask for. One owner calls it; the history
// must outlive it, and may go on recording.
type Sweeper struct {
	h            *History
	indices      *[maxIndices]index // of tick t: index[t % indexes]
	marks        []uint64           // of Within, a bit a slot, all 0 in between
	candidates   []int32            // of a way
	bounds       motionBounds
	narrowPhase  narrowPhase
	spanReach    spanReach
	stats        []CastStats // of the sweeps at hand, nil: nobody asks
	squareCost   int         // vectorSquareCost, but in tests
	indexAfter   int         // likewise
	indexMinRows int         // likewise
}

// NewSweeper makes a sweeper over h. It takes all its memory here: 1 MB and 256 bytes a slot where there are enough slots for indexes, else
// next to nothing.
func NewSweeper(h *History) *Sweeper {
	s := &Sweeper{
		h: h, indices: new([maxIndices]index), marks: make([]uint64, (h.slots+63)/64),
		candidates: make([]int32, 0, h.slots), bounds: newMotionBounds(h.slots), narrowPhase: newNarrowPhase(h.slots), squareCost: vectorSquareCost, indexAfter: defaultIndexAfter, indexMinRows: defaultIndexMinRows,
	}
	s.spanReach.alwaysNear, s.spanReach.near = make([]uint64, len(s.marks)), make([]uint64, len(s.marks))
	if h.slots >= s.indexMinRows {
		s.makeIndexes()
	}
	return s
}

func (s *Sweeper) makeIndexes() {
	const n = gridSide * gridSide
	slots := s.h.slots
	heads, next := make([]int32, maxIndices*n), make([]int32, maxIndices*slots)
	for i := range s.indices {
		s.indices[i].head = heads[i*n : (i+1)*n : (i+1)*n]
		s.indices[i].next = next[i*slots : (i+1)*slots : (i+1)*slots]
	}
}

// History is what the sweeper looks at.
func (s *Sweeper) History() *History { return s.h }

// Cast judges sweeps[i] into hits[i]: the living player whom the sphere touches first, not Except nor of Team, as the view
// shows it; the lowest slot where two are equally near. A view without history, a ray of no use or a radius outside 0 to
// MaxSweepRadius misses. Hit.Point is the sphere's centre at the touch. It panics if hits is the shorter.
func (s *Sweeper) Cast(sweeps []Sweep, hits []Hit) { s.CastFiltered(sweeps, hits, nil) }

// CastFiltered is Cast where not everybody was shown: seen says whether sweeps[i] may hit the player called id, and is asked only of
// who would be hit otherwise. nil takes everybody to be seen.
func (s *Sweeper) CastFiltered(sweeps []Sweep, hits []Hit, seen func(i int, id uint32) bool) {
	if len(hits) < len(sweeps) {
		panic(fmt.Sprintf("lagcomp: Cast of %d sweeps into %d hits", len(sweeps), len(hits)))
	}
	if s.bounds.fork || s.h.answerInOrder(len(sweeps)) { // the order of those who share is the history's
		for i := range sweeps {
			s.castOne(i, &sweeps[i], seen, &hits[i])
		}
		return
	}
	s.h.groupByFrame(len(sweeps), func(i int) tick.Tick { return sweeps[i].View.From }, func(i int) {
		s.castOne(i, &sweeps[i], seen, &hits[i])
	})
}

func (s *Sweeper) castOne(i int, w *Sweep, seen func(int, uint32) bool, hit *Hit) {
	*hit = Hit{}
	if s.stats != nil {
		s.stats[i] = CastStats{}
	}
	a, b := s.h.viewFrames(w.View)
	if a == nil || !validRadius(w.Radius) {
		return
	}
	ray, ok := NormalizeRay(w.Ray)
	if !ok {
		return
	}
	near, flyers := s.candidatesFor(a, b, w, &ray)
	if len(near) == 0 && len(flyers) == 0 { // most ways are short, and meet nobody
		return
	}
	var ask narrowQuery // field by field: a literal is made elsewhere and copied
	ask.ray, ask.radius, ask.a, ask.b, ask.frac, ask.except, ask.team = ray, w.Radius, a, b, w.View.Frac, w.Except, w.Team
	if seen != nil {
		s.narrowPhase.nearestHit(&ask, near, flyers, func(id uint32) bool { return seen(i, id) }, hit)
		return
	}
	s.narrowPhase.nearestHit(&ask, near, flyers, nil, hit)
	if s.stats != nil {
		s.narrowPhase.writeStats(&ask, hit, &s.stats[i])
	}
}

// candidatesFor is the rows that a way may touch, and the flyers, who may be among them: looked for in a box round a short one, along the squares
// of a long one, or among everybody.
func (s *Sweeper) candidatesFor(a, b *frame, w *Sweep, ray *geom.Ray) (near, flyers []int32) {
	in := s.indexOf(a)
	if in == nil {
		wide, flyers, ok := s.bounds.expand(s.h, a, b, w.View.Frac)
		if !ok {
			return s.h.allRows[:a.rowCount], nil
		}
		return s.rayCandidates(ray, a, wide+w.Radius), flyers
	}
	end := ray.At(min(ray.Max, 4*WorldReach))
	q := s.boxQuery(a, b, w.View.Frac, geom.AABB{Min: ray.Origin.Min(end), Max: ray.Origin.Max(end)}, w.Radius)
	switch {
	case q.cellCount <= maxBoxCells:
		s.candidates = in.box(a, &q, s.candidates[:0])
		return s.candidates, q.fastMovers
	case s.gridWalk(in, *ray, &q):
		return s.candidates, q.fastMovers
	}
	return s.rayCandidates(ray, a, q.reach), q.fastMovers
}

// SphereOverlap is a player whom a ball touches.
type SphereOverlap struct {
	Slot int
	Pose rig.Pose // as the view shows it
}

// OverlapSphere appends to out the living players whom the ball touches at a view, in ascending order of slots, whatever their
// team, and returns it. None if there is no such history, or the ball is not finite or its radius outside 0 to MaxSweepRadius.
func (s *Sweeper) OverlapSphere(v tick.View, ball geom.Sphere, out []SphereOverlap) []SphereOverlap {
	a, b := s.h.viewFrames(v)
	if a == nil || !inWorld(ball.Center) || !validRadius(ball.Radius) {
		return out
	}
	q := s.boxQuery(a, b, v.Frac, geom.AABB{Min: ball.Center, Max: ball.Center}, ball.Radius)
	if q.cellCount > maxBoxCells {
		for slot := range a.rowCount {
			out = a.appendOverlap(b, v.Frac, slot, ball, out)
		}
		return out
	}
	s.markCandidates(a, &q, ball)
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

// appendOverlap appends the player of a row if the ball touches it.
func (f *frame) appendOverlap(b *frame, frac uint8, slot int, ball geom.Sphere, out []SphereOverlap) []SphereOverlap {
	if f.canHit(slot, 0, NoTeam) {
		if p := lerpRow(f, b, frac, slot); TestSphere(ball, &p) {
			out = append(out, SphereOverlap{slot, p})
		}
	}
	return out
}

// boxQuery is a box that holds the feet, at the first frame of a view, of whoever may be touched at its instant, but for the
// flyers.
type boxQuery struct {
	lo, hi     geom.Vec3
	x0, z0     int // first square
	nx, nz     int
	cellCount  int // nx * nz
	reach      float32
	frame      *frame
	fastMovers []int32
}

// boxQuery prepares a search round the box from lo to hi for spheres of a radius.
func (s *Sweeper) boxQuery(a, b *frame, frac uint8, box geom.AABB, radius float32) (q boxQuery) {
	lo, hi := box.Min, box.Max
	q.frame = a
	wide, flyers, ok := s.bounds.expand(s.h, a, b, frac)
	if !ok {
		q.cellCount = maxBoxCells + 1
		q.reach = kernel.MaxRadius + 1 // everybody
		return q
	}
	q.reach, q.fastMovers = wide+radius, flyers
	grow := q.reach + 1e-2 // positions at WorldReach are rounded to 1/2048 m
	q.lo = geom.Vec3{X: lo.X - grow, Y: lo.Y - rig.BoundHeight - grow, Z: lo.Z - grow}
	q.hi = geom.Vec3{X: hi.X + grow, Y: hi.Y - rig.BoundHeight + grow, Z: hi.Z + grow}
	x1, z1 := gridCoord(q.hi.X), gridCoord(q.hi.Z)
	q.x0, q.z0 = gridCoord(q.lo.X), gridCoord(q.lo.Z)
	q.nx, q.nz = min(x1-q.x0+1, gridSide), min(z1-q.z0+1, gridSide)
	q.cellCount = q.nx * q.nz
	return q
}

// gridCoord is the number of the square a coordinate lies in; those far outside the world share one.
func gridCoord(x float32) int {
	const far = 1 << 16
	return int(float32(min(max(x, -far), far)*(1/gridSize))+far) - far
}

// rayCandidates lists rows that a way may touch within a reach, of everybody.
func (s *Sweeper) rayCandidates(ray *geom.Ray, f *frame, reach float32) []int32 {
	if reach > kernel.MaxRadius {
		return s.h.allRows[:f.rowCount]
	}
	return f.rayCandidates(ray, reach, s.candidates)
}

// markCandidates sets the bits of the rows that a ball may touch: that sorts them, and counts a flyer once.
func (s *Sweeper) markCandidates(f *frame, q *boxQuery, ball geom.Sphere) {
	if in := s.indexOf(f); in != nil {
		s.candidates = in.box(f, q, s.candidates[:0])
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

// ballCandidates lists rows that a ball may touch, of everybody.
func (s *Sweeper) ballCandidates(ball geom.Sphere, q *boxQuery) []int32 {
	f := q.frame
	if q.reach > kernel.MaxRadius {
		return append(s.candidates[:0], s.h.allRows[:f.rowCount]...)
	}
	n, grown := f.rowCount, q.reach+1e-2 // as the box has it
	c := f.spheres(n)
	at := kernel.Ball{X: ball.Center.X, Y: ball.Center.Y - rig.BoundHeight, Z: ball.Center.Z, Grow: float32(grown*grown) - float32(maxBoundRadius*maxBoundRadius), Widest: maxBoundRadius}
	return kernel.BallCandidates(at, &c, s.candidates[:0])
}

// box appends to out the rows whose feet lie in the query's box.
func (in *index) box(f *frame, q *boxQuery, out []int32) []int32 {
	for z := q.z0; z < q.z0+q.nz; z++ {
		for x := q.x0; x < q.x0+q.nx; x++ {
			for row := in.head[cellOf(x, z)]; row != 0; row = in.next[row-1] {
				slot := row - 1
				x, y, z := f.x[slot], f.y[slot], f.z[slot]
				if x < q.lo.X || x > q.hi.X || z < q.lo.Z || z > q.hi.Z || y < q.lo.Y || y > q.hi.Y {
					continue
				}
				out = append(out, slot)
			}
		}
	}
	return out
}

func cellOf(x, z int) int { return z&(gridSide-1)<<gridBits | x&(gridSide-1) }
