package packet

import (
	"encoding/binary"
	"time"
)

var le = binary.LittleEndian

// HeaderSize is the length of a packet's header.
const HeaderSize = 2 + 2 + 8 + 2 + 2

// MaxSectionBytes is the room for sections after a header.
const MaxSectionBytes = MaxPacketSize - HeaderSize

// Stamp is the unit of Header.SentAt and Header.Echo, which wrap every 8.192 s.
const Stamp = time.Second / 8000

// Header opens every packet.
//
//	2  sequence  grows by one per packet, from 1; the low 16 bits
//	2  ack       newest sequence received; the low 16 bits, 0 for none
//	8  ackBits   bit n set: ack-1-n received
//	2  sentAt    the sender's clock in 1/8 ms
//	2  echo      sentAt of the packet named by ack, plus how long ago it came, in 1/8 ms
type Header struct {
	Sequence uint16
	Ack      uint16
	AckBits  uint64
	SentAt   uint16
	Echo     uint16
}

// Append writes h at the end of dst: HeaderSize bytes.
func (h *Header) Append(dst []byte) []byte {
	dst = le.AppendUint16(dst, h.Sequence)
	dst = le.AppendUint16(dst, h.Ack)
	dst = le.AppendUint64(dst, h.AckBits)
	dst = le.AppendUint16(dst, h.SentAt)
	return le.AppendUint16(dst, h.Echo)
}

// ParseHeader reads a header and returns the sections after it, which lie in src. The error is a
// Drop.
func ParseHeader(src []byte) (h Header, rest []byte, err error) {
	if len(src) < HeaderSize || len(src) > MaxPacketSize {
		return h, nil, DropSize
	}
	h.Sequence = le.Uint16(src)
	h.Ack = le.Uint16(src[2:])
	h.AckBits = le.Uint64(src[4:])
	h.SentAt = le.Uint16(src[12:])
	h.Echo = le.Uint16(src[14:])
	return h, src[HeaderSize:], nil
}
