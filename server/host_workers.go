package server

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/parallel"
)

// MaxWorkers is the most processors that the systems of a lobby are shared by.
const MaxWorkers = parallel.MaxParts

// workers makes the pool that a configuration asks for: nil for one worker, which is the tick itself.
func (c *HostConfig) workers() (*parallel.Pool, error) {
	if err := c.checkWorkers(); err != nil || c.Workers <= 1 {
		return nil, err
	}
	pool := parallel.NewPool(c.Workers)
	c.Lobby.Runner = pool
	return pool, nil
}

func (c *HostConfig) checkWorkers() error {
	if c.Workers < 0 || c.Workers > MaxWorkers {
		return fmt.Errorf("%d workers: expected 1 to %d", c.Workers, MaxWorkers)
	}
	return nil
}
