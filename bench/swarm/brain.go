package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Brain plays one player: it turns an observation into the input of a tick.
type Brain interface {
	Decide(o *Observation) client.Intent
}

// Observation is what a player knows when it decides about a tick.
type Observation struct {
	Tick    tick.Tick
	Rate    tick.Rate
	Self    netstate.Self // as predicted
	Team    uint8
	ID      uint32
	Arena   *arena.Arena
	Visible []VisiblePlayer // by slot, with players behind walls, see vision; ID 0: not known

	Field *FlowField // to the contested capture point; nil without one, and then the rest is 0
	Point int        // its number
	Goal  geom.Vec3  // its centre, on the ground
	Reach float32    // its radius, metres
}

// VisiblePlayer is a player of the lobby that bots know of.
type VisiblePlayer struct {
	ID    uint32
	Team  uint8
	Alive bool
	Pos   geom.Vec3
}

// rng is a small seeded generator (SplitMix64), one for each player, so that a swarm plays the same
// match again.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit is uniform in [0, 1).
func (r *rng) unit() float32 { return float32(r.next()>>40) / (1 << 24) }

// chance is true with probability p.
func (r *rng) chance(p float32) bool { return r.unit() < p }
