package move

import (
	"github.com/tickrate/tickrate/sim/arena"
)

// Implementation constants of a batch.
const (
	batchRows = 256 // rows of a batch: its columns stay in the first cache
	unroll    = 32  // lanes of one turn of vek's loops; rows are padded to a multiple
	fewRows   = 16  // up to this number, rows are stepped one by one: a pass costs as much as for 32
)

// BodyTeam is the body and the team of a row.
type BodyTeam struct {
	Body uint8 // index into the bodies of StepBodies
	Team uint8 // see Body.Step
}

// Rows are bodies with what they are to do in a tick; In and Who have an entry for each row.
type Rows struct {
	Columns
	In  []Input
	Who []BodyTeam
}

// slice is rows from to to.
func (r *Rows) slice(from, to int) Rows {
	return Rows{
		Columns: Columns{Pos: r.Pos[from:to], Vel: r.Vel[from:to], State: r.State[from:to]},
		In:      r.In[from:to], Who: r.Who[from:to],
	}
}

// Batch is the memory of StepBodies: about 23 KB, for one caller at a time. The zero value is
// ready. Nothing in it outlives a call but tables that follow from the arguments.
type Batch struct {
	columns batchColumns // first: then they begin with a cache line
	rows    Rows         // at hand
	bodies  []*Body
	arena   *arena.Arena
	rate    uint16
	dt      float32

	terms    []bodyTerms      // of bodies at rate
	locos    []locoTerms      // likewise, eight a body
	changes  []changeTerms    // likewise
	changing [batchRows]uint8 // rows whose state of locomotion changes, walkers' wishes aside
	alone    []aloneRow       // rows that were stepped alone, before the phases
	memory   [batchRows]aloneRow
	broadRows
	collider collider
}

// broadRows are what the broad phase finds.
type broadRows struct {
	spots   [batchRows]arena.Spot // that the rows move to
	among   [batchRows]uint8      // rows with obstacles near them
	collide [batchRows]uint8      // rows that may touch something
	cells   [batchRows]arena.Cell // by row, of these
	fetched uint64                // what was read only to have it in the cache
	near    float32               // likewise
}

// aloneRow is a row that was stepped alone, and its state afterwards.
type aloneRow struct {
	row   uint8
	state State
}

// StepBodies takes every row through one tick, as Body.Step would, to the same bits; bodies holds
// what Who.Body indexes. It panics for an index out of range. Motions must be as Round leaves them.
//
// It goes through up to 256 rows at a time in phases, each over columns: wishes (the state of
// locomotion, and the numbers that follow from it), friction and acceleration, gravity,
// integration; then the broad phase, which finishes every body that nothing stands in the way of;
// the collisions of the others, one by one; and rounding.
func (b *Batch) StepBodies(r Rows, bodies []*Body, a *arena.Arena, now arena.Moment) {
	if now.Rate == 0 {
		return
	}
	b.prepare(bodies, a, uint16(now.Rate))
	b.collider.moving = movingSolids{moment: now}
	for n := len(r.Pos); n > 0; n = len(r.Pos) {
		b.rows = r.slice(0, min(n, batchRows))
		if r = r.slice(len(b.rows.Pos), n); len(b.rows.Pos) <= fewRows {
			b.stepAlone()
		} else {
			b.step()
		}
	}
	b.rows = Rows{}
}

// stepAlone steps the rows at hand one by one.
func (b *Batch) stepAlone() {
	for i := range b.rows.Pos {
		b.stepRow(i)
	}
}

// step steps the rows at hand in phases.
func (b *Batch) step() {
	c := &b.columns
	c.resize(len(b.rows.Pos))
	b.wishes()
	c.sincos()
	c.accelerate(b.locos, b.dt)
	c.applyGravity(b.locos)
	c.integrate(b.dt)
	b.resolve(b.broadPhase())
	b.dropAlone()
	c.round()
	b.store()
}

// stepRow is Body.Step of a row in place.
func (b *Batch) stepRow(i int) {
	r, m := &b.rows, &b.collider
	m.body, m.pass = b.bodies[r.Who[i].Body], arena.PassTeam(r.Who[i].Team)
	var motion Motion
	motion.Load(&r.Pos[i], &r.Vel[i], &r.State[i])
	motion.round()
	m.step(&motion, &r.In[i], b.dt)
	motion.store(&r.Pos[i], &r.Vel[i], &r.State[i])
}

// resolve collides the rows that the broad phase left.
func (b *Batch) resolve(rows []uint8) {
	b.lookUpCells(rows)
	c, r, m := &b.columns, &b.rows, &b.collider
	var motion Motion
	for _, i := range rows {
		m.body, m.pass = b.bodies[r.Who[i].Body], arena.PassTeam(r.Who[i].Team)
		motion.Load(&r.Pos[i], &r.Vel[i], &r.State[i])
		motion.Vel = c.velocity(i)
		motion.Since-- // wishes counted the tick, and so does resolve
		if motion.Loco.Grounded() {
			motion.Vel.Y = -m.body.stick * b.dt
		}
		m.cell, m.moving.count = b.arena.List(b.cells[i]), 0 // rows near movers were stepped alone
		m.resolve(&motion, &r.In[i], motion.Vel.Scale(b.dt), b.rate)
		r.Pos[i] = m.origin.Add(roundPos(motion.Pos))
		r.State[i] = State{motion.Loco, motion.Jumps, motion.Since, motion.Held}
		c.finish(i, roundVel(motion.Vel))
	}
}

// dropAlone takes the rows that were stepped alone out of the phases.
func (b *Batch) dropAlone() {
	for _, a := range b.alone {
		b.columns.finish(a.row, b.rows.Vel[a.row])
		b.rows.State[a.row] = a.state
	}
}

// store writes the columns back.
func (b *Batch) store() {
	r, c := &b.rows, &b.columns
	n := len(r.Pos)
	pos, vel := r.Pos, r.Vel[:n]
	x, y, z := c.moveX[:n], c.moveY[:n], c.moveZ[:n]
	vx, vy, vz := c.velX[:n], c.velY[:n], c.velZ[:n]
	for i := range pos {
		p, v := &pos[i], &vel[i]
		p.X, p.Y, p.Z = p.X+x[i], p.Y+y[i], p.Z+z[i]
		v.X, v.Y, v.Z = vx[i], vy[i], vz[i]
	}
}
