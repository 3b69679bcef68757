package pvs

import (
	"errors"

	"github.com/tickrate/tickrate/sim/arena"
)

// ErrGrid reports a grid that does not cover the arena's bounds.
var ErrGrid = errors.New("pvs: the grid does not cover the arena's bounds; Fit makes one that does")

// Build computes the table of an arena. It takes about 6 microseconds for each pair of cells
// between houses, less in the open: 3 s for 32 x 32 cells, and minutes for more than 64 x 64,
// which AppendBinary saves for later. While it works it takes 3 KiB a cell and level besides the
// table. The errors say what is wrong with the config, or that the table would be too large. Equal
// arguments give equal tables.
func Build(a *arena.Arena, c Config) (*Table, error) {
	b, err := newBuilder(a, c)
	if err != nil {
		return nil, err
	}
	b.buildTree()
	b.blockPair(len(b.tree)-1, 0, 0)
	return b.t, nil
}

// newBuilder checks a config and computes the floors.
func newBuilder(a *arena.Arena, c Config) (*builder, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	t := newTable(c, a.Hash())
	end := c.cellArea(c.cells() - 1)
	if c.MinX > a.Bounds.Min.X || c.MinZ > a.Bounds.Min.Z || end.x1 < a.Bounds.Max.X ||
		end.z1 < a.Bounds.Max.Z {
		return nil, ErrGrid
	}
	b := &builder{c: &t.c, t: t, walls: newWalls(a), ground: newGround(a, &t.c)}
	b.computeFloors()
	if len(b.walls.all) == 0 { // a wall outside the world, as the first lastWall
		b.walls.all = []wall{{box: box{point{1, 1, 1}, point{-1, -1, -1}}}}
	}
	return b, nil
}

// builder fills a table.
type builder struct {
	c        *Config
	t        *Table
	walls    *walls
	ground   *ground
	nodes    []parts       // by node: level * cells + cell; nil until needed
	solids   []arena.Solid // memory of solidsNear
	tree     [][]block     // cells, blocks of 2 x 2 cells, of 4 x 4, ...
	wides    []int         // of each: blocks along x
	lastWall uint32        // the wall that hid the last pair
	// the smallest parts of pairs of nodes that were not hidden, the latest first; 0: none yet
	recent     [recentPairs][2]uint8
	effortLeft int // pairs of parts that may still be tested
}

// computeFloors finds the lowest ground of each cell.
func (b *builder) computeFloors() {
	b.nodes = make([]parts, b.c.cells()*b.c.levels())
	for cell := range b.c.cells() {
		b.t.floor[cell] = b.ground.floor(b.c.cellArea(cell))
	}
}

// nodeParts is where a player now in a cell, on a level, can be within the look-ahead.
func (b *builder) nodeParts(node int) parts {
	if b.nodes[node] == nil {
		cell, g := node%b.c.cells(), b.ground
		r, bounds := b.c.cellArea(cell), &g.a.Bounds
		reach := r.grown(b.c.reach())
		reach = area{max(reach.x0, bounds.Min.X), max(reach.z0, bounds.Min.Z), min(reach.x1, bounds.Max.X),
			min(reach.z1, bounds.Max.Z)}
		b.solids = g.solidsNear(reach, b.solids[:0])
		p := g.reachable(r, b.feetHeight(node), b.c, b.solids)
		b.nodes[node] = g.splitPlace(&p, reach)
	}
	return b.nodes[node]
}

// feetHeight is the greatest height of the feet on a node.
func (b *builder) feetHeight(node int) float32 {
	if level := node / b.c.cells(); level < len(b.c.Levels) {
		return min(b.ground.top, b.t.floor[node%b.c.cells()]+b.c.Levels[level])
	}
	return b.ground.top
}

// solidsNear appends the solids around an area, and movers there as what they lift bodies to.
func (g *ground) solidsNear(r area, out []arena.Solid) []arena.Solid {
	r = r.grown(1)
	for i := range g.a.Solids {
		s := &g.a.Solids[i]
		if s.Max.X >= r.x0 && s.Min.X <= r.x1 && s.Max.Z >= r.z0 && s.Min.Z <= r.z1 {
			out = append(out, *s)
		}
	}
	for i := range g.a.Movers {
		if s := liftOf(&g.a.Movers[i]); s.Max.X >= r.x0 && s.Min.X <= r.x1 && s.Max.Z >= r.z0 && s.Min.Z <= r.z1 {
			out = append(out, s)
		}
	}
	return out
}

