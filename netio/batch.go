package netio

import (
	"fmt"
	"net/netip"
)

// MaxDatagram is the largest datagram sent and accepted, in bytes of UDP payload. It passes any path that carries
// IPv6 without being cut to pieces: 1280, the least any such path takes, less 40 and 8 of headers. A sealed packet of
// netcode 1.02 (at most 1225) fits.
const MaxDatagram = 1232

// BatchSize is the number of datagrams a Batch holds, and the most one system call moves.
const BatchSize = 64

// slotBytes is the memory of one datagram: MaxDatagram and a little more, so that a longer one is noticed, rounded
// to an odd number of cache lines. A power of two would put the first line of every slot into the same few cache sets.
const slotBytes = 21 * 64

type slotBuffer = [slotBytes]byte

// slot is one datagram's place, in a batch or in a ring. Receiving exchanges buf pointers instead of copying bytes.
type slot struct {
	addr netip.AddrPort
	buf  *slotBuffer
	n    int32 // bytes, as on the wire: more than buf holds if it was cut
}

// Batch is up to BatchSize datagrams in memory that is used again and again (90 kB, allocated at first use).
// The zero value is ready. A batch must not be copied, nor be used by two goroutines at once.
type Batch struct {
	n     int
	slots [BatchSize]slot
}

// alloc gives every slot its memory.
func (b *Batch) alloc() {
	if b.slots[0].buf == nil {
		allocBuffers(b.slots[:])
	}
}

func allocBuffers(slots []slot) {
	mem := make([]slotBuffer, len(slots))
	for i := range slots {
		slots[i].buf = &mem[i]
	}
}

// Len is the number of datagrams held.
func (b *Batch) Len() int { return b.n }

// Full reports whether there is no room for another datagram.
func (b *Batch) Full() bool { return b.n == BatchSize }

// At returns datagram i of Len. Its data is the batch's memory: valid until the batch is received into or reset.
func (b *Batch) At(i int) Datagram {
	if uint(i) >= uint(b.n) {
		panic(fmt.Sprintf("netio: datagram %d of a batch of %d", i, b.n))
	}
	s := &b.slots[i]
	return Datagram{Addr: s.addr, Data: s.buf[:s.n:s.n]}
}

// Data is the Data of datagram i of Len, and From its Addr: for loops that look at a part of many.
func (b *Batch) Data(i int) []byte {
	s := &b.slots[:b.n][i]
	return s.buf[:s.n:s.n]
}

// From is where datagram i of Len came from, see Data.
func (b *Batch) From(i int) netip.AddrPort { return b.slots[:b.n][i].addr }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.n = 0 }

// Next returns the memory for one more datagram, of length 0 and capacity MaxDatagram, to append to. It counts only
// once committed; until then Next returns the same memory. A full batch gives nil.
func (b *Batch) Next() []byte {
	if b.Full() {
		return nil
	}
	b.alloc()
	return b.slots[b.n].buf[:0:MaxDatagram]
}

// Commit makes the first n bytes of the memory Next gave a datagram to the given peer. n beyond MaxDatagram panics:
// whoever appended that much wrote somewhere else.
func (b *Batch) Commit(n int, to netip.AddrPort) {
	if b.Full() || n < 0 || n > MaxDatagram {
		panic(fmt.Sprintf("netio: %d bytes committed as datagram %d", n, b.n))
	}
	b.alloc()
	s := &b.slots[b.n]
	s.addr, s.n = to, int32(n)
	b.n++
}

// Extend makes datagram i of Len n bytes longer, within MaxDatagram, and returns the memory that is new in it.
func (b *Batch) Extend(i, n int) []byte {
	s := &b.slots[i]
	if uint(i) >= uint(b.n) || n < 0 || int(s.n)+n > MaxDatagram {
		panic(fmt.Sprintf("netio: datagram %d of %d extended by %d bytes", i, b.n, n))
	}
	s.n += int32(n)
	return s.buf[int(s.n)-n : s.n]
}

// Add copies data into one more datagram to the given peer. It reports false, and does nothing, if the batch is full.
func (b *Batch) Add(data []byte, to netip.AddrPort) bool {
	if b.Full() {
		return false
	}
	b.Commit(len(append(b.Next(), data...)), to)
	return true
}
