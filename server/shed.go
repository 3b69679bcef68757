package server

import "github.com/tickrate/tickrate/ecs/tick"

// Shed says how a lobby that cannot keep up gets by with less, rung by rung; each rung keeps what those before it do. Inputs
// are never dropped and nobody is sent away.
type Shed int32

// The rungs.
const (
	ShedNothing Shed = iota
	ShedHalf         // every second snapshot is left out
	ShedQuarter      // three of four are
	ShedDoor         // nobody new is let in
)

// String names the rung.
func (s Shed) String() string {
	return [...]string{"nothing", "half of the snapshots", "three of four snapshots", "newcomers"}[s]
}

// Shed puts the lobby on a rung from its next tick on.
func (l *Lobby) Shed(s Shed) {
	l.shed = s
	l.gate.Freeze(s >= ShedDoor)
}

// every is how many intervals lie between two snapshots to a guest: as it asked for, or more while the lobby sheds.
func (l *Lobby) every(g *guest) tick.Tick {
	return tick.Tick(g.every) << min(l.shed, ShedQuarter)
}

// Overload decides from how long ticks take which rung a lobby should be on. The zero value has seen none.
type Overload struct {
	rung  Shed
	long  int // overruns in a row
	quiet int // ticks since the last
}

// A tick overruns when it takes more than twice its budget, which is half of its period: what is left is for the network's
// side of the machine, and to catch up with.
const (
	shedAfter    = 60  // overruns in a row take a rung
	recoverAfter = 600 // ticks without one give it back
)

// Tick takes in whether a tick overran, and returns the rung and whether it is another than before.
func (o *Overload) Tick(overran bool) (rung Shed, changed bool) {
	if !overran {
		o.long = 0
		if o.quiet++; o.quiet >= recoverAfter && o.rung > ShedNothing {
			o.quiet = 0
			o.rung--
			return o.rung, true
		}
		return o.rung, false
	}
	o.quiet = 0
	if o.long++; o.long >= shedAfter && o.rung < ShedDoor {
		o.long = 0
		o.rung++
		return o.rung, true
	}
	return o.rung, false
}
