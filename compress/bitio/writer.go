package bitio

import (
	"encoding/binary"
	"fmt"
)

// Writer appends bits to memory of the caller. The zero Writer writes to memory of its own. Bytes
// between the written end and the capacity of the caller's slice may be overwritten with zeros or
// with bits still pending.
type Writer struct {
	buf   []byte // the caller's slice up to its capacity
	pos   int    // whole bytes in buf that are final
	acc   uint64 // pending bits, fewer than 8 between calls
	n     uint   // how many
	start int    // length of the slice given to Reset
}

// Reset starts over after the contents of dst. As long as its capacity suffices nothing is
// allocated.
func (w *Writer) Reset(dst []byte) {
	w.buf, w.pos, w.start = dst[:cap(dst)], len(dst), len(dst)
	w.acc, w.n = 0, 0
}

// Bits appends the lowest n bits of v, n <= MaxBits. Higher bits of v must be zero.
func (w *Writer) Bits(v uint64, n uint) {
	acc := w.acc | v<<(w.n&63)
	total := w.n + n
	if pos := w.pos; uint(pos)+8 <= uint(len(w.buf)) {
		binary.LittleEndian.PutUint64(w.buf[pos:], acc)
		w.pos = pos + int(total>>3)
		// A total of 64 shifts by 0, hence the mask.
		w.acc = acc >> (total &^ 7 & 63) & (1<<(total&7) - 1)
		w.n = total & 7
		return
	}
	w.acc, w.n = acc, total
	w.flushBytes()
}

// flushBytes is the end of the memory: byte by byte, so that a slice of exactly the right capacity
// does not grow.
func (w *Writer) flushBytes() {
	for w.n >= 8 {
		w.put(byte(w.acc))
		w.acc >>= 8
		w.n -= 8
	}
}

func (w *Writer) put(b byte) {
	if w.pos == len(w.buf) {
		w.buf = append(w.buf, 0)
		w.buf = w.buf[:cap(w.buf)]
	}
	w.buf[w.pos] = b
	w.pos++
}

// Align pads with zero bits up to a whole byte.
func (w *Writer) Align() {
	if w.n > 0 {
		w.put(byte(w.acc))
		w.acc, w.n = 0, 0
	}
}

// Bytes aligns and returns the slice given to Reset with everything written after it. It shares
// the writer's memory.
func (w *Writer) Bytes() []byte {
	w.Align()
	return w.buf[:w.pos]
}

// Len is the number of bits written since Reset, padding included.
func (w *Writer) Len() int { return (w.pos-w.start)*8 + int(w.n) }

// AppendBits appends nBits bits of src, beginning at bit bitOff. Both must lie within src.
func (w *Writer) AppendBits(src []byte, bitOff, nBits int) {
	if bitOff < 0 || nBits < 0 || bitOff+nBits > len(src)*8 {
		panic(fmt.Sprintf("bitio: %d bits from bit %d on, want a part of %d bits", nBits, bitOff, len(src)*8))
	}
	if w.n == 0 && bitOff&7 == 0 {
		whole := nBits >> 3
		w.appendBytes(src[bitOff>>3:][:whole])
		bitOff, nBits = bitOff+whole*8, nBits&7
	}
	for nBits > 0 {
		n := uint(min(nBits, 56))
		w.Bits(Peek(src, bitOff)&(1<<n-1), n)
		bitOff, nBits = bitOff+int(n), nBits-int(n)
	}
}

func (w *Writer) appendBytes(src []byte) {
	if w.pos+len(src) > len(w.buf) {
		w.buf = append(w.buf[:w.pos], src...)
		w.buf = w.buf[:cap(w.buf)]
	} else {
		copy(w.buf[w.pos:], src)
	}
	w.pos += len(src)
}
