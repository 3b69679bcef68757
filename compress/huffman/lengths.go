package huffman

import "errors"

// ErrLengthsShort says that packed code lengths end too early or promise an impossible alphabet.
var ErrLengthsShort = errors.New("huffman: packed lengths are cut short")

// AppendLengths packs code lengths for a file:
//
//	2  symbols    little-endian
//	1  run        low half: length; high half: how many more symbols have it too
//	   ...        until all symbols have one
func AppendLengths(dst []byte, lengths []uint8) []byte {
	dst = append(dst, byte(len(lengths)), byte(len(lengths)>>8))
	for i := 0; i < len(lengths); {
		n := 1
		for n < 16 && i+n < len(lengths) && lengths[i+n] == lengths[i] {
			n++
		}
		dst = append(dst, lengths[i]|byte(n-1)<<4)
		i += n
	}
	return dst
}

// ParseLengths unpacks what AppendLengths packed and returns what follows. FromLengths judges the
// lengths themselves.
func ParseLengths(src []byte) (lengths []uint8, rest []byte, err error) {
	if len(src) < 2 {
		return nil, src, ErrLengthsShort
	}
	n := int(src[0]) | int(src[1])<<8
	if n > MaxSymbols {
		return nil, src, ErrLengthsShort
	}
	lengths = make([]uint8, 0, n)
	rest = src[2:]
	for len(lengths) < n {
		if len(rest) == 0 || len(lengths)+int(rest[0]>>4)+1 > n {
			return nil, src, ErrLengthsShort
		}
		for range rest[0]>>4 + 1 {
			lengths = append(lengths, rest[0]&15)
		}
		rest = rest[1:]
	}
	return lengths, rest, nil
}
