package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// contentCache holds maps and models for all players: what a server sends to one player it need not
// send to another.
type contentCache struct {
	arenas map[[32]byte]*arena.Arena // by hash
	models map[uint64]netstate.Models
	open   func(name string, hash [32]byte) (*arena.Arena, error)
	pack   *content.Pack
}

func newContentCache(cfg *Config) contentCache {
	c := contentCache{
		arenas: map[[32]byte]*arena.Arena{}, models: map[uint64]netstate.Models{},
		open: cfg.Arena, pack: cfg.Content,
	}
	if c.open == nil {
		c.open = client.Known
	}
	return c
}

// arena finds a map by its hash, or opens it by its name.
func (c *contentCache) arena(name string, hash [32]byte) (*arena.Arena, error) {
	if a := c.arenas[hash]; a != nil {
		return a, nil
	}
	a, err := c.open(name, hash)
	if (err != nil || a == nil) && c.pack != nil { // the pack may have a map of this name
		if packed, ok, bad := c.pack.Ground(name); ok {
			a, err = packed, bad
		}
	}
	if err == nil && a != nil && a.Hash() == hash {
		c.arenas[hash] = a
	}
	return a, err
}

// model finds models by their hash.
func (c *contentCache) model(hash uint64) netstate.Models { return c.models[hash] }

// add keeps what a server sent.
func (c *contentCache) add(f client.Fetched) {
	if f.Arena != nil {
		c.arenas[f.Arena.Hash()] = f.Arena
	} else {
		c.models[f.Models.Hash()] = f.Models
	}
}
