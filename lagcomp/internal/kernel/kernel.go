// Package kernel tests one ray or one ball against many spheres. Columns of centres go in; the
// indexes of the spheres that may be touched come out. It knows nothing of players or time, keeps
// no state and may be called by any goroutine. Its other kernels serve the same history:
// Capsules.FirstHit, MaxDisplacement and SplitRows.
//
// RayCandidates and BallCandidates are a broad phase in float32: they may name a sphere that is
// missed by a hair, and never leave out one that is hit.
//
// kernel_generic.go is the reference. AVX2 and AVX-512 assembly, which _gen writes, does the same
// operations in the same order on 8 or 16 rows at a time, none of them fused, so every machine
// names the same rows; the tag noasm turns it off.
//
// NaN is no error. A row with a NaN is named (and never hit); a ray or ball with one names about
// every row and hits none. A ray without a direction touches what its origin lies in.
package kernel

import (
	"fmt"
	"math"
)

//go:generate go run -C _gen . -out ../kernel_amd64.s -stubs ../kernel_amd64_gen.go -pkg kernel

// Ray is a half line cut at Max metres from its origin O along the unit direction D. Grow, in
// square metres and not negative, is added to the squared radius of each sphere. Widest is at
// least the radius of every row, before Grow, in metres; 0 is MaxRadius. A closer Widest rejects
// rows sooner.
type Ray struct{ OX, OY, OZ, DX, DY, DZ, Max, Grow, Widest float32 }

// Ball is a sphere. Grow, in square metres and not negative, is added to the squared radius of
// each row: (R+r)^2 - r^2 for a ball of radius R among spheres of radius r. Widest is as in Ray.
type Ball struct{ X, Y, Z, Grow, Widest float32 }

// Spheres is N spheres in columns: row i has its centre at (X[i], Y[i], Z[i]) and the squared
// radius Grow - NR2[i]. The square is kept negated so that it adds to the squared distance; a row
// with NR2 of Never is never named. All slices have one length.
type Spheres struct {
	X, Y, Z, NR2 []float32
}

// Never is the negated square of a radius for rows that cannot be hit: empty slots, dead players,
// padding.
var Never = float32(math.Inf(1))

// slack widens every test by slack * distance^2, relative to the squared distance of the centre.
// In units of 2^-24 (half the last place of 1) it must cover: the differences to the origin 1
// each, the products and sums of the two dot products at most 4 each, twice in the square of the
// one, the squares and the last subtraction 3, so 15; and a direction whose squared length is off
// 1 by up to 2e-6, so 34. Together 49; it is 64.
const slack = 64.0 / (1 << 24)

// The guarantee of the broad phase holds for coordinates within Reach metres of 0 and radii, Grow
// included, up to MaxRadius.
const (
	Reach     = 8192
	MaxRadius = 12
)

// RayCandidates appends to out[:0] the indexes, ascending, of the spheres that r may touch between
// its origin and Max. It allocates nothing if out has room for every row.
//
// Guarantee: while r.D is of unit length within 1e-6 and everything lies within Reach, a sphere
// that the exact ray touches in exact arithmetic is named. Rows with a NaN are named too. A sphere
// that is named without being touched is missed by a hair, or by up to 0.42 radii around the ray's
// end.
func (c *Spheres) RayCandidates(r *Ray, out []int32) []int32 {
	n := c.len()
	out = grow(out, n)
	var p probe
	p.ray(r)
	return out[:level.ray(&p, c, n, out)]
}

// BallCandidates appends to out[:0] the indexes, ascending, of the spheres that s may touch, with
// the guarantee of RayCandidates.
func BallCandidates(s Ball, c *Spheres, out []int32) []int32 {
	n := c.len()
	out = grow(out, n)
	var p probe
	p.ball(&s)
	return out[:level.ball(&p, c, n, out)]
}

// Vectorized reports whether several rows are tested at once here: testing all rows is then about
// seven times as cheap.
func Vectorized() bool { return level.lanes() > 1 }

// len checks that the slices have one length, and returns it.
func (c *Spheres) len() int {
	n := len(c.X)
	if len(c.Y) != n || len(c.Z) != n || len(c.NR2) != n {
		panic(fmt.Sprintf("kernel: columns of %d, %d, %d and %d rows", n, len(c.Y), len(c.Z), len(c.NR2)))
	}
	return n
}

// grow is out with n entries.
func grow(out []int32, n int) []int32 {
	if cap(out) < n {
		return make([]int32, n)
	}
	return out[:n]
}
