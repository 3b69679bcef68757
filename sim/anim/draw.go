package anim

import "github.com/tickrate/tickrate/lagcomp/rig"

// Public is the public part of a player's animation besides its place and view, in the steps of
// the wire. What a stance implies is left out: hips that follow the movement, arms and legs in the
// air. FromPose fills it.
//
//	3 bits  Stance
//	3       Figure   the skeleton
//	5       Phase    of the stride, in 1/32
//	5       Heading  direction of travel in 1/16 turn; for stances that do not travel, the
//	                 hips: -8 to 8 of 1/32 turn, plus 8
//	2       Lean     bank: left, none, right
//	2       Gait     in thirds
//	2       Squat    in thirds
//
// The steps are coarse, since poses between snapshots are interpolated: steps four times finer
// took half a byte a player more.
type Public struct {
	Stance                            rig.Stance
	Figure                            rig.Hero
	Phase, Heading, Lean, Gait, Squat uint8
}

// The steps of the wire in a pose's units.
const (
	phaseStep = 2048
	moveStep  = 16
	hipsStep  = 8
	bankStep  = 64
	gaitStep  = 85
	squatStep = 85
)

// WritePose writes the public appearance of s into p, at wire precision. Pos, Yaw, Pitch, Flags
// and ID are the caller's; Hips and Move are relative to the view of the tick that s was stepped
// with.
func WritePose(s *State, p *rig.Pose) {
	var t Public // field by field: a literal would be copied
	t.Stance, t.Figure, t.Phase = s.Stance&7, heroOrFirst(s.Hero),
		uint8((s.Phase>>16+phaseStep/2)/phaseStep&31)
	t.Lean = uint8(min(max((int32(s.Bank)>>8+bankStep/2)>>6, -1), 1) + 1)
	t.Gait, t.Squat = quantizeWeight(s.Gait, 3), quantizeWeight(s.Squat, 3)
	if travels(t.Stance) {
		t.Heading = uint8((uint32(s.Move)>>8 + moveStep/2) / moveStep & 15)
	} else {
		hips := int32(int16(s.Hips-s.Yaw)) >> 8
		t.Heading = uint8(min(max((hips+hipsStep/2)>>3, -8), 8) + 8)
	}
	t.ApplyTo(p)
}

// quantizeWeight rounds to parts of full.
func quantizeWeight(w uint16, parts uint32) uint8 { return uint8((uint32(w)*parts + full/2) / full) }

// travels reports whether a stance's hips follow the movement.
func travels(s rig.Stance) bool { return s >= rig.Run && s <= rig.Land }

// ApplyTo writes t into p. Values that FromPose does not write are safe.
func (t *Public) ApplyTo(p *rig.Pose) {
	p.Form = rig.FormOf(t.Figure, t.Stance)
	p.Phase = uint16(t.Phase) * phaseStep
	p.Move, p.Hips = 0, 0
	if travels(t.Stance) {
		p.Move = t.Heading * moveStep
		p.Hips = int8(hipsGoal(int32(int8(p.Move))<<8) >> 8)
	} else {
		p.Hips = int8((min(int32(t.Heading), 16) - 8) * hipsStep)
	}
	p.Bank = int8((min(int32(t.Lean), 2) - 1) * bankStep)
	p.Gait, p.Squat = min(t.Gait, 3)*gaitStep, min(t.Squat, 3)*squatStep
	p.Aim, p.Air = stanceWeights[t.Stance&7].aim, stanceWeights[t.Stance&7].air
}

// stanceWeights are the weights that stances imply; interpolation blends them between two
// snapshots.
var stanceWeights = [8]struct{ aim, air uint8 }{
	rig.Stand: {aim: 255}, rig.Turn: {aim: 255}, rig.Run: {aim: 255}, rig.Sprint: {},
	rig.Jump: {255, 255}, rig.InAir: {255, 255}, rig.Land: {255, 85}, rig.Dead: {},
}

// FromPose is the reverse of ApplyTo, for a pose of WritePose.
func (t *Public) FromPose(p *rig.Pose) {
	t.Stance, t.Figure, t.Phase, t.Heading = p.Form.Stance(), p.Form.Hero(), uint8(p.Phase/phaseStep),
		p.Move/moveStep
	t.Lean, t.Gait, t.Squat = uint8(p.Bank/bankStep+1), p.Gait/gaitStep, p.Squat/squatStep
	if !travels(t.Stance) {
		t.Heading = uint8(p.Hips/hipsStep + 8)
	}
}
