package move

import "github.com/tickrate/tickrate/ecs/geom"

// broadPhase finishes every row whose way is free: a walker on a floor at the height of its feet with
// nothing higher in reach stays at that height, and a body in the air with nothing in reach flies on.
// It returns the others. What it leaves out could not change their ticks: walk and fly would look
// once, and find just that floor, or nothing.
//
// First the arena's table of heights decides, then the solids near the rest. No step has a branch but
// loops: whether something is in a body's way cannot be predicted. Each reads what is scattered over
// memory in a loop of its own, so that the processor fetches for many rows at once.
func (b *Batch) broadPhase() (collide []uint8) {
	b.lookUpTops()
	r, c, count := &b.rows, &b.columns, 0
	n := len(r.Pos)
	state, who, top := r.State[:n], r.Who[:n], c.top[:n]
	moveX, moveY, moveZ, kinds := c.moveX[:n], c.moveY[:n], c.moveZ[:n], c.kinds[:n]
	lowest, highest := b.arena.Bounds.Min.Y, b.arena.Bounds.Max.Y
	for i := range r.Pos {
		y, mx, my, mz := r.Pos[i].Y, moveX[i], moveY[i], moveZ[i]
		walks, phased := int(kinds[i]&grounded), int(1-kinds[i]>>1)
		// A walker's my is 0. The sum is within a hair of true, which is less than a body's skin.
		free := walks&one(y == top[i]) | (1-walks)&one(y+my >= top[i])
		free &= one(float32(mx*mx)+float32(my*my)+float32(mz*mz) <= b.terms[who[i].Body].strideSq) &
			one(y >= lowest) & one(y <= highest) & one(y+my <= highest)
		b.collide[count&(batchRows-1)] = uint8(i)
		count += phased &^ free
		s := &state[i]
		s.Since += uint16(phased & free & one(s.Since != 1<<16-1))
	}
	return b.amongSolids(b.collide[:count])
}

// lookUpTops reads the heights at the ends of all ways.
func (b *Batch) lookUpTops() {
	n := len(b.rows.Pos)
	c, tops := &b.columns, b.arena.Tops()
	moveX, moveZ, top := c.moveX[:n], c.moveZ[:n], c.top[:n]
	for i := range b.rows.Pos {
		p := &b.rows.Pos[i]
		top[i] = tops.At(p.X+moveX[i], p.Z+moveZ[i])
	}
}

// amongSolids is the second step for the rows that the first left.
func (b *Batch) amongSolids(rows []uint8) (collide []uint8) {
	b.lookUpCells(rows)
	count := 0
	for _, i := range rows {
		t, s := &b.terms[b.rows.Who[i].Body], &b.rows.State[i]
		way := geom.Vec3{X: b.columns.moveX[i], Y: b.columns.moveY[i], Z: b.columns.moveZ[i]}
		free := one(way.LenSq() <= t.strideSq) & b.unobstructed(t, i, way)
		b.collide[count] = i // not beyond where rows is read
		count += 1 - free
		s.Since += uint16(free & one(s.Since != 1<<16-1))
	}
	return b.collide[:count]
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
	b.fetched = sum
}

// margin is what the broad phase adds to a body, in metres: more than rounding in coordinates of
// 2 km. To what a body only touches it adds less, half a skin, which is still more: otherwise who slid
// along a wall would never be free of it.
const margin = 1. / 256

// unobstructed is 1 if a row is free to move by way.
func (b *Batch) unobstructed(t *bodyTerms, row uint8, way geom.Vec3) int {
	o, walks := &b.rows.Pos[row], int(b.columns.kinds[row]&grounded)
	x, z := o.X+way.X, o.Z+way.Z
	low := o.Y + way.Y - [2]float32{margin, 0}[walks]
	high := low + t.tall
	steps := [2]float32{-1e9, o.Y + t.step}[walks]
	blocked, floor := 0, 1-walks
	near := b.arena.List(b.cells[row])
	for i := range near {
		s := &near[i]
		x0, x1, z0, z1 := s.Min.X-x, x-s.Max.X, s.Min.Z-z, z-s.Max.Z
		aside := t.aside[one(s.Max.Y > steps)]
		blocked |= one(x0 < aside) & one(x1 < aside) & one(z0 < aside) & one(z1 < aside) &
			one(s.Min.Y < high) & one(s.Max.Y > low)
		floor |= one(s.Max.Y == o.Y) & one(x0 < -margin) & one(x1 < -margin) & one(z0 < -margin) &
			one(z1 < -margin) & one(uint8(s.Shape)|s.Pass == 0)
	}
	lo, hi := &b.arena.Bounds.Min, &b.arena.Bounds.Max
	inside := one(x-1 > lo.X) & one(x+1 < hi.X) & one(z-1 > lo.Z) & one(z+1 < hi.Z) & one(low > lo.Y) &
		one(o.Y >= lo.Y) & one(high < hi.Y)
	return inside & floor &^ blocked
}
