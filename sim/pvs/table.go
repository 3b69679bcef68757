package pvs

import (
	"fmt"
	"math/bits"
	"slices"
)

// Table is which cells may see each other. It is read-only once built; any number of goroutines
// may read it.
type Table struct {
	c     Config
	arena [32]byte
	words int       // of a row
	floor []float32 // by cell: height of its lowest ground
	bits  []uint64  // rows by node, level * cells + cell; bit n of a row: node n may be seen
}

func newTable(c Config, arena [32]byte) *Table {
	t := &Table{c: c, arena: arena, words: c.words()}
	t.c.Levels = append([]float32{}, c.Levels...)
	t.floor = make([]float32, c.cells())
	t.bits = make([]uint64, c.bytes()/8)
	return t
}

// Config is the config of the table, with defaults.
func (t *Table) Config() Config { return t.c }

// Arena is the hash of the arena it was built from.
func (t *Table) Arena() [32]byte { return t.arena }

// Fits reports whether Build would make this table of a config for the same arena, except for
// MaxBytes.
func (t *Table) Fits(c Config) bool {
	c = c.withDefaults()
	u := &t.c
	return c.MinX == u.MinX && c.MinZ == u.MinZ && c.Cell == u.Cell && c.Wide == u.Wide &&
		c.Deep == u.Deep && c.LookAhead == u.LookAhead &&
		c.Speed == u.Speed && c.Climb == u.Climb && c.Effort == u.Effort && slices.Equal(c.Levels, u.Levels)
}

// Cells is the number of cells, Levels that of levels, Bytes the size of the bits.
func (t *Table) Cells() int  { return t.c.cells() }
func (t *Table) Levels() int { return t.c.levels() }
func (t *Table) Bytes() int  { return len(t.bits) * 8 }

// Cell is the cell of a position, as in ecs/interest: a position outside counts for the nearest
// cell.
func (t *Table) Cell(x, z float32) int {
	at := func(v, lo float32, n int) int {
		if v = (v - lo) / t.c.Cell; !(v > 0) { // NaN, too
			return 0
		}
		return int(min(v, float32(n-1)))
	}
	return at(z, t.c.MinZ, t.c.Deep)*t.c.Wide + at(x, t.c.MinX, t.c.Wide)
}

// Level is the level of a player in a cell whose feet are at a height, in metres.
func (t *Table) Level(cell int, feet float32) int {
	for level, h := range t.c.Levels {
		if feet <= t.floor[cell]+h {
			return level
		}
	}
	return len(t.c.Levels)
}

// Visible reports whether a player in cell from, at any height, might see a player in cell to.
// Cells are z*Wide + x, and must be cells of the grid. It is an interest.VisibleFunc.
func (t *Table) Visible(from, to int) bool {
	top := len(t.c.Levels) * len(t.floor)
	return t.get(top+from, top+to)
}

// VisibleAt is Visible for players on given levels, 0 to Levels()-1.
func (t *Table) VisibleAt(from, fromLevel, to, toLevel int) bool {
	return t.get(fromLevel*len(t.floor)+from, toLevel*len(t.floor)+to)
}

func (t *Table) get(x, y int) bool { return t.bits[x*t.words+y>>6]>>(y&63)&1 != 0 }
func (t *Table) set(x, y int)      { t.bits[x*t.words+y>>6] |= 1 << (y & 63) }

// String describes the table in a line.
func (t *Table) String() string {
	return fmt.Sprintf("pvs: %d x %d cells of %v m, %d levels, %d bytes", t.c.Wide, t.c.Deep, t.c.Cell,
		t.c.levels(), t.Bytes())
}

// Occupancy is the highest level of each cell that a player of one snapshot is on. Its Visible
// hides more than that of its table, and is valid for the players raised since the last Reset.
type Occupancy struct {
	t     *Table
	nodes []uint32 // by cell
	here  []uint64 // nodes with players, one a cell
}

// NewOccupancy returns the occupancy of no players.
func NewOccupancy(t *Table) *Occupancy {
	c := &Occupancy{t: t, nodes: make([]uint32, t.Cells()), here: make([]uint64, t.words)}
	c.Reset()
	return c
}

// Reset begins a snapshot: all players are on the ground.
func (c *Occupancy) Reset() {
	for cell := range c.nodes {
		c.nodes[cell] = uint32(cell)
	}
	clear(c.here)
}

// Raise adds the position of the feet of a player that sees or is seen.
func (c *Occupancy) Raise(x, y, z float32) {
	cell := c.t.Cell(x, z)
	was := c.nodes[cell]
	node := max(was, uint32(c.t.Level(cell, y)*len(c.nodes)+cell))
	c.here[was>>6] &^= 1 << (was & 63)
	c.here[node>>6] |= 1 << (node & 63)
	c.nodes[cell] = node
}

// Visible reports whether a player in cell from might see a player in cell to. It is an
// interest.VisibleFunc.
func (c *Occupancy) Visible(from, to int) bool { return c.t.get(int(c.nodes[from]), int(c.nodes[to])) }

// Seen appends the cells that Visible reports for a cell and in which a player was raised since
// the last Reset. It takes the time of those, and of a word for 64 others. It is an
// interest.VisibleFromFunc.
func (c *Occupancy) Seen(from int, cells []uint16) []uint16 {
	row := c.t.bits[int(c.nodes[from])*c.t.words:][:len(c.here)]
	for i, here := range c.here {
		for w := here & row[i]; w != 0; w &= w - 1 {
			cell := i*64 + bits.TrailingZeros64(w)
			for cell >= len(c.nodes) { // of a higher level
				cell -= len(c.nodes)
			}
			cells = append(cells, uint16(cell))
		}
	}
	return cells
}
