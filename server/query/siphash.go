package query

import (
	"encoding/binary"
	"math/bits"
)

// siphash is SipHash-2-4, a keyed hash (Aumasson and Bernstein, 2012).
func siphash(key [2]uint64, src []byte) uint64 {
	s := sip{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
		key[1] ^ 0x7465646279746573}
	length := uint64(len(src))
	for ; len(src) >= 8; src = src[8:] {
		s.add(binary.LittleEndian.Uint64(src))
	}
	last := length << 56
	for i, b := range src {
		last |= uint64(b) << (8 * i)
	}
	s.add(last)
	s.c ^= 0xff
	for range 4 {
		s.round()
	}
	return s.a ^ s.b ^ s.c ^ s.d
}

type sip struct{ a, b, c, d uint64 }

func (s *sip) add(word uint64) {
	s.d ^= word
	s.round()
	s.round()
	s.a ^= word
}

func (s *sip) round() {
	s.a += s.b
	s.b = bits.RotateLeft64(s.b, 13) ^ s.a
	s.a = bits.RotateLeft64(s.a, 32)
	s.c += s.d
	s.d = bits.RotateLeft64(s.d, 16) ^ s.c
	s.a += s.d
	s.d = bits.RotateLeft64(s.d, 21) ^ s.a
	s.c += s.b
	s.b = bits.RotateLeft64(s.b, 17) ^ s.c
	s.c = bits.RotateLeft64(s.c, 32)
}
