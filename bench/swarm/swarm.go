package swarm

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/client"
)

// Swarm is a number of players on one or several lobbies.
type Swarm struct {
	Figures Figures

	cfg     Config
	players []player
	blind   []BlindBot // brains of blind players, by player
	passes  passTable  // shared with the backup
	sockets sockets
	links   *links // nil: perfect ones
	driver  driver
	sender  sender  // the driver's
	backup  *backup // of the run; nil: none
	content contentCache
	vision  vision
	played  [maxShares]time.Duration // by share of the players: when they had their last pass
	ready   []int                    // players with a pass in the slot
	inbox   inbox
	tickDue bool // work that is done once a tick waits
	err     error
}

// Open makes the players and their sockets; they start to connect with the first Run. It locks the
// calling goroutine to its thread. Runs with DecodeAcks pin that thread to a processor and raise
// its priority, where the system allows it.
func Open(cfg Config) (*Swarm, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Swarm{
		Figures: newFigures(), cfg: cfg,
		players: make([]player, cfg.Players), blind: make([]BlindBot, cfg.Players),
		passes:  passTable{due: make([]atomic.Int64, cfg.Players), busy: make([]atomic.Bool, cfg.Players)},
		content: newContentCache(&cfg), vision: vision{visible: make([][]VisiblePlayer, cfg.Lobbies)},
		driver: newDriver(), inbox: newInbox(cfg.Players),
	}
	if s.links, err = newLinks(&cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.sender.s, s.sender.sentUntil = s, s.sentUntil
	s.sockets.receive = s.receive
	if err := s.sockets.spread(cfg.Servers, cfg.Players); err != nil {
		return nil, errors.Join(err, s.close())
	}
	for i := range s.players {
		if s.players[i], err = s.newPlayer(i); err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.passes.due[i].Store(int64(time.Duration(i) * cfg.Arrival / time.Duration(cfg.Players)))
	}
	s.Figures.Sampled = min(cfg.Full, cfg.Players, maxSampled)
	for i := range s.Figures.Sampled {
		s.players[i].client.Meter = s.Figures.Meter
	}
	return s, nil
}

// Reset starts new figures.
func (s *Swarm) Reset() { s.Figures.reset() }

// Joined counts the players that have joined.
func (s *Swarm) Joined() (n int) {
	for i := range s.players {
		if st, _ := s.players[i].client.State(); st == client.Joined {
			n++
		}
	}
	return n
}

// Err is why a player was denied or lost, unless Config.Refused was told of it, or of a datagram that could not be sent.
func (s *Swarm) Err() error {
	for i := range s.players {
		if st, why := s.players[i].client.State(); st > client.Joined {
			if s.cfg.Refused != nil && s.refusal(i) != nil {
				continue
			}
			err := s.players[i].client.Err()
			if err == nil {
				err = errors.New(why.String())
			}
			return fmt.Errorf("player %d of %d: %v: %w", i, len(s.players), st, err)
		}
	}
	return s.err
}

// Client returns player i's client, to be read between runs.
func (s *Swarm) Client(i int) *client.Client { return s.players[i].client }

// KernelDrops returns how many datagrams the kernel has dropped because a socket of the swarm was
// full: no server lost them. To be read between runs.
func (s *Swarm) KernelDrops() (sum uint64) {
	for _, pool := range s.sockets.pools {
		sum += pool.Stats().KernelDrops
	}
	return sum
}

// Close disconnects every player and closes the sockets.
func (s *Swarm) Close() error {
	for i := range s.players {
		now := max(s.driver.now, s.players[i].at)
		s.players[i].client.Leave(now)
		out := s.players[i].client.Outgoing(now)
		for k := range out.Len() {
			to, data := out.At(k)
			_ = s.sockets.send(i, to, s.players[i].client.MovesTo(to), data) // a server that has gone needs no disconnect
		}
	}
	return s.close()
}

func (s *Swarm) close() error {
	s.driver.delay.Close()
	return s.sockets.close()
}
