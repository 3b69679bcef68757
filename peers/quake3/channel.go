package quake3

import "encoding/binary"

// Layout of a datagram of the channel, least significant bytes first:
//
//	4  sequence   its highest bit marks a fragment
//	2  qport      from clients only
//	2  start      of a fragment: offset in its message
//	2  length     of a fragment; the last of a message is shorter than fragmentSize
//	.. message
const (
	fragmentBit  = 1 << 31
	fragmentSize = 1300
	// MaxMessage is the longest message in bytes.
	MaxMessage = 16384
)

// Channel receives messages in rising order and puts fragments together.
type Channel struct {
	Sequence  uint32 // of the newest message
	fragments []byte
	fragment  uint32 // sequence of the message in fragments
}

// Receive returns the message that a datagram completes, nil if there is none. The message is
// valid until the next call.
func (c *Channel) Receive(datagram []byte) []byte {
	if len(datagram) < 4 {
		return nil
	}
	sequence, rest := binary.LittleEndian.Uint32(datagram), datagram[4:]
	if sequence&fragmentBit == 0 {
		if sequence <= c.Sequence {
			return nil
		}
		c.Sequence = sequence
		return rest
	}
	sequence &^= fragmentBit
	if sequence <= c.Sequence || len(rest) < 4 {
		return nil
	}
	start := int(binary.LittleEndian.Uint16(rest))
	length := int(binary.LittleEndian.Uint16(rest[2:]))
	rest = rest[4:]
	if sequence != c.fragment {
		c.fragment, c.fragments = sequence, c.fragments[:0]
	}
	if start != len(c.fragments) || length > len(rest) || start+length > MaxMessage {
		return nil
	}
	c.fragments = append(c.fragments, rest[:length]...)
	if length == fragmentSize {
		return nil
	}
	c.Sequence = sequence
	return c.fragments
}

// appendHeader appends the head of a client's datagram.
func appendHeader(dst []byte, sequence uint32, qport uint16) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(dst, sequence), qport)
}
