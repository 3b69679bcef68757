package rig

// Joint is one bone of a skeleton: its parent, length and thickness.
type Joint struct {
	Parent Bone    // its own number for the root
	Length float32 // of the axis, metres
	Radius float32 // of the capsule, metres
	Start  bool    // it hangs on the parent's A; otherwise on its B
	Side   float32 // metres to the player's right of where it hangs
	Up     float32 // metres above where it hangs
}

// Skeleton is the build of a hero, and how far its limbs move. Swings are sines: a thigh that
// swings 0.6 forward points as far forward as 0.6 of its length.
type Skeleton struct {
	Joints [Bones]Joint
	Height float32 // crown above the ground, standing, metres
	Bound  float32 // radius round BoundHeight that holds every pose, metres

	Swing  float32 // of a thigh at Gait 255, to either side
	Knee   float32 // bend while the leg swings forward at Gait 255
	Lean   float32 // of the torso into the run at Gait 255
	Bank   float32 // of the torso to the side at Bank 127
	Squat  float32 // of a thigh at Squat 255
	Slump  float32 // the same of the dead
	Flight float32 // how much of the drop of spread legs a runner does not follow at Gait 255
	Tuck   float32 // of the leading thigh at Air 255
	Splay  float32 // of each leg to its side
	Pump   float32 // swing of a hand at Gait 255, of the arm's length
	Reach  float32 // how far ahead the leading hand holds a weapon, of the arm's length
	Trail  float32 // the other hand
	Hollow float32 // how far below the shoulders hands hold it, of the arm's length

	radii radii // of Joints, as tests want it
}

// sharedMotion is how both heroes move.
var sharedMotion = Skeleton{
	Swing: 0.62, Knee: 0.85, Lean: 0.2, Bank: 0.25, Squat: 0.7, Slump: 0.93, Flight: 0.6, Tuck: 0.5,
	Splay: 0.05,
	Pump:  0.45, Reach: 0.82, Trail: 0.62, Hollow: 0.12,
}

// Skeletons are the builds. Radii of head, chest, legs and arms are FPSSample's (its capsules:
// Terraformer head 0.12 wide and 0.40 high, chest 0.17, legs 0.10 and 0.08, arms 0.07 and 0.05;
// Robot head 0.18 and 0.55, chest 0.26, legs 0.12 and 0.11); lengths follow from its heights.
var Skeletons = [Heroes]Skeleton{
	Terraformer: newSkeleton(1.8, 1.11, proportions{
		thigh: 0.43, shin: 0.42, foot: 0.19, pelvis: 0.10, spine: 0.14, chest: 0.18, neck: 0.1595, head: 0.16,
		upper: 0.28, fore: 0.25, hand: 0.08, hips: 0.10, shoulders: 0.2, rise: 0.04,
		thighR: 0.10, shinR: 0.08, footR: 0.065, pelvisR: 0.16, spineR: 0.15, chestR: 0.17, neckR: 0.08,
		headR:  0.12,
		upperR: 0.07, foreR: 0.05, handR: 0.05,
	}),
	Robot: newSkeleton(2.2, 1.43, proportions{
		thigh: 0.52, shin: 0.50, foot: 0.24, pelvis: 0.12, spine: 0.16, chest: 0.18, neck: 0.236, head: 0.19,
		upper: 0.36, fore: 0.33, hand: 0.11, hips: 0.15, shoulders: 0.31, rise: 0.04,
		thighR: 0.12, shinR: 0.11, footR: 0.085, pelvisR: 0.21, spineR: 0.21, chestR: 0.26, neckR: 0.11,
		headR:  0.18,
		upperR: 0.10, foreR: 0.08, handR: 0.07,
	}),
}

// proportions are those of a build in metres: lengths, then where limbs hang, then radii.
type proportions struct {
	thigh, shin, foot, pelvis, spine, chest, neck, head, upper, fore, hand            float32
	hips, shoulders, rise                                                             float32
	thighR, shinR, footR, pelvisR, spineR, chestR, neckR, headR, upperR, foreR, handR float32
}

func newSkeleton(height, bound float32, l proportions) Skeleton {
	k := sharedMotion
	k.Height, k.Bound = height, bound
	k.Joints = [Bones]Joint{
		Pelvis: {Parent: Pelvis, Length: l.pelvis, Radius: l.pelvisR},
		Spine:  {Parent: Pelvis, Length: l.spine, Radius: l.spineR},
		Chest:  {Parent: Spine, Length: l.chest, Radius: l.chestR},
		Neck:   {Parent: Chest, Length: l.neck, Radius: l.neckR},
		Head:   {Parent: Neck, Length: l.head, Radius: l.headR},

		ThighL: {Parent: Pelvis, Length: l.thigh, Radius: l.thighR, Start: true, Side: -l.hips},
		ShinL:  {Parent: ThighL, Length: l.shin, Radius: l.shinR},
		FootL:  {Parent: ShinL, Length: l.foot, Radius: l.footR},
		ThighR: {Parent: Pelvis, Length: l.thigh, Radius: l.thighR, Start: true, Side: l.hips},
		ShinR:  {Parent: ThighR, Length: l.shin, Radius: l.shinR},
		FootR:  {Parent: ShinR, Length: l.foot, Radius: l.footR},

		UpperArmL: {Parent: Chest, Length: l.upper, Radius: l.upperR, Side: -l.shoulders, Up: l.rise},
		ForearmL:  {Parent: UpperArmL, Length: l.fore, Radius: l.foreR},
		HandL:     {Parent: ForearmL, Length: l.hand, Radius: l.handR},
		UpperArmR: {Parent: Chest, Length: l.upper, Radius: l.upperR, Side: l.shoulders, Up: l.rise},
		ForearmR:  {Parent: UpperArmR, Length: l.fore, Radius: l.foreR},
		HandR:     {Parent: ForearmR, Length: l.hand, Radius: l.handR},
	}
	k.fillRadii()
	return k
}
