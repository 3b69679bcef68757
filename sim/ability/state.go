package ability

import (
	"math/bits"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/tick"
)

// State is everything that the next tick of a player's abilities depends on besides its input: 54
// bytes of integers. Bit i of a mask is slot i of the hero. An ability is in at most one of
// Request, Active and Cooling; in none of them it is idle. Only the owner gets it, for prediction;
// other players get Public. The zero State with NewState's clips is a player that has just
// spawned.
type State struct {
	Request   uint8 // mask, requests activation and waits
	Active    uint8 // mask, active
	Cooling   uint8 // mask, done and not ready yet; timed abilities only
	On        uint8 // mask, switched on by the controller: Active as of the last tick's controller
	Asked     uint8 // mask, of On: was asked to end
	Reloading uint8 // mask, of guns
	Slots     [MaxSlots]Slot
}

var _ [54]byte = [unsafe.Sizeof(State{})]byte{}

// Slot is the state of one ability; fields that its kind does not use stay 0.
type Slot struct {
	Load  uint8 // of a gun: rounds in the clip, 0 to 255; of an Emote: the gesture, 0 to 16
	Count uint8 // shots, throws, landed punches, gestures or launches since the spawn, modulo 256
	// of a gun: until the next shot in rounds at the tick rate, on the grid of spinUnit, -8192 to
	// 8192, or ticks to reload, 0 to 8192; of others: ticks until it is over, 0 to 8192
	Cool int16
	// of a gun: opening of the cone, edge to edge, 1/256 degree, 0 to 46080; or what its spin adds,
	// 1/64 round/s, 1/32 above 128 Hz, 0 to 8192
	Heat uint16
}

// NewState returns the state of a player that has just spawned: all abilities idle, every clip
// full.
func (h *Hero) NewState() (s State) {
	for i := range h.count {
		s.Slots[i].Load = h.slots[i].clip
	}
	return s
}

// CanRefill reports whether a clip is not full.
func (h *Hero) CanRefill(s *State) bool {
	for m := h.guns; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros8(m); s.Slots[i].Load < h.slots[i].clip {
			return true
		}
	}
	return false
}

// Refill fills every clip, and ends what reloads.
func (h *Hero) Refill(s *State) {
	for m := h.guns; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		w, bit := &s.Slots[i], uint8(1)<<i
		if s.Reloading&bit != 0 {
			w.Cool = 0
		}
		s.Reloading &^= bit
		w.Load = h.slots[i].clip
	}
}

// Input is what a tick's abilities depend on besides their state. Every value is valid.
type Input struct {
	Tick     tick.Tick
	Buttons  uint16 // keys held
	MoveYaw  uint8  // where the feet go, clockwise from straight ahead, 1/256 turn
	MoveMag  uint8  // how much of the full speed, 0 to 255
	Grounded bool   // as of the end of the last tick
	Alive    bool   // health above 0
}

// forward reports whether the player moves in a direction that allows sprinting: within a quarter
// turn of straight ahead.
func (in *Input) forward() bool {
	return in.MoveMag > 0 && (in.MoveYaw < 64 || in.MoveYaw > 192)
}

// moves reports whether the player wants to move.
func (in *Input) moves() bool { return in.MoveMag > 0 || in.Buttons&Jump != 0 }

// Weapons is how many guns and launchers are public.
const Weapons = 2

// Public is the public state of a player's abilities. The difference of a counter between two
// snapshots is the number of events; with each life and each hero the counters begin anew at 0.
type Public struct {
	Fired     [Weapons]uint8 // shots or throws of the first guns and launchers, modulo 256
	Punches   uint8          // punches that landed their sweep, modulo 256
	Gesture   uint8          // of the active emote, from 1; 0: none
	Gestures  uint8          // number of emotes begun, modulo 256
	Sprinting bool
	Reloading bool
}

// Shooting reports whether a weapon or a punch is active.
func (h *Hero) Shooting(s *State) bool { return s.Active&(h.guns|h.sticky) != 0 }

// Public returns the public part of s.
func (h *Hero) Public(s *State) (p Public) {
	h.WritePublic(s, &p)
	return p
}

// WritePublic is Public into p: it writes all of it.
func (h *Hero) WritePublic(s *State, p *Public) {
	*p = Public{}
	for i, slot := range h.weapons {
		if slot >= 0 {
			p.Fired[i] = s.Slots[slot].Count
		}
	}
	if h.punch >= 0 {
		p.Punches = s.Slots[h.punch].Count
	}
	if h.gesture >= 0 {
		e := &s.Slots[h.gesture]
		p.Gestures = e.Count
		if s.Active&h.emote != 0 {
			p.Gesture = e.Load
		}
	}
	p.Sprinting = h.sprints(s)
	p.Reloading = s.Reloading != 0
}
