package schema_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
)

// slowExpect is the twin of Coder.Predict: one value, fractions of any size.
func slowExpect(f schema.Field, ahead, last, first int64, v0, v1, v2 int32) (want int32, signal uint8) {
	if last == 0 {
		return v0, schema.LevelUnknown
	}
	cut := func(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) } // towards zero
	times := func(d, n, of int64) *big.Int { return cut(big.NewRat(1, 1).Mul(big.NewRat(d, 1), big.NewRat(n, of))) }
	move, before := int64(slowDelta(f, v0, v1)), int64(slowDelta(f, v1, v2))
	way, wrong := times(move, ahead, last), big.NewInt(move)
	if first != 0 && f.Predict != schema.Hold {
		wrong.Sub(wrong, times(before, last, first))
	}
	switch rest := big.NewInt(move); {
	case f.Predict == schema.Hold, f.Predict == schema.Best && (first == 0 || wrong.CmpAbs(rest) >= 0):
		way, wrong = new(big.Int), rest
	case f.Predict == schema.Quadratic && first != 0:
		// Over half the time between.
		bend := big.NewRat(1, 1).Sub(big.NewRat(move, last), big.NewRat(before, first))
		bend.Mul(bend, big.NewRat(ahead*(ahead+last), last+first))
		way.Add(way, cut(bend))
	}
	x := way.Add(way, big.NewInt(int64(v0)))
	lo, hi := f.Range()
	switch {
	case f.Wrap != 0:
		x.Mod(x, big.NewInt(int64(f.Wrap)))
	case x.Cmp(big.NewInt(int64(lo))) < 0:
		x.SetInt64(int64(lo))
	case x.Cmp(big.NewInt(int64(hi))) > 0:
		x.SetInt64(int64(hi))
	}
	wrong.Abs(wrong).Mul(wrong, big.NewInt(max(1, ahead/last)))
	signal = uint8(schema.LevelExact + min(wrong.BitLen(), schema.ErrorLevels-2))
	if move < 0 {
		signal += schema.Falling
	}
	return int32(x.Int64()), signal
}

func TestExpect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := edgeFields[rapid.IntRange(0, len(edgeFields)-1).Draw(t, "field")]
		f.Predict = schema.Predictor(rapid.IntRange(0, int(schema.Best)).Draw(t, "predict"))
		c := &schema.DefaultModel(schema.Schema{Name: "one", Fields: []schema.Field{f}}).Coders()[0]
		times := rapid.Uint32Range(1, 63)
		ahead, last, first := times.Draw(t, "ahead"), times.Draw(t, "last"), times.Draw(t, "first")
		if n := rapid.IntRange(1, 3).Draw(t, "baselines"); n < 3 {
			if first = 0; n < 2 {
				last = 0
			}
		}
		var v [3][]int32
		near := rapid.Bool().Draw(t, "near")
		for range rapid.IntRange(1, 16).Draw(t, "rows") {
			at := drawValue(t, f)
			for i := range v {
				if !near {
					at = drawValue(t, f)
				}
				v[i] = append(v[i], f.Clamp(at))
				at += rapid.Int32Range(-9, 9).Draw(t, "step")
			}
		}
		unit := rapid.Uint32Range(1, 60).Draw(t, "unit")
		m := schema.MakeBaselineSpacing(ahead*unit, last*unit, first*unit)
		got, signals := make([]int32, len(v[0])), make([]uint8, len(v[0]))
		c.Predict(&m, got, v[0], v[1], v[2], signals)
		d := big.NewInt(0).GCD(nil, nil, big.NewInt(int64(ahead)), big.NewInt(int64(last)))
		if d.GCD(nil, nil, d, big.NewInt(int64(first))); last == 0 {
			d.SetInt64(1)
		}
		k := d.Int64()
		for i := range got {
			want, signal := slowExpect(f, int64(ahead)/k, int64(last)/k, int64(first)/k, v[0][i], v[1][i], v[2][i])
			if got[i] != want || signals[i] != signal {
				t.Fatalf("%v of %d, %d, %d at %d, %d, %d: %d, signal %d, want %d, %d", f.Predict, v[0][i], v[1][i], v[2][i],
					ahead, last, first, got[i], signals[i], want, signal)
			}
			if f.Clamp(got[i]) != got[i] {
				t.Fatalf("%d is out of range", got[i])
			}
		}
	})
}
