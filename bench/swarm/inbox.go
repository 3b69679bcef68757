package swarm

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
)

// inbox keeps received datagrams until their player's next pass, with their instants of arrival. A
// client is then visited once a tick, not once for each datagram besides: among hundreds of clients
// its memory is no longer in the cache at the second visit. A client answers in its passes only, so
// the server sees no difference. The driver owns an inbox.
type inbox struct {
	waiting []arrivalQueue // by player
	free    *arrival
}

// arrivalQueue holds the datagrams of one player, oldest first.
type arrivalQueue struct {
	first, last *arrival
	n           int
}

// arrival is a received datagram.
type arrival struct {
	at   time.Duration
	next *arrival
	from netip.AddrPort
	n    int
	data [netio.MaxDatagram]byte
}

// maxArrivals is the most datagrams that wait for one player.
const maxArrivals = 64

func newInbox(players int) inbox { return inbox{waiting: make([]arrivalQueue, players)} }

// put copies a datagram of player i. False if as many wait as may.
func (b *inbox) put(i int, at time.Duration, from netip.AddrPort, data []byte) bool {
	w := &b.waiting[i]
	if w.n == maxArrivals {
		return false
	}
	a := b.free
	if a == nil {
		a = new(arrival)
	}
	b.free, a.next = a.next, nil
	a.at, a.from, a.n = at, from, copy(a.data[:], data)
	if w.first == nil {
		w.first = a
	} else {
		w.last.next = a
	}
	w.last = a
	w.n++
	return true
}

// take empties the inbox of player i in order of arrival. f must not put.
func (b *inbox) take(i int, f func(at time.Duration, from netip.AddrPort, data []byte)) {
	w := &b.waiting[i]
	if w.first == nil {
		return
	}
	for a := w.first; a != nil; a = a.next {
		f(a.at, a.from, a.data[:a.n])
	}
	w.last.next, b.free = b.free, w.first
	*w = arrivalQueue{}
}
