package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/move"
)

// Teleporter takes whoever steps into its box to another place in the next tick.
type Teleporter struct {
	Box    geom.AABB
	Target geom.Vec3  // where feet will stand; outside every teleporter's box
	Yaw    geom.Angle // where eyes will look
	Effect tick.Tick  // when it last took somebody, for whoever draws it; 0 never
}

// TeleportRequest is a teleport that is due.
type TeleportRequest struct {
	ID  netid.ID
	At  tick.Tick // before this tick's movement
	Pos geom.Vec3
	Yaw geom.Angle
}

// StepTeleporters appends to out a jump for everybody alive who has the feet in a teleporter, one at most: the first in the list
// takes it. Jumps come in the order of rows, and are due in the next tick.
func (s *Scene) StepTeleporters(ports []Teleporter, all Bodies, out []TeleportRequest) []TeleportRequest {
	for row, p := range all.Pos {
		if !all.Alive[row] {
			continue
		}
		for i := range ports {
			if t := &ports[i]; contains(t.Box, p) {
				t.Effect = s.Now
				out = append(out, TeleportRequest{ID: all.ID[row], At: s.Now + 1, Pos: onGrid(t.Target), Yaw: t.Yaw})
				break
			}
		}
	}
	return out
}

// ExitVelocity is what a jump makes of a velocity: as fast, but forward. The body stands at Pos and its eyes look along Yaw, level.
func (j TeleportRequest) ExitVelocity(vel geom.Vec3) geom.Vec3 {
	return move.Round(move.Motion{Vel: geom.Forward(j.Yaw, 0).Scale(vel.Len())}).Vel
}
