package netcode

import (
	"crypto/cipher"
	"net/netip"
	"time"
)

// slot is one session. Its number is the client's index on the wire. What a received datagram
// needs comes first, then what a sent one needs. Slots are whole cache lines.
type slot struct {
	used      bool
	confirmed bool // the client knows that it is connected
	open      cipher.AEAD
	received  time.Duration // when the newest datagram that opened came
	flood     floodLimit
	window    ReplayWindow

	seal     cipher.AEAD
	sent     time.Duration
	timeout  time.Duration // ends a silent session; 0 never
	sequence uint64        // next one to seal

	authFailures authFailures
	address      netip.AddrPort
	clientID     uint64
	token        TokenTag
	expire       uint64 // of the token, Unix seconds
	_            [24]byte
}

// path is what a slot knows about the address to which its client may move.
type path struct {
	id           uint64 // session id granted to the client; 0: it does not know path datagrams
	address      netip.AddrPort
	proof        [proofSize]byte
	proofAt      time.Duration // when the proof was drawn
	challengedAt time.Duration // when the newest challenge with it was sent
	challenged   bool          // one was sent
	open         bool          // and waits for its echo
}

// Session is a view of a slot.
type Session struct {
	ClientID     uint64
	Address      netip.AddrPort
	UserData     *[UserDataSize]byte // from its token; valid while the session lasts
	Confirmed    bool                // a datagram from the client has come
	LastReceived time.Duration       // when
	Token        TokenTag            // of the client's token
	Expire       uint64              // of that token
	AuthFailures uint64              // failed datagrams from its address; may be spoofed
	AuthFlood    bool                // over 100 of them a second for 5 s; ends no session
}

// slotTable holds the sessions and finds them by address, client id and session id.
type slotTable struct {
	slots        []slot
	paths        []path
	userData     [][UserDataSize]byte
	updateAt     []time.Duration // deadline of a slot's next Update; never if free
	freeSlots    []int32
	slotAt       table // by address
	slotOfClient table // by client id
	slotOfPath   table // by the session id of a path
}

func newSlotTable(n int, seed [2]uint64) slotTable {
	t := slotTable{
		slots: make([]slot, n), paths: make([]path, n), userData: make([][UserDataSize]byte, n),
		updateAt: make([]time.Duration, n), freeSlots: freeStack(n),
		slotAt: newTable(n, seed), slotOfClient: newTable(n, seed), slotOfPath: newTable(n, seed),
	}
	for i := range t.updateAt {
		t.updateAt[i] = never
	}
	return t
}

// freeSlot ends the session in a slot. Its token is not good for another session: the same keys
// would seal the same sequences again.
func (t *slotTable) freeSlot(i int) {
	c := &t.slots[i]
	t.unindex(i)
	t.slotOfClient.remove(numberKey(c.clientID))
	t.clearSlot(i)
}

// clearSlot makes a slot free that nothing leads to.
func (t *slotTable) clearSlot(i int) {
	t.slots[i], t.paths[i] = slot{}, path{}
	t.updateAt[i] = never
	t.freeSlots = append(t.freeSlots, int32(i))
}

// unindex removes the address and the session id that lead to a slot, but not its client id.
func (t *slotTable) unindex(i int) {
	t.slotAt.remove(addressKey(t.slots[i].address))
	if id := t.paths[i].id; id != 0 {
		t.slotOfPath.remove(numberKey(id))
	}
	t.paths[i] = path{}
}

// canTakeOver reports whether a new token of a client may end the session in a slot: it is the
// client's own and silent.
func (t *slotTable) canTakeOver(now time.Duration, i int, clientID uint64) bool {
	c := &t.slots[i]
	return c.clientID == clientID && now-c.received >= takeoverAfter
}
