package netcode

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/planted"
)

// TokenTag is the last 16 bytes of a sealed private token. No two tokens share one.
type TokenTag [tagSize]byte

// usedToken is a token that was seen. It stays until the token has expired, and then until its place is needed: so a wall
// clock that is set back makes hardly a token good again.
type usedToken struct {
	tag     TokenTag
	from    netip.AddrPort // the only address that may repeat it
	expire  uint64
	used    bool // it has had its session
	present bool
	free    bool // its place may be needed: it is in the ring
}

// usedTokens remembers all tokens that were seen and have not expired, and in its journal those that are spent.
type usedTokens struct {
	entries []usedToken
	ring    []int32 // places that may be used again, the longest free first
	first   int     // in ring
	free    int     // how many
	index   table
	sweep   sweep
	journal journal
}

// newUsedTokens reads the journal, if there is one, at a wall clock's time.
func newUsedTokens(capacity int, seed [2]uint64, journal journal, unix uint64) (usedTokens, error) {
	u := usedTokens{entries: make([]usedToken, capacity), ring: make([]int32, capacity), index: newTable(capacity, seed), journal: journal}
	for i := range min(capacity, journal.len()) {
		if !planted.On(planted.JournalForgotten) {
			u.restore(i)
		}
	}
	for i := range u.entries {
		if !u.entries[i].present {
			u.release(i)
		}
	}
	for i := range u.entries {
		if e := &u.entries[i]; e.present && e.expire <= unix { // behind the places that nobody has used
			u.release(i)
		}
	}
	for i := capacity; i < journal.len(); i++ { // of a start with more tokens
		tag, expire, ok := journal.read(i)
		if ok && expire > unix && u.find(tag) == nil {
			e := u.add(tag, netip.AddrPort{}, expire, unix)
			if e == nil {
				return u, fmt.Errorf("netcode: journal holds more tokens that have not expired than the %d to be remembered", capacity)
			}
			e.used = true
		}
	}
	return u, nil
}

// restore fills entry i from its record of the journal, if that says anything new.
func (u *usedTokens) restore(i int) {
	if tag, expire, ok := u.journal.read(i); ok && u.find(tag) == nil {
		u.index.put(tagKey(tag), i)
		u.entries[i] = usedToken{tag: tag, expire: expire, used: true, present: true}
	}
}

// find returns the entry of a token, or nil.
func (u *usedTokens) find(tag TokenTag) *usedToken {
	if i, ok := u.index.get(tagKey(tag)); ok {
		return &u.entries[i]
	}
	return nil
}

// add remembers a token that is not in; nil when there is no room.
func (u *usedTokens) add(tag TokenTag, from netip.AddrPort, expire, unix uint64) *usedToken {
	for u.free > 0 {
		i := u.pop()
		e := &u.entries[i]
		if e.present {
			if e.expire > unix { // the clock was set back
				e.free = false
				continue
			}
			u.index.remove(tagKey(e.tag))
		}
		u.index.put(tagKey(tag), i)
		*e = usedToken{tag: tag, from: from, expire: expire, present: true}
		return e
	}
	return nil
}

// markUsed notes that a token has its session, or had it; nothing may show that to anybody before.
func (u *usedTokens) markUsed(tag TokenTag) {
	if i, ok := u.index.get(tagKey(tag)); ok {
		e := &u.entries[i]
		e.used = true
		u.journal.write(i, e.tag, e.expire)
	}
}

// expired makes room of some of the tokens that have expired: of all of them in a second.
func (u *usedTokens) expired(now time.Duration, unix uint64) {
	for i := range u.sweep.next(now, len(u.entries)) {
		if e := &u.entries[i]; e.present && !e.free && e.expire <= unix {
			u.release(i)
		}
	}
}

func (u *usedTokens) release(i int) {
	u.entries[i].free = true
	u.ring[(u.first+u.free)%len(u.ring)] = int32(i)
	u.free++
}

func (u *usedTokens) pop() (i int) {
	i = int(u.ring[u.first])
	u.first = (u.first + 1) % len(u.ring)
	u.free--
	return i
}

// freeStack are the numbers below n, so that the last one is 0: a stack of free places that gives the low ones first.
func freeStack(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(n - 1 - i)
	}
	return list
}
