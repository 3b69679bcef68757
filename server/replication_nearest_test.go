package server

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelectNearest holds selectNearest to a sort of all visible slots by class, then slot.
func TestSelectNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 5))
	for range 300 {
		slots := 1 + r.IntN(300)
		words := (slots + 63) / 64
		p := playerRows{nearest: make([]uint64, words), distance: newDistances(slots)}
		p.interest.x, p.interest.z = make([]float32, slots), make([]float32, slots)
		visible, favoured := make([]uint64, words), make([]uint64, words)
		own, count := r.IntN(slots), r.IntN(slots+1)
		var order []int
		for slot := range slots {
			p.interest.x[slot], p.interest.z[slot] = r.Float32()*100, r.Float32()*100
			if r.IntN(3) > 0 || slot == own {
				visible[slot>>6] |= 1 << (slot & 63)
				order = append(order, slot)
			}
			if r.IntN(4) == 0 {
				favoured[slot>>6] |= 1 << (slot & 63)
			}
		}
		class := func(slot int) int {
			dx, dz := p.interest.x[slot]-p.interest.x[own], p.interest.z[slot]-p.interest.z[own]
			if slot == own {
				return 0
			}
			return int(distanceClass(1+float32(dx*dx)+float32(dz*dz), favoured[slot>>6]>>(slot&63)&1 != 0))
		}
		slices.SortStableFunc(order, func(a, b int) int { return class(a) - class(b) })
		want := make([]uint64, words)
		for _, slot := range order[:min(count, len(order))] {
			want[slot>>6] |= 1 << (slot & 63)
		}
		p.selectNearest(visible, favoured, own, count)
		if !slices.Equal(p.nearest, want) {
			t.Fatalf("%d of %d slots: %x, want %x", count, slots, p.nearest, want)
		}
	}
}
