package session

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Addresses finds the slot of an address: an open-addressed table of fixed size with linear probing. It allocates nothing after
// NewAddresses. The hash is seeded, so nobody can choose addresses that collide; deletion moves entries back, so
// years of joins and leaves leave no tombstones.
//
// An IPv4 address and its IPv4-in-IPv6 form are the same address here, as they are to a dual-stack socket. Zones are
// ignored: a link-local address is told apart by its port.
type Addresses struct {
	entries []address // a power of two, at most half full
	seed    [2]uint64
	length  int
	limit   int
}

type address struct {
	high, low uint64 // the 16 bytes of the IPv6 form
	port      uint16
	used      bool
	slot      int32
}

// NewAddresses returns a table for up to capacity addresses. The seed must be random and secret.
func NewAddresses(capacity int, seed [2]uint64) *Addresses {
	size := 8
	for size < 2*capacity {
		size *= 2
	}
	return &Addresses{entries: make([]address, size), seed: seed, limit: capacity}
}

// Len returns how many addresses are in the table.
func (t *Addresses) Len() int { return t.length }

// Get returns the slot of an address.
func (t *Addresses) Get(a netip.AddrPort) (slot int32, ok bool) {
	high, low, port := words(a)
	entries := t.entries
	for i := t.home(high, low, port); ; i++ {
		e := &entries[i&(len(entries)-1)]
		if e.low == low && e.high == high && e.port == port && e.used {
			return e.slot, true
		}
		if !e.used {
			return 0, false
		}
	}
}

// Put sets the slot of an address. False when the address is new and the table full, or it is not valid; then nothing
// changed.
func (t *Addresses) Put(a netip.AddrPort, slot int32) bool {
	if !a.IsValid() {
		return false
	}
	i, found := t.find(a)
	if found {
		t.entries[i].slot = slot
		return true
	}
	if t.length == t.limit {
		return false
	}
	high, low, port := words(a)
	t.entries[i] = address{high: high, low: low, port: port, used: true, slot: slot}
	t.length++
	return true
}

// Delete takes an address out and reports whether it was in.
func (t *Addresses) Delete(a netip.AddrPort) bool {
	hole, found := t.find(a)
	if !found {
		return false
	}
	mask := len(t.entries) - 1
	for i := (hole + 1) & mask; t.entries[i].used; i = (i + 1) & mask {
		e := &t.entries[i]
		if home := t.home(e.high, e.low, e.port) & mask; (i-home)&mask >= (i-hole)&mask {
			t.entries[hole] = *e // its home is not behind the hole, so it may move into it
			hole = i
		}
	}
	t.entries[hole] = address{}
	t.length--
	return true
}

// find returns the place of an address, or the free one where it belongs.
func (t *Addresses) find(a netip.AddrPort) (i int, found bool) {
	high, low, port := words(a)
	mask := len(t.entries) - 1
	for i = t.home(high, low, port) & mask; t.entries[i].used; i = (i + 1) & mask {
		if e := &t.entries[i]; e.low == low && e.high == high && e.port == port {
			return i, true
		}
	}
	return i, false
}

// home is where the search for an address begins, to be taken modulo the size: the folded 128-bit product of wyhash,
// twice, as one fold leaves rows of neighbouring addresses in rows under an unlucky seed.
func (t *Addresses) home(high, low uint64, port uint16) int {
	h, l := bits.Mul64(low^t.seed[0], high^uint64(port)<<32^t.seed[1])
	h, l = bits.Mul64(h^l, 0x9e3779b97f4a7c15)
	return int(h ^ l)
}

// words cuts an address into numbers that compare fast. IPv4 goes by itself: As16 returns through memory in a way that
// costs 8 ns of stalled loads.
func words(a netip.AddrPort) (high, low uint64, port uint16) {
	ip := a.Addr()
	if ip.Is4() {
		b := ip.As4()
		return 0, 0xffff<<32 | uint64(binary.BigEndian.Uint32(b[:])), a.Port()
	}
	b := ip.As16()
	return binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]), a.Port()
}
