package handoff

import (
	"context"
	"errors"
	"sync"
	"time"
)

// MoveFirst is how long a host of a fleet that drains waits for other hosts to take its lobbies,
// before it ends them with their rounds: three tries.
const MoveFirst = 15 * time.Second

const (
	drainLook  = 100 * time.Millisecond // how often a host that drains is looked at
	drainAgain = 5 * time.Second        // from a move that failed to the next try
	drainMoves = 2                      // lobbies that move at a time
)

// Drain moves the lobbies of a host that drains, some at a time, until ctx ends. playing lists
// those that have players. A lobby that no other host takes plays on, and is tried again.
func (m *Mover) Drain(ctx context.Context, playing func() []uint32) {
	tried := map[uint32]time.Time{}
	var moves sync.WaitGroup
	defer moves.Wait()
	free := make(chan struct{}, drainMoves)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(drainLook):
		}
		if !m.cfg.Host.Draining() {
			continue
		}
		for _, id := range playing() {
			now := m.cfg.Now()
			if now.Sub(tried[id]) < drainAgain || len(free) == cap(free) {
				continue
			}
			tried[id] = now
			free <- struct{}{}
			moves.Go(func() {
				defer func() { <-free }()
				err := m.Move(ctx, id)
				if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrMoving) {
					m.cfg.Log.Warn("fleet: lobby stays for now", "lobby", id, "err", err)
				}
			})
		}
	}
}
