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
	gridBits = 6  // squares along a side of the map, as a power of two; a larger map wraps round
	gridSize = 4. // metres along a square
	gridSide = 1 << gridBits
	indexes  = 64  // ticks that may have an index at once
	fewCells = 100 // a box over more squares than this is searched row by row instead
)

// Sweeper answers questions about spheres near players of a History: short ways and small balls, many of them in a tick.
// It keeps an index of squares for each tick that many ask for. One owner calls it; the history
// must outlive it, and may go on recording.
type Sweeper struct {
	h          *History
	index      *[indexes]index // of tick t: index[t % indexes]
	marks      []uint64        // of Within, a bit a slot, all 0 in between
	candidates []int32         // of a way
	ways       ways
	sieve      sieve
	around     around
	notes      []CastStats // of the sweeps at hand, nil: nobody asks
	wide       int         // wideStrip, but in tests
	patience   int         // likewise
	worth      int         // likewise
}

// NewSweeper makes a sweeper over h. It takes all its memory here: 1 MB and 256 bytes a slot where there are enough slots for indexes, else
// next to nothing.
func NewSweeper(h *History) *Sweeper {
	s := &Sweeper{
		h: h, index: new([indexes]index), marks: make([]uint64, (h.slots+63)/64),
		candidates: make([]int32, 0, h.slots), ways: newWays(false, h.slots), sieve: newSieve(h.slots), wide: wideStrip, patience: patience, worth: worth,
	}
	s.around.always, s.around.near = make([]uint64, len(s.marks)), make([]uint64, len(s.marks))
	if h.slots >= s.worth {
		s.makeIndexes()
	}
	return s
}

