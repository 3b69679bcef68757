package sim

import (
	"encoding/binary"
	"errors"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/object"
)

// EventKind is the kind of an event.
type EventKind uint8

// The events. A hit is sent to its shooter, a kill to all players.
const (
	EventHit EventKind = 1 + iota
	EventKill
)

// AskResync is the reliable message, of this one byte, by which a client that cannot decode its
// snapshots asks the server to start again without baselines.
const AskResync byte = 0x80

// AskDiverged is the first byte of the reliable message by which a client reports a snapshot whose
// checksum did not match what it decoded, and asks the server to start again as with AskResync.
//
//	1  0x82
//	4  tick  of the snapshot
const AskDiverged byte = 0x82

// AppendDiverged writes the report of a snapshot with a wrong checksum.
func AppendDiverged(dst []byte, t tick.Tick) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, AskDiverged), uint32(t))
}

// ParseDiverged reads what AppendDiverged wrote. It reports false for any other message, or tick
// 0.
func ParseDiverged(src []byte) (t tick.Tick, ok bool) {
	if len(src) != 5 || src[0] != AskDiverged {
		return 0, false
	}
	t = tick.Tick(binary.LittleEndian.Uint32(src[1:]))
	return t, t != 0
}

// AskSnapshotRate is the first byte of the reliable message by which a client asks for fewer
// snapshots or bytes.
//
//	1  0x81
//	1  every  server intervals per snapshot: 1, 2, 3, 4, 6 or 8
//	2  kbps   most kilobits a second; 0: as many as the server allows
const AskSnapshotRate byte = 0x81

// Limits of a client's request.
const (
	MaxSnapshotInterval = 8
	MinSnapshotKbps     = 16
)

// AskHero is the first byte of the reliable message by which a client asks for another hero: see
// Match.RequestHero.
//
//	1  0x83
//	1  hero  of Game.Heroes
const AskHero byte = 0x83

// AppendHero writes the request for a hero.
func AppendHero(dst []byte, hero uint8) []byte { return append(dst, AskHero, hero) }

// ParseHero reads what AppendHero wrote. It reports false for any other message, or a hero that no
// game can have.
func ParseHero(src []byte) (hero uint8, ok bool) {
	if len(src) != 2 || src[0] != AskHero || src[1] >= MaxHeroes {
		return 0, false
	}
	return src[1], true
}

// AppendSnapshotRate writes the request for a snapshot rate.
func AppendSnapshotRate(dst []byte, every uint8, kbps uint16) []byte {
	return binary.LittleEndian.AppendUint16(append(dst, AskSnapshotRate, every), kbps)
}

// ParseSnapshotRate reads what AppendSnapshotRate wrote. It reports false for any other message,
// or a rate out of range.
func ParseSnapshotRate(src []byte) (every uint8, kbps uint16, ok bool) {
	if len(src) != 4 || src[0] != AskSnapshotRate {
		return 0, 0, false
	}
	every, kbps = src[1], binary.LittleEndian.Uint16(src[2:])
	return every, kbps, ValidSnapshotRate(every, kbps)
}

// ValidSnapshotRate reports whether a client may ask for a rate.
func ValidSnapshotRate(every uint8, kbps uint16) bool {
	return every >= 1 && every <= MaxSnapshotInterval && every != 5 && every != 7 &&
		(kbps == 0 || kbps >= MinSnapshotKbps)
}

// Event is something that happened in a tick and is sent to players reliably and in order.
type Event struct {
	Kind   EventKind
	Part   rig.Part // of a shot: what it hit; NoPart of all else
	Cause  object.Cause
	Tick   tick.Tick
	Actor  netid.ID // the player that did it; 0: the world
	Victim netid.ID // the player that it was done to
	Amount uint16   // EventHit: damage; EventKill: the actor's team's score after it
}

// eventBytes is the size of an event on the wire:
//
//	1 kind   1 part, cause << 4   2 amount   4 tick   4 actor   4 victim
const eventBytes = 16

// ErrEvent is returned for bytes that are not an event.
var ErrEvent = errors.New("event is not 16 bytes of a known kind")

// Append appends the event's 16 bytes.
func (e Event) Append(dst []byte) []byte {
	dst = append(dst, byte(e.Kind), byte(e.Part)&15|byte(e.Cause)<<4)
	dst = binary.LittleEndian.AppendUint16(dst, e.Amount)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Tick))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Actor))
	return binary.LittleEndian.AppendUint32(dst, uint32(e.Victim))
}

// ParseEvent reads what Append wrote.
func ParseEvent(src []byte) (Event, error) {
	if len(src) != eventBytes || src[0] < byte(EventHit) || src[0] > byte(EventKill) {
		return Event{}, ErrEvent
	}
	return Event{
		Kind:   EventKind(src[0]),
		Part:   rig.Part(src[1] & 15),
		Cause:  object.Cause(src[1] >> 4),
		Amount: binary.LittleEndian.Uint16(src[2:]),
		Tick:   tick.Tick(binary.LittleEndian.Uint32(src[4:])),
		Actor:  netid.ID(binary.LittleEndian.Uint32(src[8:])),
		Victim: netid.ID(binary.LittleEndian.Uint32(src[12:])),
	}, nil
}
