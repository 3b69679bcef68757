package netcode

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// How a Nearest asks.
const (
	// PingRounds is how often each address is asked.
	PingRounds = 3
	// PingEvery is the time between two rounds. A server reads its socket once a tick, so answers wait
	// for part of one: at 60 Hz and at 64 the three rounds begin in different parts of a tick.
	PingEvery = 105 * time.Millisecond
	// PingWait is the longest time to a choice.
	PingWait = 500 * time.Millisecond
)

// ServerPing is what pings have shown of one address.
type ServerPing struct {
	Address  netip.AddrPort
	Answered int           // pings of PingRounds, 0 to PingRounds
	Best     time.Duration // shortest round trip; 0 without an answer
}

// Nearest chooses the nearest of several addresses. Times of pings and of their answers go in; the
// order of the addresses comes out. The choice is made as soon as no ping that is under way can
// change which is the first, PingWait after the start at the latest.
type Nearest struct {
	servers  []nearestServer // in the order that they were given
	begun    time.Duration
	rounds   int           // sent
	sent     time.Duration // when the newest round was
	best     time.Duration // shortest round trip of all; 0: no answer
	decided  bool
	duration time.Duration // from the start to the choice
}

type nearestServer struct {
	ServerPing
	sent [PingRounds]time.Duration
	got  [PingRounds]bool
}

// NewNearest starts with the addresses of a token at the time now.
func NewNearest(now time.Duration, addresses []netip.AddrPort) *Nearest {
	n := &Nearest{servers: make([]nearestServer, len(addresses)), begun: now}
	for i, a := range addresses {
		n.servers[i].Address = a
	}
	return n
}

// Round starts a round that is due: the caller pings every address now. False if none is.
func (n *Nearest) Round(now time.Duration) (round int, due bool) {
	if n.decided || n.rounds == PingRounds || n.rounds > 0 && now-n.sent < PingEvery {
		return 0, false
	}
	round = n.rounds
	n.rounds, n.sent = n.rounds+1, now
	for i := range n.servers {
		n.servers[i].sent[round] = now
	}
	return round, true
}

// Answer takes the answer to the ping of a round to an address, by its index. It reports whether
// the answer is the first to a ping that was sent. One that comes after the choice counts for
// Pings alone.
func (n *Nearest) Answer(now time.Duration, server, round int) bool {
	if server < 0 || server >= len(n.servers) || round < 0 || round >= n.rounds ||
		n.servers[server].got[round] {
		return false
	}
	s := &n.servers[server]
	s.got[round] = true
	trip := max(now-s.sent[round], 1) // 0 means none
	if s.Answered++; s.Best == 0 || trip < s.Best {
		s.Best = trip
	}
	if !n.decided && (n.best == 0 || trip < n.best) {
		n.best = trip
	}
	return true
}

// Decide reports whether the choice is made at the time now. It stays made.
func (n *Nearest) Decide(now time.Duration) bool {
	if n.decided {
		return true
	}
	beaten := n.best > 0 && n.rounds == PingRounds && now-n.sent >= n.best
	if n.decided = beaten || now-n.begun >= PingWait; n.decided {
		n.duration = now - n.begun
	}
	return n.decided
}

// Order returns the indices of the addresses, the nearest first. Addresses without an answer come
// last, and equal ones stay in the order that they were given.
func (n *Nearest) Order() []int {
	order := make([]int, len(n.servers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := n.servers[a].Best, n.servers[b].Best
		if (x == 0) != (y == 0) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return order
}

// Pings returns what is known of each address so far, in the order that they were given.
func (n *Nearest) Pings() []ServerPing {
	all := make([]ServerPing, len(n.servers))
	for i := range n.servers {
		all[i] = n.servers[i].ServerPing
	}
	return all
}

// Duration returns how long the choice took; 0 before it is made.
func (n *Nearest) Duration() time.Duration { return n.duration }
