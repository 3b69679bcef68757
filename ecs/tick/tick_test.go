package tick

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// At and Since are each other's inverse, for every rate, for years of ticks.
func TestSinceInvertsAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate(rapid.IntRange(int(MinRate), int(MaxRate)).Draw(t, "rate"))
		n := Tick(rapid.Uint32Range(1, 1<<32-2).Draw(t, "tick"))
		at := r.At(n)
		if got, part := r.Since(at); got != n || part != 0 {
			t.Fatalf("%d Hz: tick %d begins at %v, where Since says %d and %v", r, n, at, got, part)
		}
		if got, part := r.Since(at - 1); got != n-1 || part < 0.99 || part >= 1 {
			t.Fatalf("%d Hz: just before tick %d Since says %d and %v", r, n, got, part)
		}
	})
	if got, part := DefaultRate.Since(-time.Second); got != 0 || part != 0 {
		t.Errorf("before the beginning: %d and %v", got, part)
	}
}

// Ticks do not drift: a million of them take what they should.
func TestAtDoesNotDrift(t *testing.T) {
	for r := MinRate; r <= MaxRate; r++ {
		if got := r.At(Tick(r) * 1_000_000); got != 1_000_000*time.Second {
			t.Errorf("%d Hz: a million seconds last %v", r, got)
		}
	}
}

func TestView(t *testing.T) {
	for v, want := range map[View]bool{
		{}: false, {From: 3, To: 3}: true, {From: 3, To: 6, Frac: 255}: true, {From: 6, To: 3}: false,
		{From: 1, To: 257}: false, {From: 1, To: 256}: true,
	} {
		if v.Valid() != want {
			t.Errorf("%+v valid: %v", v, v.Valid())
		}
	}
	if f := (View{Frac: 64}).Fraction(); f != 0.25 {
		t.Errorf("64/256 is %v", f)
	}
}
