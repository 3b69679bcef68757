package mode

import "unsafe"

// Phase is the phase of a round.
type Phase uint8

// The phases, in their order.
const (
	Countdown Phase = iota
	Active
	Ended
	Phases // how many there are
)

// Status is the state of the attacked point.
type Status uint8

// The statuses.
const (
	Quiet      Status = iota // no player stands in it
	Capturing                // attackers only
	Contested                // both: nothing moves
	Recovering               // defenders only
	Statuses                 // how many there are
)

// Values of Winner besides a team.
const (
	NoWinner = 0xff // the round is not over
	Tie      = 0xfe // Deathmatch: as many points
)

// State is the whole state of a mode: everything that the next tick depends on besides its Input.
type State struct {
	Phase  Phase
	Winner uint8 // a team, Tie or NoWinner; other than NoWinner in Ended alone
	// the point under attack, 0 to Points; all points with a lower index are captured
	Point    uint8
	Status   Status        // of that point, as of the last tick
	Left     uint32        // ticks until the phase is over, 1 to 921600
	Progress uint32        // of the attacked point, 0 to Full
	Score    [Teams]int32  // Deathmatch: kills; Assault: the attackers' points
	Turn     [Teams]uint16 // number of spawns, modulo 65536
	Round    uint16        // counts rounds, from 0, modulo 65536
	Waiting  bool          // Countdown: there are too few players
}

var _ [28]byte = [unsafe.Sizeof(State{})]byte{}

// Start is a match without players.
func (r *Rules) Start() State { return State{Winner: NoWinner, Left: r.prematch, Waiting: true} }
