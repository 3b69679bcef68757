package packet

import (
	"encoding/binary"
	"time"
)

// transferReceiver puts one blob together at a time. A fragment of a later one means that the sender has given up the present one;
// fragments of earlier ones are late copies. Whatever it is sent, it takes no more memory than limit.
type transferReceiver struct {
	limit      int           // largest blob taken, at most MaxTransferSize
	id         uint64        // of the blob in hand, or of the next
	size       int           // of the blob in hand; 0: none
	left       int           // its missing fragments
	have       fragmentSet   // and those that are there
	received   time.Duration // when the last new one came
	done       int           // size of the finished blob that nobody has taken; 0: none
	incomplete uint64        // blobs of which only a part came
	memory     *transferBuffer
}

// transferBuffer is apart, so that peers without blobs do not pay for it. It is let go when a blob stays unfinished.
type transferBuffer struct{ data []byte }

// parse reads a section: all of it or nothing. What came before is skipped.
func (b *transferReceiver) parse(now time.Duration, src []byte) (rest []byte, err error) {
	if len(src) <= fragmentHead || Section(src[0]) != SectionFragment {
		return nil, DropFragment
	}
	ahead := int16(binary.LittleEndian.Uint16(src[1:]) - uint16(b.id))
	i, size := int(src[3]), binary.LittleEndian.Uint32(src[4:])
	limit := b.limit
	if ahead < 0 && uint64(-int(ahead)) <= b.id { // a late copy: it was taken once
		limit = MaxTransferSize
	}
	if size == 0 || int64(size) > int64(limit) || i >= fragmentCount(int(size)) {
		return nil, DropFragment
	}
	piece := src[fragmentHead:]
	if n := fragmentLen(int(size), i); len(piece) < n {
		return nil, DropFragment
	} else {
		piece, rest = piece[:n], piece[n:]
	}
	if ahead < 0 {
		return rest, nil
	}
	if ahead == 0 && b.size != 0 && b.size != int(size) {
		return nil, DropFragment
	}
	if ahead > 0 || b.size == 0 {
		b.begin(uint64(ahead), int(size))
	}
	b.take(now, i, piece)
	return rest, nil
}

// clearResults turns to the blob that lies ahead of the one in hand, and drops that one if it is another.
func (b *transferReceiver) begin(ahead uint64, size int) {
	if b.size != 0 {
		b.incomplete++
	}
	b.id += ahead
	b.size, b.left, b.have = size, fragmentCount(size), fragmentSet{}
	if b.memory == nil {
		b.memory = new(transferBuffer)
	}
	if cap(b.memory.data) < size {
		b.memory.data = make([]byte, size)
	}
}

// applyAck keeps a fragment; the last that was missing finishes the blob.
func (b *transferReceiver) take(now time.Duration, i int, piece []byte) {
	if b.have.has(i) {
		return
	}
	b.have.add(i)
	b.received = now
	copy(b.memory.data[:b.size][i*fragmentSize:], piece)
	if b.left--; b.left == 0 {
		b.done, b.size = b.size, 0
		b.id++
	}
}

// expire gives up the blob in hand and its memory if nothing of it came for too long.
func (b *transferReceiver) expire(now time.Duration) {
	if b.size != 0 && now-b.received > receiveGiveUp {
		b.drop()
	}
}

// drop gives up the blob in hand, if any, and the memory.
func (b *transferReceiver) drop() {
	if b.size != 0 {
		b.size, b.left = 0, 0
		b.id++
		b.incomplete++
	}
	b.done, b.memory = 0, nil
}
