package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Sweep is a sphere that flies along a ray, judged at one instant.
type Sweep struct {
	Ray    geom.Ray // of the centre, see NormalizeRay; Max where the sweep ends, such as at a wall
	Radius float32  // metres, 0 to MaxSweepRadius
	View   tick.View
	Except uint32 // ID, never hit, usually the shooter; 0 excludes no player
	Team   uint8  // never hit; NoTeam excludes no team
}
