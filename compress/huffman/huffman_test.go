package huffman_test

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
)

func cost(counts []uint64, lengths []uint8) (total uint64) {
	for i, c := range counts {
		total += c * uint64(lengths[i])
	}
	return total
}

func kraft(lengths []uint8) (space uint32) {
	for _, n := range lengths {
		space += 1 << (huffman.MaxLength - n)
	}
	return space
}

// decode takes one symbol. It returns -1 if the bits are no code or end too early.
func decode(t *huffman.Table, r *bitio.Reader) int {
	sym, n := t.Lookup(r.Peek(huffman.MaxLength))
	r.Skip(n)
	if r.Err() != nil {
		return -1
	}
	return sym
}

// cheapest tries every complete assignment of lengths.
func cheapest(counts []uint64, maxLen int) uint64 {
	best := uint64(math.MaxUint64)
	lengths := make([]uint8, len(counts))
	var try func(i int, space uint32)
	try = func(i int, space uint32) {
		if i == len(counts) {
			best = min(best, cost(counts, lengths))
			return
		}
		for n := 1; n <= maxLen; n++ {
			if s := uint32(1) << (maxLen - n); s <= space {
				lengths[i] = uint8(n)
				try(i+1, space-s)
			}
		}
	}
	try(0, 1<<maxLen)
	return best
}

func TestBuildIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maxLen := rapid.IntRange(1, 5).Draw(t, "maxLen")
		n := rapid.IntRange(1, min(6, 1<<maxLen)).Draw(t, "n")
		counts := rapid.SliceOfN(rapid.Uint64Range(0, 300), n, n).Draw(t, "counts")
		if rapid.Bool().Draw(t, "skewed") {
			for i := range counts {
				counts[i] = counts[i] * counts[i] * counts[i]
			}
		}
		lengths := huffman.Build(counts, maxLen)
		if got, want := cost(counts, lengths), cheapest(counts, maxLen); got != want {
			t.Fatalf("cost %d with %v, best is %d", got, lengths, want)
		}
	})
}

func TestBuildIsCompleteAtAnySize(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts func(n int) []uint64
	}{
		{"zero", func(n int) []uint64 { return make([]uint64, n) }},
		{"equal", func(n int) []uint64 { return slices.Repeat([]uint64{7}, n) }},
		{"fibonacci", func(n int) []uint64 {
			out := slices.Repeat([]uint64{1}, n)
			for i := 2; i < min(n, 90); i++ {
				out[i] = out[i-1] + out[i-2]
			}
			return out
		}},
		{"huge", func(n int) []uint64 { return slices.Repeat([]uint64{math.MaxUint64}, n) }},
		{"one huge", func(n int) []uint64 {
			out := make([]uint64, n)
			out[n/2] = math.MaxUint64
			return out
		}},
	} {
		for _, n := range []int{2, 3, 16, 64, 65, 2050, 4098, huffman.MaxSymbols} {
			for _, maxLen := range []int{4, 6, 12, 13, huffman.MaxLength} {
				if n > 1<<maxLen {
					continue
				}
				lengths := huffman.Build(c.counts(n), maxLen)
				if slices.Min(lengths) < 1 || int(slices.Max(lengths)) > maxLen ||
					kraft(lengths) != 1<<huffman.MaxLength {
					t.Errorf("%s, %d symbols, %d bits: lengths %d to %d, Kraft sum %d/%d", c.name, n, maxLen,
						slices.Min(lengths), slices.Max(lengths), kraft(lengths), 1<<huffman.MaxLength)
				}
				if _, err := huffman.FromLengths(lengths); err != nil {
					t.Errorf("%s, %d symbols, %d bits: %v", c.name, n, maxLen, err)
				}
			}
		}
	}
}

