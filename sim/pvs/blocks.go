package pvs

// block is a square of cells, or of smaller blocks: the bounds of all players in them.
type block struct {
	bounds box
	empty  bool
}

// buildTree makes the blocks: tree[0] has one a cell, each next a quarter as many, the last one
// for all.
func (b *builder) buildTree() {
	top := (b.c.levels() - 1) * b.c.cells()
	wide, deep := b.c.Wide, b.c.Deep
	leaves := make([]block, b.c.cells())
	for cell := range leaves {
		if p := &b.nodeParts(top + cell)[0]; p.empty() {
			leaves[cell].empty = true
		} else {
			leaves[cell].bounds = p.bodies()
		}
	}
	b.tree, b.wides = [][]block{leaves}, []int{wide}
	for wide > 1 || deep > 1 {
		below := b.tree[len(b.tree)-1]
		w, d := (wide+1)/2, (deep+1)/2
		next := make([]block, w*d)
		for i := range next {
			next[i].empty = true
		}
		for i := range below {
			next[i/wide/2*w+i%wide/2].add(&below[i])
		}
		b.tree, b.wides = append(b.tree, next), append(b.wides, w)
		wide, deep = w, d
	}
}

// add extends b by o.
func (b *block) add(o *block) {
	switch {
	case o.empty:
	case b.empty:
		*b = *o
	default:
		r, s := &b.bounds, &o.bounds
		r.lo = point{min(r.lo.x, s.lo.x), min(r.lo.y, s.lo.y), min(r.lo.z, s.lo.z)}
		r.hi = point{max(r.hi.x, s.hi.x), max(r.hi.y, s.hi.y), max(r.hi.z, s.hi.z)}
	}
}

// blockPair computes all pairs of cells in two blocks of one size. One wall between the two
// decides all of them.
func (b *builder) blockPair(size, x, y int) {
	p, q := &b.tree[size][x], &b.tree[size][y]
	if size == 0 {
		b.cellPair(min(x, y), max(x, y))
		return
	}
	if x != y && (p.empty || q.empty || b.walls.testPair(&p.bounds, &q.bounds, &b.lastWall) == hidden) {
		return
	}
	var xs, ys [4]int
	nx, ny := b.childBlocks(size, x, &xs), b.childBlocks(size, y, &ys)
	for i, from := range xs[:nx] {
		for j, to := range ys[:ny] {
			if x != y || i <= j {
				b.blockPair(size-1, from, to)
			}
		}
	}
}

// childBlocks lists the blocks in a block.
func (b *builder) childBlocks(size, x int, out *[4]int) (n int) {
	wide, below := b.wides[size], b.wides[size-1]
	deep := len(b.tree[size-1]) / below
	for i := range 4 {
		cx, cz := x%wide*2+i%2, x/wide*2+i/2
		if cx < below && cz < deep {
			out[n] = cz*below + cx
			n++
		}
	}
	return n
}
