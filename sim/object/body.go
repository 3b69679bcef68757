package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
)

// Bodies are the players, one row each; the slices have one length.
type Bodies struct {
	ID    []netid.ID
	Pos   []geom.Vec3 // feet
	Team  []uint8
	Alive []bool
}
