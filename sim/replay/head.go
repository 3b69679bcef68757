package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// Errors about a recording's bytes wrap ErrFormat.
var (
	ErrFormat = errors.New("replay: not a usable recording")
	ErrRules  = errors.New("replay: recorded with a different map, game or schema")
)

// Version is the version of the format. Readers refuse recordings of other versions.
const Version = 4

// magic begins a recording.
const magic = "TKRP"

// MaxSlots is the most players of a recorded match.
const MaxSlots = 4096

// Head names what was played (map, game, seed) and holds the hashes by which a reader recognises a
// different map, game or schema.
//
//	4   "TKRP"
//	1   version 4
//	2   length of what follows, checksum excluded
//	8   layout         fingerprint of the schema, see sim.Match.Layout
//	8   seed
//	4   slots          1 to 4096
//	4   rewindMillis
//	4   respawnMillis  initial value
//	2   chunkTicks     ticks of a complete chunk
//	1   rate           Hz
//	1   mix            1: players get heroes round-robin, by slot
//	32  game           SHA-256 of the game, see gameHash
//	32  pack           hash of the content pack's keys that clients need, 0: no pack
//	32  arena          hash of the map
//	1+n arenaName      length and bytes
//	1+n mode           length and bytes of its name
//	2+n schema         length and bytes, see sim.Schema; empty in a killcam
//	4   CRC-32C of all before
type Head struct {
	Layout, Seed                uint64
	Slots                       int
	RewindMillis, RespawnMillis int32
	ChunkTicks                  int
	Rate                        tick.Rate
	Mix                         bool
	Game, Pack, Arena           [32]byte
	ArenaName, Mode             string // Append truncates each to 255 bytes
	Schema                      string // Append truncates it to maxSchema bytes
}

// HeadOf describes a match that has just begun.
func HeadOf(m *sim.Match, arenaName string, chunkTicks int) Head {
	r := m.Rules()
	return Head{
		Layout: m.Layout(), Seed: r.Seed, Slots: m.World.Slots(), RewindMillis: r.RewindMillis,
		RespawnMillis: r.RespawnMillis,
		ChunkTicks:    chunkTicks, Rate: r.Rate, Mix: r.Mix,
		Game: gameHash(r.Game), Pack: r.Game.Pack, Arena: m.Scene().Arena.Hash(), ArenaName: arenaName,
		Mode: r.Game.Mode.Name, Schema: sim.Schema(),
	}
}

// gameHash is the SHA-256 of every field of a game, numbers and names. Unlike a pack's hash it
// includes the map's layout and the fields that only the server needs.
func gameHash(g *sim.Game) (sum [32]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%#v", *g)
	h.Sum(sum[:0])
	return sum
}

// castagnoli is the table of all checksums of the format.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the head, which begins a recording.
func (h *Head) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, Version, 0, 0)
	body := len(dst)
	le := binary.LittleEndian
	dst = le.AppendUint64(le.AppendUint64(dst, h.Layout), h.Seed)
	dst = le.AppendUint32(dst, uint32(h.Slots))
	dst = le.AppendUint32(le.AppendUint32(dst, uint32(h.RewindMillis)), uint32(h.RespawnMillis))
	dst = append(le.AppendUint16(dst, uint16(h.ChunkTicks)), byte(h.Rate), 0)
	if h.Mix {
		dst[len(dst)-1] = 1
	}
	dst = append(append(append(dst, h.Game[:]...), h.Pack[:]...), h.Arena[:]...)
	dst = appendName(appendName(dst, h.ArenaName), h.Mode)
	schema := h.Schema[:min(len(h.Schema), maxSchema)]
	dst = append(le.AppendUint16(dst, uint16(len(schema))), schema...)
	le.PutUint16(dst[body-2:], uint16(len(dst)-body))
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// appendName appends the length of a name and its first 255 bytes; parseName reads them.
func appendName(dst []byte, name string) []byte {
	name = name[:min(len(name), 255)]
	return append(append(dst, byte(len(name))), name...)
}

func parseName(src []byte) (name string, rest []byte, ok bool) {
	if len(src) == 0 {
		return "", nil, false
	}
	n, src := int(src[0]), src[1:]
	if len(src) < n {
		return "", nil, false
	}
	return string(src[:n]), src[n:], true
}

