package object

import "github.com/tickrate/tickrate/ecs/geom"

// Zone is an upright cylinder that teams capture.
type Zone struct {
	Center         geom.Vec3 // on the ground
	Radius, Height float32   // metres
}

// DefaultZone has FPSSample's size.
func DefaultZone(center geom.Vec3) Zone { return Zone{Center: center, Radius: 5, Height: 5} }

// belowGround is how far below its ground a zone still counts feet, in metres, as ground is
// rounded.
const belowGround = 1. / 16

// Holds reports whether feet at p stand in the zone, its border included.
func (z *Zone) Holds(p geom.Vec3) bool {
	d := p.Sub(z.Center)
	return d.Y >= -belowGround && d.Y <= z.Height &&
		float32(d.X*d.X)+float32(d.Z*d.Z) <= float32(z.Radius*z.Radius)
}

// Occupancy is the number of living players of each team in a zone.
type Occupancy [4]uint16

// CountOccupants counts into out[i] the players in zones[i]; teams beyond 3 do not count. out must
// not be the shorter.
func CountOccupants(zones []Zone, all Bodies, out []Occupancy) {
	for i := range zones {
		out[i] = Occupancy{}
		for row, p := range all.Pos {
			if all.Alive[row] && all.Team[row] < 4 && zones[i].Holds(p) {
				out[i][all.Team[row]]++
			}
		}
	}
}
