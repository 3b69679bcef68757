package sim

import (
	"encoding/binary"
	"errors"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/object"
)

// EventKind says what happened.
type EventKind uint8

// The things that happen. A Hit is told to its shooter, a Kill to everybody.
const (
	EventHit EventKind = 1 + iota
	EventKill
)

// AskResync is the reliable event, of this one byte, by which a client that cannot decode what it is sent asks the
// server to begin anew without baselines.
const AskResync byte = 0x80

// AskDiverged is the first byte of the reliable event by which a client tells that the checksum of a snapshot was not that of what
// it decoded, and asks the server to begin anew as AskResync does.
//
//	1  0x82
//	4  tick  of the snapshot
const AskDiverged byte = 0x82

// AppendDiverged writes the event that tells of a snapshot whose checksum was wrong.
func AppendDiverged(dst []byte, t tick.Tick) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, AskDiverged), uint32(t))
}

// ParseDiverged reads what AppendDiverged wrote. False for what is none, or of tick 0.
func ParseDiverged(src []byte) (t tick.Tick, ok bool) {
	if len(src) != 5 || src[0] != AskDiverged {
		return 0, false
	}
	t = tick.Tick(binary.LittleEndian.Uint32(src[1:]))
	return t, t != 0
}

// AskSnapshotRate is the first byte of the reliable event by which a client asks for fewer snapshots or bytes.
//
//	1  0x81
//	1  every  1: a snapshot each interval of the server; 2, 3, 4, 6 or 8: each so many intervals
//	2  kbps   most kilobits a second; 0: as many as the server allows
const AskSnapshotRate byte = 0x81

// Limits of what a client may ask for.
const (
	MaxSnapshotInterval = 8
	MinSnapshotKbps     = 16
)

// RequestHero is the first byte of the reliable event by which a client asks to be another hero: see Match.RequestHero.
//
//	1  0x83
//	1  hero  of Game.Heroes
const AskHero byte = 0x83

// AppendHero writes the event that asks for a hero.
func AppendHero(dst []byte, hero uint8) []byte { return append(dst, AskHero, hero) }

// ParseHero reads what AppendHero wrote. False for what is none, or a hero that no game can have.
func ParseHero(src []byte) (hero uint8, ok bool) {
	if len(src) != 2 || src[0] != AskHero || src[1] >= MaxHeroes {
		return 0, false
	}
	return src[1], true
}

// AppendSnapshotRate writes the event that asks for a pace.
func AppendSnapshotRate(dst []byte, every uint8, kbps uint16) []byte {
	return binary.LittleEndian.AppendUint16(append(dst, AskSnapshotRate, every), kbps)
}

// ParseSnapshotRate reads what AppendSnapshotRate wrote. False for what is none, or out of range.
func ParseSnapshotRate(src []byte) (every uint8, kbps uint16, ok bool) {
	if len(src) != 4 || src[0] != AskSnapshotRate {
		return 0, 0, false
	}
	every, kbps = src[1], binary.LittleEndian.Uint16(src[2:])
	return every, kbps, ValidSnapshotRate(every, kbps)
}

// ValidSnapshotRate reports whether a pace may be asked for.
func ValidSnapshotRate(every uint8, kbps uint16) bool {
	return every >= 1 && every <= MaxSnapshotInterval && every != 5 && every != 7 && (kbps == 0 || kbps >= MinSnapshotKbps)
}

// Event is something that happened in a tick and that players are told of, reliably and in order.
type Event struct {
	Kind   EventKind
	Part   rig.Part // of a round: what it hit; NoPart of all else
	Cause  object.Cause
	Tick   tick.Tick
	Actor  netid.ID // who did it; 0: the world
	Victim netid.ID // to whom
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
