package lagcomp

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/lagcomp/rig"
)

// CastStats is what judging a sweep involved besides its hit, for shot records.
type CastStats struct {
	Candidates uint16 // rows of the broad phase
	Bounds     uint16 // candidates whose bound was touched
	Bodies     uint16 // of those, poses whose capsules were tested

	// Of a sweep that hit nothing: the player that it missed by the least; 0 if it touched no
	// bound.
	NearestID   uint32
	NearestSlot int32
	NearestBone rig.Bone
	Miss        float32 // metres between the surfaces
	Along       float32 // metres along the ray to the nearest point
}

// CastWithStats is Cast, and writes statistics into stats[i]. It panics if stats or hits is the
// shorter.
func (s *Sweeper) CastWithStats(sweeps []Sweep, hits []Hit, stats []CastStats) {
	if len(stats) < len(sweeps) {
		panic(fmt.Sprintf("lagcomp: CastWithStats of %d sweeps into %d statistics, want as many", len(sweeps), len(stats)))
	}
	s.stats = stats
	s.CastFiltered(sweeps, hits, nil)
	s.stats = nil
}

// writeStats writes the statistics of a query that was answered.
func (s *narrowPhase) writeStats(q *narrowQuery, best *Hit, n *CastStats) {
	*n = CastStats{Candidates: saturate16(q.candidates), Bounds: saturate16(int32(len(s.passed))),
		Bodies: saturate16(q.tested)}
	if best.ID != 0 {
		return
	}
	for i := range s.passed {
		p := lerpRow(q.a, q.b, q.frac, int(s.passed[i].slot))
		bone, along, metres := q.a.bodies.ClosestApproach(q.ray, &p)
		if metres = max(metres-q.radius, 0); n.NearestID == 0 || metres < n.Miss || metres == n.Miss &&
			s.passed[i].slot < n.NearestSlot {
			n.NearestID, n.NearestSlot, n.NearestBone, n.Miss, n.Along = p.ID, s.passed[i].slot, bone,
				metres, along
		}
	}
}

// saturate16 converts a count.
func saturate16(n int32) uint16 { return uint16(min(n, math.MaxUint16)) }
