package snapshot

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Whatever the range and the value, bound says what the field itself does.
func TestBoundEqualsField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := schema.Field{Name: "x"}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			f.Wrap = rapid.Int32Range(2, schema.MaxWrap).Draw(t, "wrap")
		case 1:
			f.Min = rapid.Int32().Draw(t, "min")
			f.Max = rapid.Int32Range(f.Min, math.MaxInt32).Draw(t, "max")
		}
		b := boundsOf(schema.Schema{Fields: []schema.Field{f}})[0]
		lo, hi := f.Range()
		near := rapid.Int32Range(-2, 2).Draw(t, "near")
		for _, v := range []int32{rapid.Int32().Draw(t, "v"), lo + near, hi + near, near, math.MinInt32, math.MaxInt32} {
			if got, want := b.clamp(v), f.Clamp(v); got != want {
				t.Fatalf("%+v: %d becomes %d, the field says %d", f, v, got, want)
			}
		}
	})
}
