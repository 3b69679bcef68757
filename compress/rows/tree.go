package rows

import "github.com/tickrate/tickrate/compress/huffman"

// tree finds the code that fits a situation: it asks one feature after another and ends at a leaf.
type tree struct {
	forks  []fork
	leaves []*huffman.Table
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

// at returns the code for the row as it stands.
func (t *tree) at(r *row, fields []Field) *huffman.Table { return t.leaves[t.find(r, fields)] }

// Symbols of an error: where it was; then by size, halves of powers of two, and sign.
//
//	0        still
//	1 and 2  +1, -1
//	3 and 4  +2, -2
//	5 and 6  +3, -3
//	7 ...    4 to 5, 6 to 7, 8 to 11, 12 to 15, ...
const errorSymbols = 1 + 2*(1+2*(maxLength-1))

// splitError returns the symbol of an error that is neither 0 nor still, and what its symbol leaves open.
func splitError(m int64) (sym int, extra uint64, nExtra uint) {
	minus := 0
	n := uint64(m)
	if m < 0 {
		minus, n = 1, uint64(-m)
	}
	if n == 1 {
		return 1 + minus, 0, 0
	}
	l := uint(bitLen(n)) - 1
	half := n >> (l - 1) & 1
	return int(3+4*(l-1)+2*uint(half)) + minus, n & (1<<(l-1) - 1), l - 1
}

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
