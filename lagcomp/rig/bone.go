package rig

import "github.com/tickrate/tickrate/ecs/geom"

// Bone numbers a capsule of the body. A bone's parent has a smaller number.
type Bone uint8

// The bones: 16 of the body, and the head. L and R are the player's own left and right.
const (
	Pelvis Bone = iota
	Spine
	Chest
	Neck
	ThighL
	ShinL
	FootL
	ThighR
	ShinR
	FootR
	UpperArmL
	ForearmL
	HandL
	UpperArmR
	ForearmR
	HandR
	Head
	Bones // how many there are
)

var boneNames = [Bones]string{"pelvis", "spine", "chest", "neck", "left thigh", "left shin", "left foot",
	"right thigh",
	"right shin", "right foot", "left upper arm", "left forearm", "left hand", "right upper arm",
	"right forearm", "right hand",
	"head"}

// String names the bone.
func (b Bone) String() string {
	if b < Bones {
		return boneNames[b]
	}
	return "bone?"
}

// Part is the part of a player that was hit.
type Part uint8

// Parts of a player.
const (
	NoPart Part = iota
	PartTorso
	PartHead // the head
	PartArms
	PartLegs
)

// String names the part.
func (p Part) String() string {
	if p <= PartLegs {
		return [...]string{"none", "torso", "head", "arms", "legs"}[p]
	}
	return "part?"
}

// Part is the part of a player that a bone belongs to; NoPart for numbers that are no bone.
func (b Bone) Part() Part {
	switch {
	case b <= Neck:
		return PartTorso
	case b <= FootR:
		return PartLegs
	case b <= HandR:
		return PartArms
	case b == Head:
		return PartHead
	}
	return NoPart
}

// Body is the capsules of one pose, by bone. Each has its axis from A, at the parent, to B.
type Body [Bones]geom.Capsule
