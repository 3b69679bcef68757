package netstate

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/move"
)

// OwnerState is the private state of a player, sent to its owner for exact prediction. Its tags
// are the whole description of an owner row: OwnerStateSchema, and the code that captures and
// restores it, are generated from them. The grids are those of package move, which rounds to them
// at the end of every tick.
type OwnerState struct {
	_     struct{}  `net:"owner,owner"`
	Pos   geom.Vec3 `net:",quant=4096,min=-2048,max=2048,often=70/20/70"` // feet, metres
	Vel   geom.Vec3 `net:",quant=1024,min=-128,max=128,often=50/25/50"`   // m/s
	Loco  move.Loco `net:"motion,bits=3,often=10"`
	Jumps uint8     `net:"motion,bits=2"`
	Held  uint16    `net:"motion,bits=16"`
	Since uint16    `net:",often=90"` // ticks in this loco
	// of the newest command that came beyond this tick
	Lead int8 `net:",often=15"`
	// ticks that ran without the owner's command, modulo 256
	Starved   uint8    `net:",wrap=256,often=2"`
	Respawn   int32    `net:",min=0,max=1048576,often=10"` // ticks until the respawn, 0 = alive
	Pushes    uint8    `net:",wrap=256,often=2"`           // see sim.Vital
	Hero      uint8    `net:"kit,bits=4,often=2"`
	Team      uint8    `net:"kit,bits=2"` // 3: none
	Reloading uint8    `net:"kit,bits=8"` // masks of ability.State, here and below
	Active    uint8    `net:"active,bits=8,often=5"`
	Cooling   uint8    `net:"active,bits=8"`
	Switched  uint8    `net:"active,bits=8"` // On against Active
	Request   uint8    `net:"asked,bits=8,often=5"`
	Asked     uint8    `net:"asked,bits=8"`
	Cool      [8]int16 `net:",min=-8192,max=8192,often=10/3/3/3/2/1/1/1"` // of ability.Slot
	// Load, and Load + Count << 8: a shot changes the former alone
	Rounds [8]uint16 `net:",often=8/3/2/2/1/1/1/1"`
	// of slots 0 to 3, and of slots 4 to 7 times 46081
	Heat [4]uint32 `net:",min=0,max=2123458560,often=10/3/1/1"`
}

// heatBase is above every Heat of an ability.Slot.
const heatBase = 46081

// Owner describes an owner row.
var Owner = OwnerStateSchema

// OwnerFields is the length of an owner row.
const OwnerFields = OwnerStateFields

// Self is what a player knows of itself at one tick.
type Self struct {
	sim.Self
	Pushes uint8 // what befell the motion from outside, modulo 256: see sim.Vital
	// ticks by which the newest command that came is beyond this tick; below 0 it came too late
	Lead         int8
	Starved      uint8 // ticks that ran without a command of this player, modulo 256
	RespawnTicks int32 // ticks until the respawn, 0 = alive
}

// GatherSelf collects what a player is sent of itself after the last tick; zero for an id without
// a row.
func GatherSelf(m *sim.Match, id netid.ID) (s Self) {
	s.Gather(m, id)
	return s
}

// Gather is GatherSelf into s, which must be zero.
func (s *Self) Gather(m *sim.Match, id netid.ID) {
	vital := m.SelfInto(id, &s.Motion, &s.Abilities)
	if vital == nil {
		return
	}
	in := m.CommandBuffer(id)
	s.Hero, s.Team, s.Pushes = vital.Hero, vital.Team&3, vital.Pushes
	s.Lead, s.Starved = in.Lead(m.Tick()), uint8(in.Count.Missing)
	if !vital.Alive() {
		s.RespawnTicks = max(1, int32(vital.Respawn)-int32(m.Tick()))
	}
}

// Gather fills o from s.
func (o *OwnerState) Gather(s *Self) {
	m, a := &s.Motion, &s.Abilities
	o.Pos, o.Vel, o.Loco, o.Jumps, o.Held, o.Since = m.Pos, m.Vel, m.Loco, m.Jumps, m.Held, m.Since
	o.Lead, o.Starved, o.Respawn, o.Pushes = s.Lead, s.Starved, s.RespawnTicks, s.Pushes
	o.Hero, o.Team = s.Hero, s.Team
	o.Active, o.Cooling, o.Switched, o.Reloading = a.Active, a.Cooling, a.On^a.Active, a.Reloading
	o.Request, o.Asked = a.Request, a.Asked
	for i := range a.Slots {
		slot := &a.Slots[i]
		o.Cool[i] = slot.Cool
		o.Rounds[i] = uint16(slot.Load) | uint16(slot.Load+slot.Count)<<8
	}
	for i := range o.Heat {
		o.Heat[i] = uint32(a.Slots[i].Heat) + uint32(a.Slots[i+4].Heat)*heatBase
	}
}

// Self is the reverse of Gather.
func (o *OwnerState) Self() Self {
	s := Self{
		Self: sim.Self{
			Motion: move.Motion{Pos: o.Pos, Vel: o.Vel, Loco: o.Loco, Jumps: o.Jumps, Since: o.Since,
				Held: o.Held},
			Hero: o.Hero, Team: o.Team,
		},
		Pushes: o.Pushes, Lead: o.Lead, Starved: o.Starved, RespawnTicks: o.Respawn,
	}
	a := &s.Abilities
	a.Active, a.Cooling, a.On, a.Reloading = o.Active, o.Cooling, o.Switched^o.Active, o.Reloading
	a.Request, a.Asked = o.Request, o.Asked
	for i := range a.Slots {
		load := uint8(o.Rounds[i])
		a.Slots[i].Load, a.Slots[i].Count, a.Slots[i].Cool = load, uint8(o.Rounds[i]>>8)-load, o.Cool[i]
	}
	for i, h := range o.Heat {
		a.Slots[i].Heat, a.Slots[i+4].Heat = uint16(h%heatBase), uint16(h/heatBase)
	}
	return s
}

// OwnerRow writes the owner row into dst, OwnerFields long.
func OwnerRow(dst []int32, s *Self) {
	var o OwnerState
	o.Gather(s)
	o.Row(dst)
}

// SelfOf reads what OwnerRow wrote: the same bits.
func SelfOf(row []int32) Self {
	var o OwnerState
	o.Restore(row)
	return o.Self()
}
