package client

import (
	"math"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
)

// correction hides from the eye that a prediction was wrong: the picture starts where it was, and comes to where the player is
// over some tenths of a second. Only Present knows of it.
type correction struct {
	off   geom.Vec3 // what is still to be faded, metres
	count Corrections
}

// Corrections counts what was done about wrong predictions that moved the player.
type Corrections struct {
	Smoothed uint64  // faded
	Snapped  uint64  // too far to be faded: a teleport, or a long silence
	Longest  float32 // metres: the greatest that was faded
}

const (
	fadeTime = 100 * time.Millisecond // in which a correction is halved
	fadeMost = 2                      // metres: what lies further apart is shown at once, since it looks worse to glide through walls
)

// add takes in that the player, shown at was, is at is.
func (c *correction) add(was, is geom.Vec3) {
	if was == is {
		return
	}
	off := c.off.Add(was.Sub(is))
	far := off.Len()
	if !(far <= fadeMost) {
		c.off = geom.Vec3{}
		c.count.Snapped++
		return
	}
	c.off = off
	c.count.Smoothed++
	c.count.Longest = max(c.count.Longest, far)
}

// fade lets dt pass.
func (c *correction) fade(dt time.Duration) {
	if c.off == (geom.Vec3{}) {
		return
	}
	c.off = c.off.Scale(float32(math.Exp2(-float64(dt) / float64(fadeTime))))
	if c.off.LenSq() < 1e-8 { // a tenth of a millimetre
		c.off = geom.Vec3{}
	}
}
