package sim

import "encoding/binary"

// TagMissed is the first byte of the note by which a client tells how often it has mispredicted itself: what the server cannot
// know, and believes for nothing but to show it.
//
//	1  0x84
//	4  count  since the session began, modulo 2^32
const TagMissed byte = 0x84

// AppendMissed writes the note.
func AppendMissed(dst []byte, count uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, TagMissed), count)
}

// ParseMissed reads what AppendMissed wrote. False for what is none.
func ParseMissed(src []byte) (count uint32, ok bool) {
	if len(src) != 5 || src[0] != TagMissed {
		return 0, false
	}
	return binary.LittleEndian.Uint32(src[1:]), true
}
