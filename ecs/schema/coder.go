package schema

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
)

// MaxFieldCode is the length limit of a field's code. With 32 extra bits a changed field stays
// within 43 bits, which is what bounds the size of a group.
const MaxFieldCode = 11

// smallDeltas is how many of the smallest differences have their bits looked up whole: from
// -smallDeltas/2 on.
const smallDeltas = 64

// MaxClasses is how many tables a field may have: one is chosen by the level of surprise.
const MaxClasses = 4

// codeContexts is how many values Context has.
const codeContexts = 2 * MaxClasses

// Coder codes one field. A changed value is the bucket of its difference and the bucket's extra
// bits, in the table of its class. For a field that was falling the difference is mirrored, so that
// a table tells going on from turning back. A value without a base is its distance from the least
// one, in as many bits as the range takes.
type Coder struct {
	wrap, half, top int32 // differences of a field that wraps lie in [-half, top]
	lo              int32
	span            uint32 // greatest value - lo
	width           uint   // bits of span
	predict         Predictor
	terms           []Term
	classes         [ErrorLevels]uint8 // by level; the class of LevelUnknown is 0
	tables          [MaxClasses]*huffman.Table
	codes           [MaxClasses][huffman.Buckets]uint32 // code | length<<16
	small           [codeContexts * smallDeltas]uint32  // by context, difference: code | length<<24
	// By class, by the first bits of a value: symbol<<4 | length of its code. 0 is the start of a
	// longer code, or of none.
	starts [MaxClasses][1 << startBits]uint16
}

// startBits is how many bits of a value are looked up at once: few buckets have longer codes.
const startBits = 8

// symbolsOf is how many buckets the differences of a field can fall into.
func symbolsOf(f Field) int {
	lo, hi := f.Range()
	greatest := uint32(hi) - uint32(lo)
	if f.Wrap != 0 {
		greatest = uint32(f.Wrap) / 2
	}
	sym, _, _ := huffman.Bucket(-int32(min(max(greatest, 1), 1<<31))) // differences wrap in 32 bits
	return sym + 1
}

func newCoder(f Field, terms []Term, classes [ErrorLevels]uint8, tables []*huffman.Table) Coder {
	lo, hi := f.Range()
	c := Coder{wrap: f.Wrap, half: f.Wrap / 2, top: (f.Wrap - 1) / 2, lo: lo, span: uint32(hi) - uint32(lo),
		predict: f.Predict, terms: terms, classes: classes}
	c.width = uint(bits.Len32(c.span))
	for k, table := range tables {
		c.tables[k] = table
		for bits := range c.starts[k] {
			if sym, n := table.Lookup(uint64(bits)); sym >= 0 && n <= startBits {
				c.starts[k][bits] = uint16(sym)<<4 | uint16(n)
			}
		}
		for sym := range table.Symbols() {
			code, n := table.Code(sym)
			c.codes[k][sym] = code | uint32(n)<<16
		}
		for d := int32(-smallDeltas / 2); d < smallDeltas/2; d++ {
			sym, _, _ := huffman.Bucket(d)
			if d == 0 || sym|1 >= table.Symbols() { // none, or its mirror image has no code
				continue
			}
			for context := uint32(2 * k); context < uint32(2*k+2); context++ {
				code, n := c.bucketBits(d, context)
				c.small[context*smallDeltas+uint32(d+smallDeltas/2)] = uint32(code) | uint32(n)<<24
			}
		}
	}
	return c
}

// Context is the context of a change, of what Predict says of the field: the class of its level
// twice, and 1 more if it was falling. That of LevelUnknown is 0.
func (c *Coder) Context(signal uint8) uint32 {
	if !c.UsesSignal() {
		return 0
	}
	return uint32(c.classes[signal&(ErrorLevels-1)])<<1 | uint32(signal)/Falling&1
}

// UsesSignal reports whether what Predict says of the field decides anything: what is expected, or
// the context of a change.
func (c *Coder) UsesSignal() bool { return c.predict != Hold || c.classes != [ErrorLevels]uint8{} }

// Table is the code of a class's buckets.
func (c *Coder) Table(class uint8) *huffman.Table { return c.tables[class] }

