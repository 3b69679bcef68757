package ecs

import "testing"

// A world that follows another gives no id that the other gave, in whatever slots; and a slot is
// given once.
func TestFollow(t *testing.T) {
	old := New(8)
	kind := old.Kind("thing")
	for n := range 300 { // generations wrap
		id := old.Spawn(kind)
		old.Flush()
		if n%7 != 0 {
			old.Despawn(id)
			old.Flush()
		}
		if old.Len() == 8 {
			for i := range 8 {
				old.Despawn(old.At(i))
			}
			old.Flush()
		}
	}
	next := New(8)
	kind = next.Kind("thing")
	next.ContinueIDs(old)
	for _, slot := range []int{5, 0, 7} {
		id := next.SpawnAt(slot, kind)
		if id.Index() != slot || old.KindOf(id) != 0 || next.SpawnAt(slot, kind) != 0 {
			t.Errorf("slot %d: %v", slot, id)
		}
	}
	if next.SpawnAt(8, kind) != 0 || next.SpawnAt(-1, kind) != 0 || next.Len() != 3 {
		t.Errorf("%d taken", next.Len())
	}
	for _, want := range []int{1, 2, 3, 4, 6} { // the others are given as ever
		if id := next.Spawn(kind); id.Index() != want {
			t.Errorf("got slot %d, want %d", id.Index(), want)
		}
	}
	if next.Spawn(kind) != 0 {
		t.Error("nine in eight slots")
	}
	next.Flush()
	for i := range 8 {
		if id := next.At(i); id == 0 || old.Alive(id) {
			t.Errorf("slot %d: %v lives in both", i, id)
		}
	}
}
