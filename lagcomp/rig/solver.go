package rig

import "github.com/tickrate/tickrate/ecs/geom"

// Capsules writes the 17 capsules of p into out, in the world.
func Capsules(p *Pose, out *Body) {
	LocalCapsules(p, out)
	for i := range out {
		out[i].A, out[i].B = out[i].A.Add(p.Pos), out[i].B.Add(p.Pos)
	}
}

// LocalCapsules writes the 17 capsules of p into out, relative to its feet: they do not depend on
// Pos, Flags and ID. Client and server both get a body from it.
//
// It computes the directions of all bones, then the height of the hips, then places the bones end
// to end.
func LocalCapsules(p *Pose, out *Body) { localCapsules(p, &Skeletons[p.Form.Hero()], out) }

// localCapsules is LocalCapsules of a skeleton.
func localCapsules(p *Pose, k *Skeleton, out *Body) {
	var b capsules
	solve(p, k, &b)
	for i := range Head {
		c := &out[i]
		c.A.X, c.A.Y, c.A.Z, c.B.X, c.B.Y, c.B.Z, c.Radius = b.AX[i], b.AY[i], b.AZ[i], b.BX[i], b.BY[i],
			b.BZ[i], k.radii.Radius[i]
	}
	out[Head] = b.capsule(Head, k)
}

// solve is localCapsules in columns.
func solve(p *Pose, k *Skeleton, out *capsules) {
	var f poseSolver
	f.setPose(p, k)
	f.torso()
	high := f.legs()
	f.arms()
	f.assemble(high, out)
}

// poseSolver turns a pose into capsules: parameters as factors, and the direction of each bone, of
// unit length.
type poseSolver struct {
	k                *Skeleton
	view, hips       heading
	travel           heading // of the motion
	sinHalf          float32 // of half the pitch
	sin, cos         float32 // of the phase
	gait, bank, aim  float32 // 0 to 1, bank -1 to 1
	air, squat, bend float32 // 0 to 1, bend: what squat makes of a thigh
	slump            float32 // forward lean of the torso by squat
	look             geom.Vec3
	dir              [Bones]geom.Vec3
}

func (f *poseSolver) setPose(p *Pose, k *Skeleton) {
	f.k = k
	f.view = headingOf(p.Yaw)
	f.hips = headingOf(p.Yaw + geom.Angle(p.Hips)<<8)
	f.travel = headingOf(p.Yaw + geom.Angle(p.Move)<<8)
	f.sin, f.cos = geom.Angle(p.Phase).SinCos()
	f.gait, f.aim = unit(p.Gait), unit(p.Aim)
	f.air, f.squat = unit(p.Air), unit(p.Squat)
	f.bank = float32(max(p.Bank, -127)) * (1. / 127)
	f.bend, f.slump = float32(k.Squat*f.squat), float32(0.25*f.squat)
	if p.Form.Stance() == Dead {
		f.bend, f.slump = float32(k.Slump*f.squat), float32(0.7*f.squat)
	}
	// Pitch is held within straight up and down; its sine and cosine are those of the double of its
	// half.
	pitch := min(max(p.Pitch.Signed(), -0x4000), 0x4000)
	s, c := geom.Angle(pitch / 2).SinCos()
	f.sinHalf = s
	f.look = f.view.along(1-float32(2*float32(s*s)), 0)
	f.look.Y = 2 * float32(s*c)
}

func unit(x uint8) float32 { return float32(x) * (1. / 255) }

// heading is a level direction: sine and cosine of its yaw.
type heading struct{ s, c float32 }

func headingOf(yaw geom.Angle) heading {
	s, c := yaw.SinCos()
	return heading{s, c}
}

// along is the level vector of some metres ahead and to the right.
func (h heading) along(ahead, right float32) geom.Vec3 {
	return geom.Vec3{X: float32(ahead*h.s) + float32(right*h.c), Z: float32(ahead*h.c) - float32(right*h.s)}
}

