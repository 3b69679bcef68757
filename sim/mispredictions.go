package sim

import "encoding/binary"

// TagMispredictions is the first byte of the note by which a client tells how often it has mispredicted itself: what the server cannot
// know, and believes for nothing but to show it.
//
//	1  0x84
//	4  count  since the session began, modulo 2^32
const TagMispredictions byte = 0x84

// AppendMispredictions writes the note.
func AppendMispredictions(dst []byte, count uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, TagMispredictions), count)
}

// ParseMispredictions reads what AppendMispredictions wrote. False for what is none.
func ParseMispredictions(src []byte) (count uint32, ok bool) {
	if len(src) != 5 || src[0] != TagMispredictions {
		return 0, false
	}
	return binary.LittleEndian.Uint32(src[1:]), true
}
