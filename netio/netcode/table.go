package netcode

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// table finds a small number by a key: a hash table of fixed size with linear probing, for
// addresses, client ids, session ids and token tags. The hash is seeded, so that nobody can
// choose keys that collide. Deletion moves entries back, so there are no tombstones.
type table struct {
	entries []entry // a power of two, at most half full
	seed    [2]uint64
	length  int
	limit   int
	shared  mirror
}

// mirror keeps the keys of a table in the index of a group. The zero value does nothing.
type mirror struct {
	index  *Index // nil: none
	kind   IndexKind
	member int
}

func (m *mirror) put(n tableKey) {
	if m.index != nil {
		m.index.put(m.kind, n, m.member)
	}
}

func (m *mirror) remove(n tableKey) {
	if m.index != nil {
		m.index.remove(m.kind, n, m.member)
	}
}

// tableKey is the 16 bytes and the port of an address, a number, or a tag.
type tableKey struct {
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

func (t *table) get(n tableKey) (value int, ok bool) {
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

// put sets the value of a key. It reports false and changes nothing when the key is new and the
// table full.
func (t *table) put(n tableKey, value int) bool {
	i, found := t.find(n)
	if !found {
		if t.length == t.limit {
			return false
		}
		t.length++
		t.shared.put(n)
	}
	t.entries[i] = entry{high: n.high, low: n.low, tag: uint32(n.port) | entryUsed, value: int32(value)}
	return true
}

// remove deletes a key and reports whether it was there.
func (t *table) remove(n tableKey) bool {
	if !t.forget(n) {
		return false
	}
	t.shared.remove(n)
	return true
}

// forget is remove for a key that stays in the index of the group.
func (t *table) forget(n tableKey) bool {
	hole, found := t.find(n)
	if !found {
		return false
	}
	mask := len(t.entries) - 1
	for i := (hole + 1) & mask; t.entries[i].tag != 0; i = (i + 1) & mask {
		e := &t.entries[i]
		if home := t.home(tableKey{e.high, e.low, uint16(e.tag)}) & mask; (i-home)&mask >= (i-hole)&mask {
			t.entries[hole] = *e // its home is not behind the hole, so it may move into it
			hole = i
		}
	}
	t.entries[hole] = entry{}
	t.length--
	return true
}

// find returns the place of a key, or the free place where it belongs.
func (t *table) find(n tableKey) (i int, found bool) {
	mask, tag := len(t.entries)-1, uint32(n.port)|entryUsed
	for i = t.home(n) & mask; t.entries[i].tag != 0; i = (i + 1) & mask {
		if e := &t.entries[i]; e.low == n.low && e.high == n.high && e.tag == tag {
			return i, true
		}
	}
	return i, false
}

// home returns where the search begins, to be taken modulo the size.
func (t *table) home(n tableKey) int { return int(n.hash(t.seed)) }

// hash is the folded 128-bit product of wyhash, twice: a single fold maps neighbouring addresses
// to neighbouring places under an unlucky seed.
func (n tableKey) hash(seed [2]uint64) uint64 {
	h, l := bits.Mul64(n.low^seed[0], n.high^uint64(n.port)<<32^seed[1])
	h, l = bits.Mul64(h^l, 0x9e3779b97f4a7c15)
	return h ^ l
}

// addressKey returns the key of an address. IPv4 has its own branch: As16 returns through memory
// and costs 8 ns of stalled loads. IPv4 in IPv6 is IPv4, and zones do not count.
func addressKey(a netip.AddrPort) tableKey {
	ip := a.Addr()
	if ip.Is4() {
		b := ip.As4()
		return tableKey{0, 0xffff<<32 | uint64(binary.BigEndian.Uint32(b[:])), a.Port()}
	}
	b := ip.As16()
	return tableKey{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]), a.Port()}
}

// network returns the key of the /24 of an IPv4 address or the /48 of an IPv6 address.
func (n tableKey) network() tableKey {
	if n.high == 0 && n.low>>32 == 0xffff {
		return tableKey{low: n.low &^ 0xff}
	}
	return tableKey{high: n.high &^ 0xffff}
}

// host returns the key of an address without its port.
func (n tableKey) host() tableKey { return tableKey{high: n.high, low: n.low} }

func numberKey(id uint64) tableKey { return tableKey{low: id} }

func tagKey(t TokenTag) tableKey {
	return tableKey{high: binary.LittleEndian.Uint64(t[:8]), low: binary.LittleEndian.Uint64(t[8:])}
}
