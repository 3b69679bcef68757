package sim

import (
	"encoding/binary"
	"errors"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
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

// Event is something that happened in a tick and that players are told of, reliably and in order.
type Event struct {
	Kind   EventKind
	Part   lagcomp.Part
	Tick   tick.Tick
	Actor  ecs.NetID // who did it
	Victim ecs.NetID // to whom
	Amount uint16    // EventHit: damage; EventKill: the actor's team's score after it
}

// eventBytes is the size of an event on the wire:
//
//	1 kind   1 part   2 amount   4 tick   4 actor   4 victim
const eventBytes = 16

// ErrEvent is returned for bytes that are not an event.
var ErrEvent = errors.New("event is not 16 bytes of a known kind")

// Append appends the event's 16 bytes.
func (e Event) Append(dst []byte) []byte {
	dst = append(dst, byte(e.Kind), byte(e.Part))
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
		Part:   lagcomp.Part(src[1]),
		Amount: binary.LittleEndian.Uint16(src[2:]),
		Tick:   tick.Tick(binary.LittleEndian.Uint32(src[4:])),
		Actor:  ecs.NetID(binary.LittleEndian.Uint32(src[8:])),
		Victim: ecs.NetID(binary.LittleEndian.Uint32(src[12:])),
	}, nil
}
