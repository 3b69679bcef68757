package client

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

func yawTo(d geom.Vec3) geom.Angle { return geom.Atan2(d.X, d.Z) }

// pitchTo returns the pitch towards the chest of a player whose feet are at d.
func pitchTo(d geom.Vec3, dist float32) geom.Angle {
	return geom.Degrees(math.Atan2(float64(d.Y-0.6), math.Hypot(float64(d.X), float64(d.Z))) * 180 / math.Pi)
}