// maxSchema is the most bytes of a schema. The whole body must stay below 65,536 bytes, because the
// head has two bytes for its length; the other fields take at most 642.
const maxSchema = 60000

// headFixed is the length of the body before the names, headMin that with two empty names and an
// empty schema.
const (
	headFixed = 8 + 8 + 4 + 4 + 4 + 2 + 1 + 1 + 3*32
	headMin   = headFixed + 1 + 1 + 2
)

// headStart is the length of magic, version and length.
const headStart = len(magic) + 3

// parse reads the body of a head, after its checksum was verified.
func (h *Head) parse(b []byte) error {
	if len(b) < headMin {
		return fmt.Errorf("%w: head of %d bytes, expected at least %d", ErrFormat, len(b), headMin)
	}
	le := binary.LittleEndian
	h.Layout, h.Seed, h.Slots = le.Uint64(b), le.Uint64(b[8:]), int(le.Uint32(b[16:]))
	h.RewindMillis, h.RespawnMillis = int32(le.Uint32(b[20:])), int32(le.Uint32(b[24:]))
	h.ChunkTicks, h.Rate, h.Mix = int(le.Uint16(b[28:])), tick.Rate(b[30]), b[31] == 1
	copy(h.Game[:], b[32:])
	copy(h.Pack[:], b[64:])
	copy(h.Arena[:], b[96:])
	b = b[headFixed:]
	ok := false
	for _, name := range []*string{&h.ArenaName, &h.Mode} {
		if *name, b, ok = parseName(b); !ok {
			return fmt.Errorf("%w: head without names", ErrFormat)
		}
	}
	if len(b) < 2 || len(b) < 2+int(le.Uint16(b)) {
		return fmt.Errorf("%w: head without the schema of a state", ErrFormat)
	}
	n := 2 + int(le.Uint16(b))
	h.Schema, b = string(b[2:n]), b[n:]
	switch {
	case len(b) > 0:
		return fmt.Errorf("%w: head with %d bytes too many", ErrFormat, len(b))
	case h.Slots < 1 || h.Slots > MaxSlots:
		return fmt.Errorf("%w: %d slots, expected 1 to %d", ErrFormat, h.Slots, MaxSlots)
	case !h.Rate.Valid():
		return fmt.Errorf("%w: %d Hz, expected %d to %d", ErrFormat, h.Rate, tick.MinRate, tick.MaxRate)
	case h.ChunkTicks < 1 || h.ChunkTicks > MaxChunkTicks:
		return fmt.Errorf("%w: %d ticks a chunk, expected 1 to %d", ErrFormat, h.ChunkTicks, MaxChunkTicks)
	case h.RewindMillis < 1 || h.RewindMillis > 2000:
		return fmt.Errorf("%w: rewind of %d ms", ErrFormat, h.RewindMillis)
	}
	return nil
}

// Rules returns the rules of the recording with a game and an arena that the caller provides. The
// error wraps ErrRules and names the one whose hash differs from the recorded one.
func (h *Head) Rules(game *sim.Game, a *arena.Arena) (sim.Rules, error) {
	r := sim.Rules{Rate: h.Rate, Seed: h.Seed, RewindMillis: h.RewindMillis, RespawnMillis: h.RespawnMillis,
		Mix: h.Mix, Game: game}
	if got := a.Hash(); got != h.Arena {
		return r, fmt.Errorf("%w: map %s has hash %x, recorded was %x", ErrRules, h.ArenaName, got[:4],
			h.Arena[:4])
	}
	if got := gameHash(game); got != h.Game {
		return r, fmt.Errorf("%w: mode %s has content %x, recorded was %x", ErrRules, h.Mode, got[:4],
			h.Game[:4])
	}
	if _, err := r.Compile(); err != nil {
		return r, fmt.Errorf("%w: %w", ErrRules, err)
	}
	return r, nil
}

// CheckSchema reports the first kind, component or column by which the recording's states differ
// from those of this build; nil if the recording has no schema. The error wraps ErrRules.
func (h *Head) CheckSchema() error {
	if h.Schema == "" {
		return nil
	}
	if err := sim.CheckSchema(h.Schema); err != nil {
		return fmt.Errorf("%w: %w", ErrRules, err)
	}
	return nil
}
