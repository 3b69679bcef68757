package bitio

import (
	"encoding/binary"
	"errors"
)

// ErrShort says that more bits were asked for than there were.
var ErrShort = errors.New("bitio: out of bits")

// Reader takes bits from memory of the caller, which it never writes to. Behind the end it yields
// zeros and keeps ErrShort, so a decoder may check once, at the end of what it reads.
type Reader struct {
	src []byte
	off int // next bit
	err error
}

// Reset starts over at the beginning of src.
func (r *Reader) Reset(src []byte) { r.src, r.off, r.err = src, 0, nil }

// Bits takes n <= MaxBits bits. If fewer are left it takes them all, returns 0 and sets the error.
func (r *Reader) Bits(n uint) uint64 {
	v := Peek(r.src, r.off) & (1<<(n&63) - 1)
	if r.off += int(n); r.off > len(r.src)*8 {
		r.fail()
		return 0
	}
	return v
}

// Peek returns the next n <= MaxBits bits without taking them; zeros stand for what lies past the
// end.
func (r *Reader) Peek(n uint) uint64 { return Peek(r.src, r.off) & (1<<(n&63) - 1) }

// Skip takes n bits unseen.
func (r *Reader) Skip(n uint) {
	if n > uint(len(r.src)*8-r.off) {
		r.fail()
		return
	}
	r.off += int(n)
}

// fail puts the reader at its end for good.
func (r *Reader) fail() {
	r.src, r.off, r.err = r.src[len(r.src):], 0, ErrShort
}

// Align skips to the next whole byte.
func (r *Reader) Align() { r.off = (r.off + 7) &^ 7 }

// Left is the number of bits not yet taken.
func (r *Reader) Left() int { return len(r.src)*8 - r.off }

// Rest aligns and returns the bytes not yet taken, sharing the memory given to Reset; none after an
// error.
func (r *Reader) Rest() []byte {
	r.Align()
	return r.src[r.off>>3:]
}

// Err is ErrShort once more bits were asked for than there were, until the next Reset.
func (r *Reader) Err() error { return r.err }

// Peek returns at least MaxBits bits of src from bit off on, off not negative, and zeros past the
// end: for loops that keep count of their own offset and look only once, at the end, whether it has
// passed the end of src.
func Peek(src []byte, off int) uint64 {
	i := off >> 3
	if uint(i)+8 <= uint(len(src)) {
		return binary.LittleEndian.Uint64(src[i:]) >> (off & 7)
	}
	return peekTail(src, off)
}

//go:noinline
func peekTail(src []byte, off int) uint64 {
	// The last eight bytes, less those in front of off; a shift by 64 or more gives 0.
	if last := len(src) - 8; last >= 0 {
		return binary.LittleEndian.Uint64(src[last:]) >> uint(off-last*8)
	}
	var tail [8]byte
	if i := off >> 3; i < len(src) {
		copy(tail[:], src[i:])
	}
	return binary.LittleEndian.Uint64(tail[:]) >> (off & 7)
}
