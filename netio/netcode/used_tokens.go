package netcode

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// TokenTag is the authentication tag of a sealed private token, its last 16 bytes. It identifies
// the token.
type TokenTag [tagSize]byte

// usedToken is a token that was seen. It stays until the token has expired and its entry is
// needed, so a wall clock that is set back hardly makes a token valid again.
type usedToken struct {
	tag     TokenTag
	from    netip.AddrPort // the only address that may send it again
	expire  uint64
	used    bool // it had its session
	writing bool // its record is being written without the lock: the entry must not be reused
	present bool
	free    bool // it is in the ring of entries to reuse
}

// UsedTokens remembers all tokens that were seen and have not expired, and in its journal the used
// ones. Servers that take the same tokens share one: ServerConfig.Tokens. Several goroutines may
// then use it; only requests whose token was opened, new sessions and sweeps take its lock. Nobody
// holds it while the journal is written, which may wait for the disk.
type UsedTokens struct {
	mu      sync.Mutex // guards the fields below
	entries []usedToken
	ring    []int32 // entries to reuse, the longest free first
	first   int     // in ring
	free    int     // length of the ring
	index   table
	sweep   sweep
	journal journal
}

// NewUsedTokens returns the table of a server with this configuration: of its MaxTokens, Journal and
// StartUnix.
func NewUsedTokens(c ServerConfig) (*UsedTokens, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	rng := rand.NewChaCha8(c.Entropy)
	seed := [2]uint64{rng.Uint64(), rng.Uint64()}
	return newUsedTokens(c.MaxTokens, seed, c.Journal, uint64(max(0, c.StartUnix)))
}

// newUsedTokens reads the journal, if there is one, at a wall-clock time.
func newUsedTokens(capacity int, seed [2]uint64, journal journal, unix uint64) (*UsedTokens, error) {
	u := &UsedTokens{entries: make([]usedToken, capacity), ring: make([]int32, capacity),
		index: newTable(capacity, seed), journal: journal}
	for i := range min(capacity, journal.len()) {
		u.restore(i)
	}
	for i := range u.entries {
		if !u.entries[i].present {
			u.release(i)
		}
	}
	for i := range u.entries {
		if e := &u.entries[i]; e.present && e.expire <= unix { // behind the entries without a token
			u.release(i)
		}
	}
	for i := capacity; i < journal.len(); i++ { // written by a server with more tokens
		tag, expire, ok := journal.read(i)
		if ok && expire > unix && u.find(tag) == nil {
			e := u.add(tag, netip.AddrPort{}, expire, unix)
			if e == nil {
				return u, fmt.Errorf("netcode: journal holds more than %d valid tokens", capacity)
			}
			e.used = true
		}
	}
	return u, nil
}

// restore fills entry i from its record of the journal, if the record has a new token.
func (u *UsedTokens) restore(i int) {
	if tag, expire, ok := u.journal.read(i); ok && u.find(tag) == nil {
		u.index.put(tagKey(tag), i)
		u.entries[i] = usedToken{tag: tag, expire: expire, used: true, present: true}
	}
}

// see remembers a token that came from an address, and returns why it must not have a session.
func (u *UsedTokens) see(tag TokenTag, from netip.AddrPort, expire, unix uint64) Drop {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.find(tag)
	if e == nil {
		e = u.add(tag, from, expire, unix)
	}
	switch {
	case e == nil:
		return DropTokenTable
	case e.used || e.from != from:
		return DropReqTokenUsed
	}
	return DropNone
}

// use gives a token its one session, unless it had one or its entry is gone. The caller sends
// nothing about the session before.
func (u *UsedTokens) use(tag TokenTag) Drop {
	i, why := u.take(tag)
	if why == DropNone {
		u.record(i, tag)
	}
	return why
}

// take is use without the record.
func (u *UsedTokens) take(tag TokenTag) (i int, why Drop) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i, ok := u.index.get(tagKey(tag))
	switch {
	case !ok: // it has expired, and its entry was reused
		return i, DropTokenTable
	case u.entries[i].used: // at another server
		return i, DropReqTokenUsed
	}
	u.entries[i].used, u.entries[i].writing = true, true
	return i, DropNone
}

// record writes the record of entry i, which take has marked, without the lock.
func (u *UsedTokens) record(i int, tag TokenTag) {
	u.journal.write(i, tag, u.entries[i].expire) // it does not change while writing is set
	u.mu.Lock()
	defer u.mu.Unlock()
	u.entries[i].writing = false
}

// mark marks a token as used that was used elsewhere. It reports false when there is no room.
func (u *UsedTokens) mark(tag TokenTag, expire, unix uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.find(tag) == nil && u.add(tag, netip.AddrPort{}, expire, unix) == nil {
		return false
	}
	u.markUsed(tag)
	return true
}

// find returns the entry of a token, or nil.
func (u *UsedTokens) find(tag TokenTag) *usedToken {
	if i, ok := u.index.get(tagKey(tag)); ok {
		return &u.entries[i]
	}
	return nil
}

// add remembers a new token; nil when there is no room.
func (u *UsedTokens) add(tag TokenTag, from netip.AddrPort, expire, unix uint64) *usedToken {
	for u.free > 0 {
		i := u.pop()
		e := &u.entries[i]
		if e.present {
			if e.expire > unix || e.writing { // the clock was set back, or its record is not yet written
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

// markUsed records that a token has its session.
func (u *UsedTokens) markUsed(tag TokenTag) {
	if i, ok := u.index.get(tagKey(tag)); ok {
		e := &u.entries[i]
		if !e.used { // else its record is there, or being written
			e.used = true
			u.journal.write(i, e.tag, e.expire)
		}
	}
}

// expired releases the entries of some of the expired tokens: of all of them in a second. It leaves
// them to the server that has the lock.
func (u *UsedTokens) expired(now time.Duration, unix uint64) {
	if !u.mu.TryLock() {
		return
	}
	defer u.mu.Unlock()
	for i := range u.sweep.next(now, len(u.entries)) {
		if e := &u.entries[i]; e.present && !e.free && !e.writing && e.expire <= unix {
			u.release(i)
		}
	}
}

func (u *UsedTokens) release(i int) {
	u.entries[i].free = true
	u.ring[(u.first+u.free)%len(u.ring)] = int32(i)
	u.free++
}

func (u *UsedTokens) pop() (i int) {
	i = int(u.ring[u.first])
	u.first = (u.first + 1) % len(u.ring)
	u.free--
	return i
}

// freeStack returns the numbers below n with 0 last: a stack of free entries that gives the low
// ones first.
func freeStack(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(n - 1 - i)
	}
	return list
}
