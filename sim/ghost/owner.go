package ghost

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/move"
)

// Fields of an owner row, in the order of the wire.
const (
	PosX    = iota // 1/4096 m
	PosY           // 1/4096 m
	PosZ           // 1/4096 m
	VelX           // 1/1024 m/s
	VelY           // 1/1024 m/s
	VelZ           // 1/1024 m/s
	Motion         // loco | jumps<<3 | held<<5: the small state of package move
	Since          // ticks in this loco
	Ammo           // rounds left, reloading<<8
	Cool           // weapon clock, see sim.Weapon
	Cone           // 1/256 degree
	Lead           // commands waiting beyond this tick, -128..127
	Starved        // ticks that ran without the owner's command, modulo 256
	Respawn        // ticks until the respawn, 0 = alive
	OwnerFields
)

// Owner describes an owner row: what only a player itself is told, so that it can predict to the bit.
var Owner = schema.Schema{Name: "owner", Single: true, Fields: []schema.Field{
	PosX:    {Name: "pos.x", Min: -1 << 23, Max: 1 << 23, Often: 70},
	PosY:    {Name: "pos.y", Min: -1 << 23, Max: 1 << 23, Often: 20},
	PosZ:    {Name: "pos.z", Min: -1 << 23, Max: 1 << 23, Often: 70},
	VelX:    {Name: "vel.x", Min: -1 << 17, Max: 1 << 17, Often: 50},
	VelY:    {Name: "vel.y", Min: -1 << 17, Max: 1 << 17, Often: 25},
	VelZ:    {Name: "vel.z", Min: -1 << 17, Max: 1 << 17, Often: 50},
	Motion:  {Name: "motion", Min: 0, Max: 0xffff, Often: 10},
	Since:   {Name: "since", Min: 0, Max: 0xffff, Often: 90},
	Ammo:    {Name: "ammo", Min: 0, Max: 0x1ff, Often: 10},
	Cool:    {Name: "cool", Min: -1 << 15, Max: 1 << 15, Often: 15},
	Cone:    {Name: "cone", Min: 0, Max: 1 << 16, Often: 15},
	Lead:    {Name: "lead", Min: -128, Max: 127, Often: 15},
	Starved: {Name: "starved", Wrap: 256, Often: 2},
	Respawn: {Name: "respawn", Min: 0, Max: 1 << 20, Often: 10},
}}

// The grids of package move, which rounds to them at the end of every tick.
const (
	posPerMetre = 4096
	velPerMetre = 1024
)

// Self is what a player knows of itself at one tick.
type Self struct {
	Motion       move.Motion
	Weapon       sim.Weapon
	Lead         int8  // commands that wait on the server beyond this tick
	Starved      uint8 // ticks that ran without a command of this player, modulo 256
	RespawnTicks int32 // ticks until the respawn, 0 = alive
}

// OwnerRow writes the owner row into dst, OwnerFields long.
func OwnerRow(dst []int32, s *Self) {
	_ = dst[OwnerFields-1]
	m := &s.Motion
	_, _, state := move.Split(*m)
	dst[PosX], dst[PosY], dst[PosZ] = int32(m.Pos.X*posPerMetre), int32(m.Pos.Y*posPerMetre), int32(m.Pos.Z*posPerMetre)
	dst[VelX], dst[VelY], dst[VelZ] = int32(m.Vel.X*velPerMetre), int32(m.Vel.Y*velPerMetre), int32(m.Vel.Z*velPerMetre)
	dst[Motion], dst[Since] = packState(state)
	dst[Ammo] = int32(s.Weapon.Ammo)
	if s.Weapon.Reloading {
		dst[Ammo] |= 1 << 8
	}
	dst[Cool] = s.Weapon.Cool
	dst[Cone] = s.Weapon.Cone
	dst[Lead] = int32(s.Lead)
	dst[Starved] = int32(s.Starved)
	dst[Respawn] = s.RespawnTicks
}

// SelfOf reads what OwnerRow wrote: the same bits.
func SelfOf(row []int32) Self {
	_ = row[OwnerFields-1]
	return Self{
		Motion: move.Join(
			geom.Vec3{X: float32(row[PosX]) / posPerMetre, Y: float32(row[PosY]) / posPerMetre, Z: float32(row[PosZ]) / posPerMetre},
			geom.Vec3{X: float32(row[VelX]) / velPerMetre, Y: float32(row[VelY]) / velPerMetre, Z: float32(row[VelZ]) / velPerMetre},
			unpackState(row[Motion], row[Since])),
		Weapon:       sim.Weapon{Ammo: uint8(row[Ammo]), Reloading: row[Ammo]&(1<<8) != 0, Cool: row[Cool], Cone: row[Cone]},
		Lead:         int8(row[Lead]),
		Starved:      uint8(row[Starved]),
		RespawnTicks: row[Respawn],
	}
}

// packState packs the small state of package move: 3 loco · 2 jumps<<3 · 11 held<<5.
func packState(s move.State) (motion, since int32) {
	return int32(s.Loco) | int32(s.Jumps)<<3 | int32(s.Held)<<5, int32(s.Since)
}

func unpackState(motion, since int32) move.State {
	return move.State{
		Loco: move.Loco(motion & 7), Jumps: uint8(motion >> 3 & 3), Held: uint16(motion >> 5), Since: uint16(since),
	}
}
