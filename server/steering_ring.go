package server

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"sync/atomic"

	"github.com/tickrate/tickrate/netio/netcode"
)

// handoverRing passes datagrams from one worker to another, or what else it has to know. One
// goroutine pushes, one takes; neither waits for the other.
//
//	from  next() -> slot to fill -> push()
//	to    ready() -> handovers to take in -> release(n)
type handoverRing struct {
	slots []handover
	data  [][maxHandover]byte // apart: without pointers the collector skips it
	mask  uint64

	_    [64]byte // head and tail on cache lines of their own
	head atomic.Uint64
	_    [56]byte
	tail atomic.Uint64
	_    [56]byte

	crowded bool                // the ring was more than half full at the last admits
	sources [sourceCounts]uint8 // admitted since it is, by hash of the source
}

// A ring that is more than half full takes from a source one of sourceShare slots until it is no
// more: a flood in the name of one player leaves room for the others.
const (
	sourceShare  = 32
	sourceCounts = 256
)

// handover is one datagram with its source, a session, or a request to end one.
type handover struct {
	kind    handoverKind
	hops    uint8 // how far it has come: passHop for each worker that passed it on, 1 for each wait
	bytes   uint16
	from    netip.AddrPort
	client  uint64       // ID of the client whose session is to end
	lobby   int64        // that its new token names; -1: none
	session *moveSession // nil: a datagram
}

// moveSession is a session on the way to the worker of its lobby.
type moveSession struct {
	netcode.MovingSession
	member int // whose entries the index has
}

// maxHandover is more than the longest datagram that netcode takes. A longer one is refused before.
const maxHandover = 1304

// maxHops bounds the way of a datagram to eight workers, or to 32 waits for a lobby that moves.
const (
	maxHops = 32
	passHop = 4
)

type handoverKind uint8

const (
	handDatagram handoverKind = iota
	handSession               // for a lobby of the worker
	handTakeOver              // end the silent session of client
)

// init gives the ring its memory, for a number of slots rounded up to a power of two.
func (r *handoverRing) init(slots int) {
	size := 1
	for size < slots {
		size *= 2
	}
	r.slots, r.data, r.mask = make([]handover, size), make([][maxHandover]byte, size), uint64(size-1)
}

// next returns the slot to fill before push, with memory for a datagram; nil when the ring is full.
func (r *handoverRing) next() (h *handover, data *[maxHandover]byte) {
	head := r.head.Load()
	if head-r.tail.Load() == uint64(len(r.slots)) {
		return nil, nil
	}
	i := head & r.mask
	return &r.slots[i], &r.data[i]
}

// admits reports whether the ring takes one more datagram of a source. The goroutine that pushes asks
// once for each datagram. seed is secret, so that nobody chooses the players with the same count.
func (r *handoverRing) admits(from netip.AddrPort, seed uint64) bool {
	size := len(r.slots)
	if r.len() <= size/2 {
		if r.crowded {
			r.crowded, r.sources = false, [sourceCounts]uint8{}
		}
		return true
	}
	r.crowded = true
	n := &r.sources[sourceHash(from, seed)%sourceCounts]
	if int(*n) >= size/sourceShare {
		return false
	}
	*n++
	return true
}

// sourceHash is the folded product of wyhash, twice, of an address and its port.
func sourceHash(from netip.AddrPort, seed uint64) uint64 {
	b := from.Addr().As16()
	high, low := bits.Mul64(binary.LittleEndian.Uint64(b[:8])^uint64(from.Port())<<32^seed,
		binary.LittleEndian.Uint64(b[8:])^bits.RotateLeft64(seed, 32))
	high, low = bits.Mul64(high^low, 0x9e3779b97f4a7c15)
	return high ^ low
}

// push passes the slot of next on.
func (r *handoverRing) push() { r.head.Store(r.head.Load() + 1) }

// len returns how many handovers are ready.
func (r *handoverRing) len() int { return int(r.head.Load() - r.tail.Load()) }

// ready returns the next handovers with their memory, contiguous and at most most. They stay until
// release.
func (r *handoverRing) ready(most int) ([]handover, [][maxHandover]byte) {
	tail := r.tail.Load()
	at := tail & r.mask
	n := min(r.head.Load()-tail, uint64(len(r.slots))-at, uint64(max(0, most)))
	return r.slots[at : at+n], r.data[at : at+n]
}

// release gives the slots of the first n ready handovers back.
func (r *handoverRing) release(n int) { r.tail.Store(r.tail.Load() + uint64(n)) }
