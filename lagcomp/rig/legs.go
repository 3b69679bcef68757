package rig

import "github.com/tickrate/tickrate/ecs/geom"

// Specification of the stride that both heroes share.
const (
	kneeRest   = 0.06 // sine of the bend of a standing leg
	toesDown   = 0.1  // sine of a standing foot
	toesFollow = 0.5  // how much of the shin's swing the foot takes
	airStride  = 0.3  // how much of the stride is left in the air, or with knees bent all the way
)

// legs bends both legs and returns how high the hips are above the ground, in metres: as high as
// the lower foot demands, and higher in the air. Runners are in the air between two steps.
func (f *poseSolver) legs() float32 {
	ahead, right := f.hips.within(f.travel)
	left := f.leg(legPhase{ThighL, -1, f.sin, f.cos}, ahead, right)
	other := f.leg(legPhase{ThighR, 1, -f.sin, -f.cos}, ahead, right)
	ground := max(left, other)
	j := &f.k.Joints
	hang := j[ThighL].Length + j[ShinL].Length + j[FootL].Radius + float32(toesDown*j[FootL].Length)
	flight := max(f.air, float32(f.k.Flight*float32(f.gait*(1-f.squat))))
	return ground + float32(max(hang-ground, 0)*flight)
}

// legPhase is a leg and the phase of its stride: at sine 1 it is foremost; while the cosine is
// positive it swings forward, knee bent.
type legPhase struct {
	thigh    Bone
	side     float32 // -1 left, 1 right
	sin, cos float32
}

// leg bends one leg and returns how far its lowest point is below the hip, in metres. ahead and
// right are the direction of travel as the hips see it.
func (f *poseSolver) leg(l legPhase, ahead, right float32) float32 {
	k, thigh := f.k, l.thigh
	stride := float32(f.gait * (1 - float32((1-airStride)*max(f.air, f.squat))))
	swing := float32(float32(k.Swing*stride) * l.sin)
	lift := float32(float32(k.Knee*stride) * max(l.cos, 0))
	tuck := float32(float32(k.Tuck*f.air) * (0.65 - float32(0.35*l.side))) // the left leads
	out := float32(k.Splay*l.side) + float32(swing*right)

	up := float32(swing*ahead) + f.bend + tuck
	back := up - kneeRest - lift - float32(2*f.bend) - float32(1.7*tuck)
	f.dir[thigh] = unitDown(f.hips.along(up, out))
	f.dir[thigh+1] = unitDown(f.hips.along(back, out))

	toes := min(max(float32(toesFollow*back)-toesDown, -0.7), 0.4)
	toesLevel := f.hips.along(geom.Sqrt(1-float32(toes*toes)), 0)
	f.dir[thigh+2] = geom.Vec3{X: toesLevel.X, Y: toes, Z: toesLevel.Z}

	j := &k.Joints
	ankle := -float32(j[thigh].Length*f.dir[thigh].Y) - float32(j[thigh+1].Length*f.dir[thigh+1].Y)
	return ankle + float32(j[thigh+2].Length*max(-toes, 0)) + j[thigh+2].Radius
}
