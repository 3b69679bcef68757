package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// narrowQuery is what is asked of the rows that a broad phase named.
type narrowQuery struct {
	ray                geom.Ray // found fit by NormalizeRay
	radius             float32
	a, b               *frame
	frac               uint8
	except             uint32
	team               uint8
	candidates, tested int32 // what asking came to: rows that were looked at, and bodies worked out
}

// boundHit is a row whose bound the ray touches, and how far along at the soonest.
type boundHit struct {
	distance float32
	slot     int32
}

// narrowPhase is the narrow phase of one caller, and its memory.
type narrowPhase struct{ passed []boundHit }

func newNarrowPhase(slots int) narrowPhase {
	return narrowPhase{passed: make([]boundHit, 0, slots+maxFastMovers)}
}

// maxSelections is how often the nearest of what is left is looked for while nobody is hit; those in a crowd are then taken as they come.
const maxSelections = 8

// nearestHit makes best the nearest hit among rows named, some of them twice perhaps. The poses of all are fetched before the first body is
// worked out, so that memory is waited for once; bounds are then gone through from the nearest on, so that most bodies behind the
// first that is hit are never worked out. seen, if not nil, is asked of who would be hit otherwise.
func (s *narrowPhase) nearestHit(q *narrowQuery, near, flyers []int32, seen func(id uint32) bool, best *Hit) {
	*best = Hit{}
	s.passed = s.passed[:0]
	q.candidates = int32(len(near) + len(flyers))
	s.filter(q, near)
	s.filter(q, flyers)
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
			q.test(int(row.slot), best, seen)
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

// boundTest reports whether a row may be hit at all, and how far along the ray at the soonest: its flags and its bound say so, long before
// a pose is worked out.
func (q *narrowQuery) boundTest(slot int) (from float32, ok bool) {
	if !q.a.canHit(slot, q.except, q.team) {
		return 0, false
	}
	p := &q.a.rows[slot]
	feet := p.Pos
	if q.frac != 0 && slot < q.b.rowCount {
		if b := &q.b.rows[slot]; !rig.Discontinuous(p, b) {
			feet = feet.Lerp(b.Pos, float32(q.frac)/256)
		}
	}
	return rig.MayHit(&q.ray, q.radius, feet, p.Form.Hero())
}

// test works out one body, and makes it best if it is nearer.
func (q *narrowQuery) test(slot int, best *Hit, seen func(id uint32) bool) {
	p := lerpRow(q.a, q.b, q.frac, slot)
	q.tested++
	if hit, ok := testPose(shorten(q.ray, best), q.radius, &p); ok && nearer(hit.Distance, slot, best) && (seen == nil || seen(p.ID)) {
		*best = hitOf(q.ray, p.ID, slot, &hit)
	}
}
