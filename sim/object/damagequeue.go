package object

import (
	"cmp"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/move"
)

// Cause is the source of damage.
type Cause uint8

// The causes.
const (
	CauseShot Cause = iota
	CauseMelee
	CauseProjectile
	CauseBlast
	CauseArea
	causes
)

// String names the cause.
func (c Cause) String() string {
	if c.Known() {
		return [causes]string{"shot", "melee", "projectile", "blast", "area"}[c]
	}
	return "?"
}

// Known reports whether there is such a cause.
func (c Cause) Known() bool { return c < causes }

// MaxPoints is the most points of one damage; more counts as MaxPoints.
const MaxPoints = 1 << 20

// maxSum is the most that the damage of one cause from one instigator to one victim adds up to in
// a tick.
const maxSum = 1 << 30

// Damage is one loss of health.
type Damage struct {
	Victim     netid.ID
	Instigator netid.ID // gets the credit; 0: the world
	Cause      Cause
	Points     int32     // 0 to MaxPoints; below 0 counts as 0
	Impulse    geom.Vec3 // m/s; counted in move.VelUnit
}

// DamageQueue collects the damage of a tick and applies it once. Damage of one cause from one
// instigator to one victim is summed in integers, so that neither the order nor the number of
// additions changes the outcome. Nothing is dropped; memory grows to the number of such triples.
type DamageQueue struct {
	entries []entry
	table   []int32  // hash of a triple -> 1 + its entry; a power of two, at most half full
	order   []uint64 // victim<<32 | entry, while settling
}

type entry struct {
	victim, instigator netid.ID
	cause              Cause
	points             int32
	impulse            [3]int64 // move.VelUnit
}

// NewDamageQueue makes a queue with initial room for the given number of triples.
func NewDamageQueue(triples int) *DamageQueue {
	size := 16
	for size < 2*triples {
		size *= 2
	}
	return &DamageQueue{entries: make([]entry, 0, size/2), table: make([]int32, size),
		order: make([]uint64, 0, size/2)}
}

// Add queues damage.
func (l *DamageQueue) Add(d Damage) {
	e := l.find(d.Victim, d.Instigator, d.Cause)
	e.points = min(e.points+min(max(d.Points, 0), MaxPoints), maxSum)
	for i, v := range [3]float32{d.Impulse.X, d.Impulse.Y, d.Impulse.Z} {
		e.impulse[i] += units(v)
	}
}

// Len is the number of triples since the last Resolve.
func (l *DamageQueue) Len() int { return len(l.entries) }

// units rounds an impulse to whole move.VelUnit, at most 2^20 m/s; NaN is 0.
func units(v float32) int64 {
	const top = 1 << 20
	if !(v == v) {
		return 0
	}
	x := float64(float64(min(max(v, -top), top)) * (1 / move.VelUnit))
	if x < 0 {
		return -int64(0.5 - x)
	}
	return int64(x + 0.5)
}

// find returns the entry of a triple, a new one if there is none.
func (l *DamageQueue) find(victim, instigator netid.ID, cause Cause) *entry {
	if 2*(len(l.entries)+1) > len(l.table) {
		l.grow()
	}
	mask := uint32(len(l.table) - 1)
	for at := l.slotFor(victim, instigator, cause); ; at = (at + 1) & mask {
		i := l.table[at]
		if i == 0 {
			l.entries = append(l.entries, entry{victim: victim, instigator: instigator, cause: cause})
			l.table[at] = int32(len(l.entries))
			return &l.entries[len(l.entries)-1]
		}
		if e := &l.entries[i-1]; e.victim == victim && e.instigator == instigator && e.cause == cause {
			return e
		}
	}
}

func (l *DamageQueue) slotFor(victim, instigator netid.ID, cause Cause) uint32 {
	h := (uint64(victim)<<32 | uint64(instigator)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ uint64(cause)) * 0xbf58476d1ce4e5b9
	return uint32(h>>32) & uint32(len(l.table)-1)
}

func (l *DamageQueue) grow() {
	l.table = make([]int32, max(16, 2*len(l.table)))
	mask := uint32(len(l.table) - 1)
	for i := range l.entries {
		e := &l.entries[i]
		at := l.slotFor(e.victim, e.instigator, e.cause)
		for l.table[at] != 0 {
			at = (at + 1) & mask
		}
		l.table[at] = int32(i + 1)
	}
}

// DamageResult is the outcome of one triple.
type DamageResult struct {
	Victim, Instigator netid.ID
	Cause              Cause
	Killed             bool      // took the last point: true once in a life
	Points             int32     // dealt
	Taken              int32     // of them, those that the victim had left
	Impulse            geom.Vec3 // m/s
}

// Resolve takes all damage from health, appends the results to out, and empties the queue. health
// returns a victim's points, or nil if the victim is gone; damage to missing or dead victims has
// no result. Health never falls below 0.
//
// Victims come in ascending order. On each, the greatest damage is taken first, of equal ones that
// of the lower instigator, then of the lower cause, so the credit for a kill does not depend on
// the order of Add.
func (l *DamageQueue) Resolve(health func(netid.ID) *int16, out []DamageResult) []DamageResult {
	l.clear()
	l.sort()
	var points *int16
	for i, key := range l.order {
		e := &l.entries[uint32(key)]
		if i == 0 || key>>32 != l.order[i-1]>>32 {
			points = health(e.victim)
		}
		if points == nil || *points <= 0 {
			continue
		}
		took := min(e.points, int32(*points))
		*points -= int16(took)
		out = append(out, DamageResult{
			Victim: e.victim, Instigator: e.instigator, Cause: e.cause, Points: e.points, Taken: took,
			Killed: *points == 0, Impulse: geom.Vec3{X: metres(e.impulse[0]), Y: metres(e.impulse[1]),
				Z: metres(e.impulse[2])},
		})
	}
	l.entries = l.entries[:0]
	return out
}

// sort fills order: by victim, which is cheap to compare, then the few triples of each victim.
func (l *DamageQueue) sort() {
	l.order = l.order[:0]
	for i := range l.entries {
		l.order = append(l.order, uint64(l.entries[i].victim)<<32|uint64(i))
	}
	slices.Sort(l.order)
	for from, to := 0, 0; from < len(l.order); from = to {
		for to = from + 1; to < len(l.order) && l.order[to]>>32 == l.order[from]>>32; to++ {
		}
		if to-from > 1 {
			slices.SortFunc(l.order[from:to],
				func(a, b uint64) int { return compareEntries(&l.entries[uint32(a)], &l.entries[uint32(b)]) })
		}
	}
}

// clear empties the table at a cost that follows from this tick's entries, not from the busiest
// tick.
func (l *DamageQueue) clear() {
	if 8*len(l.entries) > len(l.table) {
		clear(l.table)
		return
	}
	mask := uint32(len(l.table) - 1)
	// backwards, so that no probe sequence is cut before its entry is gone
	for i := len(l.entries) - 1; i >= 0; i-- {
		e := &l.entries[i]
		at := l.slotFor(e.victim, e.instigator, e.cause)
		for l.table[at] != int32(i+1) {
			at = (at + 1) & mask
		}
		l.table[at] = 0
	}
}

func metres(units int64) float32 { return float32(float64(units) * move.VelUnit) }

// compareEntries orders the entries of one victim.
func compareEntries(a, b *entry) int {
	if a.points != b.points {
		return cmp.Compare(b.points, a.points)
	}
	if a.instigator != b.instigator {
		return cmp.Compare(a.instigator, b.instigator)
	}
	return cmp.Compare(a.cause, b.cause)
}
