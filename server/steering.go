package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Steering leads the datagrams of one UDP port to the workers that own their sessions. Each worker
// has a Port and a socket of its own (netio.Config.ReusePort). The kernel picks the socket by the
// source address; a Port hands what belongs to another one over by a ring. Its exported methods may
// be called from any goroutine.
//
// A program in the kernel (classic BPF) cannot do better: it sees the datagram, and nothing in a
// sealed one names its session.
type Steering struct {
	index   *netcode.Index // made with the first port
	most    int            // sessions that a port can have
	entropy [32]byte       // netcode.ServerConfig.Entropy, the same at all ports
	seed    uint64         // of the hash of sources, see handoverRing.admits
	workers []steeredWorker
	// Element from*len(workers)+to. The ring of a worker to itself holds datagrams for lobbies that move.
	rings []handoverRing
}

// steeredWorker is what all workers may read about one worker, which alone writes it.
type steeredWorker struct {
	room    [numRoles]atomic.Int32 // slots for more players and spectators
	handed  meter.Counter
	got     meter.Counter
	waited  meter.Counter
	dropped meter.Counter
	_       [64]byte
}

// MaxWorkers is the largest number of workers of a Steering.
const MaxWorkers = 64

// Kinds of keys in the index of sessions, besides those of netcode.
const (
	indexLobby      = netcode.IndexOther + iota // ID of a lobby
	indexKept                                   // client ID of a player that may reconnect
	indexKeptMoving                             // the same while its lobby moves away from the worker
)

// handoverSlots is how many slots the rings from one worker have together, rounded up for each ring
// to a power of two: a millisecond's datagrams of a hundred lobbies many times over.
const handoverSlots = 4096

// NewSteering returns the steering of a number of workers, 1 to MaxWorkers, whose Ports have at most
// that many sessions each. Its rings take workers * workers * slots * 1368 B, where slots is
// handoverSlots / workers rounded up to a power of two: 5.6 MB a worker if workers is one, else up to
// twice that. Untouched pages cost nothing. The collector scans 64 B of a slot.
func NewSteering(workers, most int) *Steering {
	if workers < 1 || workers > MaxWorkers {
		panic(fmt.Sprintf("server: steering of %d workers: expected 1 to %d", workers, MaxWorkers))
	}
	if most < 1 {
		panic(fmt.Sprintf("server: steering of ports with %d sessions: expected 1 or more", most))
	}
	s := &Steering{most: most, workers: make([]steeredWorker, workers),
		rings: make([]handoverRing, workers*workers)}
	for i := range s.rings {
		s.rings[i].init(handoverSlots / workers)
	}
	return s
}

// join makes the server of a port a member of the group. The ports are made one after another, before
// any is used.
func (s *Steering) join(worker int, c *netcode.ServerConfig) error {
	switch {
	case worker < 0 || worker >= len(s.workers):
		return fmt.Errorf("server: port of worker %d: expected 0 to %d", worker, len(s.workers)-1)
	case s.index == nil:
		// of a session its address, client and path, four handshakes, and a player that may reconnect
		s.index, s.entropy = netcode.NewIndex(8*len(s.workers)*s.most+1024, c.Entropy), c.Entropy
		s.seed = rand.New(rand.NewChaCha8(c.Entropy)).Uint64()
	case s.entropy != c.Entropy:
		return errors.New("server: the ports of several workers have different Entropy: expected the same")
	}
	c.Group.Index, c.Group.Member = s.index, worker
	return nil
}

// Workers returns the number of workers.
func (s *Steering) Workers() int { return len(s.workers) }

// HandOvers counts the datagrams that a worker has handed over or got.
type HandOvers struct {
	Handed  uint64 // to other workers
	Got     uint64 // from other workers
	Waited  uint64 // kept for a lobby on the way to another worker, each time that it was tried
	Dropped uint64 // to be handed over: the ring of their owner was full, or they went too far
}

// HandOvers returns the counts of a worker.
func (s *Steering) HandOvers(worker int) HandOvers {
	w := &s.workers[worker]
	return HandOvers{Handed: w.handed.Load(), Got: w.got.Load(), Waited: w.waited.Load(),
		Dropped: w.dropped.Load()}
}

// WorkerOf returns the worker that has a lobby; not ok if there is none. While a lobby moves, it is
// the worker from which it moves.
func (s *Steering) WorkerOf(lobby uint32) (worker int, ok bool) {
	if s.index == nil {
		return 0, false
	}
	return s.index.FindNumber(indexLobby, uint64(lobby), -1)
}

// ring returns the ring from one worker to another.
func (s *Steering) ring(from, to int) *handoverRing { return &s.rings[from*len(s.workers)+to] }

// roomiest returns the worker with the most room for a role; not ok if there is none.
func (s *Steering) roomiest(r role) (worker int, ok bool) {
	most := int32(0)
	for i := range s.workers {
		if n := s.workers[i].room[r].Load(); n > most {
			worker, most, ok = i, n, true
		}
	}
	return worker, ok
}
