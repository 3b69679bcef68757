package swarm

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/tickrate/tickrate/netio"
)

// sockets are the UDP sockets of all players, one pool a server. Players are spread over the servers,
// one after another, or choose theirs: then each has a socket to every server.
type sockets struct {
	pools  []*netio.ClientPool
	chosen []netip.AddrPort // servers of the pools, where players choose
	cursor int              // the server that is polled next
	// By server: called with a datagram and the socket's number in its pool.
	handlers []func(int, []byte)
	receive  func(player int, data []byte)
	ahead    func(player int) // see netio.ClientPool.Ahead; nil: none
}

// spread opens pools for the servers that the players are spread over.
func (k *sockets) spread(servers []netip.AddrPort, players int) error {
	for n, at := range servers {
		if err := k.open(at, (players-n+len(servers)-1)/len(servers)); err != nil {
			return err
		}
	}
	return nil
}

// reach opens pools of sockets for all players to servers that have none. A server that this machine
// has no way to is left out, unless there is no other. No sender may be at work.
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
	n := len(k.pools)
	if k.ahead != nil {
		pool.Ahead = func(i int) { k.ahead(k.player(n, i)) }
	}
	k.pools = append(k.pools, pool)
	k.handlers = append(k.handlers, func(i int, data []byte) { k.receive(k.player(n, i), data) })
	return nil
}

// player returns whose a socket of a pool is.
func (k *sockets) player(pool, socket int) int {
	if k.chosen != nil {
		return socket
	}
	return socket*len(k.pools) + pool
}

// of returns the socket from which player i reaches an address; a pool of -1: there is none.
func (k *sockets) of(i int, to netip.AddrPort) (pool, socket int) {
	if k.chosen != nil {
		return slices.Index(k.chosen, to), i
	}
	return i % len(k.pools), i / len(k.pools)
}

// send sends a datagram of player i.
func (k *sockets) send(i int, to netip.AddrPort, data []byte) error {
	pool, socket := k.of(i, to)
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
