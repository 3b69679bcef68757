package pvs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A lazy crowd says of the same people what a crowd of a table says that was built before, pair by
// pair and seen by seen, at all heights.
func TestLazy(t *testing.T) {
	for _, a := range scenes(t)[3:] {
		grid := Fit(a, 4)
		table, err := Build(a, grid)
		if err != nil {
			t.Fatal(err)
		}
		lazy, err := NewLazy(a, grid)
		if err != nil {
			t.Fatal(err)
		}
		if lazy.Config().Wide != table.Config().Wide || lazy.t.Bytes() != table.Bytes() {
			t.Fatalf("%s: %v, want %v", a.Name, lazy.t, table)
		}
		crowd, r, listed := NewCrowd(table), rand.New(rand.NewPCG(9, 9)), 0
		for range 40 {
			crowd.Reset()
			lazy.Reset()
			for range 30 {
				x, y, z := a.Bounds.Min.X+r.Float32()*(a.Bounds.Max.X-a.Bounds.Min.X), 4*r.Float32(),
					a.Bounds.Min.Z+r.Float32()*(a.Bounds.Max.Z-a.Bounds.Min.Z)
				crowd.Raise(x, y, z)
				lazy.Raise(x, y, z)
			}
			for range 10 {
				from, to := r.IntN(table.Cells()), r.IntN(table.Cells())
				got, want := lazy.Seen(from, nil), crowd.Seen(from, nil)
				if listed += len(got); !slices.Equal(got, want) {
					t.Fatalf("%s: from cell %d %v are seen, want %v", a.Name, from, got, want)
				}
				if lazy.Visible(from, to) != crowd.Visible(from, to) {
					t.Fatalf("%s: cell %d sees %d otherwise than by the table", a.Name, from, to)
				}
			}
		}
		if listed == 0 {
			t.Errorf("%s: nobody saw anybody", a.Name)
		}
	}
	bad := Fit(rooms(3, 1), 4)
	bad.Wide--
	if _, err := NewLazy(rooms(3, 1), bad); err == nil {
		t.Error("a grid too small was taken")
	}
}
