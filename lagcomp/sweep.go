package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Sweep is a sphere that flies along a ray, to be judged at one instant.
type Sweep struct {
	Ray    geom.Ray // of the centre, as NormalizeRay wants it; Max where the way ends
	Radius float32  // metres, 0 to MaxSweepRadius
	View   tick.View
	Except uint32 // ID, never hit; 0 spares nobody
	Team   uint8  // never hit; NoTeam spares nobody
}
