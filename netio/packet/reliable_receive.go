package packet

import (
	"math/bits"
)

// reliableReceiver puts reliable messages back into order. It holds messages that arrived before
// an older one, by id modulo 64.
type reliableReceiver struct {
	next    uint64       // id that pop returns next
	waiting messageStore // received and not popped
}

// parse reads a section: all of it or nothing. It skips messages received before.
//
//	1  section 1
//	1  count   of messages, 1 to 64
//	   then for each, ids ascending:
//	2  id      counts messages from 0; the low 16 bits
//	1  size-1
//	n  bytes
func (q *reliableReceiver) parse(src []byte) (rest []byte, err error) {
	if len(src) < 2 || Section(src[0]) != SectionReliable || src[1] == 0 || src[1] > MaxReliable {
		return nil, DropMessage
	}
	body := src[2:]
	first, last := uint16(0), -1
	for n := range int(src[1]) {
		if len(body) < 3 || len(body) < 4+int(body[2]) {
			return nil, DropMessage
		}
		id := uint16(body[0]) | uint16(body[1])<<8
		if n == 0 {
			first = id
		}
		if step := int(id - first); step <= last || step >= MaxReliable ||
			int16(id-uint16(q.next)) >= MaxReliable {
			return nil, DropMessage // not ascending, or further ahead than an honest peer sends
		} else {
			last = step
		}
		body = body[4+int(body[2]):]
	}
	q.store(src[2 : len(src)-len(body)])
	return body, nil
}

// store keeps the messages of a body that parse has checked.
func (q *reliableReceiver) store(body []byte) {
	for len(body) > 0 {
		id, size := uint16(body[0])|uint16(body[1])<<8, 1+int(body[2])
		i := uint64(id % MaxReliable)
		if int16(id-uint16(q.next)) >= 0 && q.waiting.held>>i&1 == 0 {
			q.waiting.put(i, body[3:3+size])
		}
		body = body[3+size:]
	}
}

// pop returns the next message in order.
func (q *reliableReceiver) pop() ([]byte, bool) {
	i := q.next % MaxReliable
	if q.waiting.held>>i&1 == 0 {
		return nil, false
	}
	q.waiting.drop(i)
	q.next++
	return q.waiting.get(i), true
}

// setBits yields the indexes of the bits set in mask, lowest first.
func setBits(mask uint64) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for mask != 0 {
			if !yield(uint64(bits.TrailingZeros64(mask))) {
				return
			}
			mask &= mask - 1
		}
	}
}
