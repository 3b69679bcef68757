package anim

import "github.com/tickrate/tickrate/lagcomp/rig"

// These are the steps in which others are told a pose's parameters, and the bits that makes of each: what a schema needs.
//
//	7 bits  Phase   steps of 512
//	5       Move    8
//	4       Gait    17, so that 255 is one
//	4       Bank    16, -112 to 112
//	5       Hips    4, -64 to 64 (33 values, coded by what is likely)
//	4       Aim     17
//	4       Air     17
//	4       Squat   17
//	6       Form    hero and stance
const (
	PhaseStep  = 512
	MoveStep   = 8
	WeightStep = 17
	BankStep   = 16
	HipsStep   = 4
)

// Draw writes what others see of s into p: the parameters of the figure, at wire precision. Pos, Yaw, Pitch, Flags and ID are
// the caller's; Hips and Move are measured from the view of the tick that s was stepped with.
func Draw(s *State, p *rig.Pose) {
	p.Phase = (uint16(s.Phase>>16) + PhaseStep/2) &^ (PhaseStep - 1)
	p.Move = uint8((s.Move>>8 + MoveStep/2) &^ (MoveStep - 1))
	p.Gait, p.Aim, p.Air, p.Squat = weight(s.Gait), weight(s.Aim), weight(s.Air), weight(s.Squat)
	p.Bank = int8(min(max((int32(s.Bank)>>8+BankStep/2)&^(BankStep-1), -112), 112))
	hips := int32(int16(s.Hips-s.Yaw)) >> 8
	p.Hips = int8(min(max((hips+HipsStep/2)&^(HipsStep-1), -64), 64))
	p.Form = rig.FormOf(build(s.Hero), s.Stance)
}

// weight rounds to the nearest sixteenth of full.
func weight(w uint16) uint8 { return uint8((uint32(w)*15 + full/2) / full * WeightStep) }
