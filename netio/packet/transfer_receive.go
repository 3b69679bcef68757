package packet

import (
	"encoding/binary"
	"time"
)

// transferReceiver puts one transfer together at a time. A fragment of a later transfer means
// that the sender has given up the present one; fragments of earlier transfers are late copies.
// It never takes more memory than limit.
type transferReceiver struct {
	size       int32         // of the present transfer; 0: none
	done       int32         // size of the complete transfer that waits for NextTransfer; 0: none
	limit      int           // largest transfer taken, at most MaxTransferSize
	id         uint64        // of the present transfer, or of the next one
	left       int           // fragments that are missing
	have       fragmentSet   // fragments that are here
	received   time.Duration // when the last new fragment came
	incomplete uint64        // transfers given up
	memory     *transferBuffer
}

// transferBuffer is separate, so that peers without transfers do not pay for it. It is released
// when a transfer stays unfinished.
type transferBuffer struct{ data []byte }

// parse reads a section: all of it or nothing. It skips fragments received before.
func (b *transferReceiver) parse(now time.Duration, src []byte) (rest []byte, err error) {
	if len(src) <= fragmentHead || Section(src[0]) != SectionFragment {
		return nil, DropFragment
	}
	ahead := int16(binary.LittleEndian.Uint16(src[1:]) - uint16(b.id))
	i, size := int(src[3]), binary.LittleEndian.Uint32(src[4:])
	limit := b.limit
	if ahead < 0 && uint64(-int(ahead)) <= b.id { // a late copy of a transfer taken before
		limit = MaxTransferSize
	}
	if size == 0 || int64(size) > int64(limit) || i >= fragmentCount(int(size)) {
		return nil, DropFragment
	}
	fragment := src[fragmentHead:]
	if n := fragmentLen(int(size), i); len(fragment) < n {
		return nil, DropFragment
	} else {
		fragment, rest = fragment[:n], fragment[n:]
	}
	if ahead < 0 {
		return rest, nil
	}
	if ahead == 0 && b.size != 0 && b.size != int32(size) {
		return nil, DropFragment
	}
	if ahead > 0 || b.size == 0 {
		b.begin(uint64(ahead), int(size))
	}
	b.take(now, i, fragment)
	return rest, nil
}

// begin turns to the transfer that is ahead of the present one, and drops the present one if it
// is another.
func (b *transferReceiver) begin(ahead uint64, size int) {
	if b.size != 0 {
		b.incomplete++
	}
	b.id += ahead
	b.size, b.left, b.have = int32(size), fragmentCount(size), fragmentSet{}
	if b.memory == nil {
		b.memory = new(transferBuffer)
	}
	if cap(b.memory.data) < size {
		b.memory.data = make([]byte, size)
	}
}

// take stores a fragment. The last missing one completes the transfer.
func (b *transferReceiver) take(now time.Duration, i int, fragment []byte) {
	if b.have.has(i) {
		return
	}
	b.have.add(i)
	b.received = now
	copy(b.memory.data[:b.size][i*fragmentSize:], fragment)
	if b.left--; b.left == 0 {
		b.done, b.size = b.size, 0
		b.id++
	}
}

// expire gives up the present transfer and its memory if no fragment came for too long.
func (b *transferReceiver) expire(now time.Duration) {
	if b.size != 0 && now-b.received > receiveGiveUp {
		b.drop()
	}
}

// drop gives up the present transfer, if any, and the memory.
func (b *transferReceiver) drop() {
	if b.size != 0 {
		b.size, b.left = 0, 0
		b.id++
		b.incomplete++
	}
	b.done, b.memory = 0, nil
}
