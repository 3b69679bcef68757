package object

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
)

// Bodies are the players as they stand, one row each; the slices have one length.
type Bodies struct {
	ID    []ecs.NetID
	Pos   []geom.Vec3 // feet
	Team  []uint8
	Alive []bool
}
