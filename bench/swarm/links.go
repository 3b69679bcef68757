package swarm

import (
	"errors"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
)

// links are the impaired links of all players, one each way, between their clients and their sockets.
// They belong to the driver.
type links struct {
	up, down lane
	servers  []netip.AddrPort // by tag of a datagram
}

// lane is one direction of all links.
type lane struct {
	links []*impair.Link // by player
	next  []int64        // by player: ns, when the next datagram arrives
}

// never is later than any datagram.
const never = math.MaxInt64

// errRebind is Open's error for links that change addresses.
var errRebind = errors.New("swarm: a link with rebind needs a socket for each address: " +
	"expected a profile without it; tickrate impair has it")

// newLinks returns the links of players, seeded by the number of each; nil for perfect ones.
func newLinks(cfg *Config) (*links, error) {
	switch {
	case cfg.Link == impair.Profile{}:
		return nil, nil
	case cfg.Link.Rebind != 0:
		return nil, errRebind
	}
	if err := cfg.Link.Check(); err != nil {
		return nil, err
	}
	k := &links{}
	for i := range cfg.Players {
		seed := cfg.Seed<<32 ^ uint64(cfg.First+i)<<1
		k.up.add(impair.New(cfg.Link, seed))
		k.down.add(impair.New(cfg.Link, seed|1))
	}
	return k, nil
}

func (l *lane) add(link *impair.Link) {
	l.links, l.next = append(l.links, link), append(l.next, never)
}

// push sends a datagram of player i, or to it.
func (l *lane) push(now time.Duration, i int, data []byte, tag uint64) {
	l.links[i].Push(now, data, tag)
	l.sync(i)
}

// pop returns the next datagram of player i that has arrived.
func (l *lane) pop(now time.Duration, i int) (data []byte, tag uint64, ok bool) {
	data, tag, ok = l.links[i].Pop(now)
	l.sync(i)
	return data, tag, ok
}

func (l *lane) sync(i int) {
	l.next[i] = never
	if at, ok := l.links[i].Next(); ok {
		l.next[i] = int64(at)
	}
}

// stats adds up what a lane did.
func (l *lane) stats() (sum impair.Stats) {
	for _, link := range l.links {
		sum.Add(link.Stats())
	}
	return sum
}

// tag numbers an address.
func (k *links) tag(at netip.AddrPort) uint64 {
	i := slices.Index(k.servers, at)
	if i < 0 {
		i = len(k.servers)
		k.servers = append(k.servers, at)
	}
	return uint64(i)
}

// deliver sends and receives what has arrived at the ends of the links by now. Players have no other
// sender then: the backup does not run.
func (s *Swarm) deliver() {
	k, now := s.links, s.driver.now
	if k == nil {
		return
	}
	s.sender.grow()
	for i, at := range k.up.next {
		for ; at <= int64(now); at = k.up.next[i] {
			if data, tag, ok := k.up.pop(now, i); ok {
				s.sender.transmit(i, k.servers[tag], data)
			}
		}
	}
	s.sender.flush()
	for i, at := range k.down.next {
		for ; at <= int64(now); at = k.down.next[i] {
			if data, tag, ok := k.down.pop(now, i); ok {
				s.hand(i, k.servers[tag], data)
			}
		}
	}
}

// LinkStats are what the links of all players did since Open, from the players and to them.
func (s *Swarm) LinkStats() (up, down impair.Stats) {
	if s.links == nil {
		return up, down
	}
	return s.links.up.stats(), s.links.down.stats()
}
