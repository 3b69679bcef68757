// Package rangecoder turns yes-or-no decisions into close to as few bits as their probabilities
// allow: what was near certain costs next to nothing, and a likely decision costs a fraction of a
// bit. Decisions and the probabilities both ends give them go in, bytes come out, and the other way
// round. It has no models and keeps no statistics.
//
// It is a binary arithmetic coder with carry. The interval is [low, low+span) in 48 bits; a
// decision cuts it in two, and once span < 2^32 the top 16 bits of low are output. Probabilities
// are P(false), 16 bits. A message has no header; Finish ends it with the fewest bytes that still
// name a number in the interval, none to two, and past the end a Decoder reads zeros.
package rangecoder

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// One is the probability of certainty. Probabilities given to coders lie in [1, One-1].
const One = 1 << 16

const (
	stateBits = 48
	stateMask = 1<<stateBits - 1
	minSpan   = 1 << 32
	slack     = stateBits / 8 // bytes past the end that decoding a whole message may read
)

// ErrShort says that more was decoded than the message holds.
var ErrShort = errors.New("rangecoder: message cut short")

// Encoder appends a message to memory of the caller.
type Encoder struct {
	buf   []byte
	start int
	low   uint64
	span  uint64
}

// Reset starts a message after the contents of dst.
func (e *Encoder) Reset(dst []byte) { e.buf, e.start, e.low, e.span = dst, len(dst), 0, stateMask }

// Bit codes a decision that is false with probability p/One.
func (e *Encoder) Bit(bit bool, p uint32) {
	cut, yes := (e.span>>16)*uint64(p), uint64(0)
	if bit {
		yes = 1
	}
	yes = -yes // without a branch: decisions worth coding are hard to guess
	e.low += cut & yes
	e.span = cut + (e.span-cut-cut)&yes
	if e.span < minSpan {
		e.shift()
	}
}

// Bits codes the lowest n <= 16 bits of v, all equally likely.
func (e *Encoder) Bits(v uint32, n uint) {
	e.span >>= n
	e.low += e.span * uint64(v&(1<<n-1))
	if e.span < minSpan {
		e.shift()
	}
}

// shift outputs 16 bits. The span was at least minSpan before the decision, so 16 bits restore it.
func (e *Encoder) shift() {
	if e.low > stateMask {
		e.carry()
		e.low &= stateMask
	}
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(e.low>>32))
	e.low = e.low << 16 & stateMask
	e.span <<= 16
}

// carry adds one to the message so far: the coded value is < 1, so the carry cannot leave the
// message.
func (e *Encoder) carry() {
	for i := len(e.buf) - 1; i >= e.start; i-- {
		if e.buf[i]++; e.buf[i] != 0 {
			return
		}
	}
}

// Finish ends the message and returns dst with it. The Encoder must be Reset before it is used
// again.
func (e *Encoder) Finish() []byte {
	for n := uint(0); ; n++ {
		rest := uint64(stateMask) >> (8 * n)
		v := (e.low + rest) &^ rest
		if n < slack && v-e.low >= e.span {
			continue
		}
		if v > stateMask {
			e.carry()
		}
		for i := range n {
			e.buf = append(e.buf, byte(v>>(stateBits-8-8*i)))
		}
		return e.buf
	}
}

// FinishEmbedded ends the message so that anything may follow it: an EmbeddedDecoder of the same
// decisions tells where it ends. It adds one to three bytes, and returns dst with the message.
func (e *Encoder) FinishEmbedded() []byte {
	n, v := endAmong(e.low, e.span)
	if v > stateMask {
		e.carry()
	}
	for i := range n {
		e.buf = append(e.buf, byte(v>>(stateBits-8-8*i)))
	}
	return e.buf
}

// endAmong returns the shortest number v of n bytes, n at least 1, such that v followed by any
// bytes lies in the interval.
func endAmong(low, span uint64) (n uint, v uint64) {
	for n = 1; ; n++ {
		rest := uint64(stateMask) >> (8 * n)
		if v = (low + rest) &^ rest; v+rest-low < span || n == slack {
			return n, v
		}
	}
}

// FinishBits ends the message so that any bits may follow it: an EmbeddedDecoder of the same
// decisions tells where it ends. It returns dst with the message and the number of bits: the first
// is the highest of the first byte, and the last byte may hold fewer than 8.
func (e *Encoder) FinishBits() (out []byte, n int) {
	k, v := endBits(e.low, e.span)
	if v > stateMask {
		e.carry()
	}
	n = 8*(len(e.buf)-e.start) + int(k)
	for i := uint(0); i < k; i += 8 {
		e.buf = append(e.buf, byte(v>>(stateBits-8-i)))
	}
	return e.buf, n
}

