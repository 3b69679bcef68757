package netstate

import "github.com/tickrate/tickrate/ecs/tick"

// UpdateIntervals says how often rows of each class may change, in snapshots: 1 is each, 2 every
// second one, up to MaxUpdateInterval. A class that changes rarely is sent at once, at 1. Zero
// means DefaultUpdateIntervals. New and removed rows are never delayed, and classes of declareClass
// change at 1.
type UpdateIntervals [Kinds]uint8

// MaxUpdateInterval is the longest interval of a class.
const MaxUpdateInterval = 16

// DefaultUpdateIntervals are those of a lobby without settings. Projectiles and grenades change
// when they begin and end, barrels and teleporters on events. A cube keeps rolling, and a capture
// lasts for seconds.
var DefaultUpdateIntervals = UpdateIntervals{Projectile: 1, Grenade: 1, Barrel: 1, Cube: 2, Teleporter: 1,
	Zone: 4}

// WithDefaults fills zeros. ok is false if an interval is longer than MaxUpdateInterval.
func (p UpdateIntervals) WithDefaults() (_ UpdateIntervals, ok bool) {
	for k := range p {
		if p[k] == 0 {
			p[k] = DefaultUpdateIntervals[k]
		}
		if p[k] > MaxUpdateInterval {
			return p, false
		}
	}
	return p, true
}

// LastUpdate is how many ticks before tick t the rows of a class in the snapshot of t may have
// changed last, for a server with interval ticks between snapshots.
func (p *UpdateIntervals) LastUpdate(k Kind, t, interval tick.Tick) tick.Tick {
	n := tick.Tick(max(p[k], 1))
	return t / interval % n * interval
}

// TagUpdateIntervals is the first byte of the reliable message that sends the intervals to a
// client that has joined.
//
//	1  0x92
//	1  for each class, none left out: projectile, grenade, barrel, cube, teleporter, zone; 1 to 16
const TagUpdateIntervals byte = 0x92

// Append writes the message, 7 bytes.
func (p *UpdateIntervals) Append(dst []byte) []byte {
	return append(append(dst, TagUpdateIntervals), p[1:firstDeclared]...)
}

// ParseUpdateIntervals reads what Append wrote. It reports false for any other message, or
// intervals out of range.
func ParseUpdateIntervals(src []byte) (p UpdateIntervals, ok bool) {
	if len(src) != int(firstDeclared) || src[0] != TagUpdateIntervals {
		return p, false
	}
	for i, n := range src[1:] {
		if n < 1 || n > MaxUpdateInterval {
			return UpdateIntervals{}, false
		}
		p[1+i] = n
	}
	return p, true
}