// TestBuildReachesEntropy: without a binding limit the cost lies within one bit a symbol of the
// entropy.
func TestBuildReachesEntropy(t *testing.T) {
	counts, total := make([]uint64, 300), uint64(0)
	for i := range counts {
		counts[i] = uint64(1 + 1_000_000/(i+1))
		total += counts[i]
	}
	entropy := 0.0
	for _, c := range counts {
		entropy -= float64(c) * math.Log2(float64(c)/float64(total))
	}
	got := float64(cost(counts, huffman.Build(counts, huffman.MaxLength)))
	if got < entropy || got > entropy*1.02 {
		t.Errorf("%.0f bits, entropy %.0f", got, entropy)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 3, 16, 60, 70, 300, 2050, 4098}).Draw(t, "n")
		maxLen := rapid.IntRange(max(1, bits.Len(uint(n-1))), huffman.MaxLength).Draw(t, "maxLen")
		counts := make([]uint64, n)
		skew := rapid.Uint64Range(1, 1<<40).Draw(t, "skew")
		for i := range counts {
			counts[i] = skew >> (uint(i*7919) % 41)
		}
		lengths := huffman.Build(counts, maxLen)
		table, err := huffman.FromLengths(lengths)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.Lengths(nil), lengths) || table.Symbols() != n {
			t.Fatal("the table has other lengths than it was made of")
		}
		syms := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 50).Draw(t, "syms")
		var w bitio.Writer
		want := 0
		for _, s := range syms {
			table.Encode(&w, s)
			_, k := table.Code(s)
			want += int(k)
		}
		if w.Len() != want {
			t.Fatalf("%d bits, codes have %d", w.Len(), want)
		}
		var r bitio.Reader
		r.Reset(w.Bytes())
		for i, s := range syms {
			if got := decode(table, &r); got != s {
				t.Fatalf("symbol %d: %d, want %d", i, got, s)
			}
		}
		if r.Left() >= 8 || r.Err() != nil {
			t.Fatalf("%d bits left, %v", r.Left(), r.Err())
		}
	})
}

// TestLookupEqualsSearch holds the two-step look-up to a search through all codes, for every window
// of 15 bits.
func TestLookupEqualsSearch(t *testing.T) {
	counts := make([]uint64, 90)
	for i := range counts {
		counts[i] = 1 << (i % 17)
	}
	table, err := huffman.FromLengths(huffman.Build(counts, huffman.MaxLength))
	if err != nil {
		t.Fatal(err)
	}
	for window := range uint64(1 << huffman.MaxLength) {
		wantSym, wantN := -1, uint(0)
		for sym := range counts {
			if code, n := table.Code(sym); window&(1<<n-1) == uint64(code) {
				if wantSym >= 0 {
					t.Fatalf("window %015b starts with the codes of %d and %d", window, wantSym, sym)
				}
				wantSym, wantN = sym, uint(n)
			}
		}
		if sym, n := table.Lookup(window | 1<<40); sym != wantSym || n != wantN {
			t.Fatalf("window %015b: %d (%d bits), want %d (%d bits)", window, sym, n, wantSym, wantN)
		}
	}
}

func TestBadLengths(t *testing.T) {
	for i, lengths := range [][]uint8{
		nil,
		{0},
		{2},
		{1, 0, 2},
		{1, 1, 1},
		{2, 2, 2},
		{16, 1},
		make([]uint8, huffman.MaxSymbols+1),
	} {
		if _, err := huffman.FromLengths(lengths); !errors.Is(err, huffman.ErrLengths) {
			t.Errorf("case %d: error %v, want %v", i, err, huffman.ErrLengths)
		}
	}
}

