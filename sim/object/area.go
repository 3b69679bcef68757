package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// InstantPoints is the damage of an area that kills at once.
const InstantPoints = 100000

// AreaKind is the effect of a damage area.
type AreaKind struct {
	Points    int32   // each time
	PerSecond float32 // frequency
	Instant   bool    // kills at once instead
	// how long a player that it hits burns on, hurt at the same interval; 0: not at all
	BurnMillis int32
}

// Interval is the ticks between two hits: 1/(PerSecond*dt) rounded down, at least 1; 2^31 for an
// area that never hits.
func (k AreaKind) Interval(rate tick.Rate) tick.Tick {
	if !(k.PerSecond > 0) {
		return 1 << 31
	}
	return tick.Tick(min(max(float64(rate)/float64(k.PerSecond), 1), 1<<31))
}

// Area hurts players whose feet are in it: on entry, and again after every interval. Leaving and
// re-entering does not make it hit more often.
type Area struct {
	Box  geom.AABB
	Kind AreaKind
}

// AreaHits is when each area may hit each player again.
type AreaHits struct {
	slots int
	next  []tick.Tick // by area, then slot: not before
}

// NewAreaHits is the memory of a number of areas, for players in the given number of slots.
func NewAreaHits(areas, slots int) AreaHits { return AreaHits{slots, make([]tick.Tick, areas*slots)} }

// Forget makes all areas ready to hit a slot at once, for a new player.
func (h *AreaHits) Forget(slot int) {
	for i := slot; i < len(h.next); i += h.slots {
		h.next[i] = 0
	}
}

// Next is, by area and slot, the tick before which the area does not hit: the whole state.
func (h *AreaHits) Next() []tick.Tick { return h.next }

// Fire is what an area lights at a player that it hits.
type Fire struct {
	ID         netid.ID
	Points     int32
	Every      tick.Tick
	BurnMillis int32
}

// StepAreas queues the damage of the tick, and appends to out the fires that it lights.
func (s *Scene) StepAreas(areas []Area, all Bodies, hits *AreaHits, out []Fire) []Fire {
	for i := range areas {
		a, next := &areas[i], hits.next[i*hits.slots:][:hits.slots]
		interval := a.Kind.Interval(s.Rate)
		points := a.Kind.Points
		if a.Kind.Instant {
			points, interval = InstantPoints, 1
		}
		for row, p := range all.Pos {
			if !all.Alive[row] || !contains(a.Box, p) {
				continue
			}
			if slot := all.ID[row].Index(); s.Now >= next[slot] {
				next[slot] = s.Now + interval
				s.Damage.Add(Damage{Victim: all.ID[row], Cause: CauseArea, Points: points})
				if a.Kind.BurnMillis > 0 {
					out = append(out, Fire{all.ID[row], points, interval, a.Kind.BurnMillis})
				}
			}
		}
	}
	return out
}

// contains reports whether p lies in a box, its faces included.
func contains(b geom.AABB, p geom.Vec3) bool {
	return p.X >= b.Min.X && p.X <= b.Max.X && p.Y >= b.Min.Y && p.Y <= b.Max.Y && p.Z >= b.Min.Z &&
		p.Z <= b.Max.Z
}
