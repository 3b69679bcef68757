package capture

import (
	"slices"
	"testing"
	"time"
)

// A ring has the newest marks, oldest first, as they were made.
func TestRingKeepsTheNewest(t *testing.T) {
	r, want := new(ring), []mark(nil)
	for i := range 3*maxMarks + 7 {
		m := mark{time.Duration(i) * 1e12, uint32(i) ^ Port, uint32(i), kind(i % 6)}
		r.add(m)
		if want = append(want, m); i == 9 && !slices.Equal(r.all(), want) {
			t.Errorf("got %v", r.all())
		}
	}
	if !slices.Equal(r.all(), want[len(want)-maxMarks:]) {
		t.Error("the marks are others")
	}
}
