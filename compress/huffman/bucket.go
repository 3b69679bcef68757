package huffman

import "math/bits"

// Buckets is the number of symbols that Bucket knows.
const Buckets = fine + 32 - fineOctaves

// Differences of fewer than fineOctaves bits have a symbol for each sign and half of an octave;
// larger ones are rare and have one for each octave.
const (
	fineOctaves = 12
	fine        = 4*fineOctaves - 2
)

// Bucket splits a difference, which is not 0, into a symbol, which is worth a Huffman code, and
// nExtra bits, which are too even to be worth one:
//
//	0, 1        +1, -1
//	2 .. 5      +2, -2, +3, -3
//	6 .. 9      +4 and +5, -4 and -5, +6 and +7, -6 and -7
//	...         up to 4095: by octave, half of the octave, and sign
//	46 .. 65    4096 to 8191, 8192 to 16383, ... of either sign, which is the lowest extra bit
func Bucket(d int32) (sym int, extra uint32, nExtra uint) {
	minus := uint32(d) >> 31
	size := (uint32(d) ^ -minus) + minus
	octave := uint(bits.Len32(size)) - 1
	switch {
	case octave >= fineOctaves:
		return int(fine - fineOctaves + octave), (size-1<<octave)<<1 | minus, octave + 1
	case octave == 0:
		return int(minus), 0, 0
	default:
		n := octave - 1
		return int(4*octave - 2 + 2*uint(size>>n&1) + uint(minus)), size & (1<<n - 1), n
	}
}

// Octave is the number of bits of the differences of a symbol's bucket, less one.
func Octave(sym int) int {
	if sym >= fine {
		return sym - fine + fineOctaves
	}
	return (sym + 2) / 4
}

// Coarse is the symbol of differences of an octave from 12 on; there is none beyond 31.
func Coarse(octave int) int { return fine - fineOctaves + min(octave, 31) }

// Span is what a symbol says of its differences: their size is First and the extra bits more.
type Span struct {
	First  uint32
	Mask   uint32 // of the extra bits
	NExtra uint8
	Coarse bool // the lowest extra bit is the sign, which otherwise is the lowest bit of the symbol
}

// spans are by symbol. Those past the last are no symbols.
var spans = func() (all [128]Span) {
	for sym := range Buckets {
		octave := Octave(sym)
		switch b := &all[sym]; {
		case sym >= fine:
			*b = Span{1 << octave, 1<<(octave+1) - 1, uint8(octave + 1), true}
		case octave == 0:
			b.First = 1
		default:
			n := octave - 1
			*b = Span{(2 + uint32(sym-4*octave+2)/2) << n, 1<<n - 1, uint8(n), false}
		}
	}
	return all
}()

// SpanOf is the span of a symbol.
func SpanOf(sym int) *Span { return &spans[sym&(len(spans)-1)] }

// ExtraBits is the number of extra bits of a symbol's bucket.
func ExtraBits(sym int) uint { return uint(SpanOf(sym).NExtra) }

// Unbucket is the inverse of Bucket.
func Unbucket(sym int, extra uint32) int32 {
	b := SpanOf(sym)
	minus := uint32(sym) & 1
	if b.Coarse {
		minus, extra = extra&1, extra>>1
	}
	return int32(((b.First + extra) ^ -minus) + minus)
}

// Mirror is the symbol of the difference with the other sign if the lowest bit of on is set. Coarse
// buckets hold both.
func Mirror(sym int, on uint32) int {
	if sym < fine {
		return sym ^ int(on&1)
	}
	return sym
}

// Zigzag maps small numbers of either sign to small numbers: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
// It is one to one on all 32 bits.
func Zigzag(d int32) uint32 { return uint32(d)<<1 ^ uint32(d>>31) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(z uint32) int32 { return int32(z>>1) ^ -int32(z&1) }
