package netstate

import "github.com/tickrate/tickrate/ecs/tick"

// Paces says how often rows of each class may change, in snapshots: 1 is each, 2 every second one, up to MaxPace. A class that
// only changes now and then is told when it does, at 1. Zero means DefaultPaces. It makes nothing late that comes or goes: a new
// row is told as it is, and so is that it is gone.
type Paces [Kinds]uint8

// MaxPace is the slowest that a class may be.
const MaxPace = 16

// DefaultPaces are those of a lobby that is told nothing else. A flight changes when it begins and when it ends, and a barrel or a
// teleporter when something happens to it. A cube rolls on by itself, and a capture goes on for seconds.
var DefaultPaces = Paces{Projectile: 1, Grenade: 1, Barrel: 1, Cube: 2, Teleporter: 1, Zone: 4}

// WithDefaults fills what is 0. ok is false if a class is slower than MaxPace.
func (p Paces) WithDefaults() (_ Paces, ok bool) {
	for k := range p {
		if p[k] == 0 {
			p[k] = DefaultPaces[k]
		}
		if p[k] > MaxPace {
			return p, false
		}
	}
	return p, true
}

// Back is how many ticks before tick t the rows of a class in the snapshot of t may have changed last, of a server with so many ticks
// from one snapshot to the next.
func (p *Paces) Back(k Kind, t, interval tick.Tick) tick.Tick {
	n := tick.Tick(max(p[k], 1))
	return t / interval % n * interval
}

// TagPaces is the first byte of the reliable event that tells a client of the paces, when it is in.
//
//	1  0x92
//	1  for each class, none left out: projectile, grenade, barrel, cube, teleporter, zone; 1 to 16
const TagPaces byte = 0x92

// Append writes the event, 7 bytes.
func (p *Paces) Append(dst []byte) []byte { return append(append(dst, TagPaces), p[1:]...) }

// ParsePaces reads what Append wrote. False for what is none, or out of range.
func ParsePaces(src []byte) (p Paces, ok bool) {
	if len(src) != int(Kinds) || src[0] != TagPaces {
		return p, false
	}
	for i, n := range src[1:] {
		if n < 1 || n > MaxPace {
			return Paces{}, false
		}
		p[1+i] = n
	}
	return p, true
}
