package netcode

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// table finds a small number by a name: an open-addressed table of fixed size with linear probing, for addresses, client
// ids, session ids and token tags. The hash is seeded, so nobody can choose names that collide; deletion moves
// entries back, so years of joins and leaves leave no tombstones.
type table struct {
	entries []entry // a power of two, at most half full
	seed    [2]uint64
	length  int
	limit   int
}

// name is what is looked up: the 16 bytes and the port of an address, or a number.
type name struct {
	high, low uint64
	port      uint16
}

type entry struct {
	high, low uint64
	tag       uint32 // the port, and the highest bit: the entry is used
	value     int32
}

const entryUsed = 1 << 31

func newTable(capacity int, seed [2]uint64) table {
	size := 8
	for size < 2*capacity {
		size *= 2
	}
	return table{entries: make([]entry, size), seed: seed, limit: capacity}
}

func (t *table) get(n name) (value int, ok bool) {
	entries, tag := t.entries, uint32(n.port)|entryUsed
	for i := t.home(n); ; i++ {
		e := &entries[i&(len(entries)-1)]
		if e.low == n.low && e.high == n.high && e.tag == tag {
			return int(e.value), true
		}
		if e.tag == 0 {
			return -1, false
		}
	}
}

// put sets the value of a name. False, and nothing changed: the name is new and the table full.
func (t *table) put(n name, value int) bool {
	i, found := t.find(n)
	if !found {
		if t.length == t.limit {
			return false
		}
		t.length++
	}
	t.entries[i] = entry{high: n.high, low: n.low, tag: uint32(n.port) | entryUsed, value: int32(value)}
	return true
}

// remove takes a name out and reports whether it was in.
func (t *table) remove(n name) bool {
	hole, found := t.find(n)
	if !found {
		return false
	}
	mask := len(t.entries) - 1
	for i := (hole + 1) & mask; t.entries[i].tag != 0; i = (i + 1) & mask {
		e := &t.entries[i]
		if home := t.home(name{e.high, e.low, uint16(e.tag)}) & mask; (i-home)&mask >= (i-hole)&mask {
			t.entries[hole] = *e // its home is not behind the hole, so it may move into it
			hole = i
		}
	}
	t.entries[hole] = entry{}
	t.length--
	return true
}

// find returns the place of a name, or the free one where it belongs.
func (t *table) find(n name) (i int, found bool) {
	mask, tag := len(t.entries)-1, uint32(n.port)|entryUsed
	for i = t.home(n) & mask; t.entries[i].tag != 0; i = (i + 1) & mask {
		if e := &t.entries[i]; e.low == n.low && e.high == n.high && e.tag == tag {
			return i, true
		}
	}
	return i, false
}

// home is where the search begins, to be taken modulo the size.
func (t *table) home(n name) int { return int(n.hash(t.seed)) }

// hash is the folded 128-bit product of wyhash, twice: one fold leaves rows of neighbouring addresses in rows under an
// unlucky seed.
func (n name) hash(seed [2]uint64) uint64 {
	h, l := bits.Mul64(n.low^seed[0], n.high^uint64(n.port)<<32^seed[1])
	h, l = bits.Mul64(h^l, 0x9e3779b97f4a7c15)
	return h ^ l
}

// byAddress names an address. IPv4 goes by itself: As16 returns through memory in a way that costs 8 ns of stalled
// loads. IPv4 in IPv6 is IPv4, and zones do not count.
func byAddress(a netip.AddrPort) name {
	ip := a.Addr()
	if ip.Is4() {
		b := ip.As4()
		return name{0, 0xffff<<32 | uint64(binary.BigEndian.Uint32(b[:])), a.Port()}
	}
	b := ip.As16()
	return name{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]), a.Port()}
}

// network is the /24 of an IPv4 address and the /48 of an IPv6 one.
func (n name) network() name {
	if n.high == 0 && n.low>>32 == 0xffff {
		return name{low: n.low &^ 0xff}
	}
	return name{high: n.high &^ 0xffff}
}

// host is the address without its port.
func (n name) host() name { return name{high: n.high, low: n.low} }

func byNumber(id uint64) name { return name{low: id} }

func byTag(t TokenTag) name {
	return name{high: binary.LittleEndian.Uint64(t[:8]), low: binary.LittleEndian.Uint64(t[8:])}
}
