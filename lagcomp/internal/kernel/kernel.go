// Package kernel tests one ray against many spheres. Columns of centres go in, the indexes of those the ray may touch
// come out. It knows nothing of players or time and keeps no state.
//
// It is a broad phase: it may name a sphere that is missed by a hair, and never leaves out one that is hit. Callers
// judge the few that come out exactly.
package kernel

import "math"

// Ray is a half line cut at Max metres from its origin O along the unit direction D. Grow, in square metres and not
// negative, is added to the squared radius of whatever it is tested against.
type Ray struct{ OX, OY, OZ, DX, DY, DZ, Max, Grow float32 }

// Never is the negated square of a radius for rows that nothing may hit: empty ones, the dead, padding.
var Never = float32(math.Inf(1))

// slack widens every test by slack * distance^2, relative to the squared distance of the centre. What it must cover, in
// units of 2^-24 (half the last place of 1): the differences to the origin 1 each, the products and sums of the two dot
// products at most 4 each, twice in the square of the one, the squares and the last subtraction 3, so 15; and a direction
// whose squared length is off 1 by up to 2e-6, so 34. Together 49; we take 64.
const slack = 64.0 / (1 << 24)

// sideSlack widens the first test, in square metres: at 16 km the level distance to the ray is off by 4 mm of rounded
// differences and products and 2 mm of a rounded direction, and for radii up to MaxRadius this is worth a centimetre.
const sideSlack = 0.25

// The guarantee of Candidates holds for coordinates within Reach metres of 0 and radii up to MaxRadius.
const (
	Reach     = 8192
	MaxRadius = 12
)

// Candidates appends to out[:0] the indexes, ascending, of the spheres that r may touch between its origin and Max.
// Sphere i has its centre at (xs[i], ys[i], zs[i]) and the radius sqrt(r.Grow - nr2[i]): the square is kept negated, so that
// it adds to the squared distance, and Never there means a row that is never named. The columns are of one length, and out
// should have that capacity so that nothing is allocated.
//
// Guarantee: while r.D is of unit length within 1e-6 and everything lies within Reach, a sphere that the exact ray touches
// in exact arithmetic is named. Rows in which a number is not one are named too. What is named besides is off by a hair,
// or round the ray's end by 0.42 radii.
func Candidates(r Ray, xs, ys, zs, nr2 []float32, out []int32) []int32 {
	return candidates(r, xs, ys, zs, nr2, out[:0])
}
