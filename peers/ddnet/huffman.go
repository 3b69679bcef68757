package ddnet

import (
	"errors"
	"slices"
	"sync"
)

// Numbers in the code's tree.
const (
	end     = 256     // symbol that ends a packet
	symbols = end + 1 // how many symbols there are
	root    = 2*symbols - 2
)

// frequencies of bytes and of the end that the code of packets was made from: ms_aFreqTable in
// src/engine/shared/huffman.cpp of github.com/ddnet/ddnet, a constant of the wire format, where
// the end counts as 1.
var frequencies = [symbols]int{
	1 << 30, 4545, 2657, 431, 1950, 919, 444, 482, 2244, 617, 838, 542, 715, 1814, 304, 240, 754, 212, 647, 186,
	283, 131, 146, 166, 543, 164, 167, 136, 179, 859, 363, 113, 157, 154, 204, 108, 137, 180, 202, 176,
	872, 404, 168, 134, 151, 111, 113, 109, 120, 126, 129, 100, 41, 20, 16, 22, 18, 18, 17, 19,
	16, 37, 13, 21, 362, 166, 99, 78, 95, 88, 81, 70, 83, 284, 91, 187, 77, 68, 52, 68,
	59, 66, 61, 638, 71, 157, 50, 46, 69, 43, 11, 24, 13, 19, 10, 12, 12, 20, 14, 9,
	20, 20, 10, 10, 15, 15, 12, 12, 7, 19, 15, 14, 13, 18, 35, 19, 17, 14, 8, 5,
	15, 17, 9, 15, 14, 18, 8, 10, 2173, 134, 157, 68, 188, 60, 170, 60, 194, 62, 175, 71,
	148, 67, 167, 78, 211, 67, 156, 69, 1674, 90, 174, 53, 147, 89, 181, 51, 174, 63, 163, 80,
	167, 94, 128, 122, 223, 153, 218, 77, 200, 110, 190, 73, 174, 69, 145, 66, 277, 143, 141, 60,
	136, 53, 180, 57, 142, 57, 158, 61, 166, 112, 152, 92, 26, 22, 21, 28, 20, 26, 30, 21,
	32, 27, 20, 17, 23, 21, 30, 22, 22, 21, 27, 25, 17, 27, 23, 18, 39, 26, 15, 21,
	12, 18, 18, 27, 20, 18, 15, 19, 11, 17, 33, 12, 18, 15, 19, 18, 16, 26, 17, 18,
	9, 10, 25, 22, 22, 17, 20, 16, 6, 16, 15, 20, 14, 18, 24, 335, 1,
}

// vertex is a symbol or a pair of the code's tree. Symbols have the numbers of their own, pairs
// those that follow, in the order in which they were made.
type vertex struct {
	weight    int
	zero, one int    // numbers of a pair's parts
	bits      uint64 // its code; the first bit is the lowest
	length    int    // of its code
}

// code is a prefix code and a table that reads several of its bits at once.
type code struct {
	vertices [root + 1]vertex
	peeks    [1 << peek]step // by the next bits
}

// peek is how many bits a step of the table reads at most; longer codes go on bit by bit.
const peek = 11

// step is where bits lead from the root, and how many of them.
type step struct{ at, length int }

// fixed is Huffman's code of frequencies (A method for the construction of minimum-redundancy
// codes, Proceedings of the IRE 40, 1952): the two lightest vertices become a pair, over and over.
// Where weights are equal, the wire format takes the vertex of the highest number first.
var fixed = sync.OnceValue(func() *code {
	c := &code{}
	t := &c.vertices
	var waiting []int // numbers of vertices that have no parent yet, the lightest first
	wait := func(number int) {
		at, _ := slices.BinarySearchFunc(waiting, t[number].weight, func(n, weight int) int { return t[n].weight - weight })
		waiting = slices.Insert(waiting, at, number)
	}
	for symbol, weight := range frequencies {
		t[symbol].weight = weight
		wait(symbol)
	}
	for pair := symbols; pair <= root; pair++ {
		zero, one := waiting[0], waiting[1]
		waiting = waiting[2:]
		t[pair] = vertex{weight: t[zero].weight + t[one].weight, zero: zero, one: one}
		wait(pair)
	}
	for pair := root; pair >= symbols; pair-- { // a pair is newer than its parts
		p := t[pair]
		t[p.zero].bits, t[p.zero].length = p.bits, p.length+1
		t[p.one].bits, t[p.one].length = p.bits|1<<p.length, p.length+1
	}
	for bits := range c.peeks {
		s := step{at: root}
		for ; s.at >= symbols && s.length < peek; s.length++ {
			s.at = t[s.at].part(bits >> s.length & 1)
		}
		c.peeks[bits] = s
	}
	return c
})

// part is the number of a pair's part by the next bit.
func (v *vertex) part(bit int) int {
	if bit == 0 {
		return v.zero
	}
	return v.one
}

// Compress appends the code of src and its end to dst.
func Compress(dst, src []byte) []byte {
	t, held, n := &fixed().vertices, uint64(0), 0
	put := func(symbol int) {
		v := &t[symbol]
		for i := range v.length {
			held |= v.bits >> i & 1 << n
			if n++; n == 8 {
				dst = append(dst, byte(held))
				held, n = 0, 0
			}
		}
	}
	for _, b := range src {
		put(int(b))
	}
	put(end)
	return append(dst, byte(held))
}

var errCompressed = errors.New("ddnet: compressed packet without an end")

// maxPacket is the longest packet in bytes, compressed or not.
const maxPacket = 1400

// Decompress appends to dst what Compress was given, at most maxPacket bytes.
func Decompress(dst, src []byte) ([]byte, error) {
	c, start := fixed(), len(dst)
	held, n := uint64(0), 0 // bits that were taken from src, more than the longest code has
	for {
		for ; n <= 56 && len(src) > 0; n += 8 {
			held |= uint64(src[0]) << n
			src = src[1:]
		}
		s := c.peeks[held&(1<<peek-1)]
		for s.at >= symbols {
			s.at = c.vertices[s.at].part(int(held >> s.length & 1))
			s.length++
		}
		if s.length > n || s.at != end && len(dst)-start == maxPacket {
			return dst, errCompressed
		}
		if s.at == end {
			return dst, nil
		}
		dst = append(dst, byte(s.at))
		held >>= s.length
		n -= s.length
	}
}
