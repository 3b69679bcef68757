package meter

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// Histograms of several parts that travel as bytes merge into the histogram of all values.
func TestBinaryPartsAddUpToOneHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all, merged := NewHistogram(0, Fine), NewHistogram(0, Fine)
	for range 4 {
		part := NewHistogram(0, Fine)
		for range rng.IntN(5000) {
			v := rng.Int64N(1 << rng.IntN(40)) // some beyond the range
			part.Record(v)
			all.Record(v)
		}
		if err := merged.AddBinary(part.AppendBinary(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if merged.Count() != all.Count() || merged.Max() != all.Max() || merged.Mean() != all.Mean() ||
		merged.Clamped() != all.Clamped() {
		t.Errorf("count %d, max %d, mean %v, clamped %d; want %d, %d, %v, %d", merged.Count(), merged.Max(),
			merged.Mean(), merged.Clamped(), all.Count(), all.Max(), all.Mean(), all.Clamped())
	}
	for q := 0.0; q <= 1; q += 0.001 {
		if merged.Quantile(q) != all.Quantile(q) {
			t.Errorf("quantile %v: %d, want %d", q, merged.Quantile(q), all.Quantile(q))
		}
	}
}

// Bytes of another histogram, and bytes that are cut or changed, are refused or harmless.
func TestBinaryRefusesForeignBytes(t *testing.T) {
	h := NewHistogram(0, Fine)
	for v := range int64(1000) {
		h.Record(v * v)
	}
	raw := h.AppendBinary(nil)
	if err := NewHistogram(0, Coarse).AddBinary(raw); !errors.Is(err, ErrBinary) {
		t.Errorf("another resolution: %v", err)
	}
	for n := range raw {
		if err := NewHistogram(0, Fine).AddBinary(raw[:n]); !errors.Is(err, ErrBinary) {
			t.Errorf("cut to %d of %d bytes: %v", n, len(raw), err)
		}
	}
	if err := NewHistogram(0, Fine).AddBinary(append(raw, 0)); !errors.Is(err, ErrBinary) {
		t.Errorf("a byte too many: %v", err)
	}
}

func FuzzHistogramBinary(f *testing.F) {
	h := NewHistogram(0, Fine)
	f.Add(h.AppendBinary(nil))
	h.Record(7_000_000)
	f.Add(h.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := NewHistogram(0, Fine)
		if h.AddBinary(raw) != nil && h.Count() != 0 {
			t.Error("refused bytes were added")
		}
		if q := h.Quantile(0.5); q < 0 || q > h.Max() || h.Max() > DefaultHighest {
			t.Errorf("median %d, max %d", q, h.Max())
		}
	})
}
