package lagcomp

import "github.com/tickrate/tickrate/ecs/geom"

// The shapes of a player, metres above the feet: the reference's smaller character (capsule 0.4 x 1.8, eyes at 1.65),
// with the reference's single body tag split in two.
const (
	BodyRadius = 0.4  // from the ground to the shoulders at 1.4
	HeadRadius = 0.15 // from 1.35 to the crown at 1.8 when looking level

	bodyLow, bodyHigh = 0.4, 1.0   // ends of the body's axis
	neck              = 1.3        // the head leans about this point,
	headLow, headHigh = 0.20, 0.35 // its axis this far above it

	boundHigh = 0.9 // centre of the bounding sphere
	// BoundRadius holds both shapes in every pose (0.90 does), with 5 cm to spare for rounding out to Reach.
	BoundRadius = 0.95
)

// Hitboxes works out the shapes of p: the body upright from the feet to the shoulders, and the head, which leans with
// half the pitch: forward looking down, back looking up.
func Hitboxes(p Pose) (body, head geom.Capsule) {
	at := func(y float32) geom.Vec3 { return geom.Vec3{X: p.Pos.X, Y: p.Pos.Y + y, Z: p.Pos.Z} }
	body = geom.Capsule{A: at(bodyLow), B: at(bodyHigh), Radius: BodyRadius}
	sy, cy := p.Yaw.SinCos()
	sp, cp := geom.Angle(p.Pitch.Signed() / 2).SinCos()
	up := geom.Vec3{X: -float32(sy * sp), Y: cp, Z: -float32(cy * sp)}
	head = geom.Capsule{A: at(neck).Mad(up, headLow), B: at(neck).Mad(up, headHigh), Radius: HeadRadius}
	return body, head
}

// Bound is a sphere that holds both hitboxes of p.
func Bound(p Pose) geom.Sphere {
	return geom.Sphere{Center: geom.Vec3{X: p.Pos.X, Y: p.Pos.Y + boundHigh, Z: p.Pos.Z}, Radius: BoundRadius}
}

// Part says what of a player was hit.
type Part uint8

// Parts of a player.
const (
	None Part = iota
	Body
	Head
)

// String names the part.
func (p Part) String() string {
	switch p {
	case None:
		return "none"
	case Body:
		return "body"
	case Head:
		return "head"
	}
	return "part?"
}
