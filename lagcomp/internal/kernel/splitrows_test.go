package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// unzipSlow is what SplitRows does, a row at a time.
func unzipSlow(rows, kept []Row, c *Spheres, radii *[16]float32) {
	for i, r := range rows {
		kept[i] = r
		c.X[i], c.Y[i], c.Z[i] = math.Float32frombits(r[0]), math.Float32frombits(r[1]),
			math.Float32frombits(r[2])
		at := r[6] >> 3 & 7
		if r[4]&1 == 0 && r[5] != 0 {
			at += 8
		}
		c.NR2[i] = radii[at]
	}
}

// Every implementation takes rows apart to the same bits, and touches nothing beyond those it says
// it did.
func TestUnzipSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var radii [16]float32
	for i := range radii {
		radii[i] = float32(i)
	}
	columns := func(n int) Spheres {
		var axes [4][]float32
		for k := range axes {
			axes[k] = make([]float32, n)
			for i := range axes[k] {
				axes[k][i] = -77
			}
		}
		return Spheres{X: axes[0], Y: axes[1], Z: axes[2], NR2: axes[3]}
	}
	for name, k := range levels(t) {
		alive := 0
		for n := range 100 {
			rows, kept, want := make([]Row, n), make([]Row, n+1), make([]Row, n+1)
			for i := range rows {
				for w := range rows[i] {
					rows[i][w] = rng.Uint32()
				}
				if rng.IntN(4) == 0 {
					rows[i][5] = 0
				}
			}
			got, truth := columns(n+1), columns(n+1)
			done := k.splitRows(rows, kept, &got, &radii)
			if k == generic && done != 0 || k != generic && (done > n || n-done >= k.lanes()) {
				t.Fatalf("%s: %d of %d rows", name, done, n)
			}
			unzipSlow(rows[:done], want, &truth, &radii)
			for i := range n + 1 {
				if kept[i] != want[i] || got.NR2[i] != truth.NR2[i] ||
					math.Float32bits(got.X[i]) != math.Float32bits(truth.X[i]) ||
					math.Float32bits(got.Y[i]) != math.Float32bits(truth.Y[i]) ||
					math.Float32bits(got.Z[i]) != math.Float32bits(truth.Z[i]) {
					t.Fatalf("%s: row %d of %d: %v %v %v %v, want %v %v %v %v", name, i, n, got.X[i],
						got.Y[i], got.Z[i], got.NR2[i],
						truth.X[i], truth.Y[i], truth.Z[i], truth.NR2[i])
				}
				if got.NR2[i] >= 8 {
					alive++
				}
			}
		}
		if k != generic && alive < 1000 {
			t.Errorf("%s: only %d alive", name, alive)
		}
	}
}
