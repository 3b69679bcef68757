// Package huffman codes symbols with static prefix codes. Symbol counts go in, code lengths come
// out; lengths go in, a Table comes out; a Table turns symbols into bits and bits into symbols.
// Codes are canonical: the lengths alone define them, so a file needs no more than lengths.
//
// Codes are stored bit-reversed, for the LSB-first streams of package bitio: the first bit of a
// code is its highest.
package huffman

// Limits of a Table.
const (
	MaxSymbols = 8192 // symbols of one alphabet
	MaxLength  = 15   // bits of one code
)
