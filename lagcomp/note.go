package lagcomp

import (
	"math"

	"github.com/tickrate/tickrate/lagcomp/rig"
)

// CastStats is what judging a sweep came to besides its hit, for receipts.
type CastStats struct {
	Candidates uint16 // rows that the broad phase named
	Bounds     uint16 // of them, those whose bound was touched
	Bodies     uint16 // of them, those whose capsules were worked out

	// Of a sweep that hit nobody: who was missed by least, 0 if it touched nobody's bound.
	NearestID   uint32
	NearestSlot int32
	NearestBone rig.Bone
	Miss        float32 // metres between the surfaces
	Along       float32 // metres along the ray to the nearest point
}

// CastWithStats is Cast, and writes down what it came to into notes[i]. It panics if notes or hits is the shorter.
func (s *Sweeper) CastWithStats(sweeps []Sweep, hits []Hit, notes []CastStats) {
	_ = notes[:len(sweeps)]
	s.notes = notes
	s.CastFiltered(sweeps, hits, nil)
	s.notes = nil
}

// note writes down a question that was answered.
func (s *sieve) note(q *question, best *Hit, n *CastStats) {
	*n = CastStats{Candidates: clip(q.named), Bounds: clip(int32(len(s.rows))), Bodies: clip(q.met)}
	if best.ID != 0 {
		return
	}
	for i := range s.rows {
		p := lerpRow(q.a, q.b, q.frac, int(s.rows[i].slot))
		bone, along, metres := rig.ClosestApproach(q.ray, &p)
		if metres = max(metres-q.radius, 0); n.NearestID == 0 || metres < n.Miss || metres == n.Miss && s.rows[i].slot < n.NearestSlot {
			n.NearestID, n.NearestSlot, n.NearestBone, n.Miss, n.Along = p.ID, s.rows[i].slot, bone, metres, along
		}
	}
}

func clip(n int32) uint16 { return uint16(min(n, math.MaxUint16)) }
