package anim

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/move"
)

// full is the full weight.
const full = 65535

// State is the animation of one body: 20 bytes. All values of all fields are valid.
type State struct {
	Phase   uint32     // of the cycle of two steps, 2^-32
	Yaw     geom.Angle // of the view, last tick
	Hips    geom.Angle // where they face
	Move    geom.Angle // direction of travel, clockwise from Yaw
	Gait    uint16     // weights, 65535 is full
	Squat   uint16
	Bank    int16 // 32767 is full, to the right
	Cushion uint8 // squat that a landing still wants, 255 is full
	Fall    uint8 // speed downwards last tick, quarters of m/s, saturating
	Stance  rig.Stance
	Hero    rig.Hero
}

var _ [20]byte = [unsafe.Sizeof(State{})]byte{}

// Spawn is the state of a body that was just placed: it stands.
func Spawn(h rig.Hero, yaw geom.Angle) State {
	return State{Yaw: yaw, Hips: yaw, Hero: h}
}

// Input is the motion of a body in a tick: 16 bytes.
type Input struct {
	Vel   geom.Vec3  // m/s, as move.Step left it
	Yaw   geom.Angle // of the view
	Loco  move.Loco
	Flags Flags
}

var _ [16]byte = [unsafe.Sizeof(Input{})]byte{}

// Flags are bits.
type Flags uint8

// What a body may do besides moving.
const (
	Sprinting  Flags = 1 << iota
	Shooting         // holds the weapon up, so it does not sprint
	NearGround       // the ground is less than a quarter of a second below
)
