package move

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Specification: FPSSample's movement, in metres, seconds and degrees. Radius to JumpHeight are
// those of the default body; TopSpeed holds for all.
const (
	Radius     = 0.4  // of the body
	Height     = 1.8  // of the body
	EyeHeight  = 1.65 // of the eyes above Pos
	WalkSpeed  = 6
	RunSpeed   = 8 // while sprinting
	SlopeLimit = 50
	StepHeight = 0.5
	Gravity    = 18
	FallSpeed  = 50  // no fall is faster
	JumpTime   = 0.3 // seconds in which a jump rises JumpHeight; gravity acts after them
	JumpHeight = 1
	TopSpeed   = 64 // along each axis; no velocity is larger
)

// Loco is what a body is doing.
type Loco uint8

// The states of locomotion, with FPSSample's numbers. Stand and GroundMove are on the ground.
const (
	Stand      Loco = iota
	GroundMove      // on the ground, wanting to move
	Jumping         // the first 0.3 s of a jump: rising at a fixed speed
	DoubleJump      // the same, begun in the air
	InAir           // falling, or rising after a jump
	Dead            // falls and slides to a halt; takes no input
	Launched        // on the arc of a rocket jump
	locos           // how many there are
)

// String returns the name of the state.
func (l Loco) String() string {
	if l < locos {
		return [locos]string{"stand", "move", "jump", "double jump", "air", "dead", "launched"}[l]
	}
	return "?"
}

// Grounded reports whether the feet stand on something.
func (l Loco) Grounded() bool { return l <= GroundMove }

// Motion is all that the next tick of a body depends on besides its input: 32 bytes. As Step leaves
// it, Pos is whole numbers of PosUnit, at most 8,192,000 either way, and Vel whole numbers of
// VelUnit, at most 65,536 either way.
type Motion struct {
	Pos, Vel geom.Vec3
	Loco     Loco
	Jumps    uint8  // begun since the ground was left, 0 to 3
	Since    uint16 // ticks in Loco, saturating at 65535
	Held     uint16 // Jump if it was held in the last input: a jump needs a fresh press
}

var _ [32]byte = [unsafe.Sizeof(Motion{})]byte{}

// State is a Motion without Pos and Vel, as it lies in a column.
type State struct {
	Loco  Loco
	Jumps uint8
	Since uint16
	Held  uint16
}

// Join puts together what Split took apart.
func Join(pos, vel geom.Vec3, s State) Motion {
	return Motion{pos, vel, s.Loco, s.Jumps, s.Since, s.Held}
}

// Split takes a motion apart into what lies in columns.
func Split(m Motion) (pos, vel geom.Vec3, s State) {
	return m.Pos, m.Vel, State{m.Loco, m.Jumps, m.Since, m.Held}
}

// Load is Join in place: it writes all of m, and keeps none of the pointers.
func (m *Motion) Load(pos, vel *geom.Vec3, s *State) {
	m.Pos, m.Vel = *pos, *vel
	m.Loco, m.Jumps, m.Since, m.Held = s.Loco, s.Jumps, s.Since, s.Held
}

// store is Split in place.
func (m *Motion) store(pos, vel *geom.Vec3, s *State) {
	*pos, *vel = m.Pos, m.Vel
	s.Loco, s.Jumps, s.Since, s.Held = m.Loco, m.Jumps, m.Since, m.Held
}

// Columns are the motions of many bodies, one row each; the slices have one length.
type Columns struct {
	Pos, Vel []geom.Vec3
	State    []State
}

// heading are the bits of Motion.Held that hold where a rocket jump flies to.
const heading uint16 = 0xff00

// Buttons that this package knows; the others are for others.
const (
	Jump   uint16 = 1 << 0
	Sprint uint16 = 1 << 1
)

// Input is what a player asks of one tick. All values are valid.
type Input struct {
	Yaw     geom.Angle // where the eyes look
	MoveYaw uint8      // where the feet go, clockwise from there, in 1/256 turn
	MoveMag uint8      // how much of the full speed, 0 to 255
	Buttons uint16
}

// Sprints reports whether the input sprints: asked for, moving, and within a quarter turn of
// straight ahead.
func (in Input) Sprints() bool {
	return in.Buttons&Sprint != 0 && in.MoveMag > 0 && (in.MoveYaw < 64 || in.MoveYaw > 192)
}
