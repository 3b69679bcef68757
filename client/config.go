package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Config describes a client. Zero fields mean the defaults named.
type Config struct {
	Token []byte // a netcode connect token, of TokenSize bytes, for this attempt alone; required

	// Arena finds the map that the server names; default Known, which opens no file. The client checks the hash of what it returns.
	// A name comes from whoever runs the server: who opens files by it lets a server choose them.
	Arena func(name string, hash [32]byte) (*arena.Arena, error)

	Models netstate.Models                       // compression; default netstate.Trained
	Model  func(hash uint64) (m netstate.Models) // finds others that the server names, of an earlier session perhaps; default none

	// Fetch lets the server send what we lack: models of up to MaxModelFile bytes and an arena of up to protocol.MaxContent. Without
	// it we are Denied for that.
	Fetch   bool
	Fetched func(Fetched) // is given what came, to keep it for the next session; default nothing

	// Content is what we have of the game's content: where the server's game is of a pack, it must be of this one. Default the pack
	// of this build.
	Content *content.Pack

	// Rules must be the server's, or we are predicted wrongly. Rate is taken from the server. So is Game if it is nil: what
	// Content has of the mode and the map that the server names.
	Rules sim.Rules

	// Name is what the player wants to be called. The server makes it fit to be shown, at most 16 characters, and puts a number behind it
	// if another has it; "" is called by its slot. At most 64 bytes.
	Name string

	Every int // a snapshot each so many of the server's intervals: 1, 2, 3, 4, 6 or 8; default 1
	Kbps  int // most kilobits a second that the server shall send, 16 to 65535; default as many as it likes

	Killcam bool // ask the server for killcams, see Client.Killcam

	Thin  bool // do not decode what others do: no poses, no names, a tenth of the memory
	Bare  bool // acks and headers only: of snapshots not even our own row. Thin, and nothing is predicted; see the package comment
	Judge bool // work out what each predicted shot hits in our own view, see Shots
}

// Errors of New.
var (
	ErrToken = errors.New("client: token: expected the 2048 bytes of a netcode 1.02 connect token")
	ErrName  = fmt.Errorf("client: name: expected at most %d bytes", protocol.MaxName)
	ErrPace  = errors.New("client: pace: expected a snapshot every 1, 2, 3, 4, 6 or 8 intervals, and 16 to 65535 kbit/s or 0")
)

func (c Config) withDefaults() (Config, error) {
	if c.Models == (netstate.Models{}) {
		c.Models = netstate.Trained()
	}
	c.Thin = c.Thin || c.Bare
	if c.Every == 0 {
		c.Every = 1
	}
	if c.Arena == nil {
		c.Arena = Known
	}
	if c.Model == nil {
		c.Model = func(uint64) netstate.Models { return netstate.Models{} }
	}
	if c.Fetched == nil {
		c.Fetched = func(Fetched) {}
	}
	if c.Every != int(uint8(c.Every)) || c.Kbps != int(uint16(c.Kbps)) || !sim.ValidSnapshotRate(uint8(c.Every), uint16(c.Kbps)) {
		return c, ErrPace
	}
	if len(c.Name) > protocol.MaxName {
		return c, ErrName
	}
	return c, nil
}

// builtIn is the pack of this build, read when it is first asked for.
var builtIn = sync.OnceValue(content.Default)