func TestBadStream(t *testing.T) {
	lone, err := huffman.FromLengths([]uint8{0, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		src  []byte
		want int
	}{{[]byte{0}, 1}, {[]byte{1}, -1}, {nil, -1}} {
		var r bitio.Reader
		r.Reset(c.src)
		if got := decode(lone, &r); got != c.want {
			t.Errorf("case %d: %d, want %d", i, got, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("encoding a symbol without a code does not panic")
		}
	}()
	lone.Encode(new(bitio.Writer), 0)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{3, 0, 0x01, 0x12}, []byte{0xa5, 0x0f})
	f.Fuzz(func(t *testing.T, packed, src []byte) {
		lengths, rest, err := huffman.ParseLengths(packed)
		if err != nil {
			return
		}
		again, _, err := huffman.ParseLengths(huffman.AppendLengths(nil, lengths))
		if err != nil || !slices.Equal(again, lengths) || len(rest) > len(packed) {
			t.Fatalf("lengths %v came back as %v, %v", lengths, again, err)
		}
		table, err := huffman.FromLengths(lengths)
		if err != nil {
			return
		}
		var r bitio.Reader
		r.Reset(src)
		var w bitio.Writer
		for {
			sym := decode(table, &r)
			if sym < 0 {
				break
			}
			table.Encode(&w, sym)
		}
		n := w.Len()
		got := w.Bytes()
		for i := range n {
			if (got[i/8]^src[i/8])>>(i%8)&1 != 0 {
				t.Fatalf("bit %d differs after decode and encode", i)
			}
		}
	})
}

func TestPackedLengthsCutShort(t *testing.T) {
	packed := huffman.AppendLengths(nil, huffman.Build(make([]uint64, 100), 9))
	for n := range packed {
		if _, _, err := huffman.ParseLengths(packed[:n]); !errors.Is(err, huffman.ErrLengthsShort) {
			t.Errorf("%d of %d bytes: error %v", n, len(packed), err)
		}
	}
	if _, _, err := huffman.ParseLengths([]byte{0xff, 0xff, 0xf1}); !errors.Is(err, huffman.ErrLengthsShort) {
		t.Errorf("65535 symbols: error %v", err)
	}
}

func TestBuckets(t *testing.T) {
	check := func(d int32) {
		if d == 0 {
			return
		}
		sym, extra, n := huffman.Bucket(d)
		if sym < 0 || sym >= huffman.Buckets || n != huffman.ExtraBits(sym) || uint64(extra) >= 1<<n ||
			huffman.Unbucket(sym, extra) != d {
			t.Fatalf("%d: bucket %d, extra %d of %d bits, back %d", d, sym, extra, n,
				huffman.Unbucket(sym, extra))
		}
		if size := uint32(max(d, -d)); huffman.Octave(sym) != bits.Len32(size)-1 {
			t.Fatalf("%d: octave %d", d, huffman.Octave(sym))
		}
		if other, _, _ := huffman.Bucket(-d); huffman.Mirror(sym, 1) != other ||
			huffman.Mirror(sym, 2) != sym {
			t.Fatalf("%d: bucket %d, that of the other sign %d, mirrored %d", d, sym, other,
				huffman.Mirror(sym, 1))
		}
	}
	for bit := range 32 {
		for d := range int32(5) {
			check(int32(uint32(1)<<bit) + d - 2)
			check(-int32(uint32(1)<<bit) + d - 2)
		}
	}
	seen := map[int]int{}
	for d := int32(1); d < 5000; d++ {
		sym, _, _ := huffman.Bucket(d)
		seen[sym]++
		check(d)
		check(-d)
	}
	for octave := 12; octave < 32; octave++ {
		if sym := huffman.Coarse(octave); huffman.Octave(sym) != octave {
			t.Errorf("octave %d has bucket %d", octave, sym)
		}
	}
	if len(seen) != 1+2*11+1 || seen[0] != 1 || seen[2] != 1 || seen[6] != 2 || seen[44] != 1024 {
		t.Errorf("buckets of 1 to 4999: %v", seen)
	}
	rapid.Check(t, func(t *rapid.T) { check(rapid.Int32().Draw(t, "d")) })
}

func TestZigzag(t *testing.T) {
	for i, c := range []struct {
		d int32
		z uint32
	}{{0, 0}, {-1, 1}, {1, 2}, {-2, 3}, {math.MaxInt32, math.MaxUint32 - 1},
		{math.MinInt32, math.MaxUint32}} {
		if z := huffman.Zigzag(c.d); z != c.z || huffman.Unzigzag(z) != c.d {
			t.Errorf("case %d: %d becomes %d, back %d", i, c.d, z, huffman.Unzigzag(z))
		}
	}
}

func BenchmarkTable(b *testing.B) {
	counts := make([]uint64, 16)
	for i := range counts {
		counts[i] = 1 << (16 - i)
	}
	table, err := huffman.FromLengths(huffman.Build(counts, 12))
	if err != nil {
		b.Fatal(err)
	}
	syms := make([]int, 1024)
	for i := range syms {
		syms[i] = bits.TrailingZeros32(uint32(i)*2654435761 | 1<<15)
	}
	var w bitio.Writer
	buf := make([]byte, 0, 8192)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			w.Reset(buf)
			for _, s := range syms {
				table.Encode(&w, s)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/symbol")
	})
	src := w.Bytes()
	b.Run("decode", func(b *testing.B) {
		var r bitio.Reader
		for b.Loop() {
			r.Reset(src)
			for _, s := range syms {
				if decode(table, &r) != s {
					b.Fatal("wrong symbol")
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/symbol")
	})
}
