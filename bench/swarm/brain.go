package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Observation is what a bot knows when it decides about a tick.
type Observation struct {
	Tick    tick.Tick
	Rate    tick.Rate
	Self    netstate.Self // as predicted
	Team    uint8
	ID      uint32
	Arena   *arena.Arena
	Visible []VisiblePlayer // everybody by slot, as a full client of the swarm sees them; ID 0 = not seen

	Field *FlowField // to the capture point that is fought for; nil while there is none, and so are the rest
	Point int        // its number
	Goal  geom.Vec3  // its middle, on the ground
	Reach float32    // its radius, metres
}

// VisiblePlayer is another player as seen.
type VisiblePlayer struct {
	ID    uint32
	Team  uint8
	Alive bool
	Pos   geom.Vec3
}

// Brain plays one bot: it turns what it sees into the wishes of a tick.
type Brain interface {
	Decide(s *Observation) client.Intent
}

// rng is a small seeded generator (SplitMix64), one a bot, so that a swarm plays the same game again.
type rng uint64

func (d *rng) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit is uniform in [0, 1).
func (d *rng) unit() float32 { return float32(d.next()>>40) / (1 << 24) }

// chance is true with probability p.
func (d *rng) chance(p float32) bool { return d.unit() < p }