// within splits heading g into the parts ahead and to the right of h.
func (h heading) within(g heading) (ahead, right float32) {
	return float32(g.s*h.s) + float32(g.c*h.c), float32(g.s*h.c) - float32(g.c*h.s)
}

// maxLevelSq is the square of the longest level part that a bone may have.
const maxLevelSq = 0.95

// unitUp is the unit vector upwards with the level part v, which is shortened to maxLevelSq.
func unitUp(v geom.Vec3) geom.Vec3 {
	level := float32(v.X*v.X) + float32(v.Z*v.Z)
	if level > maxLevelSq {
		by := geom.Sqrt(maxLevelSq / level)
		v.X, v.Z, level = float32(v.X*by), float32(v.Z*by), maxLevelSq
	}
	v.Y = geom.Sqrt(1 - level)
	return v
}

func unitDown(v geom.Vec3) geom.Vec3 {
	v = unitUp(v)
	v.Y = -v.Y
	return v
}

// torsoShares are how much of pitch, lean and bank reaches each bone from the pelvis up: pitch
// grows upwards, and the head levels out the chest's lean.
var torsoShares = [5]struct {
	bone                     Bone
	pitch, lean, bank, slump float32
}{
	{Pelvis, 0, 0.5, 0.4, 0.5},
	{Spine, 0.2, 0.8, 0.8, 1},
	{Chest, 0.4, 1, 1, 1},
	{Neck, 0.7, 0.7, 0.5, 1},
	{Head, 1, 0.4, 0.2, 0.5},
}

// torso bends the spine: back for looking up, forward for looking down, into the run and into the
// turn.
func (f *poseSolver) torso() {
	back := f.view.along(-f.sinHalf, 0)
	into := f.travel.along(float32(float32(f.k.Lean*f.gait)*(1-f.air)), 0)
	aside := f.view.along(0, float32(f.k.Bank*f.bank))
	down := f.hips.along(f.slump, 0)
	for i := range torsoShares {
		s := &torsoShares[i]
		v := back.Scale(s.pitch).Mad(into, s.lean).Mad(aside, s.bank).Mad(down, s.slump)
		f.dir[s.bone] = unitUp(v)
	}
}

// assemble places the bones end to end, with the hips high metres above the feet. It follows the
// limbs as Joints lists them, so that nothing is looked up.
func (f *poseSolver) assemble(high float32, out *capsules) {
	hips := geom.Vec3{Y: high}
	f.placeLimb(f.attach(hips, ThighL, f.hips), ThighL, out)
	f.placeLimb(f.attach(hips, ThighR, f.hips), ThighR, out)
	at := f.placeBone(f.placeBone(f.placeBone(hips, Pelvis, out), Spine, out), Chest, out)
	f.placeLimb(f.attach(at, UpperArmL, f.view), UpperArmL, out)
	f.placeLimb(f.attach(at, UpperArmR, f.view), UpperArmR, out)
	neck := f.placeBone(at, Neck, out)
	out.head = [2]geom.Vec3{neck, neck.Mad(f.dir[Head], f.k.Joints[Head].Length)}
}

// placeLimb places three bones at a point, one after the other.
func (f *poseSolver) placeLimb(at geom.Vec3, first Bone, out *capsules) {
	f.placeBone(f.placeBone(f.placeBone(at, first, out), first+1, out), first+2, out)
}

// attach is where a limb hangs.
func (f *poseSolver) attach(at geom.Vec3, bone Bone, h heading) geom.Vec3 {
	j := &f.k.Joints[bone]
	at.X += float32(j.Side * h.c)
	at.Z -= float32(j.Side * h.s)
	at.Y += j.Up
	return at
}

// placeBone places one bone, not the head, at a point and returns where it ends.
func (f *poseSolver) placeBone(at geom.Vec3, bone Bone, out *capsules) geom.Vec3 {
	end := at.Mad(f.dir[bone], f.k.Joints[bone].Length)
	out.AX[bone], out.AY[bone], out.AZ[bone] = at.X, at.Y, at.Z
	out.BX[bone], out.BY[bone], out.BZ[bone] = end.X, end.Y, end.Z
	return end
}