// endBits is endAmong for bits.
func endBits(low, span uint64) (n uint, v uint64) {
	for n = uint(stateBits + 1 - bits.Len64(span)); ; n++ {
		rest := uint64(stateMask) >> n
		if v = (low + rest) &^ rest; v+rest-low < span || n == stateBits {
			return n, v
		}
	}
}

// EmbeddedDecoder is a Decoder that knows how long its message is, which must have been ended by
// FinishEmbedded or FinishBits.
type EmbeddedDecoder struct {
	Decoder
	low uint64
}

// Reset starts with a message, whatever follows it.
func (d *EmbeddedDecoder) Reset(src []byte) {
	d.Decoder.Reset(src)
	d.low = 0
}

// Bit is Decoder.Bit.
func (d *EmbeddedDecoder) Bit(p uint32) bool {
	cut := (d.span >> 16) * uint64(p)
	bit := d.code >= cut
	if bit {
		d.code -= cut
		d.span -= cut
		d.low += cut
	} else {
		d.span = cut
	}
	if d.span < minSpan {
		d.low = d.low << 16 & stateMask
		d.shift()
	}
	return bit
}

// Bits is Decoder.Bits.
func (d *EmbeddedDecoder) Bits(n uint) uint32 {
	d.span >>= n
	v := min(d.code/d.span, 1<<n-1)
	d.code -= v * d.span
	d.low += v * d.span
	if d.span < minSpan {
		d.low = d.low << 16 & stateMask
		d.shift()
	}
	return uint32(v)
}

// Spent is the information decoded so far, in bits: each decision adds about -log2 of its
// probability. It stays below 8*Size.
func (d *EmbeddedDecoder) Spent() float64 {
	return float64(8*(d.at-slack)+stateBits) - math.Log2(float64(d.span))
}

// Size is how many bytes of the message's memory it took, if nothing more is decoded. It may be
// more than there were, which a caller must refuse. ok is false if no encoder writes these bytes.
func (d *EmbeddedDecoder) Size() (n int, ok bool) {
	k, v := endAmong(d.low, d.span)
	return d.at - slack + int(k), d.endsWith(v, 8*k)
}

// SizeBits is Size in bits, for a message of FinishBits.
func (d *EmbeddedDecoder) SizeBits() (n int, ok bool) {
	k, v := endBits(d.low, d.span)
	return 8*(d.at-slack) + int(k), d.endsWith(v, k)
}

// endsWith reports whether the first n bits of the window are those of v. Many numbers lie in the
// interval of a message; its encoder writes one.
func (d *EmbeddedDecoder) endsWith(v uint64, n uint) bool {
	return ((d.low+d.code)^v)&stateMask>>(stateBits-n) == 0
}

// Decoder takes decisions out of a message, in the order and with the probabilities with which they
// went in. Past the end it reads zeros, and Err is ErrShort; callers may check once, but must bound
// their loops.
type Decoder struct {
	src  []byte
	at   int
	code uint64 // the number coded, less low
	span uint64
}

// Reset starts with a message, which the Decoder never writes to.
func (d *Decoder) Reset(src []byte) {
	d.src, d.at, d.code, d.span = src, 0, 0, stateMask
	for range slack / 2 {
		d.code = d.code<<16 | uint64(d.next())
	}
}

// next takes two bytes, zeros past the end.
func (d *Decoder) next() uint16 {
	at := d.at
	d.at += 2
	if at+2 <= len(d.src) {
		return binary.BigEndian.Uint16(d.src[at:])
	}
	if at < len(d.src) {
		return uint16(d.src[at]) << 8
	}
	d.at = min(d.at, len(d.src)+slack+2)
	return 0
}

// Bit decodes a decision that is false with probability p/One.
func (d *Decoder) Bit(p uint32) bool {
	cut := (d.span >> 16) * uint64(p)
	yes := ^uint64(int64(d.code-cut) >> 63) // both are below 1<<48
	bit := yes != 0
	d.code -= cut & yes
	d.span = cut + (d.span-cut-cut)&yes
	if d.span < minSpan {
		d.shift()
	}
	return bit
}

// Bits takes n <= 16 bits, all equally likely.
func (d *Decoder) Bits(n uint) uint32 {
	d.span >>= n
	v := min(d.code/d.span, 1<<n-1)
	d.code -= v * d.span
	if d.span < minSpan {
		d.shift()
	}
	return uint32(v)
}

func (d *Decoder) shift() {
	d.code = d.code<<16 | uint64(d.next())
	d.span <<= 16
}

// Err is ErrShort if decisions were taken that no message of this length holds.
func (d *Decoder) Err() error {
	if d.at > len(d.src)+slack {
		return ErrShort
	}
	return nil
}
