package rig

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Bone numbers a capsule of a skeleton, or a shape of a build of shapes. Bodies.BoneName names it. In a
// skeleton a bone's parent has a smaller number.
type Bone uint8

// The bones of a skeleton: 16 of the body, and the head. L and R are the player's own left and right.
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

// BoneName names a bone of a build: that of a skeleton by the table above, a shape by its own name or
// else by its number. Numbers that are no bone of the build are named by the number, too.
func (b *Bodies) BoneName(build uint8, bone Bone) string {
	build &= MaxBuilds - 1
	if shapes := b.shapes[build]; int(bone) < len(shapes) && shapes[bone].Name != "" {
		return shapes[bone].Name
	}
	if b.skeletons[build] != nil && bone < Bones {
		return boneNames[bone]
	}
	return fmt.Sprintf("shape %d", bone)
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

// Part is the part of a player that a bone of a skeleton belongs to; NoPart for numbers that are none.
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
