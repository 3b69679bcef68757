package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// displacement bounds how far the living rows moved between two frames, in a straight line.
type displacement struct {
	from, to   tick.Tick // to is 0 while not measured
	metres     float32   // no row moved further, except for fast movers
	fastMovers [31]int32 // rows
	count      int32     // of fastMovers; overflow if they did not fit
}

const overflow = -1

// Implementation constants of reach.
const (
	maxFastMovers = 32 // of a view
	maxSummed     = 4  // metres; a longer sum of ticks is measured directly
)

var (
	// Limits for one tick: sprinters stay within the first at 32 Hz and more, falling players
	// within the second at 60 Hz.
	stepLimits = displacementLimits{metres: []float32{0.25, 1, 3}, brokenAreFast: true}
	// Limits for longer spans; the last leaves room below kernel.MaxRadius.
	spanLimits = displacementLimits{metres: []float32{1, 4, 10}}
)

// motionBounds answers reach for one caller.
type motionBounds struct {
	fork       bool         // other forks run at the same time: frames must not be written
	direct     displacement // the last pair of ticks that was measured directly
	fastMovers []int32      // of the last answer
	movers     []moverBox   // likewise, those of them that may be hit
	last       boundsAnswer // the last answer of reach
	scratch    []int32      // of a measurement
}

func newMotionBounds(slots int) motionBounds {
	const most = maxFastMovers + len(displacement{}.fastMovers)
	return motionBounds{fastMovers: make([]int32, 0, most), movers: make([]moverBox, 0, most),
		scratch: make([]int32, 0, slots)}
}

// moverBox is a living fast mover, and the box in which its feet are at any instant of a view.
type moverBox struct {
	lo, hi geom.Vec3
	slot   int32
}

// appendMovers appends to out the movers that a query's box may meet.
func (w *motionBounds) appendMovers(q *boxQuery, out []int32) []int32 {
	for i := range w.movers {
		m := &w.movers[i]
		if geom.Bit(m.hi.X < q.lo.X)|geom.Bit(m.lo.X > q.hi.X)|geom.Bit(m.hi.Z < q.lo.Z)|
			geom.Bit(m.lo.Z > q.hi.Z)|geom.Bit(m.hi.Y < q.lo.Y)|geom.Bit(m.lo.Y > q.hi.Y) == 0 {
			out = append(out, m.slot)
		}
	}
	return out
}

// boxMovers makes the boxes of fast movers between two frames. A row that is not interpolated
// stays at its first place, which its box holds, too.
func (w *motionBounds) boxMovers(a, b *frame, rows []int32) {
	w.movers = w.movers[:0]
	for _, row := range rows {
		if !a.hittable(int(row)) {
			continue
		}
		from := geom.Vec3{X: a.x[row], Y: a.y[row], Z: a.z[row]}
		to := from
		if int(row) < b.rowCount {
			to = geom.Vec3{X: b.x[row], Y: b.y[row], Z: b.z[row]}
		}
		w.movers = append(w.movers, moverBox{from.Min(to), from.Max(to), row})
	}
}

// boundsAnswer is an answer of reach.
type boundsAnswer struct {
	from, to   tick.Tick
	metres     float32
	fastMovers []int32
	ok         bool
}

// reach bounds how far each player moved between frames a and b, a before b: at most metres,
// except for the fast movers, which may name a row twice and are valid until the next call. ok is
// false if too many players moved fast.
//
// It sums the displacements of the ticks in between. Each is measured once, on first use, and kept
// by its frame, however many pairs of ticks the shots look at. A row whose life breaks in between
// is a fast mover, as it may be whole again at b. Where the sum gets long, or a tick has too many
// fast movers, as when a round starts, the pair itself is measured.
func (w *motionBounds) reach(h *History, a, b *frame) (metres float32, fastMovers []int32, ok bool) {
	if l := &w.last; l.from != a.tick || l.to != b.tick {
		l.from, l.to = a.tick, b.tick
		l.metres, l.fastMovers, l.ok = w.sumSteps(h, a, b)
		w.boxMovers(a, b, l.fastMovers)
	}
	return w.last.metres, w.last.fastMovers, w.last.ok
}