func (s *Sweeper) makeIndexes() {
	const n = gridSide * gridSide
	slots := s.h.slots
	heads, next := make([]int32, indexes*n), make([]int32, indexes*slots)
	for i := range s.index {
		s.index[i].head = heads[i*n : (i+1)*n : (i+1)*n]
		s.index[i].next = next[i*slots : (i+1)*slots : (i+1)*slots]
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
	if s.ways.shared || s.h.single(len(sweeps)) { // the order of those who share is the history's
		for i := range sweeps {
			s.castOne(i, &sweeps[i], seen, &hits[i])
		}
		return
	}
	s.h.together(len(sweeps), func(i int) tick.Tick { return sweeps[i].View.From }, func(i int) {
		s.castOne(i, &sweeps[i], seen, &hits[i])
	})
}

func (s *Sweeper) castOne(i int, w *Sweep, seen func(int, uint32) bool, hit *Hit) {
	*hit = Hit{}
	if s.notes != nil {
		s.notes[i] = CastStats{}
	}
	a, b := s.h.between(w.View)
	if a == nil || !usable(w.Radius) {
		return
	}
	ray, ok := NormalizeRay(w.Ray)
	if !ok {
		return
	}
	near, flyers := s.list(a, b, w, &ray)
	if len(near) == 0 && len(flyers) == 0 { // most ways are short, and meet nobody
		return
	}
	var ask question // field by field: a literal is made elsewhere and copied
	ask.ray, ask.radius, ask.a, ask.b, ask.frac, ask.except, ask.team = ray, w.Radius, a, b, w.View.Frac, w.Except, w.Team
	if seen != nil {
		s.sieve.judge(&ask, near, flyers, func(id uint32) bool { return seen(i, id) }, hit)
		return
	}
	s.sieve.judge(&ask, near, flyers, nil, hit)
	if s.notes != nil {
		s.sieve.note(&ask, hit, &s.notes[i])
	}
}

// list is the rows that a way may touch, and the flyers, who may be among them: looked for in a box round a short one, along the squares
// of a long one, or among everybody.
func (s *Sweeper) list(a, b *frame, w *Sweep, ray *geom.Ray) (near, flyers []int32) {
	in := s.of(a)
	if in == nil {
		wide, flyers, ok := s.ways.widen(s.h, a, b, w.View.Frac)
		if !ok {
			return s.h.everyone[:a.used], nil
		}
		return s.alongRay(ray, a, wide+w.Radius), flyers
	}
	end := ray.At(min(ray.Max, 4*WorldReach))
	q := s.query(a, b, w.View.Frac, ray.Origin.Min(end), ray.Origin.Max(end), w.Radius)
	switch {
	case q.cells <= fewCells:
		s.candidates = in.box(a, &q, s.candidates[:0])
		return s.candidates, q.flyers
	case s.alongStrip(in, *ray, &q):
		return s.candidates, q.flyers
	}
	return s.alongRay(ray, a, q.reach), q.flyers
}

// SphereOverlap is a player whom a ball touches.
type SphereOverlap struct {
	Slot int
	Pose rig.Pose // as the view shows it
}

// OverlapSphere appends to out the living players whom the ball touches at a view, in ascending order of slots, whatever their
// team, and returns it. None if there is no such history, or the ball is not finite or its radius outside 0 to MaxSweepRadius.
func (s *Sweeper) OverlapSphere(v tick.View, ball geom.Sphere, out []SphereOverlap) []SphereOverlap {
	a, b := s.h.between(v)
	if a == nil || !within(ball.Center) || !usable(ball.Radius) {
		return out
	}
	q := s.query(a, b, v.Frac, ball.Center, ball.Center, ball.Radius)
	if q.cells > fewCells {
		for slot := range a.used {
			out = a.touched(b, v.Frac, slot, ball, out)
		}
		return out
	}
	s.mark(a, &q, ball)
	for w, word := range s.marks {
		if word == 0 {
			continue
		}
		s.marks[w] = 0
		for ; word != 0; word &= word - 1 {
			out = a.touched(b, v.Frac, w<<6|bits.TrailingZeros64(word), ball, out)
		}
	}
	return out
}

// touched appends the player of a row if the ball touches it.
func (f *frame) touched(b *frame, frac uint8, slot int, ball geom.Sphere, out []SphereOverlap) []SphereOverlap {
	if f.target(slot, 0, NoTeam) {
		if p := lerpRow(f, b, frac, slot); TestSphere(ball, &p) {
			out = append(out, SphereOverlap{slot, p})
		}
	}
	return out
}

// query is a box that holds the feet, at the first frame of a view, of whoever may be touched at its instant, but for the
// flyers.
type query struct {
	lo, hi geom.Vec3
	x0, z0 int // first square
	nx, nz int
	cells  int // nx * nz
	reach  float32
	frame  *frame
	flyers []int32
}

// query prepares a search round the box from lo to hi for spheres of a radius.
func (s *Sweeper) query(a, b *frame, frac uint8, lo, hi geom.Vec3, radius float32) (q query) {
	q.frame = a
	wide, flyers, ok := s.ways.widen(s.h, a, b, frac)
	if !ok {
		q.cells = fewCells + 1
		q.reach = kernel.MaxRadius + 1 // everybody
		return q
	}
	q.reach, q.flyers = wide+radius, flyers
	grow := q.reach + 1e-2 // positions at WorldReach are rounded to 1/2048 m
	q.lo = geom.Vec3{X: lo.X - grow, Y: lo.Y - rig.BoundHeight - grow, Z: lo.Z - grow}
	q.hi = geom.Vec3{X: hi.X + grow, Y: hi.Y - rig.BoundHeight + grow, Z: hi.Z + grow}
	x1, z1 := square(q.hi.X), square(q.hi.Z)
	q.x0, q.z0 = square(q.lo.X), square(q.lo.Z)
	q.nx, q.nz = min(x1-q.x0+1, gridSide), min(z1-q.z0+1, gridSide)
	q.cells = q.nx * q.nz
	return q
}

// square is the number of the square a coordinate lies in; those far outside the world share one.
func square(x float32) int {
	const far = 1 << 16
	return int(float32(min(max(x, -far), far)*(1/gridSize))+far) - far
}

// alongRay lists rows that a way may touch within a reach, of everybody.
func (s *Sweeper) alongRay(ray *geom.Ray, f *frame, reach float32) []int32 {
	if reach > kernel.MaxRadius {
		return s.h.everyone[:f.used]
	}
	return f.along(ray, reach, s.candidates)
}

// mark sets the bits of the rows that a ball may touch: that sorts them, and counts a flyer once.
func (s *Sweeper) mark(f *frame, q *query, ball geom.Sphere) {
	if in := s.of(f); in != nil {
		s.candidates = in.box(f, q, s.candidates[:0])
	} else {
		s.candidates = s.round(ball, q)
	}
	for _, slot := range s.candidates {
		s.marks[slot>>6] |= 1 << (slot & 63)
	}
	for _, slot := range q.flyers {
		s.marks[slot>>6] |= 1 << (slot & 63)
	}
}

// round lists rows that a ball may touch, of everybody.
func (s *Sweeper) round(ball geom.Sphere, q *query) []int32 {
	f := q.frame
	if q.reach > kernel.MaxRadius {
		return append(s.candidates[:0], s.h.everyone[:f.used]...)
	}
	n, grown := f.used, q.reach+1e-2 // as the box has it
	c := f.column(n)
	at := kernel.Ball{X: ball.Center.X, Y: ball.Center.Y - rig.BoundHeight, Z: ball.Center.Z, Grow: float32(grown*grown) - float32(widest*widest), Widest: widest}
	return kernel.BallCandidates(at, &c, s.candidates[:0])
}

// box appends to out the rows whose feet lie in the query's box.
func (in *index) box(f *frame, q *query, out []int32) []int32 {
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
