package ghost

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/move"
)

// Own is what only a player itself is told, so that it can predict to the bit. Its tags are the whole description of an
// owner row: OwnSchema, and the code that captures and restores it, are generated from them. The grids are those of
// package move, which rounds to them at the end of every tick.
type Own struct {
	_         struct{}  `net:"owner,owner"`
	Pos       geom.Vec3 `net:",quant=4096,min=-2048,max=2048,often=70/20/70"` // feet, metres
	Vel       geom.Vec3 `net:",quant=1024,min=-128,max=128,often=50/25/50"`   // m/s
	Loco      move.Loco `net:"motion,bits=3,often=10"`
	Jumps     uint8     `net:"motion,bits=2"`
	Held      uint16    `net:"motion,bits=11"`
	Since     uint16    `net:",often=90"`        // ticks in this loco
	Ammo      uint8     `net:",bits=8,often=10"` // rounds left
	Reloading bool      `net:"ammo,bits=1"`
	Cool      int32     `net:",min=-32768,max=32768,often=15"` // weapon clock, see sim.Weapon
	Cone      int32     `net:",min=0,max=65536,often=15"`      // 1/256 degree
	Lead      int8      `net:",often=15"`                      // commands waiting beyond this tick
	Starved   uint8     `net:",wrap=256,often=2"`              // ticks that ran without the owner's command, modulo 256
	Respawn   int32     `net:",min=0,max=1048576,often=10"`    // ticks until the respawn, 0 = alive
}

// Owner describes an owner row.
var Owner = OwnSchema

// OwnerFields is the length of an owner row.
const OwnerFields = OwnFields

// Self is what a player knows of itself at one tick.
type Self struct {
	Motion       move.Motion
	Weapon       sim.Weapon
	Lead         int8  // commands that wait on the server beyond this tick
	Starved      uint8 // ticks that ran without a command of this player, modulo 256
	RespawnTicks int32 // ticks until the respawn, 0 = alive
}

// Gather fills o with what a player is told of itself.
func (o *Own) Gather(s *Self) {
	m, w := &s.Motion, &s.Weapon
	o.Pos, o.Vel, o.Loco, o.Jumps, o.Held, o.Since = m.Pos, m.Vel, m.Loco, m.Jumps, m.Held, m.Since
	o.Ammo, o.Reloading, o.Cool, o.Cone = w.Ammo, w.Reloading, w.Cool, w.Cone
	o.Lead, o.Starved, o.Respawn = s.Lead, s.Starved, s.RespawnTicks
}

// Self is the way back of Gather.
func (o *Own) Self() Self {
	return Self{
		Motion: move.Motion{Pos: o.Pos, Vel: o.Vel, Loco: o.Loco, Jumps: o.Jumps, Since: o.Since, Held: o.Held},
		Weapon: sim.Weapon{Ammo: o.Ammo, Reloading: o.Reloading, Cool: o.Cool, Cone: o.Cone},
		Lead:   o.Lead, Starved: o.Starved, RespawnTicks: o.Respawn,
	}
}

// OwnerRow writes the owner row into dst, OwnerFields long.
func OwnerRow(dst []int32, s *Self) {
	var o Own
	o.Gather(s)
	o.Row(dst)
}

// SelfOf reads what OwnerRow wrote: the same bits.
func SelfOf(row []int32) Self {
	var o Own
	o.Restore(row)
	return o.Self()
}
