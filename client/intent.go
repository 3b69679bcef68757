package client

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
)

// Intent is what the player wishes in one tick, before the client stamps it with the tick and the view.
type Intent struct {
	Yaw, Pitch geom.Angle // where to look; pitch in [-90, 90] degrees, upwards positive
	MoveYaw    uint8      // where to go relative to Yaw, 1/256 turn
	MoveMag    uint8      // how fast, 255 = full speed
	Buttons    sim.Buttons
}
