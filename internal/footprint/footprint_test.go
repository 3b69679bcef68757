package footprint

import (
	"sync/atomic"
	"testing"
)

type tree struct {
	name   string
	shared *leaves
	parts  []branch
	back   *tree
	latest atomic.Pointer[leaves]
	any    any
	byName map[string]*leaves
	_      func()
}

type branch struct {
	*leaves
	near *leaves
}

type leaves struct{ _ [112]byte }

// Bytes count once, for the first owner that reaches them, through slices, interfaces, maps and
// atomic pointers; a pointer back into the struct leads nowhere.
func TestMeasure(t *testing.T) {
	common := new(leaves)
	v := &tree{name: string([]byte("an oak, sixteen.")), shared: common, any: new(leaves),
		byName: map[string]*leaves{"": new(leaves)}}
	v.back = v
	v.parts = make([]branch, 2, 4)
	all := make([]leaves, 3)
	v.parts[0] = branch{&all[0], common}
	v.parts[1] = branch{&all[1], &all[2]}
	v.latest.Store(new(leaves))
	got := Measure(v, []Owner{{Path: "shared"}, {Path: "parts.leaves"}, {Path: "parts"}, {Path: "byName"},
		{}})
	// A branch has two pointers; the allocator gives 352 bytes to three leaves. A map has a head and
	// eight slots of a string, a pointer and a byte.
	want := []uint64{112, 224, 4*16 + 112 + 16, mapHead + 8*25 + 112, 16 + 112 + 112}
	want[4] += 8 + 16 + 8 + 24 + 8 + 16 + 8 + 8 // the struct itself; its atomic pointer has 8 bytes
	for i, part := range got {
		if part.Bytes != want[i] {
			t.Errorf("%q has %d bytes, expected %d", part.Path, part.Bytes, want[i])
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a path that names no field was taken")
		}
	}()
	Measure(v, []Owner{{Path: "parts.gone"}})
}
