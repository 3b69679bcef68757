package netstate

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
)

// PlayerState is the public state of a player. Its tags are the whole description of a public row:
// PlayerStateSchema, and the code that captures and restores it, are generated from them.
type PlayerState struct {
	_ struct{} `net:"player"`
	// feet, metres
	Pos   geom.Vec3  `net:",inline,quant=128,min=-2048,max=2048,interp=linear,predict=best,often=70/20/70"`
	Yaw   geom.Angle `net:",step=16,wrap=65536,interp=angle,often=60"`
	Pitch geom.Angle `net:",step=16,signed,min=-16384,max=16384,interp=linear,often=40"` // up is positive
	// of the pose: alive, team, life
	Flags  uint16 `net:"state,often=2"`
	Health int16  `net:",min=0,max=1000,often=5"` // points
	// of the first weapon, modulo 256
	Shots  uint8  `net:",wrap=256,often=15"`
	Kills  uint16 `net:"score,bits=16,often=2"` // since joining
	Deaths uint16 `net:"score,bits=15"`         // since joining

	Stance    rig.Stance `net:"does,bits=3,often=10"`
	Throws    uint8      `net:"does,bits=6"` // shots of the second weapon, modulo 64
	Sprinting bool       `net:"does,bits=1"`
	Reloading bool       `net:"does,bits=1"`
	Punches   uint8      `net:"does,bits=4"` // modulo 16
	Gestures  uint8      `net:"does,bits=4"` // modulo 16
	Gesture   uint8      `net:"does,bits=4"` // that is on, from 1; 0 none
	Hero      uint8      `net:"does,bits=4"`
	Figure    rig.Hero   `net:"does,bits=3"` // the skeleton

	// The rest of anim.Public.
	Phase   uint8 `net:",wrap=32,predict=best,often=60"`
	Heading uint8 `net:"limbs,bits=5,often=30"`
	Lean    uint8 `net:"limbs,bits=2"`
	Gait    uint8 `net:"limbs,bits=2"`
	Squat   uint8 `net:"limbs,bits=2"`
}

// StateAlive is the bit of PlayerState.Flags that is set of a living player. The other bits are those
// of rig.Pose.Flags, where this bit is set of a dead one: rig.FlagDead.
const StateAlive = rig.FlagDead

// Public describes a public row.
var Public = PlayerStateSchema

// PublicFields is the length of a public row.
const PublicFields = PlayerStateFields

// Gather fills p, field by field, as a literal would be copied.
func (p *PlayerState) Gather(pose *rig.Pose, v *sim.Vital, a *ability.Public) {
	var t anim.Public
	t.FromPose(pose) // long before it is read: bytes just written cannot be read as words at once
	p.Pos, p.Yaw, p.Pitch, p.Flags = pose.Pos, pose.Yaw, pose.Pitch, pose.Flags^StateAlive
	p.Health, p.Kills, p.Deaths, p.Hero = v.Health, v.Kills, v.Deaths, v.Hero
	p.Shots, p.Throws, p.Punches, p.Gestures = a.Fired[0], a.Fired[1]&63, a.Punches&15, a.Gestures&15
	p.Gesture, p.Sprinting, p.Reloading = a.Gesture, a.Sprinting, a.Reloading
	p.Stance, p.Figure, p.Phase = t.Stance, t.Figure, t.Phase
	p.Heading, p.Lean, p.Gait, p.Squat = t.Heading, t.Lean, t.Gait, t.Squat
}

// Pose returns the pose that p describes, of the player called id.
func (p *PlayerState) Pose(id netid.ID) rig.Pose {
	pose := rig.Pose{ID: uint32(id), Pos: p.Pos, Yaw: p.Yaw, Pitch: p.Pitch,
		Flags: p.Flags ^ StateAlive}
	t := anim.Public{Stance: p.Stance, Figure: p.Figure, Phase: p.Phase, Heading: p.Heading, Lean: p.Lean,
		Gait: p.Gait, Squat: p.Squat}
	t.ApplyTo(&pose)
	return pose
}

// PublicRow writes the public row of a player into dst, PublicFields long.
func PublicRow(dst []int32, p *rig.Pose, v *sim.Vital, a *ability.Public) {
	var player PlayerState
	player.Gather(p, v, a)
	player.Row(dst)
}

// PoseOf returns the pose that a public row describes: the very pose in the server's history of
// that tick.
func PoseOf(id netid.ID, row []int32) rig.Pose {
	var player PlayerState
	player.Restore(row)
	return player.Pose(id)
}
