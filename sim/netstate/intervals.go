package netstate

import "github.com/tickrate/tickrate/ecs/tick"

// UpdateIntervals says how often rows of each class may change, in snapshots: 1 is each, 2 every second one, up to MaxUpdateInterval. A class that
// only changes now and then is told when it does, at 1. Zero means DefaultUpdateIntervals. It makes nothing late that comes or goes: a new
// row is told as it is, and so is that it is gone.
type UpdateIntervals [Kinds]uint8

// MaxUpdateInterval is the slowest that a class may be.
const MaxUpdateInterval = 16

// DefaultUpdateIntervals are those of a lobby that is told nothing else. A flight changes when it begins and when it ends, and a barrel or a
// teleporter when something happens to it. A cube rolls on by itself, and a capture goes on for seconds.
var DefaultUpdateIntervals = UpdateIntervals{Projectile: 1, Grenade: 1, Barrel: 1, Cube: 2, Teleporter: 1, Zone: 4}

// WithDefaults fills what is 0. ok is false if a class is slower than MaxUpdateInterval.
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

// LastUpdate is how many ticks before tick t the rows of a class in the snapshot of t may have changed last, of a server with so many ticks
// from one snapshot to the next.
func (p *UpdateIntervals) LastUpdate(k Kind, t, interval tick.Tick) tick.Tick {
	n := tick.Tick(max(p[k], 1))
	return t / interval % n * interval
}

// TagUpdateIntervals is the first byte of the reliable event that tells a client of the paces, when it is in.
//
//	1  0x92
//	1  for each class, none left out: projectile, grenade, barrel, cube, teleporter, zone; 1 to 16
const TagUpdateIntervals byte = 0x92

// Append writes the event, 7 bytes.
func (p *UpdateIntervals) Append(dst []byte) []byte {
	return append(append(dst, TagUpdateIntervals), p[1:]...)
}

// ParseUpdateIntervals reads what Append wrote. False for what is none, or out of range.
func ParseUpdateIntervals(src []byte) (p UpdateIntervals, ok bool) {
	if len(src) != int(Kinds) || src[0] != TagUpdateIntervals {
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
