package dst

import (
	"reflect"
	"testing"
	"time"
)

// A case is what its line says.
func TestCaseRoundTrip(t *testing.T) {
	for _, c := range []Case{
		{Seed: 1},
		{Seed: 1<<64 - 1, Until: 31417 * time.Millisecond},
		{Seed: 2, Clients: 1, Without: []int{0, 1, 2, 5, 7, 8}},
	} {
		got, err := ParseCase(c.String())
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%v: %+v, %v", c, got, err)
		}
	}
	for _, bad := range []string{"", "--seed", "--seed x", "--seed 1 --until 2h", "--seed 1 --clients 99", "--seed 1 --without 3-1",
		"--seed 1 --without 0-99999999999", "--seed 1 --without 5000", "--sed 1"} {
		if c, err := ParseCase(bad); err == nil {
			t.Errorf("%q is %+v", bad, c)
		}
	}
}

// The same seed draws the same, another draws otherwise, and all kinds of faults are drawn.
func TestDraw(t *testing.T) {
	var kinds [numKinds]int
	for seed := range uint64(50) {
		a, b := Draw(seed), Draw(seed)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d draws %+v and %+v", seed, a, b)
		}
		if reflect.DeepEqual(a, Draw(seed+1000)) {
			t.Errorf("seeds %d and %d draw the same", seed, seed+1000)
		}
		for i := range a.Faults {
			f := &a.Faults[i]
			kinds[f.Kind]++
			if f.At >= calm || f.Client >= a.Clients || f.Link.Check() != nil {
				t.Errorf("seed %d: %v", seed, f)
			}
		}
	}
	for k, n := range kinds {
		if n == 0 {
			t.Errorf("no %v", Kind(k))
		}
	}
}
