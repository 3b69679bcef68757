// Package bitio packs bits into bytes and takes them out again. Values and their widths go in,
// bytes come out, and the other way round. It knows nothing of codes or formats, allocates only
// when the caller's memory is too small, and no input can make it panic.
//
// The order is LSB first: the first bit written is bit 0 of the first byte, and a value's lowest
// bit comes first, so a reader may load eight bytes and shift.
//
//	Bits(0b101, 3), Bits(0b11, 2), Bits(0x7f, 7)
//	byte 0:  1 1 1 | 1 1 | 1 0 1     bit 7 on the left
//	byte 1:  0 0 0 0 | 1 1 1 1       Bytes pads with zeros
package bitio

// MaxBits is the widest value that one call writes or reads: what is left of eight bytes after
// seven pending bits.
const MaxBits = 57
