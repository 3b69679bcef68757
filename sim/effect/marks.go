package effect

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Mark is what an impact or an explosion leaves on a surface.
type Mark struct {
	Pos, Normal geom.Vec3
	Radius      float32 // metres
	Tick        tick.Tick
}

// Marks keeps marks under a budget. A mark replaces the smaller ones that it covers; one that a
// larger mark covers is not added. Beyond the budget the oldest mark that is no larger goes, or if
// all are larger, the smallest. So a crater stays when bullets strike around it.
type Marks struct {
	list     []Mark
	replaced uint64
}

// NewMarks returns an empty pool for most marks, at least one. It makes all its memory.
func NewMarks(most int) *Marks { return &Marks{list: make([]Mark, 0, max(most, 1))} }

// All lists the marks in no order. It is valid until the next Add.
func (m *Marks) All() []Mark { return m.list }

// Replaced counts the marks that gave way to others: to a larger one, or to the budget.
func (m *Marks) Replaced() uint64 { return m.replaced }

// Add adds a mark and reports whether it is shown: false if a larger one covers it.
func (m *Marks) Add(k Mark) bool {
	smallest, oldest := 0, -1 // of all; of those that are no larger
	for i := range m.list {
		old := &m.list[i]
		if old.Radius > k.Radius && old.covers(&k) {
			return false
		}
		if s := &m.list[smallest]; old.Radius < s.Radius || old.Radius == s.Radius && old.Tick < s.Tick {
			smallest = i
		}
		if old.Radius <= k.Radius && (oldest < 0 || old.Tick < m.list[oldest].Tick) {
			oldest = i
		}
	}
	if m.dropCovered(&k); len(m.list) == cap(m.list) { // then it dropped none
		if oldest < 0 {
			oldest = smallest
		}
		m.replaced++
		m.list[oldest] = k
		return true
	}
	m.list = append(m.list, k)
	return true
}

// dropCovered removes the smaller marks that k covers.
func (m *Marks) dropCovered(k *Mark) {
	kept := m.list[:0]
	for _, old := range m.list {
		if old.Radius >= k.Radius || !k.covers(&old) {
			kept = append(kept, old)
		}
	}
	m.replaced += uint64(len(m.list) - len(kept))
	m.list = kept
}

// covers reports whether the centre of another mark lies in k, on a surface that faces the same
// way.
func (k *Mark) covers(other *Mark) bool {
	return k.Pos.Sub(other.Pos).LenSq() <= float32(k.Radius*k.Radius) && k.Normal.Dot(other.Normal) > 0.5
}
