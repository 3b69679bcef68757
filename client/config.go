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
	Token []byte // a netcode connect token, 2048 bytes, for this session alone; required

	// Ordered dials the addresses of a token that names several in the token's order. Default: the
	// client pings them, and dials the nearest first, see Choice.
	Ordered bool

	// Arena finds the map that the server names; default Known, which opens no file. The client
	// checks the hash of the result. The server chooses the name: do not open files by it
	// unchecked.
	Arena func(name string, hash [32]byte) (*arena.Arena, error)

	Models     netstate.Models                       // compression; default netstate.Trained
	FindModels func(hash uint64) (m netstate.Models) // finds another that the server names

	// Fetch lets the server send what is missing: models of up to MaxModelFile bytes and a map of
	// up to protocol.MaxContent. Without it the client is Denied.
	Fetch   bool
	Fetched func(Fetched) // called with what was sent, to keep it; default nothing

	// Content is the client's pack of game content. It must be the server's, if that has one.
	// Default: the pack of this build.
	Content *content.Pack

	// Rules must be the server's, or every command is mispredicted. Rate is taken from the server.
	// So is Game if it is nil: the mode and map of Content that the server names.
	Rules sim.Rules

	// Name is the player's name, at most 64 bytes. The server shortens it to 16 characters and
	// appends a number if it is taken; "" gives a name by slot.
	Name string

	SnapshotEvery int // send intervals between snapshots: 1, 2, 3, 4, 6 or 8; default 1
	MaxKbps       int // bandwidth limit for the server, 16 to 65535 kbit/s; default none

	Killcam     bool   // request killcams, see Client.Killcam
	Decode      Decode // how much of snapshots is decoded
	Corrections int    // of the prediction that wait for NextCorrection; default none
	PredictHits bool   // compute what each predicted shot hits in the own view, see Shot
	Effects     bool   // keep what a picture and sound present, see Client.Effects; needs DecodeFull
}

// MaxCorrections bounds Config.Corrections.
const MaxCorrections = 4096

// Decode is how much of snapshots a client decodes. Less takes less CPU and memory in a load
// generator; the server notices no difference.
type Decode uint8

// The levels of decoding.
const (
	DecodeFull Decode = iota // every row
	DecodeOwn                // own rows only, for prediction: a tenth of the memory
	DecodeAcks               // headers and acks only: commands are sent without prediction
)

var decodeNames = [...]string{"full", "own", "acks"}

// String names the level: full, own or acks.
func (d Decode) String() string {
	if int(d) < len(decodeNames) {
		return decodeNames[d]
	}
	return "invalid"
}

// MarshalText names the level, as String.
func (d Decode) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText sets the level by its name.
func (d *Decode) UnmarshalText(text []byte) error {
	for level, name := range decodeNames {
		if name == string(text) {
			*d = Decode(level)
			return nil
		}
	}
	return fmt.Errorf("decode level %q: expected full, own or acks", text)
}

// Errors of New.
var (
	ErrToken        = errors.New("client: token: expected the 2048 bytes of a netcode 1.02 connect token")
	ErrName         = fmt.Errorf("client: name: expected at most %d bytes", protocol.MaxName)
	ErrSnapshotRate = errors.New("client: snapshot rate: expected a snapshot every 1, 2, 3, 4, 6 or 8 " +
		"intervals, and 16 to 65535 kbit/s or 0")
	ErrCorrections = fmt.Errorf("client: corrections: expected 0 to %d", MaxCorrections)
	ErrDecode      = errors.New("client: decode: expected full, own or acks")
)

func (c Config) withDefaults() (Config, error) {
	if c.Models == (netstate.Models{}) {
		c.Models = netstate.Trained()
	}
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = 1
	}
	if c.Arena == nil {
		c.Arena = Known
	}
	if c.FindModels == nil {
		c.FindModels = func(uint64) netstate.Models { return netstate.Models{} }
	}
	if c.Fetched == nil {
		c.Fetched = func(Fetched) {}
	}
	every, kbps := uint8(c.SnapshotEvery), uint16(c.MaxKbps)
	inRange := c.SnapshotEvery == int(every) && c.MaxKbps == int(kbps)
	switch {
	case !inRange || !sim.ValidSnapshotRate(every, kbps):
		return c, ErrSnapshotRate
	case len(c.Name) > protocol.MaxName:
		return c, ErrName
	case c.Corrections < 0 || c.Corrections > MaxCorrections:
		return c, ErrCorrections
	case c.Decode > DecodeAcks:
		return c, ErrDecode
	}
	return c, nil
}

// builtIn is the pack of this build, parsed once.
var builtIn = sync.OnceValue(content.Default)
