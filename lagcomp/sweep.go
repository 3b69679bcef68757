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
	Spare  Teams  // never hit; 0: all teams may be hit
}

// Teams is a set of teams: bit t is team t of rig.Pose.Team. The zero set has none.
type Teams uint8

// TeamOf is the set of one team; of NoTeam and of numbers that are no team it is empty.
func TeamOf(team uint8) Teams { return 1 << team & (1<<(1<<teamBits) - 1) }

// Has reports whether a team, 0 to 3, is in the set.
func (t Teams) Has(team uint8) bool { return t>>team&1 != 0 }
