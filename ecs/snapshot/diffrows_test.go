package snapshot

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
)

// Occupied and Unlike against what Row says of each slot.
func TestUnlike(t *testing.T) {
	const slots = 40
	d := rand.New(rand.NewPCG(4, 4))
	s := playerSchema
	fields := len(s.Fields)
	for range 300 {
		var f [2]*Frame
		for i := range f {
			f[i] = &newFrames(s, slots, 1)[0]
			if f[i].Reset(1); i == 1 && d.IntN(3) == 0 {
				clear(f[i].known)
			}
		}
		row := make([]int32, fields)
		for slot := range slots {
			for i := range row {
				row[i] = int32(d.IntN(4))
			}
			for i := range f {
				if d.IntN(20) == 0 {
					row[d.IntN(fields)]++
				}
				if d.IntN(2) != 0 {
					f[i].known[slot>>6] |= 1 << (slot & 63)
				}
				if d.IntN(8) != 0 {
					f[i].Set(slot, netid.Make(slot, uint8(1+d.IntN(12)/11)), row)
				}
			}
		}
		var a, b = make([]int32, fields), make([]int32, fields)
		for slot := range f[0].Slots() {
			g, bit := slot/GroupRows, uint16(1)<<(slot%GroupRows)
			was, is := f[0].Row(slot, a), f[1].Row(slot, b)
			same := was == is
			for i := range a {
				same = same && (was == 0 || a[i] == b[i])
			}
			if got := f[0].DiffRows(f[1], g)&bit == 0; got != same {
				t.Fatalf("slot %d: %v %v and %v %v are the same %v", slot, was, a, is, b, got)
			}
			known, there := f[1].Occupied(g)
			if known&bit != 0 != f[1].HasRow(slot) || there&bit != 0 != (is != 0) {
				t.Fatalf("slot %d: known %016b, there %016b", slot, known, there)
			}
		}
	}
}
