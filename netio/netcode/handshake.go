package netcode

import (
	"crypto/cipher"
	"net/netip"
	"time"
)

// handshake holds the keys for an address that has shown a token and not answered its challenge
// yet.
type handshake struct {
	used     bool
	address  netip.AddrPort
	open     cipher.AEAD
	seal     cipher.AEAD
	clientID uint64
	timeout  time.Duration // for the slot; 0 never
	until    time.Duration // when it is dropped
	token    TokenTag
	expire   uint64 // of the token
}

const handshakeLife = 30 * time.Second // at most; a token may ask for more

// timeoutDuration returns a token's timeout as a duration; 0 never.
func timeoutDuration(seconds int32) time.Duration { return max(0, time.Duration(seconds)*time.Second) }

// handshakeTable holds the handshakes and finds them by address.
type handshakeTable struct {
	handshakes     []handshake
	freeHandshakes []int32
	handshakeAt    table // by address
	handshakeSweep sweep
}

func newHandshakeTable(n int, seed [2]uint64) handshakeTable {
	return handshakeTable{handshakes: make([]handshake, n), freeHandshakes: freeStack(n),
		handshakeAt: newTable(n, seed)}
}

// place returns the handshake of an address, a free one if it has none, and nil if all are in use.
func (t *handshakeTable) place(from netip.AddrPort) *handshake {
	i, known := t.handshakeAt.get(addressKey(from))
	if !known {
		last := len(t.freeHandshakes) - 1
		if last < 0 {
			return nil
		}
		i = int(t.freeHandshakes[last])
		t.freeHandshakes = t.freeHandshakes[:last]
		t.handshakeAt.put(addressKey(from), i)
	}
	return &t.handshakes[i]
}

// dropHandshake forgets a handshake.
func (t *handshakeTable) dropHandshake(i int) {
	t.handshakeAt.remove(addressKey(t.handshakes[i].address))
	t.handshakes[i] = handshake{}
	t.freeHandshakes = append(t.freeHandshakes, int32(i))
}
