package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Drawn is the Pose of a slot for a picture alone: while snapshots fail to come and the render clock waits for them, whoever moves goes on
// as it went between the last two that are known, for at most 100 ms; then it stands. Everything but the place stays as in
// Pose. A shot is judged by Pose, at this end and at the server's: nobody hits what was only guessed.
func (c *Client) Drawn(slot int) (rig.Pose, bool) {
	p, ok := c.Pose(slot)
	if !ok || c.render.over == 0 || !p.Alive() {
		return p, ok
	}
	if vel, moves := c.course(slot, p.ID); moves {
		p.Pos = p.Pos.Mad(vel, float32(c.render.over)/float32(time.Second))
	}
	return p, true
}

// course is how fast player id went between the last two snapshots before the view that know its slot, metres a second.
func (c *Client) course(slot int, id uint32) (geom.Vec3, bool) {
	b := c.decoder.Before(slot, c.view.From)
	if b == nil || b.Tick < 2 {
		return geom.Vec3{}, false
	}
	a := c.decoder.Before(slot, b.Tick-1)
	if a == nil || b.Tick-a.Tick > c.glide() {
		return geom.Vec3{}, false
	}
	from, was := poseIn(a, slot)
	to, is := poseIn(b, slot)
	if !was || !is || to.ID != id || !to.Alive() {
		return geom.Vec3{}, false
	}
	mid := rig.Lerp(&from, &to, 128)
	half := mid.Pos.Sub(from.Pos) // none if the two are of different lives
	return half.Scale(2 / float32(c.rate.At(b.Tick-a.Tick).Seconds())), true
}
