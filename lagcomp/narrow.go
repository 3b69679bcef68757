package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// narrowQuery is one sweep for the narrow phase.
type narrowQuery struct {
	ray                geom.Ray // passed NormalizeRay
	radius             float32
	a, b               *frame
	frac               uint8
	except             uint32
	spare              Teams
	candidates, tested int32 // outcome: rows visited, and poses with capsule tests
}

// boundHit is a row whose bound the ray touches, and the least distance along the ray at which it
// can be hit.
type boundHit struct {
	distance float32
	slot     int32
}

// narrowPhase is the narrow phase of one caller, and its memory.
type narrowPhase struct{ passed []boundHit }

func newNarrowPhase(slots int) narrowPhase {
	return narrowPhase{passed: make([]boundHit, 0, slots+maxFastMovers)}
}

// maxSelections is how often the nearest remaining row is selected while nothing is hit; further
// rows are tested in the order given.
const maxSelections = 8

// nearestHit sets best to the nearest hit among candidate rows; a row may be listed twice. All
// poses are fetched before the first body is tested, so that memory latency is paid once; bounds
// are then tested from the nearest on, so that most bodies behind the first hit are never tested.
// visible, if not nil, is asked about each player that would be hit.
func (s *narrowPhase) nearestHit(q *narrowQuery, near, fastMovers []int32, visible func(id uint32) bool,
	best *Hit) {
	*best = Hit{}
	s.passed = s.passed[:0]
	q.candidates = int32(len(near) + len(fastMovers))
	s.filter(q, near)
	s.filter(q, fastMovers)
	rows := s.passed
	for picks := 0; len(rows) > 0; picks++ {
		if best.ID == 0 && picks < maxSelections {
			first := 0
			for i := range rows {
				if rows[i].distance < rows[first].distance {
					first = i
				}
			}
			rows[0], rows[first] = rows[first], rows[0]
		}
		if row := rows[0]; best.ID == 0 || row.distance <= best.Distance {
			q.test(int(row.slot), best, visible)
		}
		rows = rows[1:]
	}
}

// filter keeps the rows that may be hit at all.
func (s *narrowPhase) filter(q *narrowQuery, rows []int32) {
	for _, row := range rows {
		if from, ok := q.boundTest(int(row)); ok {
			s.passed = append(s.passed, boundHit{from, row})
		}
	}
}

// boundTest reports whether a row may be hit at all by its flags and its bound, and how far along
// the ray at the soonest.
func (q *narrowQuery) boundTest(slot int) (from float32, ok bool) {
	if !q.a.canHit(slot, q.except, q.spare) {
		return 0, false
	}
	p := &q.a.rows[slot]
	feet := p.Pos
	if q.frac != 0 && slot < q.b.rowCount {
		if b := &q.b.rows[slot]; !rig.Discontinuous(p, b) {
			feet = feet.Lerp(b.Pos, float32(q.frac)/256)
		}
	}
	return q.a.bodies.MayHit(&q.ray, q.radius, feet, p.Form.Build())
}

// test tests the capsules of one row, and replaces best if the hit is nearer.
func (q *narrowQuery) test(slot int, best *Hit, visible func(id uint32) bool) {
	p := lerpRow(q.a, q.b, q.frac, slot)
	q.tested++
	if hit, ok := testPose(q.a.bodies.Bodies, shorten(q.ray, best), q.radius, &p); ok && nearer(hit.Distance, slot, best) &&
		(visible == nil || visible(p.ID)) {
		*best = hitOf(q.ray, p.ID, slot, &hit)
	}
}
