package netcode

import (
	"crypto/cipher"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// slot is the place of one session. Its number is the client's index on the wire.
type slot struct {
	used         bool
	confirmed    bool // the client knows that it is connected
	kicked       bool // it has sent far too much, and its owner was told
	open         cipher.AEAD
	seal         cipher.AEAD
	window       ReplayWindow
	received     time.Duration
	sent         time.Duration
	timeout      time.Duration // of silence; 0 never
	sequence     uint64        // sequence
	rate         ratelimit.Bucket
	floodCount   int           // datagrams since
	floodSince   time.Duration // the beginning of a measure of five seconds
	authFailures authFailures
	address      netip.AddrPort
	clientID     uint64
	tag          TokenTag // of its token
	expire       uint64
}

// path is what a slot knows about addresses its client may move to.
type path struct {
	id           uint64 // 0: the client knows nothing of this
	address      netip.AddrPort
	proof        [proofSize]byte
	proofAt      time.Duration // when the proof was drawn
	challengedAt time.Duration // of the newest challenge with it
	challenged   bool          // there was one
	open         bool          // and it is open
}

// Session is a view of a slot.
type Session struct {
	ClientID     uint64
	Address      netip.AddrPort
	UserData     *[UserDataSize]byte // from its token; the server's memory, valid while the session lasts
	Confirmed    bool                // the client has been heard since it was let in
	LastReceived time.Duration       // when
	Token        TokenTag            // of the token it came with
	Expire       uint64              // of that token
	AuthFailures uint64              // datagrams from its address that did not open; anybody can send those
	AuthFlood    bool                // there were more than 100 of those a second for five seconds; no reason to end it
}

// handshake is a handshake: the keys for an address that has shown a token and not yet answered its challenge.
type handshake struct {
	used     bool
	address  netip.AddrPort
	open     cipher.AEAD
	seal     cipher.AEAD
	clientID uint64
	timeout  time.Duration // for the slot; 0 never
	until    time.Duration
	tag      TokenTag
	expire   uint64 // of the token
}

const handshakeLife = 30 * time.Second // at most: a token may ask for years

// timeoutDuration is a token's timeout as a duration; 0 never.
func timeoutDuration(seconds int32) time.Duration { return max(0, time.Duration(seconds)*time.Second) }
