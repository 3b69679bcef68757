package rangecoder

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Whatever goes in comes out, and costs what its probabilities say.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var e Encoder
	var d Decoder
	for round := range 2000 {
		n := rng.IntN(400)
		bits := make([]bool, n)
		ps := make([]uint32, n)
		raw := make([]uint32, n)
		ideal := 0.0
		e.Reset([]byte{7, 255})
		for i := range bits {
			ps[i] = uint32(1 + rng.IntN(One-1))
			if rng.IntN(3) == 0 {
				ps[i] = []uint32{1, One - 1}[rng.IntN(2)]
			}
			bits[i] = rng.IntN(One) >= int(ps[i])
			p := float64(ps[i]) / One
			if bits[i] {
				p = 1 - p
			}
			ideal -= math.Log2(p)
			e.Bit(bits[i], ps[i])
			raw[i] = rng.Uint32() & 0xffff
			if i%7 == 0 {
				e.Bits(raw[i], uint(i%17))
				ideal += float64(i % 17)
			}
		}
		out := e.Finish()
		if out[0] != 7 || out[1] != 255 {
			t.Fatalf("round %d: the caller's bytes changed", round)
		}
		out = out[2:]
		if got := float64(len(out) * 8); got > ideal+16.1 {
			t.Fatalf("round %d: %v bits for %v", round, got, ideal)
		}
		d.Reset(out)
		for i := range bits {
			if d.Bit(ps[i]) != bits[i] {
				t.Fatalf("round %d: bit %d of %d differs", round, i, n)
			}
			if i%7 == 0 {
				if got, want := d.Bits(uint(i%17)), raw[i]&(1<<(i%17)-1); got != want {
					t.Fatalf("round %d: %d raw bits are %x, want %x", round, i%17, got, want)
				}
			}
		}
		if d.Err() != nil {
			t.Fatal(d.Err())
		}
	}
}

// A decoder that goes on past the end says so, and soon.
func TestShort(t *testing.T) {
	var d Decoder
	d.Reset([]byte{1, 2, 3})
	for range 200 {
		d.Bit(One / 2)
	}
	if d.Err() == nil {
		t.Error("200 even decisions out of 3 bytes, no error")
	}
}

// Any bytes decode to decisions, and those, coded again with the same probabilities, decode to
// themselves.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{}, uint64(1))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, uint64(2))
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var e Encoder
		var d, again Decoder
		n := min(len(src)*8, 2000)
		ps, bits := make([]uint32, n), make([]bool, n)
		d.Reset(src)
		e.Reset(nil)
		for i := range n {
			ps[i] = uint32(1 + rng.IntN(One-1))
			bits[i] = d.Bit(ps[i])
			e.Bit(bits[i], ps[i])
		}
		again.Reset(e.Finish())
		for i := range n {
			if again.Bit(ps[i]) != bits[i] {
				t.Fatalf("decision %d of %d differs", i, n)
			}
		}
		if again.Err() != nil {
			t.Fatal(again.Err())
		}
	})
}

func BenchmarkBit(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 4096
	var ps [n]uint32
	var bits [n]bool
	for i := range ps {
		ps[i] = uint32(1 + rng.IntN(One-1))
		bits[i] = rng.IntN(One) >= int(ps[i])
	}
	var e Encoder
	buf := make([]byte, 0, n)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Reset(buf)
			for i := range ps {
				e.Bit(bits[i], ps[i])
			}
			buf = e.Finish()[:0]
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bit")
	})
	out := buf[:cap(buf)]
	var d Decoder
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Reset(out)
			for i := range ps {
				d.Bit(ps[i])
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bit")
	})
}