// sumSteps is reach without its cache.
func (w *motionBounds) sumSteps(h *History, a, b *frame) (metres float32, fastMovers []int32, ok bool) {
	fastMovers = w.fastMovers[:0]
	for f := b; f != a; f = h.frame(f.previous) {
		s := &f.displacement
		if s.to == 0 {
			if w.fork {
				return w.measureSpan(a, b)
			}
			s.measure(h.frame(f.previous), f, &stepLimits, w.scratch)
		}
		metres += s.metres
		if s.count == overflow || metres > maxSummed {
			return w.measureSpan(a, b)
		}
		if fastMovers = appendUnbroken(fastMovers, a, b,
			s.fastMovers[:s.count]); len(fastMovers) > maxFastMovers {
			return w.measureSpan(a, b)
		}
	}
	return metres, fastMovers, true
}

// appendUnbroken appends the rows whose life is the same at a and b: others are not interpolated,
// so they do not move. It has no branch on the poses, so that the processor fetches all of them at
// once.
func appendUnbroken(out []int32, a, b *frame, rows []int32) []int32 {
	n, most := len(out), int32(min(a.rowCount, b.rowCount))
	out = out[:n+len(rows)]
	for _, row := range rows {
		if row >= most {
			continue
		}
		p, q := &a.rows[row], &b.rows[row]
		out[n] = row
		same := 0
		if p.ID^q.ID|uint32((p.Flags^q.Flags)&(rig.FlagDead|rig.LifeMask)) == 0 {
			same = 1
		}
		n += same
	}
	return out[:n]
}

// measureSpan is reach by the pair alone.
func (w *motionBounds) measureSpan(a, b *frame) (metres float32, fastMovers []int32, ok bool) {
	m := &w.direct
	if m.from != a.tick || m.to != b.tick {
		m.measure(a, b, &spanLimits, w.scratch)
	}
	if m.count == overflow {
		return 0, nil, false
	}
	return m.metres, m.fastMovers[:m.count], true
}

// displacementLimits are tried in turn until the rows that moved further fit in the list of fast
// movers.
type displacementLimits struct {
	metres []float32
	// rows whose life breaks are fast movers; otherwise they are left out, as rig.Lerp does not mix
	// them
	brokenAreFast bool
}

// measure sets m to the bound from frame a to frame b. rows is scratch memory.
func (m *displacement) measure(a, b *frame, limits *displacementLimits, rows []int32) {
	m.from, m.to = a.tick, b.tick
	for _, limit := range limits.metres {
		if m.measureWithin(a, b, limit, limits, rows); m.count != overflow {
			return
		}
	}
}

// measureWithin reads columns alone, except for the few rows that moved further than limit.
func (m *displacement) measureWithin(a, b *frame, limit float32, limits *displacementLimits, rows []int32) {
	n := min(a.rowCount, b.rowCount)
	from, to := a.spheres(n), b.spheres(n)
	square, further := kernel.MaxDisplacement(&from, &to, float32(limit*limit), rows)
	m.count, m.metres = 0, geom.Sqrt(square)
	for _, slot := range further {
		if limits.brokenAreFast || !rig.Discontinuous(&a.rows[slot], &b.rows[slot]) {
			m.addFastMover(slot)
		}
	}
	for slot := n; slot < a.rowCount && limits.brokenAreFast; slot++ {
		if a.hittable(slot) {
			m.addFastMover(int32(slot))
		}
	}
}

// addFastMover adds a fast mover if there is room.
func (m *displacement) addFastMover(slot int32) {
	if m.count == overflow || int(m.count) == len(m.fastMovers) {
		m.count = overflow
		return
	}
	m.fastMovers[m.count] = slot
	m.count++
}
