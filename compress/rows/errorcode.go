package rows

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/rangecoder"
)

// The decisions that tell a field's error, as nodes of its mixer:
//
//	wrong      is the prediction wrong?                  no: done
//	still      is it where it was? (if predicted to move)  yes: done
//	negative   is the error below zero?
//	longer+n   has its size, which is 1 or more, more than n+1 bits? ... until no
//	second+n   its second bit, of n+2 bits
//	third+2n   its third bit, by the second
//
// Bits below the third are as likely as not. Sizes have up to 34 bits; nodes of the longest share their mixers' last.
const (
	nodeWrong  = 0
	nodeStill  = 1
	nodeMinus  = 2
	nodeLonger = 3
	nodeSecond = nodeLonger + lengths
	nodeThird  = nodeSecond + lengths
	nodeCount  = nodeThird + 2*lengths
	lengths    = 13
	maxLength  = 34
)

// putError codes the miss m of a prediction that moves by step. If certain, both ends know that m is not 0.
func putError(e *rangecoder.Encoder, mix *mixer, at *place, m int64, step int32, certain bool) {
	if !certain {
		e.Bit(m != 0, mix.p(at, nodeWrong))
		if m == 0 {
			return
		}
	}
	if step != 0 {
		still := m == -int64(step)
		e.Bit(still, mix.p(at, nodeStill))
		if still {
			return
		}
	}
	e.Bit(m < 0, mix.p(at, nodeMinus))
	n := uint64(max(m, -m))
	l := uint32(bits.Len64(n)) - 1
	for i := uint32(0); i < maxLength-1; i++ {
		e.Bit(i < l, mix.p(at, nodeLonger+min(i, lengths-1)))
		if i >= l {
			break
		}
	}
	if l == 0 {
		return
	}
	second := uint32(n>>(l-1)) & 1
	k := min(l-1, lengths-1)
	e.Bit(second != 0, mix.p(at, nodeSecond+k))
	if l == 1 {
		return
	}
	e.Bit(n>>(l-2)&1 != 0, mix.p(at, nodeThird+2*k+second))
	for rest := l - 2; rest > 0; {
		take := min(rest, 16)
		rest -= take
		e.Bits(uint32(n>>rest), uint(take))
	}
}

// takeError undoes putError.
func takeError(d *rangecoder.Decoder, mix *mixer, at *place, step int32, certain bool) int64 {
	if !certain && !d.Bit(mix.p(at, nodeWrong)) {
		return 0
	}
	if step != 0 && d.Bit(mix.p(at, nodeStill)) {
		return -int64(step)
	}
	minus := d.Bit(mix.p(at, nodeMinus))
	l := uint32(0)
	for l < maxLength-1 && d.Bit(mix.p(at, nodeLonger+min(l, lengths-1))) {
		l++
	}
	n := uint64(1)
	if l > 0 {
		k := min(l-1, lengths-1)
		second := uint32(0)
		if d.Bit(mix.p(at, nodeSecond+k)) {
			second = 1
		}
		n = n<<1 | uint64(second)
		if l > 1 {
			n <<= 1
			if d.Bit(mix.p(at, nodeThird+2*k+second)) {
				n |= 1
			}
		}
		for rest := max(l, 2) - 2; rest > 0; {
			take := min(rest, 16)
			rest -= take
			n = n<<take | uint64(d.Bits(uint(take)))
		}
	}
	if minus {
		return -int64(n)
	}
	return int64(n)
}
