package alloctest

import "testing"

var sink []byte

// An allocation in one of a hundred calls is counted, and AllocsPerRun has none of it.
func TestInCountsRareAllocations(t *testing.T) {
	calls := 0
	rare := func() {
		if calls++; calls%100 == 0 {
			sink = make([]byte, 100)
		}
	}
	if n := In(100, rare); n < 1 {
		t.Errorf("%v allocations, want 1", n)
	}
	if n := In(1000, func() {}); n != 0 {
		t.Errorf("%v allocations of nothing", n)
	}
	if n := In(10, func() { sink = make([]byte, 100) }); n < 10 {
		t.Errorf("%v allocations, want 10", n)
	}
}
