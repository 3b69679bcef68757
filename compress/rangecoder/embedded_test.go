package rangecoder

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Messages that lie one after the other, with anything after the last, are found and read by what
// they say.
func TestTrackerFindsTheEnd(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		type decision struct {
			bit bool
			p   uint32
			v   uint32
			n   uint
		}
		var all [][]decision
		var src []byte
		var ends []int
		for range 1 + rng.IntN(5) {
			var e Encoder
			e.Reset(src)
			var said []decision
			for range rng.IntN(60) {
				d := decision{p: 1 + rng.Uint32N(One-1)}
				switch rng.IntN(4) {
				case 0:
					d.p = 1
				case 1:
					d.p = One - 1
				}
				d.bit = rng.Uint32N(One) >= d.p != (rng.IntN(20) == 0)
				if rng.IntN(4) == 0 {
					d.n = uint(1 + rng.IntN(16))
					d.v = rng.Uint32N(1 << d.n)
					e.Bits(d.v, d.n)
				} else {
					e.Bit(d.bit, d.p)
				}
				said = append(said, d)
			}
			src = e.FinishEmbedded()
			all, ends = append(all, said), append(ends, len(src))
		}
		for _, b := range []byte{0, 0xff, byte(seed)} {
			in, at := append(bytes.Clone(src), bytes.Repeat([]byte{b}, rng.IntN(9))...), 0
			for i, said := range all {
				var d EmbeddedDecoder
				d.Reset(in[at:])
				for _, want := range said {
					if want.n > 0 {
						if got := d.Bits(want.n); got != want.v {
							t.Fatalf("seed %d: %d, want %d", seed, got, want.v)
						}
					} else if d.Bit(want.p) != want.bit {
						t.Fatalf("seed %d: a decision is another", seed)
					}
				}
				n, ok := d.Size()
				if at += n; at != ends[i] || !ok {
					t.Fatalf("seed %d: message %d ends at %d, want %d", seed, i, at, ends[i])
				}
			}
		}
	}
}
