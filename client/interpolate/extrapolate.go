package interpolate

import (
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Extrapolated is Pose for a picture alone: while the render clock waits for snapshots, a moving
// player keeps the velocity between its last two known snapshots for at most clock.MaxOver, then
// stops. Shots are judged by Pose, at both ends: an extrapolated position cannot be hit.
func (p *Interpolator) Extrapolated(slot int, clocks *clock.Clocks) (rig.Pose, bool) {
	pose, ok := p.Pose(slot)
	if !ok || clocks.Render.Over == 0 || !pose.Alive() {
		return pose, ok
	}
	if vel, moves := p.velocity(slot, pose.ID, clocks.Rate); moves {
		pose.Pos = pose.Pos.Mad(vel, float32(clocks.Render.Over)/float32(time.Second))
	}
	return pose, true
}

// velocity is how fast player id moved between the last two snapshots of its slot before the view,
// in metres a second.
func (p *Interpolator) velocity(slot int, id uint32, rate tick.Rate) (geom.Vec3, bool) {
	b := p.Decoder.Before(slot, p.View.From)
	if b == nil || b.Tick < 2 {
		return geom.Vec3{}, false
	}
	a := p.Decoder.Before(slot, b.Tick-1)
	if a == nil || b.Tick-a.Tick > p.maxGap {
		return geom.Vec3{}, false
	}
	from, was := poseIn(a, slot)
	to, is := poseIn(b, slot)
	if !was || !is || to.ID != id || !to.Alive() {
		return geom.Vec3{}, false
	}
	mid := rig.Lerp(&from, &to, 128)
	half := mid.Pos.Sub(from.Pos) // none if the two are of different lives
	return half.Scale(2 / float32(rate.At(b.Tick-a.Tick).Seconds())), true
}
