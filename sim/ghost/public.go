package ghost

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

// Fields of a public row, in the order of the wire.
const (
	X      = iota // 1/128 m
	Y             // 1/128 m
	Z             // 1/128 m
	Yaw           // 1/4096 turn
	Pitch         // 1/4096 turn, -1024..1024
	State         // flags of the pose: alive, team, which life
	Health        // points
	Shots         // rounds fired, modulo 256
	Kills         // since joining
	Deaths        // since joining
	PublicFields
)

// Public describes a public row: what everybody is told of a player.
var Public = schema.Schema{Name: "player", Fields: []schema.Field{
	X:      {Name: "x", Min: -1 << 18, Max: 1 << 18, Often: 70},
	Y:      {Name: "y", Min: -1 << 18, Max: 1 << 18, Often: 20},
	Z:      {Name: "z", Min: -1 << 18, Max: 1 << 18, Often: 70},
	Yaw:    {Name: "yaw", Wrap: 4096, Often: 60},
	Pitch:  {Name: "pitch", Min: -1024, Max: 1024, Often: 40},
	State:  {Name: "state", Min: 0, Max: 0xffff, Often: 2},
	Health: {Name: "health", Min: 0, Max: 1000, Often: 5},
	Shots:  {Name: "shots", Wrap: 256, Often: 15},
	Kills:  {Name: "kills", Min: 0, Max: 0xffff, Often: 2},
	Deaths: {Name: "deaths", Min: 0, Max: 0xffff, Often: 2},
}}

// PublicRow writes the public row of a player into dst, PublicFields long.
func PublicRow(dst []int32, p lagcomp.Pose, v sim.Vital) {
	_ = dst[PublicFields-1]
	dst[X] = int32(p.Pos.X * sim.SeenPerMetre)
	dst[Y] = int32(p.Pos.Y * sim.SeenPerMetre)
	dst[Z] = int32(p.Pos.Z * sim.SeenPerMetre)
	dst[Yaw] = int32(p.Yaw >> 4)
	dst[Pitch] = int32(p.Pitch.Signed() >> 4)
	dst[State] = int32(p.Flags)
	dst[Health] = int32(v.Health)
	dst[Shots] = int32(v.Shots)
	dst[Kills] = int32(v.Kills)
	dst[Deaths] = int32(v.Deaths)
}

// PoseOf returns the pose that a public row describes: the very pose that the server's history keeps for that tick.
func PoseOf(id ecs.NetID, row []int32) lagcomp.Pose {
	_ = row[PublicFields-1]
	return lagcomp.Pose{
		ID: uint32(id),
		Pos: geom.Vec3{
			X: float32(row[X]) / sim.SeenPerMetre,
			Y: float32(row[Y]) / sim.SeenPerMetre,
			Z: float32(row[Z]) / sim.SeenPerMetre,
		},
		Yaw:   geom.Angle(row[Yaw] << 4),
		Pitch: geom.Angle(row[Pitch] << 4),
		Flags: uint16(row[State]),
	}
}
