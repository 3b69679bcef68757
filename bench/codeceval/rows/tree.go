package rows

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
)

// tree finds the code that fits a situation: it asks one feature after another and ends at a leaf.
type tree struct {
	forks  []fork
	leaves []*huffman.Table
	cuts   cuts     // the forks once more
	codes  []uint32 // by leaf, by symbol: code | length<<16
}

// lay lays the tree out for batches.
func (t *tree) lay() {
	t.cuts, t.codes = cutsOf(t.forks), nil
	for _, leaf := range t.leaves {
		for sym := range leaf.Symbols() {
			code, n := leaf.Code(sym)
			t.codes = append(t.codes, code|uint32(n)<<16)
		}
	}
}

// fork asks a feature. Its values with a bit set in ones go the second way.
type fork struct {
	ask  feature
	ones uint16
	next [2]int16 // a fork behind this one, or a leaf as its complement
}

// find returns the number of the leaf for the row as it stands.
func (t *tree) find(r *row, fields []Field) int {
	if len(t.forks) == 0 {
		return 0
	}
	for at := int16(0); ; {
		f := &t.forks[at]
		if at = f.next[f.ones>>(f.ask.ask(r, fields)&15)&1]; at < 0 {
			return int(^at)
		}
	}
}

// Symbols of an error: where it was; then by size, halves of powers of two, and sign.
//
//	0        still
//	1 and 2  +1, -1
//	3 and 4  +2, -2
//	5 and 6  +3, -3
//	7 ...    4 to 5, 6 to 7, 8 to 11, 12 to 15, ...
const errorSymbols = 1 + 2*(1+2*(maxLength-1))

// splitError returns the symbol of an error that is neither 0 nor still, and what its symbol leaves
// open.
func splitError(m int64) (sym int, extra uint64, nExtra uint) {
	minus := 0
	n := uint64(m)
	if m < 0 {
		minus, n = 1, uint64(-m)
	}
	if n == 1 {
		return 1 + minus, 0, 0
	}
	l := uint(bits.Len64(n)) - 1
	half := n >> (l - 1) & 1
	return int(3+4*(l-1)+2*uint(half)) + minus, n & (1<<(l-1) - 1), l - 1
}

// errorSymbol returns the symbol of an error of a prediction that moves by step, and what its
// symbol leaves open.
func errorSymbol(m int64, step int32) (sym int, extra uint64, nExtra uint) {
	if m == -int64(step) {
		return 0, 0, 0 // where step is 0, m is none: it is an error
	}
	if uint64(m+smallError) <= 2*smallError {
		e := smallErrors[m+smallError]
		return int(e & 0xff), uint64(e >> 16), uint(e >> 8 & 0xff)
	}
	return splitError(m)
}

// smallErrors holds what splitError says of errors up to smallError.
var smallErrors = func() (table [2*smallError + 1]uint32) {
	for m := int64(1); m <= smallError; m++ {
		for _, x := range []int64{-m, m} {
			sym, extra, nExtra := splitError(x)
			table[x+smallError] = uint32(sym) | uint32(nExtra)<<8 | uint32(extra)<<16
		}
	}
	return table
}()

const smallError = 128

// joinError undoes splitError: its first number is the size without the extra bits.
func joinError(sym int) (size uint64, minus bool, nExtra uint) {
	minus = sym&1 == 0
	if sym <= 2 {
		return 1, minus, 0
	}
	q := uint(sym-3) / 2
	l := q/2 + 1
	return (2 + uint64(q&1)) << (l - 1), minus, l - 1
}
