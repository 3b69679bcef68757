package huffman

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
)

// ErrLengths says that code lengths do not describe a complete prefix code.
var ErrLengths = errors.New("huffman: lengths are no complete prefix code")

// Table is one static code. It is immutable once made and may be shared by any number of readers
// and writers.
type Table struct {
	codes []uint32 // by symbol: reversed code | length<<16; 0 for a symbol without a code
	// By the next fastLen bits: symbol<<4 | length; 0 for the start of a longer code.
	fast    []uint32
	fastLen uint
	// Codes longer than fastLen are found by comparing the next 15 bits, highest first, with the
	// end of each length's range: few symbols are that rare, and their table would push the others
	// out of the cache.
	limit  [MaxLength + 1]uint32 // by length: first 15-bit window past the codes of this length
	offset [MaxLength + 1]int32  // by length: what to add to a code to get its index in sorted
	sorted []uint16              // symbols by (length, symbol)
}

// The look-up is 1 KiB for small alphabets, of which a model has a dozen, and 8 KiB for large ones.
const (
	fastSmall  = 8
	fastLarge  = 11
	smallCount = 64
)

// FromLengths makes the canonical code with the given length for each symbol. A length of 0 gives
// the symbol no code. The lengths must use up the code space exactly, but for an alphabet in which
// one symbol alone has a code, of 1 bit.
func FromLengths(lengths []uint8) (*Table, error) {
	if len(lengths) == 0 || len(lengths) > MaxSymbols {
		return nil, fmt.Errorf("%w: %d symbols, want 1 to %d", ErrLengths, len(lengths), MaxSymbols)
	}
	var count [MaxLength + 1]uint32
	longest, used := uint8(0), 0
	for sym, n := range lengths {
		if n > MaxLength {
			return nil, fmt.Errorf("%w: symbol %d has %d bits, want at most %d",
				ErrLengths, sym, n, MaxLength)
		}
		if n > 0 {
			count[n]++
			used++
			longest = max(longest, n)
		}
	}
	space := uint32(0)
	for n := 1; n <= MaxLength; n++ {
		space += count[n] << (MaxLength - n)
	}
	if space != 1<<MaxLength && !(used == 1 && longest == 1) {
		return nil, fmt.Errorf("%w: they fill %d of %d", ErrLengths, space, 1<<MaxLength)
	}
	t := &Table{codes: make([]uint32, len(lengths)), sorted: make([]uint16, 0, used)}
	t.number(lengths, count)
	t.index(longest)
	return t, nil
}

// number gives out the codes: shorter first, then by symbol.
func (t *Table) number(lengths []uint8, count [MaxLength + 1]uint32) {
	next, rank := uint32(0), int32(0)
	for n := uint8(1); n <= MaxLength; n++ {
		next <<= 1
		first := next
		if count[n] > 0 {
			for sym, l := range lengths {
				if l == n {
					t.codes[sym] = uint32(bits.Reverse16(uint16(next))>>(16-n)) | uint32(n)<<16
					t.sorted = append(t.sorted, uint16(sym))
					next++
				}
			}
		}
		t.limit[n] = next << (MaxLength - n)
		t.offset[n] = rank - int32(first)
		rank += int32(count[n])
	}
}

// index fills the look-up with every code that fits into it.
func (t *Table) index(longest uint8) {
	t.fastLen = fastSmall
	if len(t.codes) > smallCount {
		t.fastLen = fastLarge
	}
	t.fastLen = min(t.fastLen, uint(longest))
	t.fast = make([]uint32, 1<<t.fastLen)
	for sym, c := range t.codes {
		n := uint(c >> 16)
		if n == 0 || n > t.fastLen {
			continue
		}
		for i := uint(c & 0xffff); i < 1<<t.fastLen; i += 1 << n {
			t.fast[i] = uint32(sym)<<4 | uint32(n)
		}
	}
}

// Symbols is the size of the alphabet.
func (t *Table) Symbols() int { return len(t.codes) }

// Code returns the bits of a symbol, first bit lowest, and how many there are: 0 for a symbol
// without a code.
func (t *Table) Code(sym int) (code uint32, n uint8) {
	c := t.codes[sym]
	return c & 0xffff, uint8(c >> 16)
}

// Encode appends the code of sym, which must have one.
func (t *Table) Encode(w *bitio.Writer, sym int) {
	c := uint32(0)
	if uint(sym) < uint(len(t.codes)) {
		c = t.codes[sym]
	}
	if c == 0 {
		panic(fmt.Sprintf("huffman: symbol %d has no code, want one of the table's %d symbols that has", sym, len(t.codes)))
	}
	w.Bits(uint64(c&0xffff), uint(c>>16))
}

// Lookup finds the symbol whose code stands in the lowest bits of window, and the length of the
// code, which the caller skips. At least MaxLength bits of window must be valid. It returns -1 and
// 0 if no code matches.
func (t *Table) Lookup(window uint64) (sym int, n uint) {
	if e := t.fast[window&uint64(len(t.fast)-1)]; e != 0 {
		return int(e >> 4), uint(e & 15)
	}
	return t.lookupLong(window)
}

func (t *Table) lookupLong(window uint64) (sym int, n uint) {
	first := uint32(bits.Reverse16(uint16(window)) >> 1)
	for n = t.fastLen + 1; n <= MaxLength; n++ {
		if first < t.limit[n] {
			return int(t.sorted[int32(first>>(MaxLength-n))+t.offset[n]]), n
		}
	}
	return -1, 0
}

// Lengths appends the code length of every symbol: what FromLengths was given.
func (t *Table) Lengths(dst []uint8) []uint8 {
	for _, c := range t.codes {
		dst = append(dst, uint8(c>>16))
	}
	return dst
}
