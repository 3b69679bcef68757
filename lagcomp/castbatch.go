package lagcomp

import (
	"math/bits"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Implementation constants of castBatch.
const (
	batchSweeps = 64
	batchCells  = 512
)

// castBatch is short sweeps on their way through the indices of their ticks. Most meet no player
// at all, and what tells lies scattered over the frames of many ticks. So it is read in loops of its
// own, in which many reads are in flight at once: the squares, then row after row of their lists.
type castBatch struct {
	boxes []batchBox
	cells []batchCell
	nodes []indexNode // that the cells' entries name
	found []batchRow
}

// batchBox is what the rows near a sweep are compared with.
type batchBox struct {
	lo, hi geom.Vec3 // of feet
	sweep  int32
	spare  Teams // that are not hit
}

// batchCell is the rest of a square's list.
type batchCell struct {
	in    *index
	entry uint32 // the square at first, then the next entry of its list
	box   int32
}

// batchRow is a row that a sweep may touch.
type batchRow struct{ sweep, slot int32 }

func newCastBatch() castBatch {
	return castBatch{make([]batchBox, 0, batchSweeps), make([]batchCell, 0, batchCells),
		make([]indexNode, batchCells), make([]batchRow, batchCells)}
}

// batch adds sweep i to the batch, for runBatch. It reports false, and does nothing, if the sweep
// is long or its tick has no index.
func (s *Sweeper) batch(i int, sweeps []Sweep, hits []Hit) bool {
	b, q, w := &s.castBatch, &s.query, &sweeps[i]
	from, to := s.h.viewFrames(w.View)
	ray, ok := NormalizeRay(w.Ray)
	if from == nil || !ok || !validRadius(w.Radius) {
		return false
	}
	in := s.builtIndex(from)
	if in == nil {
		return false
	}
	end := ray.At(min(ray.Max, 4*WorldReach))
	s.boxQuery(q, from, to, w.View.Frac, geom.AABB{Min: ray.Origin.Min(end), Max: ray.Origin.Max(end)},
		w.Radius)
	if q.cellCount > maxBoxCells {
		return false
	}
	if len(b.boxes) == batchSweeps || len(b.cells)+q.cellCount > batchCells {
		s.runBatch(sweeps, hits)
	}
	hits[i] = Hit{}
	at := int32(len(b.boxes))
	b.boxes = append(b.boxes, batchBox{q.lo, q.hi, int32(i), w.Spare})
	for z := 0; z < q.nz; z += 4 {
		for x := 0; x < q.nx; x += 16 {
			x0, z0 := q.x0+x, q.z0+z
			for block := in.block(x0, z0, min(q.nx-x, 16), min(q.nz-z, 4)); block != 0; block &= block - 1 {
				n := bits.TrailingZeros64(block)
				b.cells = append(b.cells, batchCell{in, uint32(cellOf(x0+n&15, z0+n>>4)), at})
			}
		}
	}
	if len(q.fastMovers) > 0 {
		for _, slot := range s.bounds.appendMovers(q, s.candidates[:0]) {
			s.testRow(batchRow{int32(i), slot}, sweeps, hits)
		}
	}
	return true
}

// replacesIndex reports whether a query about a view may build an index in the place of one that the
// batch has cells of.
func (s *Sweeper) replacesIndex(v tick.View) bool {
	if len(s.castBatch.cells) == 0 {
		return false
	}
	f, _ := s.h.viewFrames(v)
	if f == nil {
		return false
	}
	in := &s.indices[int(f.tick)%maxIndices]
	return in.tick != f.tick && slices.ContainsFunc(s.castBatch.cells, func(c batchCell) bool { return c.in == in })
}

// runBatch answers the sweeps of the batch, and empties it.
func (s *Sweeper) runBatch(sweeps []Sweep, hits []Hit) {
	b := &s.castBatch
	cells := b.cells
	for i := range cells {
		c := &cells[i]
		c.entry = c.in.head[c.entry]
	}
	for len(cells) > 0 {
		nodes, rows := b.nodes[:len(cells)], b.found[:len(cells)]
		for i := range cells {
			c := &cells[i]
			nodes[i] = c.in.nodes[c.entry-1]
		}
		rest, found := 0, 0
		for i := range nodes {
			row, c := &nodes[i], cells[i]
			q := &b.boxes[c.box]
			// One branch: seven in turn would be predicted wrong time and again.
			if geom.Bit(row.x < q.lo.X)|geom.Bit(row.x > q.hi.X)|geom.Bit(row.z < q.lo.Z)|
				geom.Bit(row.z > q.hi.Z)|geom.Bit(row.y < q.lo.Y)|geom.Bit(row.y > q.hi.Y)|
				geom.Bit(q.spare.Has(row.team())) == 0 {
				rows[found] = batchRow{q.sweep, int32(c.entry - 1)}
				found++
			}
			if c.entry = row.next(); c.entry != 0 {
				cells[rest] = c
				rest++
			}
		}
		for _, row := range rows[:found] {
			s.testRow(row, sweeps, hits)
		}
		cells = cells[:rest]
	}
	b.boxes, b.cells = b.boxes[:0], b.cells[:0]
}

// testRow tests one row of a sweep, and keeps the nearest hit.
func (s *Sweeper) testRow(row batchRow, sweeps []Sweep, hits []Hit) {
	w, best := &sweeps[row.sweep], &hits[row.sweep]
	var q narrowQuery
	q.a, q.b = s.h.viewFrames(w.View)
	q.ray, _ = NormalizeRay(w.Ray)
	q.radius, q.frac, q.except, q.spare = w.Radius, w.View.Frac, w.Except, w.Spare
	if from, ok := q.boundTest(int(row.slot)); ok && (best.ID == 0 || from <= best.Distance) {
		q.test(int(row.slot), best, nil)
	}
}
