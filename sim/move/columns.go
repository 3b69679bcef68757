package move

import (
	"math"

	"github.com/viterin/vek/vek32"

	"github.com/tickrate/tickrate/ecs/geom"
)

// batchColumns are the numbers of a batch, one float32 a row and column. Every pass over them is
// one elementwise operation, whose bits are those of the scalar operation: no product is fused into
// a sum, nothing is summed across rows.
type batchColumns struct {
	memory [11 * batchRows]float32
	rows   int // of the columns, padded

	vel, move           []float32 // x, then y, then z of all rows
	velX, velY, velZ    []float32 // of vel: m/s
	moveX, moveY, moveZ []float32 // of move: metres of the tick
	wishColumns
	rowMarks
}

// rowMarks say what holds for a row.
type rowMarks struct {
	angles [batchRows]geom.Angle // of the wishes
	kinds  [batchRows]uint8      // airborne, grounded or stepped
	modes  [batchRows]mode
}

// wishColumns are what a row's state of locomotion and its input make of the tick.
type wishColumns struct {
	sin, cos  []float32 // direction of the wish
	wish      []float32 // m/s along it
	keep, sum []float32 // scratch
}

// mode is which numbers hold for a row.
type mode struct {
	loco uint16 // of Batch.locos
	gait uint16
}

// Kinds of rows in a batch.
const (
	airborne uint8 = iota
	grounded
	stepped // alone: no phase may touch it
)

// resize cuts the columns for a number of rows. Rows that only pad are zero.
func (c *batchColumns) resize(rows int) {
	if n := (rows + unroll - 1) &^ (unroll - 1); n != c.rows {
		c.cut(n)
	}
	clear(c.angles[rows:c.rows])
	clear(c.modes[rows:c.rows])
	for _, s := range [...][]float32{c.velX, c.velY, c.velZ, c.wish} {
		clear(s[rows:])
	}
}

// cut divides the memory into columns of n rows.
func (c *batchColumns) cut(n int) {
	c.rows = n
	rest := c.memory[:]
	cut := func(columns int) []float32 {
		size := columns * n
		s := rest[:size:size]
		rest = rest[size:]
		return s
	}
	c.vel, c.move = cut(3), cut(3)
	c.velX, c.velY, c.velZ = c.vel[:n], c.vel[n:2*n], c.vel[2*n:]
	c.moveX, c.moveY, c.moveZ = c.move[:n], c.move[n:2*n], c.move[2*n:]
	c.sin, c.cos, c.wish = cut(1), cut(1), cut(1)
	c.keep, c.sum = cut(1), cut(1)
}

// velocity is a row's.
func (c *batchColumns) velocity(row uint8) geom.Vec3 {
	return geom.Vec3{X: c.velX[row], Y: c.velY[row], Z: c.velZ[row]}
}

// finish sets the result of a row whose position is already the tick's: rounding leaves it.
func (c *batchColumns) finish(row uint8, vel geom.Vec3) {
	c.velX[row], c.velY[row], c.velZ[row] = vel.X, vel.Y, vel.Z
	c.moveX[row], c.moveY[row], c.moveZ[row] = 0, 0, 0
}

// sincos turns the angles of the wishes into directions.
func (c *batchColumns) sincos() { geom.SinCosAll(c.sin, c.cos, c.angles[:c.rows]) }

// accelerate is the function of that name in phases: friction, then acceleration along the wish.
func (c *batchColumns) accelerate(locos []locoTerms, dt float32) {
	keep, sum := c.keep, c.sum
	vek32.Mul_Into(sum, c.velX, c.velX)
	vek32.Mul_Into(keep, c.velZ, c.velZ)
	vek32.Add_Inplace(sum, keep)
	c.frictionShare(locos, dt)
	vek32.Mul_Inplace(c.velX, keep)
	vek32.Mul_Inplace(c.velZ, keep)

	vek32.Mul_Into(sum, c.velX, c.sin)
	vek32.Mul_Into(keep, c.velZ, c.cos)
	vek32.Add_Inplace(sum, keep)
	vek32.Sub_Inplace(c.wish, sum)
	c.limitWish(locos)
	vek32.Mul_Inplace(c.sin, c.wish)
	vek32.Mul_Inplace(c.cos, c.wish)
	vek32.Add_Inplace(c.velX, c.sin)
	vek32.Add_Inplace(c.velZ, c.cos)
}

// frictionShare sets keep to the share of its speed, whose square is in sum, that friction leaves a row.
//
// Roots and quotients are not vek's: its vector code takes both from estimates of 12 bits and one
// step of Newton's method, which is not what the last lanes and other processors get. Nor are
// minima and maxima: they store by mask, which takes some processors ten times as long. Floats that
// are not negative order as their bits do.
func (c *batchColumns) frictionShare(locos []locoTerms, dt float32) {
	const unit, tiny = 0x3f800000, 0x35800000 // 1, and VelUnit squared: below any speed
	keep, sum, modes := c.keep, c.sum[:len(c.keep)], c.modes[:len(c.keep)]
	for i, square := range sum {
		speed := geom.Sqrt(square)
		bits := math.Float32bits(speed)
		left := speed - float32(math.Float32frombits(max(bits, unit))*dt*locos[modes[i].loco].friction)
		keep[i] = notNegative(left) / math.Float32frombits(max(bits, tiny))
	}
}

// limitWish limits what is added along the wish.
func (c *batchColumns) limitWish(locos []locoTerms) {
	wish, modes := c.wish, c.modes[:len(c.wish)]
	for i, add := range wish {
		most := math.Float32bits(locos[modes[i].loco].most[modes[i].gait&(gaits-1)])
		wish[i] = math.Float32frombits(min(math.Float32bits(notNegative(add)), most))
	}
}

// notNegative is x, or 0 for a negative one.
func notNegative(x float32) float32 {
	bits := math.Float32bits(x)
	return math.Float32frombits(bits &^ uint32(int32(bits)>>31))
}

// applyGravity adds gravity, and the fixed speed of a jump.
func (c *batchColumns) applyGravity(locos []locoTerms) {
	velY, modes := c.velY, c.modes[:len(c.velY)]
	for i, y := range velY {
		of := &locos[modes[i].loco]
		velY[i] = max(float32(y*of.keepY)+of.addY, of.lowestY)
	}
}

// integrate is the way of the tick.
func (c *batchColumns) integrate(dt float32) { vek32.MulNumber_Into(c.move, c.vel, dt) }

// Adding and taking away 1.5 * 2^23 units leaves a float32 below 2^22 units rounded to whole ones,
// halves to even, as roundPosition and roundVelocity do for all numbers.
const (
	moveMagic  = 3 << 22 * PosUnit
	speedMagic = 3 << 22 * VelUnit
)

// round rounds ways of less than 1024 m, and velocities within TopSpeed.
func (c *batchColumns) round() {
	vek32.AddNumber_Inplace(c.move, moveMagic)
	vek32.SubNumber_Inplace(c.move, moveMagic)
	vek32.AddNumber_Inplace(c.vel, speedMagic)
	vek32.SubNumber_Inplace(c.vel, speedMagic)
}
