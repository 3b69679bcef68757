package dst

import "testing"

// TestRow55MoversHoldUnderFaults plays seeds whose map has movers: all invariants hold, the shadow match
// and the recording included.
func TestRow55MoversHoldUnderFaults(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
	left := 3
	if testing.Short() {
		left = 1
	}
	for seed := uint64(3) << 62; left > 0; seed++ {
		if name, _ := mapOf(seed, Draw(seed).Clients); name != "lifts" {
			continue
		}
		left--
		r, err := Run(Case{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Errorf("%v", r.Violation)
		}
	}
}
