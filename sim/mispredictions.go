package sim

import "encoding/binary"

// TagMispredictions is the first byte of the unreliable message by which a client reports how
// often it has mispredicted itself. The server cannot know that number, and only displays it.
//
//	1  0x84
//	4  count  since the session began, modulo 2^32
const TagMispredictions byte = 0x84

// AppendMispredictions writes the message.
func AppendMispredictions(dst []byte, count uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, TagMispredictions), count)
}

// ParseMispredictions reads what AppendMispredictions wrote. It reports false for any other
// message.
func ParseMispredictions(src []byte) (count uint32, ok bool) {
	if len(src) != 5 || src[0] != TagMispredictions {
		return 0, false
	}
	return binary.LittleEndian.Uint32(src[1:]), true
}
