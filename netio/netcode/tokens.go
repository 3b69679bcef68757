package netcode

import (
	"net/netip"
	"time"
)

// Tag is the last 16 bytes of a sealed private token. No two tokens share one.
type Tag [tagSize]byte

// usedToken is a token that was seen. It stays until the token has expired.
type usedToken struct {
	tag    Tag
	from   netip.AddrPort // the only address that may repeat it
	expire uint64
	spent  bool // it has had its session
	used   bool
}

// usedTokens remembers all tokens that were seen and have not expired.
type usedTokens struct {
	entries []usedToken
	free    []int32
	index   table
	sweep   sweep
}

func newUsedTokens(capacity int, seed [2]uint64) usedTokens {
	return usedTokens{entries: make([]usedToken, capacity), free: numbers(capacity), index: newTable(capacity, seed)}
}

// find returns the entry of a token, or nil.
func (u *usedTokens) find(tag Tag) *usedToken {
	if i, ok := u.index.get(byTag(tag)); ok {
		return &u.entries[i]
	}
	return nil
}

// add remembers a token that is not in; nil when there is no room.
func (u *usedTokens) add(tag Tag, from netip.AddrPort, expire uint64) *usedToken {
	if len(u.free) == 0 {
		return nil
	}
	i := u.free[len(u.free)-1]
	u.free = u.free[:len(u.free)-1]
	u.index.put(byTag(tag), int(i))
	u.entries[i] = usedToken{tag: tag, from: from, expire: expire, used: true}
	return &u.entries[i]
}

// expired forgets some of the tokens that have expired: all of them in a second.
func (u *usedTokens) expired(now time.Duration, unix uint64) {
	for i := range u.sweep.next(now, len(u.entries)) {
		if e := &u.entries[i]; e.used && e.expire <= unix {
			u.index.remove(byTag(e.tag))
			*e = usedToken{}
			u.free = append(u.free, int32(i))
		}
	}
}

// numbers are the numbers below n, so that the last one is 0: a stack of free places that gives the low ones first.
func numbers(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(n - 1 - i)
	}
	return list
}
