package idle

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// A player takes part in the match if within the time of Limits it goes farther than PassiveRange from
// where it was, or hits somebody, or its view turns by PassiveTurns different steps. A player that sends
// input and does none of it is passive. Examples are a player that turns in a circle, that holds or
// repeats a key, or that runs about a spot.
const (
	PassiveRange = 10 // metres, on the ground
	PassiveTurns = 12
)

// Passive finds players that send input and take no part. The zero value is ready; a new player needs
// a new one.
type Passive struct {
	since tick.Tick // when the player last took part
	seen  bool
	last  Action // due most recently since then

	life   uint8 // of the player at the anchor: a respawn is no way that it went
	x, z   float32
	turned bool // a view is known
	yaw    uint16
	pitch  uint16
	turns  uint64 // steps of the view since then, folded to 64 numbers
}

// Turn takes the view of the player's newest command, in 1/65536 turn. A script turns by few different
// steps, however often; commands that are lost add few.
func (p *Passive) Turn(yaw, pitch uint16) {
	dy, dp := yaw-p.yaw, pitch-p.pitch
	if p.turned && dy|dp != 0 {
		p.turns |= 1 << ((uint32(dy)*0x9e3779b1 + uint32(dp)*0x85ebca6b) >> 26)
	}
	p.yaw, p.pitch, p.turned = yaw, pitch, true
}

// Hit notes that the player has hit somebody by tick now. A player that was warned is told at the next
// Step.
func (p *Passive) Hit(now tick.Tick) { p.since = now }

// Step takes where a player stands, from time to time, and returns the action that is due. life changes
// with each respawn.
func (p *Passive) Step(now tick.Tick, life uint8, x, z float32, l Limits) Action {
	dx, dz := x-p.x, z-p.z
	switch {
	case !p.seen || life != p.life:
		p.life, p.x, p.z = life, x, z
		if !p.seen {
			return p.takesPart(now)
		}
	case float32(dx*dx)+float32(dz*dz) > PassiveRange*PassiveRange:
		p.x, p.z = x, z
		return p.takesPart(now)
	}
	if bits.OnesCount64(p.turns) >= PassiveTurns {
		return p.takesPart(now)
	}
	if action, is := l.due(now-p.since, &p.last); is {
		return action
	}
	return p.back()
}

// takesPart begins the time anew.
func (p *Passive) takesPart(now tick.Tick) Action {
	p.since, p.turns, p.seen = now, 0, true
	return p.back()
}

// back returns Back once after a warning.
func (p *Passive) back() Action {
	if p.last != Warn {
		return None
	}
	p.last = None
	return Back
}

// Left returns the ticks until the kick if the player takes no part; 0 if none is to come.
func (p *Passive) Left(now tick.Tick, l Limits) tick.Tick {
	if !p.seen || l.Kick == 0 || now-p.since >= l.Kick {
		return 0
	}
	return l.Kick - (now - p.since)
}
