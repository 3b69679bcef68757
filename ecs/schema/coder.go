package schema

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
)

// MaxFieldCode is the length limit of a field's code. With 32 extra bits a changed field stays
// within 44 bits, which is what bounds the size of a group.
const MaxFieldCode = 12

// smallDeltas is how many of the smallest differences have their bits looked up whole.
const smallDeltas = 64

// MaxClasses is how many tables a field may have: one is chosen by the level of surprise.
const MaxClasses = 4

// Coder codes one field. A changed value is the bucket of zigzag(difference)-1, as 0 is not a
// change, and the bucket's extra bits, in the table of its class; a value without a base is its
// distance from the least one, in as many bits as the range takes.
type Coder struct {
	wrap, half, top int32 // differences of a field that wraps lie in [-half, top]
	lo              int32
	span            uint32 // greatest value - lo
	width           uint   // bits of span
	predict         Predictor
	classes         [ErrorLevels]uint8 // by level; the class of LevelUnknown is 0
	tables          [MaxClasses]*huffman.Table
	codes           [MaxClasses][huffman.Buckets]uint32 // code | length<<16
	small           [MaxClasses * smallDeltas]uint32    // by class, by difference
	starts          [MaxClasses][1 << startBits]start
}

// startBits is how many bits of a value are looked up at once: few buckets have longer codes.
const startBits = 8

// start is what the first bits of a value say: how many bits it has <<8, its bucket <<4, and how
// many of them name that. 0 is the start of a longer code, or of none.
type start uint16

func startOf(sym int, n uint) start {
	_, nExtra := huffman.BucketRange(sym)
	return start(n+nExtra)<<8 | start(sym)<<4 | start(n)
}

// symbolsOf is how many buckets the differences of a field can fall into.
func symbolsOf(f Field) int {
	lo, hi := f.Range()
	greatest := uint64(uint32(hi) - uint32(lo)) // of zigzag(difference)
	if f.Wrap == 0 {
		greatest = min(2*greatest, 1<<32-1)
	}
	sym, _, _ := huffman.Bucket(uint32(max(greatest, 1) - 1))
	return sym + 1
}

func newCoder(f Field, classes [ErrorLevels]uint8, tables []*huffman.Table) Coder {
	lo, hi := f.Range()
	c := Coder{wrap: f.Wrap, half: f.Wrap / 2, top: (f.Wrap - 1) / 2, lo: lo, span: uint32(hi) - uint32(lo),
		predict: f.Predict, classes: classes}
	c.width = uint(bits.Len32(c.span))
	for k, table := range tables {
		c.tables[k] = table
		for bits := range c.starts[k] {
			if sym, n := table.Lookup(uint64(bits)); sym >= 0 && n <= startBits {
				c.starts[k][bits] = startOf(sym, n)
			}
		}
		for sym := range table.Symbols() {
			code, n := table.Code(sym)
			c.codes[k][sym] = code | uint32(n)<<16
		}
		for z := range uint32(smallDeltas) {
			if sym, _, _ := huffman.Bucket(z); sym < table.Symbols() {
				code, n := c.bucketBits(z, k)
				c.small[uint32(k)*smallDeltas+z] = uint32(code) | uint32(n)<<24
			}
		}
	}
	return c
}

// Class is the class of a level below ErrorLevels. That of LevelUnknown is 0.
func (c *Coder) Class(level uint8) uint8 { return c.classes[level] }

// UsesLevel reports whether the level of the field decides anything: its table, or what is
// expected.
func (c *Coder) UsesLevel() bool { return c.predict != Hold || c.classes != [ErrorLevels]uint8{} }

// Table is the code of a class's buckets.
func (c *Coder) Table(class uint8) *huffman.Table { return c.tables[class] }

// Delta is v - base, the shorter way round for a field that wraps. Overflow wraps.
func (c *Coder) Delta(v, base int32) int32 {
	d := v - base
	d += c.wrap & ((d + c.half) >> 31) // without branches: which way round is a coin toss
	d -= c.wrap & ((c.top - d) >> 31)
	return d
}

// Bits returns the bits, at most 44, that tell v from base, which must differ. Both must be in
// range. The class is below MaxClasses, 0 where nothing is known.
func (c *Coder) Bits(v, base int32, class uint32) (code uint64, n uint) {
	z := huffman.Zigzag(c.Delta(v, base)) - 1
	if z < smallDeltas {
		e := c.small[uint8(class*smallDeltas+z)]
		return uint64(e & 0xffffff), uint(e >> 24)
	}
	return c.bucketBits(z, int(class&(MaxClasses-1)))
}

func (c *Coder) bucketBits(z uint32, class int) (code uint64, n uint) {
	sym, extra, nExtra := huffman.Bucket(z)
	e := c.codes[class][sym]
	n = uint(e >> 16)
	return uint64(e&0xffff) | uint64(extra)<<n, n + nExtra
}

// ZigzagDelta is what Bits codes: zigzag(difference)-1. The values must differ.
func (c *Coder) ZigzagDelta(v, base int32) uint32 { return huffman.Zigzag(c.Delta(v, base)) - 1 }

// ApplyDelta undoes Change. ok is false if the value is out of range.
func (c *Coder) ApplyDelta(z uint32, base int32) (v int32, ok bool) {
	v = base + huffman.Unzigzag(z+1)
	v += c.wrap & (v >> 31)
	v -= c.wrap & ((c.wrap - 1 - v) >> 31)
	return v, uint32(v)-uint32(c.lo) <= c.span
}

// Symbol is the bucket that Bits would code: what a training run counts.
func (c *Coder) Symbol(v, base int32) int {
	sym, _, _ := huffman.Bucket(huffman.Zigzag(c.Delta(v, base)) - 1)
	return sym
}

// Value undoes Bits: it reads from the lowest bits of window, of which 44 must be present, and
// returns how many it read. ok is false if the bits are no code, and then n is 0, or the value is
// out of range. Where fewer bits are present, and zeros above them, it is the same as long as n is
// neither 0 nor more than there are.
func (c *Coder) Value(window uint64, base int32, class uint32) (v int32, n uint, ok bool) {
	e := uint(c.starts[class&(MaxClasses-1)][window&(1<<startBits-1)])
	if e == 0 {
		sym, n := c.tables[class&(MaxClasses-1)].Lookup(window)
		if sym < 0 {
			return 0, 0, false
		}
		e = uint(startOf(sym, n))
	}
	first, nExtra := huffman.BucketRange(int(e >> 4 & (huffman.Buckets - 1)))
	z := first + uint32(window>>(e&15)&(1<<(nExtra&63)-1)) + 1
	v = base + huffman.Unzigzag(z)
	v += c.wrap & (v >> 31)
	v -= c.wrap & ((c.wrap - 1 - v) >> 31)
	return v, e >> 8, uint32(v)-uint32(c.lo) <= c.span
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
			_, nExtra := huffman.BucketRange(sym)
			most = max(most, int(n)+int(nExtra))
		}
	}
	return most
}
