package rig

import "github.com/tickrate/tickrate/ecs/geom"

// arms places both hands and bends the elbows to reach them (inverse kinematics). Lengths are of
// the whole arm without the hand.
func (f *poseSolver) arms() {
	k := f.k
	whole := k.Joints[UpperArmL].Length + k.Joints[ForearmL].Length
	wide := k.Joints[UpperArmR].Side
	// Each hand goes where the other leg does.
	f.arm(UpperArmL, -1, f.hand(-1, -f.sin, k.Reach, wide, whole))
	f.arm(UpperArmR, 1, f.hand(1, f.sin, k.Trail, wide, whole))
}

// hand is where a hand is, measured from its shoulder: hanging or swinging, or holding a weapon
// along the view.
func (f *poseSolver) hand(side, swing, reach, wide, whole float32) geom.Vec3 {
	pump := float32(float32(f.k.Pump*f.gait) * swing)
	loose := f.view.along(float32(0.12+float32(0.2*f.gait)+pump), float32(0.12*side))
	loose.Y = -0.93 + float32(0.4*f.gait) + float32(0.25*max(pump, 0)) + float32(0.3*f.air)
	loose = loose.Scale(whole)

	// The weapon is held a little to the right of the middle.
	held := f.look.Scale(float32(reach * whole)).Add(f.view.along(0, float32(-side*wide)+float32(0.15*whole)))
	held.Y -= float32(f.k.Hollow * whole)
	return loose.Mad(held.Sub(loose), f.aim)
}

// arm bends an arm, side -1 the left, so that its hand comes to d from the shoulder, or as near as
// it can: the two sides of a triangle of known lengths, the elbow down, out and back.
func (f *poseSolver) arm(upper Bone, side float32, d geom.Vec3) {
	j := &f.k.Joints
	a, b := j[upper].Length, j[upper+1].Length
	n := d.Len()
	if n < 1e-3 { // no direction
		d, n = geom.Vec3{Y: -1}, 1
	}
	far := min(max(n, float32(0.4*(a+b))), float32(0.98*(a+b)))
	d = d.Scale(1 / n)

	pole := f.view.along(-0.4, float32(0.5*side))
	pole.Y = -0.7
	pole = pole.Mad(d, -pole.Dot(d))
	square := pole.LenSq()
	if square < 1e-3 { // straight at the pole
		pole = f.view.along(1, 0)
		pole = pole.Mad(d, -pole.Dot(d))
		square = pole.LenSq()
	}
	// Parts of the upper arm along d and across it.
	along := float32(float32(a*a)-float32(b*b)+float32(far*far)) / float32(2*far)
	across := geom.Sqrt(float32(a*a) - float32(along*along))
	across /= geom.Sqrt(square)
	elbow := d.Scale(along).Mad(pole, across)
	f.dir[upper] = elbow.Scale(1 / a)
	f.dir[upper+1] = d.Scale(far).Sub(elbow).Scale(1 / b)
	f.dir[upper+2] = f.dir[upper+1]
}
