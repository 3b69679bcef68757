package client

import (
	"errors"
	"time"

	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// Config describes a client. Zero fields mean the defaults named.
type Config struct {
	Name  string // printable, at most 32 bytes
	Nonce uint64 // random, another for every attempt; required

	// Arena finds the map that the server names; required. The client checks the hash of what it returns.
	Arena func(name string, hash [32]byte) (*arena.Arena, error)

	Models ghost.Models // compression; default ghost.Trained, as the server's

	// Rules must be the server's, or the rifle is predicted wrongly. Rate is taken from the server.
	Rules sim.Rules

	Thin    bool          // do not decode what others do: no poses, a tenth of the memory
	Judge   bool          // work out what each predicted shot hits in our own view, see Shots
	Timeout time.Duration // of the handshake and of silence; default session.DefaultTimeout
}

// Errors of New.
var (
	ErrNoArena = errors.New("client: no function to find the arena")
	ErrNoNonce = errors.New("client: nonce 0: expected a random number")
)

func (c Config) withDefaults() (Config, error) {
	c.Rules = c.Rules.WithDefaults()
	if c.Models == (ghost.Models{}) {
		c.Models = ghost.Trained()
	}
	if c.Timeout == 0 {
		c.Timeout = session.DefaultTimeout
	}
	switch {
	case c.Arena == nil:
		return c, ErrNoArena
	case c.Nonce == 0:
		return c, ErrNoNonce
	}
	return c, nil
}
