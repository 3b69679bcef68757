package netcode

import (
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"time"
)

// Group makes a server one of several that take the same tokens, each on a goroutine of its own. A
// datagram may reach any of them; an EventElsewhere names the one that it is for. The zero value is
// a server alone.
//
// The servers of a group have the same PrivateKey, ProtocolID, Addresses and Entropy, and share
// their Tokens. So a challenge of one may be answered at another.
type Group struct {
	Index  *Index // shared; nil: the server is alone
	Member int    // of the group, 0 to MaxMembers-1

	// Place returns the member that is to have the session of an opened token, Here for this one.
	// nil: Here.
	Place func(clientID uint64, userData *[UserDataSize]byte) (member int)

	// TakeOver asks a member, whose owner calls Server.EndSilent, to end a silent session: a new one
	// of the same client, with the user data of its token, begins here. The client asks again until
	// that has happened.
	TakeOver func(member int, clientID uint64, userData *[UserDataSize]byte)
}

// Here is the answer of Group.Place for the server that asks.
const Here = -1

// MaxMembers is the largest number of servers in a group.
const MaxMembers = 254

// IndexKind says what a key of an Index is.
type IndexKind uint8

// The kinds. Programs that use the servers may have kinds of their own from IndexOther on, four.
const (
	IndexAddress   IndexKind = iota // of a session
	IndexHandshake                  // address of a handshake
	IndexClient                     // client ID of a session
	IndexPath                       // session ID of a path
	IndexOther
	indexKinds = IndexOther + 4
)

// Index finds the member of a group that has an address, a client or a session. All members read it
// and each writes its own entries, without locks.
//
// An entry is a word: 56 bits of a keyed hash, and the member. Two buckets of a cache line each may
// have the entry of a key; the emptier one gets it. So there are no chains, and no tombstones.
type Index struct {
	seeds   [indexKinds][2]uint64
	buckets []indexBucket // a power of two
}

type indexBucket [8]atomic.Uint64

// NewIndex returns an index for a number of entries. Entropy is secret.
func NewIndex(entries int, entropy [32]byte) *Index {
	size := 2
	for size*2 < entries { // a bucket of eight words has two in use on average
		size *= 2
	}
	x, rng := &Index{buckets: make([]indexBucket, size)}, rand.NewChaCha8(entropy)
	for i := range x.seeds {
		x.seeds[i] = [2]uint64{rng.Uint64(), rng.Uint64()}
	}
	return x
}

// PutNumber adds an entry of a member. Adding it twice is adding it once.
func (x *Index) PutNumber(kind IndexKind, key uint64, member int) {
	x.put(kind, numberKey(key), member)
}

// RemoveNumber removes an entry of a member.
func (x *Index) RemoveNumber(kind IndexKind, key uint64, member int) {
	x.remove(kind, numberKey(key), member)
}

// FindNumber returns a member that has an entry for a key. If several have one, it is
// another than but.
func (x *Index) FindNumber(kind IndexKind, key uint64, but int) (member int, ok bool) {
	return x.find(kind, numberKey(key), but)
}

// HasNumber reports whether a member has a key.
func (x *Index) HasNumber(kind IndexKind, key uint64, member int) bool {
	return x.has(kind, numberKey(key), member)
}

// MoveNumber makes an entry that of another member, which may have one of its own already.
func (x *Index) MoveNumber(kind IndexKind, key uint64, from, to int) {
	x.move(kind, numberKey(key), from, to)
}

// place returns the word of a key without its member, and its two buckets.
func (x *Index) place(kind IndexKind, key tableKey) (word uint64, a, b *indexBucket) {
	h := key.hash(x.seeds[kind])
	high, low := bits.Mul64(h, 0x9e3779b97f4a7c15)
	mask := uint64(len(x.buckets) - 1)
	i, j := high&mask, (low>>32)&mask
	if i == j {
		j ^= 1
	}
	return h &^ 0xff, &x.buckets[i], &x.buckets[j]
}

func (x *Index) put(kind IndexKind, key tableKey, member int) {
	word, a, b := x.place(kind, key)
	word |= uint64(member + 1)
	for {
		free := [2]*atomic.Uint64{}
		used := [2]int{}
		for k, bucket := range [2]*indexBucket{a, b} {
			for i := range bucket {
				switch bucket[i].Load() {
				case word:
					return
				case 0:
					free[k] = &bucket[i]
				default:
					used[k]++
				}
			}
		}
		at := free[0]
		if at == nil || free[1] != nil && used[1] < used[0] {
			at = free[1]
		}
		if at == nil { // both buckets are full: the index is far too small
			return
		}
		if at.CompareAndSwap(0, word) {
			return
		}
	}
}

// swap replaces a word of a key, and reports whether the word was there.
func (x *Index) swap(kind IndexKind, key tableKey, from int, to uint64) bool {
	word, a, b := x.place(kind, key)
	if to != 0 {
		to |= word
	}
	word |= uint64(from + 1)
	for _, bucket := range [2]*indexBucket{a, b} {
		for i := range bucket {
			if bucket[i].Load() == word && bucket[i].CompareAndSwap(word, to) {
				return true
			}
		}
	}
	return false
}

