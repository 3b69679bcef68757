package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/move"
)

// Teleporter moves players that step into its box to another place in the next tick.
type Teleporter struct {
	Box    geom.AABB
	Target geom.Vec3  // feet after the teleport; outside every teleporter's box
	Yaw    geom.Angle // view after the teleport
	Effect tick.Tick  // tick of its last use, for drawing; 0 never
}

// TeleportRequest is a teleport that is due.
type TeleportRequest struct {
	ID  netid.ID
	At  tick.Tick // before this tick's movement
	Pos geom.Vec3
	Yaw geom.Angle
}

// StepTeleporters appends to out a request for each living player whose feet are in a teleporter,
// one at most: the first in the list. Requests come in the order of rows, and are due in the next
// tick.
func (s *Scene) StepTeleporters(ports []Teleporter, all Bodies, out []TeleportRequest) []TeleportRequest {
	for row, p := range all.Pos {
		if !all.Alive[row] {
			continue
		}
		for i := range ports {
			if t := &ports[i]; contains(t.Box, p) {
				t.Effect = s.Now
				out = append(out, TeleportRequest{ID: all.ID[row], At: s.Now + 1, Pos: onGrid(t.Target),
					Yaw: t.Yaw})
				break
			}
		}
	}
	return out
}

// ExitVelocity is the velocity after the teleport: the same speed, forward and level.
func (j TeleportRequest) ExitVelocity(vel geom.Vec3) geom.Vec3 {
	return move.Round(move.Motion{Vel: geom.Forward(j.Yaw, 0).Scale(vel.Len())}).Vel
}