// cellPair computes all levels of two cells. A player on a level may be on every lower one: what
// is visible from below is visible from above, too.
func (b *builder) cellPair(from, to int) {
	cells, levels := b.c.cells(), b.c.levels()
	if from == to {
		for i := range levels * levels {
			b.t.set(i/levels*cells+from, i%levels*cells+to)
		}
		return
	}
	top := cells * (levels - 1)
	if b.sampleLines(from, to) {
		for i := range levels * levels {
			b.setVisible(i/levels*cells+from, i%levels*cells+to)
		}
		return
	}
	if !b.computeVisible(top+from, top+to) {
		return
	}
	b.setVisible(top+from, top+to)
	for i := range levels*levels - 1 {
		f, t := i/levels, i%levels
		x, y := f*cells+from, t*cells+to
		if f > 0 && b.t.get(x-cells, y) || t > 0 && b.t.get(x, y-cells) || b.computeVisible(x, y) {
			b.setVisible(x, y)
		}
	}
}

// setVisible puts a pair of nodes in the table.
func (b *builder) setVisible(x, y int) {
	b.t.set(x, y)
	b.t.set(y, x)
}

// computeVisible reports whether players in two nodes may see each other, either way, as the eyes
// are in the bodies.
func (b *builder) computeVisible(x, y int) bool {
	from, to := b.nodeParts(x), b.nodeParts(y)
	if from[0].empty() || to[0].empty() {
		return false
	}
	r, s := from[0].bodies(), to[0].bodies()
	if b.walls.testPair(&r, &s, &b.lastWall) == hidden {
		return false
	}
	if b.tryRecent(from, to) {
		return true
	}
	b.effortLeft = b.c.Effort
	return !b.allHidden(from, to, 0, 0)
}

// tryRecent tests the smallest parts that were not hidden from each other in other nodes: most
// visible pairs of nodes are visible between some of these, too. If no wall stands between two
// parts, none does between the parts that contain them, so allHidden would find them, or give up
// before.
func (b *builder) tryRecent(from, to parts) bool {
	for k, pair := range b.recent {
		p, q := &from[pair[0]], &to[pair[1]]
		if pair[0] == 0 || p.empty() || q.empty() {
			continue
		}
		r, s := p.bodies(), q.bodies()
		if b.walls.testPair(&r, &s, &b.lastWall) != hidden {
			b.moveToFront(k, pair)
			return true
		}
	}
	return false
}

// moveToFront moves a pair of parts to the front, in place of the k-th.
func (b *builder) moveToFront(k int, pair [2]uint8) {
	copy(b.recent[1:k+1], b.recent[:k])
	b.recent[0] = pair
}

// sampleLines traces some lines: most visible pairs are found at once.
func (b *builder) sampleLines(x, y int) bool {
	from, to := b.nodeParts(x), b.nodeParts(y)
	for i := range sampledLines {
		p, q := &from[sampleFirstPart+i*5%sampleParts], &to[sampleFirstPart+i*3%sampleParts]
		if p.empty() || q.empty() {
			continue
		}
		r, s := p.bodies(), q.bodies()
		if b.walls.lineFree(&r, &s) {
			return true
		}
	}
	return false
}

// recentPairs is how many pairs of parts are tested before two nodes are searched; each more finds
// fewer.
const recentPairs = 8

// Sampled lines go from the parts of one depth of the subdivision to those of the other side.
const (
	sampleParts     = 16
	sampleFirstPart = sampleParts - 1
	sampledLines    = 6
)

// allHidden reports whether no point of one part sees any point of the other. A divided part is
// hidden if both its halves are.
func (b *builder) allHidden(from, to parts, i, j int) bool {
	p, q := &from[i], &to[j]
	if p.empty() || q.empty() {
		return true
	}
	if b.effortLeft--; b.effortLeft < 0 {
		return false
	}
	r, s := p.bodies(), q.bodies()
	switch b.walls.testPair(&r, &s, &b.lastWall) {
	case hidden:
		return true
	case open:
		return false
	}
	leafI, leafJ := 2*i+2 >= len(from), 2*j+2 >= len(to)
	switch {
	case leafI && leafJ:
		b.moveToFront(len(b.recent)-1, [2]uint8{uint8(i), uint8(j)})
		return false
	case leafJ || !leafI && p.size() >= q.size():
		return b.allHidden(from, to, 2*i+1, j) && b.allHidden(from, to, 2*i+2, j)
	}
	return b.allHidden(from, to, i, 2*j+1) && b.allHidden(from, to, i, 2*j+2)
}
