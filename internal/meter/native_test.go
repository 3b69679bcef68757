package meter

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// Each value is in the bucket that floating point finds for it, and the sums are those of the
// values.
func TestNativeAgreesWithLogarithms(t *testing.T) {
	for _, c := range []struct {
		unit    float64
		highest int64
	}{{1e-9, 64_000_000_000}, {1, 1 << 20}, {0.125, 1 << 16}, {1, 1}} {
		h := NewNative(c.unit, c.highest)
		r := rand.New(rand.NewPCG(1, uint64(c.highest)))
		want, sum, count := map[int]uint64{}, 0.0, uint64(0)
		try := func(v int64) {
			h.Record(v)
			count++
			if v <= 0 {
				return
			}
			sum += float64(v) * c.unit
			i := int(math.Ceil(math.Log2(float64(v)*c.unit)*8 - 1e-9))
			want[min(i, h.lowest+len(h.bounds)-1)]++
		}
		for v := range int64(5000) {
			try(v - 2)
		}
		for range 20_000 {
			try(r.Int64N(1 << r.IntN(40)))
		}
		got := h.Read()
		if got.Count != count || math.Abs(got.Sum-sum) > 1e-6*sum {
			t.Errorf("unit %g: %d values of %g in all, want %d of %g", c.unit, got.Count, got.Sum, count, sum)
		}
		for i, n := range got.Counts {
			if n != want[got.Lowest+i] {
				t.Errorf("unit %g: bucket %d has %d, want %d", c.unit, got.Lowest+i, n, want[got.Lowest+i])
			}
		}
	}
}

func TestNativeAllocatesNothing(t *testing.T) {
	h := NewNative(1e-9, 64_000_000_000)
	v := int64(1)
	if n := alloctest.In(1000, func() { h.Record(v); v = v*3 + 1 }); n != 0 {
		t.Fatalf("%g allocations a record", n)
	}
}

func BenchmarkNativeRecord(b *testing.B) {
	h := NewNative(1e-9, 64_000_000_000)
	for i := range b.N {
		h.Record(int64(i) * 37 & (1<<30 - 1))
	}
}
