package packet

import (
	"errors"
)

// Limits of notes.
const (
	MaxUnreliable  = 64   // in a package
	unreliableRoom = 1024 // bytes of those that wait for the next package, and one more for each
)

// Errors of Peer.QueueUnreliable. They are about the caller, not about a package.
var (
	ErrUnreliableFull = errors.New("packet: more notes than the next package takes")
)

// unreliable are unreliable events: each goes into one package and is never sent again, so what arrives arrived once and in the
// order of packages. What waits lies here as it is written: size-1 and bytes, one after the other.
type unreliableQueues struct {
	nOut int
	at   int // next one to hand out
	nIn  int
	out  [unreliableRoom]byte
	in   [MaxSectionBytes]byte // of the last package, without its head
}

// QueueUnreliable takes an unreliable event of 1 to MaxMessageSize bytes, which is copied, for the next package that has room. The error is
// ErrUnreliableFull or ErrMessageSize.
func (p *Peer) QueueUnreliable(note []byte) error {
	q := &p.unreliable
	if len(note) == 0 || len(note) > MaxMessageSize {
		return ErrMessageSize
	}
	if q.nOut+1+len(note) > unreliableRoom {
		return ErrUnreliableFull
	}
	q.out[q.nOut] = byte(len(note) - 1)
	q.nOut += 1 + copy(q.out[q.nOut+1:], note)
	return nil
}

// AppendUnreliable adds a Notes section to the package that Append began last, in at most budget bytes, with the oldest notes that
// fit; they are forgotten. It belongs behind the events. It adds nothing when there are none.
func (p *Peer) AppendUnreliable(dst []byte, budget int) []byte {
	q, count, n := &p.unreliable, 0, 0
	for n < q.nOut && count < MaxUnreliable {
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
	q.nOut = copy(q.out[:], q.out[n:q.nOut])
	return dst
}

// parse reads a section: all of it or nothing.
//
//	1  section 4
//	1  count   of notes, 1 to 64
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
	if n := len(src) - len(body) - 2; n > len(q.in) { // longer than any package
		return nil, DropUnreliable
	} else {
		q.at, q.nIn = 0, copy(q.in[:], src[2:2+n])
	}
	return body, nil
}

// NextUnreliable returns the next unreliable event of the last package, in the order in which the peer noted them. It is the
// peer's memory, valid until the next Sections.
func (p *Peer) NextUnreliable() ([]byte, bool) {
	q := &p.unreliable
	if q.at >= q.nIn {
		return nil, false
	}
	note := q.in[q.at+1 : q.at+2+int(q.in[q.at])]
	q.at += 1 + len(note)
	return note, true
}