func (x *Index) remove(kind IndexKind, key tableKey, member int) { x.swap(kind, key, member, 0) }

func (x *Index) move(kind IndexKind, key tableKey, from, to int) {
	switch {
	case from == to:
	case x.has(kind, key, to): // a second word of one member would outlive the first
		x.remove(kind, key, from)
	case !x.swap(kind, key, from, uint64(to+1)):
		x.put(kind, key, to)
	}
}

// has reports whether a member has a key.
func (x *Index) has(kind IndexKind, key tableKey, member int) bool {
	word, a, b := x.place(kind, key)
	word |= uint64(member + 1)
	for i := range a {
		if a[i].Load() == word || b[i].Load() == word {
			return true
		}
	}
	return false
}

// find returns a member that has an entry for a key. If several have one, it is
// another than but.
func (x *Index) find(kind IndexKind, key tableKey, but int) (member int, ok bool) {
	word, a, b := x.place(kind, key)
	for _, bucket := range [2]*indexBucket{a, b} {
		for i := range bucket {
			w := bucket[i].Load()
			if w&^0xff != word || w == 0 {
				continue
			}
			if member, ok = int(w&0xff)-1, true; member != but {
				return member, true
			}
		}
	}
	return member, ok
}

// other returns a member with a key that is not this server.
func (g *Group) other(kind IndexKind, key tableKey) (member int, ok bool) {
	if g.Index == nil {
		return 0, false
	}
	member, ok = g.Index.find(kind, key, g.Member)
	return member, ok && member != g.Member
}

// elsewhere returns the event of a datagram that this server does not know and the index does: at
// another member, or at this one while the session moves.
func (g *Group) elsewhere(kind IndexKind, key tableKey) (e Event, ok bool) {
	if g.Index == nil {
		return e, false
	}
	member, ok := g.Index.find(kind, key, g.Member)
	if !ok {
		return e, false
	}
	return Event{Kind: EventElsewhere, Client: member}, true
}

// claim takes the address and the client of a handshake for this server, so that no other member
// begins a session of the same at the same time. A silent session of the client at another member
// is to end first, one that moves is to arrive first.
func (s *Server) claim(from netip.AddrPort, clientID uint64) Drop {
	x, me := s.group.Index, s.group.Member
	if x == nil {
		return DropNone
	}
	address, client := addressKey(from), numberKey(clientID)
	why := s.claimed(address, client)
	if why == DropNone && s.moves(&s.slotAt, address) {
		why = DropRespConnected
	}
	if why == DropNone && s.moves(&s.slotOfClient, client) {
		why = DropRespClient
	}
	if why != DropNone {
		return why
	}
	x.put(IndexAddress, address, me)
	x.put(IndexClient, client, me)
	if why = s.claimed(address, client); why != DropNone { // both members give way; their clients come again
		s.unclaim(from, clientID)
	}
	return why
}

// moves reports whether the index has a key as this server's that is in no table: its session is on
// the way to another member.
func (s *Server) moves(t *table, key tableKey) bool {
	if _, here := t.get(key); here {
		return false
	}
	_, moves := s.group.Index.find(t.shared.kind, key, -1)
	return moves
}

// claimed returns why another member's session forbids one of this address and client. It asks that
// member to end a silent one.
func (s *Server) claimed(address, client tableKey) Drop {
	why := DropNone
	if member, ok := s.group.other(IndexClient, client); ok {
		s.askTakeOver(member, client)
		why = DropRespClient
	}
	if member, ok := s.group.other(IndexAddress, address); ok {
		s.askTakeOver(member, client)
		why = DropRespConnected
	}
	return why
}

func (s *Server) askTakeOver(member int, client tableKey) {
	if s.group.TakeOver != nil {
		s.group.TakeOver(member, client.low, &s.echoed.userData)
	}
}

// unclaim takes back a claim that no session followed.
func (s *Server) unclaim(from netip.AddrPort, clientID uint64) {
	if s.group.Index == nil {
		return
	}
	if _, mine := s.slotAt.get(addressKey(from)); !mine {
		s.group.Index.remove(IndexAddress, addressKey(from), s.group.Member)
	}
	if _, mine := s.slotOfClient.get(numberKey(clientID)); !mine {
		s.group.Index.remove(IndexClient, numberKey(clientID), s.group.Member)
	}
}

// EndSilent ends the session of a client that has been silent for as long as a takeover needs, since
// it begins a new one at another member of the group. The event is that of a session that timed out.
func (s *Server) EndSilent(now time.Duration, clientID uint64) (e Event, ok bool) {
	i, ok := s.slotOfClient.get(numberKey(clientID))
	if !ok || !s.canTakeOver(now, i, clientID) {
		return e, false
	}
	s.freeSlot(i)
	s.counters.Takeovers++
	return Event{Kind: EventTimeout, Client: i}, true
}

// CountDrop counts a datagram of an EventElsewhere that does not get there.
func (s *Server) CountDrop(datagram []byte, why Drop) { s.counters.count(KindOf(datagram), why) }