// Delta is v - base, the shorter way round for a field that wraps. Overflow wraps.
func (c *Coder) Delta(v, base int32) int32 {
	d := v - base
	d += c.wrap & ((d + c.half) >> 31) // without branches: which way round is a coin toss
	d -= c.wrap & ((c.top - d) >> 31)
	return d
}

// Bits returns the bits, at most 43, that tell v from base, which must differ. Both must be in
// range. The context is of Context, 0 where nothing is known.
func (c *Coder) Bits(v, base int32, context uint32) (code uint64, n uint) {
	d := c.Delta(v, base)
	if at := uint32(d + smallDeltas/2); at < smallDeltas {
		e := c.small[(context*smallDeltas+at)&(codeContexts*smallDeltas-1)]
		return uint64(e & 0xffffff), uint(e >> 24)
	}
	return c.bucketBits(d, context)
}

func (c *Coder) bucketBits(d int32, context uint32) (code uint64, n uint) {
	sym, extra, nExtra := huffman.Bucket(d)
	e := c.codes[context>>1&(MaxClasses-1)][huffman.Mirror(sym, context)]
	n = uint(e >> 16)
	return uint64(e&0xffff) | uint64(extra)<<n, n + nExtra
}

// ZigzagDelta is the difference of v from base as a number that is small if the difference is. The
// values must differ.
func (c *Coder) ZigzagDelta(v, base int32) uint32 { return huffman.Zigzag(c.Delta(v, base)) - 1 }

// ApplyDelta undoes ZigzagDelta. ok is false if the value is out of range.
func (c *Coder) ApplyDelta(z uint32, base int32) (v int32, ok bool) {
	return c.Apply(huffman.Unzigzag(z+1), base)
}

// Apply is base with a difference. ok is false if the value is out of range.
func (c *Coder) Apply(d, base int32) (v int32, ok bool) {
	v = base + d
	v += c.wrap & (v >> 31)
	v -= c.wrap & ((c.wrap - 1 - v) >> 31)
	return v, uint32(v)-uint32(c.lo) <= c.span
}

// Value undoes Bits: it reads from the lowest bits of window, where at least 43 bits must be valid,
// and returns how many it read. ok is false if the bits are no code, and then n is 0, or the value
// is out of range. Where fewer bits are present, and zeros above them, it is the same as long as n
// is neither 0 nor more than there are.
func (c *Coder) Value(window uint64, base int32, context uint32) (v int32, n uint, ok bool) {
	e := c.starts[context>>1&(MaxClasses-1)][window&(1<<startBits-1)]
	sym, n := int(e>>4), uint(e&15)
	if e == 0 {
		if sym, n = c.tables[context>>1&(MaxClasses-1)].Lookup(window); sym < 0 {
			return 0, 0, false
		}
	}
	span := huffman.SpanOf(sym) // and Unbucket of the mirrored symbol, written out for speed
	extra, minus := uint32(window>>(n&63))&span.Mask, (uint32(sym)^context)&1
	if span.Coarse {
		minus, extra = extra&1, extra>>1
	}
	v = base + int32(((span.First+extra)^-minus)+minus)
	v += c.wrap & (v >> 31)
	v -= c.wrap & ((c.wrap - 1 - v) >> 31)
	return v, n + uint(span.NExtra), uint32(v)-uint32(c.lo) <= c.span
}

// Raw returns the bits of a value that has no base, and how many there are.
func (c *Coder) Raw(v int32) (code uint64, n uint) { return uint64(uint32(v) - uint32(c.lo)), c.width }

// RawValue undoes Raw: it reads Width bits of window. ok is false if the value is out of range.
func (c *Coder) RawValue(window uint64) (v int32, ok bool) {
	u := uint32(window & (1<<c.width - 1))
	return int32(u + uint32(c.lo)), u <= c.span
}

// Width is the number of bits of a value without a base.
func (c *Coder) Width() uint { return c.width }

// MaxBits is the most that Bits can take.
func (c *Coder) MaxBits() int {
	most := 0
	for _, table := range c.tables {
		for sym := 0; table != nil && sym < table.Symbols(); sym++ {
			_, n := table.Code(sym)
			most = max(most, int(n)+int(huffman.ExtraBits(sym)))
		}
	}
	return most
}
