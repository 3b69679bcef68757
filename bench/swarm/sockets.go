package swarm

import (
	"errors"
	"net/netip"
	"slices"
	"sync"

	"github.com/tickrate/tickrate/netio"
)

// sockets are the UDP sockets of all players, one pool a server. Players are spread over the
// servers, one after another, or choose theirs: then each has a socket to every server. Servers to
// which matches move have a socket of every player, too.
type sockets struct {
	pools  []*netio.ClientPool
	home   []netip.AddrPort // servers of the first pools, which players are spread over
	chosen []netip.AddrPort // servers of the other pools
	cursor int              // the server that is polled next
	// By server: called with a datagram and the socket's number in its pool.
	handlers []func(int, []byte)
	receive  func(player int, from netip.AddrPort, data []byte)

	mu     sync.Mutex // guards wanted
	wanted []netip.AddrPort
}

// spread opens pools for the servers that the players are spread over.
func (k *sockets) spread(servers []netip.AddrPort, players int) error {
	k.home = servers
	for n, at := range servers {
		if err := k.open(at, (players-n+len(servers)-1)/len(servers)); err != nil {
			return err
		}
	}
	return nil
}

// maxWanted is the most servers to which matches of the players may move.
const maxWanted = 64

// want notes a server that has no pool, for the next reachWanted. A sender may call it.
func (k *sockets) want(at netip.AddrPort) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.wanted) < maxWanted && !slices.Contains(k.wanted, at) {
		k.wanted = append(k.wanted, at)
	}
}

// reachWanted opens the pools of servers to which matches move. No sender may be at work.
func (k *sockets) reachWanted(players int) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, at := range k.wanted {
		if len(k.chosen) < maxWanted {
			err = errors.Join(err, k.reach([]netip.AddrPort{at}, players))
		}
	}
	k.wanted = k.wanted[:0]
	return err
}

// reach opens pools of sockets for all players to servers that have none. A server that this
// machine has no way to is left out, unless there is no other. No sender may be at work.
func (k *sockets) reach(servers []netip.AddrPort, players int) (err error) {
	reached := 0
	for _, at := range servers {
		if !slices.Contains(k.chosen, at) {
			if bad := k.open(at, players); bad != nil {
				err = bad
				continue
			}
			k.chosen = append(k.chosen, at)
		}
		reached++
	}
	if reached > 0 {
		return nil
	}
	return err
}

func (k *sockets) open(at netip.AddrPort, sockets int) error {
	pool, err := netio.OpenClientPool(at, sockets)
	if err != nil {
		return err
	}
	n, from := len(k.pools), at
	if n < len(k.home) {
		from = netip.AddrPort{} // perhaps of a proxy
	}
	k.pools = append(k.pools, pool)
	k.handlers = append(k.handlers, func(i int, data []byte) { k.receive(k.player(n, i), from, data) })
	return nil
}

// player returns whose a socket of a pool is.
func (k *sockets) player(pool, socket int) int {
	if pool >= len(k.home) {
		return socket
	}
	return socket*max(1, len(k.home)) + pool
}

// of returns the socket from which player i reaches an address; a pool of -1: there is none. moved:
// its match moves there, or has. All other addresses are reached by way of the player's first
// server, which may be a proxy that no token names.
func (k *sockets) of(i int, to netip.AddrPort, moved bool) (pool, socket int) {
	if n := len(k.home); n > 0 && !moved {
		return i % n, i / n
	}
	if at := slices.Index(k.chosen, to); at >= 0 {
		return len(k.home) + at, i
	}
	return -1, i
}

// send sends a datagram of player i.
func (k *sockets) send(i int, to netip.AddrPort, moved bool, data []byte) error {
	pool, socket := k.of(i, to, moved)
	if pool < 0 {
		return nil
	}
	return k.pools[pool].Send(socket, data)
}

// poll receives a few datagrams of the server at the cursor and reports whether it may have more.
func (k *sockets) poll() (more bool) {
	_, more = k.pools[k.cursor].Poll(pollBatch, k.handlers[k.cursor])
	k.cursor = (k.cursor + 1) % len(k.pools)
	return more
}

func (k *sockets) close() (err error) {
	for _, pool := range k.pools {
		err = errors.Join(err, pool.Close())
	}
	return err
}
