package packet

import (
	"errors"
)

// Limits of unreliable messages.
const (
	MaxUnreliable  = 64   // messages in a packet
	unreliableRoom = 1024 // bytes of the messages that wait, each with one more for its size
)

// Errors of Peer.QueueUnreliable. They are about the caller, not about a packet.
var (
	ErrUnreliableFull = errors.New("packet: more unreliable messages than the next packet takes")
)

// unreliableQueues holds unreliable messages, each in the form in which it is written: size-1 and
// bytes. A message goes into one packet and is never sent again, so it arrives at most once, in
// the order of packets.
type unreliableQueues struct {
	nOut, nIn, at uint16                 // bytes of out, of in; next message of in
	out           *[unreliableRoom]byte  // nil before the first message, as is in
	in            *[MaxSectionBytes]byte // messages of the last packet
}

// QueueUnreliable copies a message of 1 to MaxMessageSize bytes for the next packet that has
// room. The error is ErrUnreliableFull or ErrMessageSize.
func (p *Peer) QueueUnreliable(message []byte) error {
	q := &p.unreliable
	if len(message) == 0 || len(message) > MaxMessageSize {
		return ErrMessageSize
	}
	if int(q.nOut)+1+len(message) > unreliableRoom {
		return ErrUnreliableFull
	}
	if q.out == nil {
		q.out = new([unreliableRoom]byte)
	}
	q.out[q.nOut] = byte(len(message) - 1)
	q.nOut += 1 + uint16(copy(q.out[q.nOut+1:], message))
	return nil
}

// AppendUnreliable adds the oldest unreliable messages that fit into budget bytes to the packet
// that Append began last, after its reliable messages, and forgets them. It writes nothing when
// there are none.
func (p *Peer) AppendUnreliable(dst []byte, budget int) []byte {
	q, count, n := &p.unreliable, 0, 0
	for n < int(q.nOut) && count < MaxUnreliable {
		size := 2 + int(q.out[n])
		if 2+n+size > budget {
			break
		}
		n += size
		count++
	}
	if count == 0 {
		return dst
	}
	dst = append(dst, byte(SectionUnreliable), byte(count))
	dst = append(dst, q.out[:n]...)
	q.nOut = uint16(copy(q.out[:], q.out[n:q.nOut]))
	return dst
}

// parse reads a section: all of it or nothing.
//
//	1  section 4
//	1  count   of messages, 1 to 64
//	   then for each:
//	1  size-1
//	n  bytes
func (q *unreliableQueues) parse(src []byte) (rest []byte, err error) {
	if len(src) < 2 || Section(src[0]) != SectionUnreliable || src[1] == 0 || src[1] > MaxUnreliable {
		return nil, DropUnreliable
	}
	body := src[2:]
	for range int(src[1]) {
		if len(body) == 0 || len(body) < 2+int(body[0]) {
			return nil, DropUnreliable
		}
		body = body[2+int(body[0]):]
	}
	if n := len(src) - len(body) - 2; n > MaxSectionBytes { // longer than any packet
		return nil, DropUnreliable
	} else {
		if q.in == nil {
			q.in = new([MaxSectionBytes]byte)
		}
		q.at, q.nIn = 0, uint16(copy(q.in[:], src[2:2+n]))
	}
	return body, nil
}

// NextUnreliable returns the next unreliable message of the last packet, in the order in which
// the peer queued them. The slice is valid until the next Sections.
func (p *Peer) NextUnreliable() ([]byte, bool) {
	q := &p.unreliable
	if q.at >= q.nIn {
		return nil, false
	}
	message := q.in[q.at+1 : q.at+2+uint16(q.in[q.at])]
	q.at += 1 + uint16(len(message))
	return message, true
}
