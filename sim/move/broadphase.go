package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// broadPhase finishes every row whose way is free: a walker on a floor at the height of its feet
// with nothing higher in reach stays at that height, and a body in the air above the floor with
// nothing in reach flies on. It returns the others. What it leaves out could not change their
// ticks: walk and fly would look once, and find just that floor, or nothing.
//
// No step has a branch but loops: whether something is in a body's way cannot be predicted. Each
// reads what is scattered over memory in a loop of its own, so that the processor fetches for many
// rows at once.
func (b *Batch) broadPhase() (collide []uint8) {
	b.lookUpSquares()
	r, c := &b.rows, &b.columns
	n := len(r.Pos)
	who, floor, squares := r.Who[:n], c.floor[:n], c.squares[:n]
	moveX, moveY, moveZ, kinds := c.moveX[:n], c.moveY[:n], c.moveZ[:n], c.kinds[:n]
	const longest = 0.5 // of a way that may be free
	lowest, highest := b.arena.Bounds.Min.Y, b.arena.Bounds.Max.Y-longest
	ground := b.arena.Ground()
	among, count := 0, 0
	for i := range r.Pos {
		y, mx, my, mz := r.Pos[i].Y, moveX[i], moveY[i], moveZ[i]
		walks, phased := int(kinds[i]&grounded), int(1-kinds[i]>>1)
		// A walker's my is 0. The sum is within a hair of true, which is less than a body's skin.
		free := one(y+my >= floor[i]) & one(y >= lowest) & one(y <= highest) &
			one(float32(mx*mx)+float32(my*my)+float32(mz*mz) <= b.terms[who[i].Body].strideSq)
		some := one(ground.Count(int(squares[i])) > 0)
		free &= some | (1 - walks) | one(y == floor[i])
		b.among[among&(batchRows-1)] = uint8(i)
		among += phased & free & some
		b.collide[count&(batchRows-1)] = uint8(i)
		count += phased &^ free
		r.State[i].wait(phased & free &^ some)
	}
	return b.amongObstacles(b.among[:among], b.collide[:count])
}

// wait counts a tick in which nothing changed the state of locomotion, if one is 1.
func (s *State) wait(ticks int) { s.Since += uint16(ticks & one(s.Since != 1<<16-1)) }

// lookUpSquares finds the squares at the ends of all ways.
func (b *Batch) lookUpSquares() {
	n := len(b.rows.Pos)
	c, ground := &b.columns, b.arena.Ground()
	moveX, moveZ, floor, squares := c.moveX[:n], c.moveZ[:n], c.floor[:n], c.squares[:n]
	for i := range b.rows.Pos {
		p := &b.rows.Pos[i]
		square := ground.Square(p.X+moveX[i], p.Z+moveZ[i])
		squares[i], floor[i] = uint32(square), ground.Floor(square)
	}
}

// amongObstacles is the broad phase of rows in squares with obstacles. It appends those that may
// touch one to collide.
func (b *Batch) amongObstacles(rows, collide []uint8) []uint8 {
	fetched := uint64(0)
	for _, i := range rows {
		fetched += b.arena.Ground().Obstacles(int(b.columns.squares[i]))[0].Plan
	}
	b.fetched = fetched
	count := len(collide)
	for _, i := range rows {
		blocked := b.blocked(i)
		b.collide[count&(batchRows-1)] = i
		count += blocked
		b.rows.State[i].wait(1 - blocked)
	}
	return b.collide[:count]
}

// margin is what the broad phase adds to a body, in metres: more than rounding in coordinates of
// 2 km. To what a body only touches it adds less, half a skin, which is still more: otherwise what
// slid along a wall would never be free of it.
const margin = 1. / 256

// blocked is 1 if an obstacle may touch a row where it moves to, or a walker may step on one, or
// has no floor at its feet.
func (b *Batch) blocked(row uint8) (blocked int) {
	c, g := &b.columns, b.arena.Ground()
	t, o := &b.terms[b.rows.Who[row].Body], &b.rows.Pos[row]
	plan := g.PlanLanes(*o, geom.Vec3{X: c.moveX[row], Z: c.moveZ[row]})
	low := g.HeightLane(o.Y + c.moveY[row])
	floor := min(int(low), arena.MaxLane-1)
	height := arena.Lanes(min(int(low+t.tall)+1, arena.MaxLane), arena.MaxLane-1-floor, arena.MaxLane,
		arena.MaxLane) | arena.LaneGuard
	obstacles := g.Obstacles(int(c.squares[row]))
	if c.kinds[row] == airborne {
		for i := range obstacles {
			blocked |= overlap(plan+t.touch, height, &obstacles[i])
		}
		return blocked
	}
	steps := height - uint64(max(arena.MaxLane-floor-t.steps, 0))<<32
	stands := one(o.Y == c.floor[row])
	for i := range obstacles {
		blocked |= overlap(plan+t.touch, height, &obstacles[i]) | overlap(plan+t.step, steps, &obstacles[i])
	}
	if stands == 0 && float32(floor) == low { // on top of an obstacle
		level := arena.Lanes(arena.MaxLane, arena.MaxLane-floor, floor, 0) | arena.LaneGuard
		for i := range obstacles {
			stands |= overlap(plan-standsBy, level, &obstacles[i])
		}
	}
	return blocked | (1 - stands)
}

// standsBy is how far from the edge of an obstacle a walker stands on it for certain, in each lane.
const standsBy = margin / arena.LaneUnit * arena.EachLane

// overlap is 1 if a body's plan and height overlap an obstacle's.
func overlap(plan, height uint64, s *arena.Obstacle) int {
	return one((plan-s.Plan)&(height-s.Height)&arena.LaneGuard == arena.LaneGuard)
}

// lookUpCells finds the lists of solids near rows.
func (b *Batch) lookUpCells(rows []uint8) {
	a, sum := b.arena, float32(0)
	for _, i := range rows {
		p := &b.rows.Pos[i]
		b.cells[i] = a.Cell(p.X, p.Z)
	}
	for _, i := range rows {
		if list := a.List(b.cells[i]); len(list) > 0 {
			sum += list[0].Min.X + list[len(list)-1].Min.X
		}
	}
	b.near = sum
}
