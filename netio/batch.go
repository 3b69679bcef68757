package netio

import (
	"fmt"
	"net/netip"
)

// MaxDatagram is the largest datagram sent and accepted, in bytes of UDP payload. It passes every
// IPv6 path unfragmented: the minimum MTU of 1280, less 40 and 8 bytes of headers. A sealed
// packet of netcode 1.02 has at most 1225 bytes.
const MaxDatagram = 1232

// BatchSize is the number of datagrams in a full Batch, and the most that one system call moves.
const BatchSize = 64

// slotBytes is the memory of one datagram: more than MaxDatagram, so that a longer one is
// noticed, and an odd number of cache lines. A power of two would put the first line of every
// slot into the same few cache sets.
const slotBytes = 21 * 64

type slotBuffer = [slotBytes]byte

// slot holds one datagram in a batch or a ring. Receiving exchanges buf pointers instead of
// copying bytes.
type slot struct {
	addr netip.AddrPort
	buf  *slotBuffer
	n    int32 // bytes on the wire: more than buf holds for a truncated datagram
}

// Batch is up to BatchSize datagrams in reused memory, 90 kB that are allocated at first use. The
// zero value is ready. A batch must not be copied, and belongs to one goroutine at a time.
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

// Len returns the number of datagrams.
func (b *Batch) Len() int { return b.n }

// Full reports whether there is no room for another datagram.
func (b *Batch) Full() bool { return b.n == BatchSize }

// At returns datagram i of Len. Its data is the batch's memory, valid until the next Receive or
// Reset.
func (b *Batch) At(i int) Datagram {
	if uint(i) >= uint(b.n) {
		panic(fmt.Sprintf("netio: datagram %d of a batch, want 0 to %d", i, b.n-1))
	}
	s := &b.slots[i]
	return Datagram{Addr: s.addr, Data: s.buf[:s.n:s.n]}
}

// Data returns only the data of datagram i of Len, for loops that need no address.
func (b *Batch) Data(i int) []byte {
	s := &b.slots[:b.n][i]
	return s.buf[:s.n:s.n]
}

// From returns only the address of datagram i of Len.
func (b *Batch) From(i int) netip.AddrPort { return b.slots[:b.n][i].addr }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.n = 0 }

// Next returns memory for one more datagram, of length 0 and capacity MaxDatagram, to append to.
// Commit adds it to the batch; until then Next returns the same memory. A full batch returns nil.
func (b *Batch) Next() []byte {
	if b.Full() {
		return nil
	}
	b.alloc()
	return b.slots[b.n].buf[:0:MaxDatagram]
}

// Commit makes the first n bytes of the memory from Next a datagram for a peer. It panics if n is
// more than MaxDatagram, because an append that long has left the memory.
func (b *Batch) Commit(n int, to netip.AddrPort) {
	if b.Full() || n < 0 || n > MaxDatagram {
		panic(fmt.Sprintf("netio: %d bytes committed as datagram %d, want 0 to %d bytes and 0 to %d", n, b.n, MaxDatagram, BatchSize-1))
	}
	b.alloc()
	s := &b.slots[b.n]
	s.addr, s.n = to, int32(n)
	b.n++
}

// Extend makes datagram i of Len n bytes longer, within MaxDatagram, and returns the new memory
// in it.
func (b *Batch) Extend(i, n int) []byte {
	s := &b.slots[i]
	if uint(i) >= uint(b.n) || n < 0 || int(s.n)+n > MaxDatagram {
		panic(fmt.Sprintf("netio: datagram %d of %d extended by %d bytes, want one of these, and at most %d bytes in all", i, b.n, n, MaxDatagram))
	}
	s.n += int32(n)
	return s.buf[int(s.n)-n : s.n]
}

// Add copies data into one more datagram for a peer. It reports false if the batch is full.
func (b *Batch) Add(data []byte, to netip.AddrPort) bool {
	if b.Full() {
		return false
	}
	b.Commit(len(append(b.Next(), data...)), to)
	return true
}
