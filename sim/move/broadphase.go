package move

import (
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
	r, c := &b.rows, &b.columns
	n := len(r.Pos)
	who, spots := r.Who[:n], b.spots[:n]
	moveX, moveY, moveZ, kinds := c.moveX[:n], c.moveY[:n], c.moveZ[:n], c.kinds[:n]
	b.arena.Ground().Locate(spots, r.Pos, moveX, moveZ)
	const longest = 0.5 // of a way that may be free
	lowest, highest := b.arena.Bounds.Min.Y, b.arena.Bounds.Max.Y-longest
	among, count := 0, 0
	for i := range r.Pos {
		y, mx, my, mz := r.Pos[i].Y, moveX[i], moveY[i], moveZ[i]
		floor, some := spots[i].Floor(), spots[i].HasObstacles()
		walks, phased := int(kinds[i]&grounded), int(1-kinds[i]>>1)
		// A walker's my is 0. The sum is within a hair of true, which is less than a body's skin.
		free := one(y+my >= floor) & one(y >= lowest) & one(y <= highest) &
			one(float32(mx*mx)+float32(my*my)+float32(mz*mz) <= b.terms[who[i].Body].strideSq)
		free &= some | (1 - walks) | one(y == floor)
		b.among[among&(batchRows-1)] = uint8(i)
		among += phased & free & some
		b.collide[count&(batchRows-1)] = uint8(i)
		count += phased &^ free
	}
	return b.amongObstacles(b.among[:among], b.collide[:count])
}

// amongObstacles is the broad phase of rows in squares with obstacles. It appends those that may
// touch one to collide.
func (b *Batch) amongObstacles(rows, collide []uint8) []uint8 {
	fetched := uint64(0)
	for _, i := range rows {
		fetched += b.arena.Ground().Obstacles(&b.spots[i])[0].Plan
	}
	b.fetched = fetched
	count := len(collide)
	for _, i := range rows {
		blocked := b.blocked(i)
		b.collide[count&(batchRows-1)] = i
		count += blocked
	}
	return b.collide[:count]
}

// margin is what the broad phase adds to a body, in metres: more than rounding in coordinates of
// 2 km. To what a body only touches it adds less, half a skin to a skin, which is still more:
// otherwise what slid along a wall would never be free of it.
const margin = 1. / 256

// blocked is 1 if an obstacle may touch a row where it moves to, or a walker may step on one, or
// has no floor at its feet.
func (b *Batch) blocked(row uint8) (blocked int) {
	c, g := &b.columns, b.arena.Ground()
	t, o, at := &b.terms[b.rows.Who[row].Body], &b.rows.Pos[row], &b.spots[row]
	low := g.HeightLane(o.Y + c.moveY[row])
	floor := min(int(low), arena.MaxLane-1)
	height := arena.Lanes(min(int(low+t.tall)+1, arena.MaxLane), arena.MaxLane-1-floor, arena.MaxLane,
		arena.MaxLane) | arena.LaneGuard
	obstacles := g.Obstacles(at)
	if c.kinds[row] == airborne {
		for i := range obstacles {
			blocked |= overlap(at.Plan+t.touch, height, &obstacles[i])
		}
		return blocked
	}
	steps := height - uint64(max(arena.MaxLane-floor-t.steps, 0))<<32
	stands := one(o.Y == at.Floor())
	for i := range obstacles {
		blocked |= overlap(at.Plan+t.touch, height, &obstacles[i]) | overlap(at.Plan+t.step, steps, &obstacles[i])
	}
	if stands == 0 && float32(floor) == low { // on top of an obstacle
		level := arena.Lanes(arena.MaxLane, arena.MaxLane-floor, floor, 0) | arena.LaneGuard
		for i := range obstacles {
			stands |= overlap(at.Plan-standsBy, level, &obstacles[i])
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
			sum += list[0].Min.X + list[len(list)/2].Min.X + list[len(list)-1].Min.X
		}
	}
	b.near = sum
}
