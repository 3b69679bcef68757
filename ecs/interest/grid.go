package interest

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/netid"
)

// Config describes a grid. Zero fields mean the defaults named. Rows outside the grid count for the
// nearest cell.
type Config struct {
	Slots        int         // rows, 1 to 65536; required
	MinX, MinZ   float32     // corner of the grid, metres
	Cell         float32     // edge of a cell, metres; default 8
	Wide, Deep   int         // cells along x and z, 1 to 256 each; default 32
	Near, Mid    int         // cells to near rows and to rows in the middle; default 2 and 6
	ViewDistance int         // distance in cells of visible rows; default no limit
	Hysteresis   int         // snapshots for which a row stays visible, 0 to 15
	Weights      Weights     // default DefaultWeights
	Visible      VisibleFunc // default: all rows in view distance are visible

	// VisibleFrom, if set beside Visible, is asked in its place where there is no limit of view
	// distance and rows are many, once a cell. It must give the same answers.
	VisibleFrom VisibleFromFunc
}

// VisibleFunc reports whether a row in cell to might be visible from cell from; cells are z*Wide +
// x. Every Fill asks it again, for cells with viewers and rows, so it should read a table. Its
// answers must not change while a Grid uses it.
type VisibleFunc func(from, to int) bool

// VisibleFromFunc appends to cells those that might be visible from a cell, in any order, each
// once. Cells without rows may be left out. The rules of VisibleFunc hold.
type VisibleFromFunc func(from int, cells []uint16) []uint16

// Weights are what a visible row gains in a snapshot for each criterion. Their sum is at most 4096.
type Weights struct {
	Visible uint16 // always; at least 1
	Mid     uint16 // within Config.Mid
	Near    uint16 // within Config.Near, on top of Mid
	Ahead   uint16 // in the viewer's cone
	Combat  uint16 // in combat
	New     uint16 // not visible in the snapshot before
}

// DefaultWeights are used where all weights are 0.
var DefaultWeights = Weights{Visible: 1, Mid: 3, Near: 8, Ahead: 4, Combat: 16, New: 64}

// Most is the most that a row can gain in one snapshot.
func (w Weights) Most() int {
	return int(w.Visible) + int(w.Mid) + int(w.Near) + int(w.Ahead) + int(w.Combat) + int(w.New)
}

// MaxSlots is the most rows of a grid.
const MaxSlots = 1 << 16

func (c Config) withDefaults() Config {
	or := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	or(&c.Wide, 32)
	or(&c.Deep, 32)
	or(&c.Near, 2)
	or(&c.Mid, 6)
	or(&c.ViewDistance, math.MaxInt16)
	if c.Cell == 0 {
		c.Cell = 8
	}
	if c.Weights == (Weights{}) {
		c.Weights = DefaultWeights
	}
	grid := c.Wide >= 1 && c.Wide <= 256 && c.Deep >= 1 && c.Deep <= 256 && c.Cell > 0
	weights := c.Weights.Visible > 0 && c.Weights.Most() <= 4096
	slots := c.Slots >= 1 && c.Slots <= MaxSlots
	hysteresis := c.Hysteresis >= 0 && c.Hysteresis <= maxHysteresis
	visible := c.VisibleFrom == nil || c.Visible != nil
	if !grid || !weights || !slots || !hysteresis || !visible {
		panic(fmt.Sprintf("interest: %d slots, %d x %d cells of %g m, weights %+v, hysteresis %d, VisibleFrom without Visible: %v; "+
			"want 1 to %d slots, 1 to 256 x 256 cells above 0 m, weights of 1 (Visible) to 4096 (all), hysteresis 0 to %d, and both functions",
			c.Slots, c.Wide, c.Deep, c.Cell, c.Weights, c.Hysteresis, !visible, MaxSlots, maxHysteresis))
	}
	return c
}

// Grid has the positions of all rows in one snapshot, for all clients. It takes 12 bytes a slot
// and, for each cell with a viewer, three bits a slot.
type Grid struct {
	cfg      Config
	words    int
	ids      []netid.ID // by slot
	since    []uint32   // by slot: snapshot in which it got that id
	fills    uint32     // snapshots filled
	here     []uint64
	inCombat []uint64
	byCell   cellIndex
	gains    *gains
	discs    struct{ near, mid, far disc }
	listed   []uint16 // the last answer of VisibleFrom
	views    []view   // by cell
	teams    [256][]uint64
	inUse    []uint8 // teams that are not empty
	pool     setPool
}

// cellIndex has the rows of a snapshot sorted by cell.
type cellIndex struct {
	cells []uint16 // by slot
	start []int32  // by cell: first of its rows in order; one more at the end
	order []uint16 // slots with rows, by cell
}

// setPool lends sets of slots until the next snapshot.
type setPool struct {
	free, used [][]uint64
}

// view is what is visible from a cell. near and mid are computed for the first viewer with
// priorities. Bit i of words says that word i of all is not 0.
type view struct {
	near, mid, all []uint64
	words          []uint64
}

// NewGrid returns an empty grid.
func NewGrid(c Config) *Grid {
	c = c.withDefaults()
	g := &Grid{cfg: c, words: (c.Slots + 63) / 64}
	g.here, g.inCombat = make([]uint64, g.words), make([]uint64, g.words)
	g.ids, g.since = make([]netid.ID, c.Slots), make([]uint32, c.Slots)
	g.byCell.cells = make([]uint16, c.Slots)
	g.byCell.start = make([]int32, c.Wide*c.Deep+1)
	g.byCell.order = make([]uint16, c.Slots)
	g.views = make([]view, c.Wide*c.Deep)
	g.gains = newGains(c.Weights)
	most := max(c.Wide, c.Deep)
	if c.VisibleFrom != nil {
		g.listed = make([]uint16, 0, c.Wide*c.Deep)
	}
	g.discs.near, g.discs.mid = newDisc(c.Near, most), newDisc(c.Mid, most)
	g.discs.far = newDisc(c.ViewDistance, most)
	return g
}

// SetViewDistance changes Config.ViewDistance, 0 for no limit. Call it between two snapshots.
func (g *Grid) SetViewDistance(cells int) {
	if cells == 0 {
		cells = math.MaxInt16
	}
	g.cfg.ViewDistance = cells
	g.discs.far = newDisc(cells, max(g.cfg.Wide, g.cfg.Deep))
}

// Config is the grid's configuration, with its defaults.
func (g *Grid) Config() Config { return g.cfg }

// Words is the length of a set of slots, in words.
func (g *Grid) Words() int { return g.words }

// Cell is the cell of a position.
func (g *Grid) Cell(x, z float32) int {
	at := func(v, lo float32, n int) int {
		if v = (v - lo) / g.cfg.Cell; !(v > 0) { // NaN, too
			return 0
		}
		return int(min(v, float32(n-1)))
	}
	return at(z, g.cfg.MinZ, g.cfg.Deep)*g.cfg.Wide + at(x, g.cfg.MinX, g.cfg.Wide)
}

// Fill takes the rows of a snapshot, by slot: ids, 0 for none; positions, metres; teams, 0 for
// none; and the set of rows in combat, nil for none. Columns have Slots entries and are only read.
func (g *Grid) Fill(ids []netid.ID, x, z []float32, team []uint8, combat []uint64) {
	g.recycle()
	g.fills++
	clear(g.here)
	for slot, id := range ids[:g.cfg.Slots] {
		if id != 0 {
			g.here[slot>>6] |= 1 << (slot & 63)
		}
		if id != g.ids[slot] {
			g.ids[slot], g.since[slot] = id, g.fills
		}
	}
	clear(g.inCombat)
	copy(g.inCombat, combat)
	clear(g.byCell.start)
	for i, w := range g.here {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			cell := g.Cell(x[slot], z[slot])
			g.byCell.cells[slot] = uint16(cell)
			g.byCell.start[cell]++
			if t := team[slot]; t != 0 {
				if g.teams[t] == nil {
					g.teams[t] = g.set()
					g.inUse = append(g.inUse, t)
				}
				g.teams[t][i] |= w & -w
			}
		}
	}
	g.sortByCell()
}

// sortByCell sorts the rows by cell. start has the number of rows of each cell.
func (g *Grid) sortByCell() {
	sum := int32(0)
	for cell := range g.byCell.start {
		sum += g.byCell.start[cell]
		// The end of the cell's rows; filling moves it to their beginning.
		g.byCell.start[cell] = sum
	}
	for i, w := range g.here {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			cell := g.byCell.cells[slot]
			g.byCell.start[cell]--
			g.byCell.order[g.byCell.start[cell]] = uint16(slot)
		}
	}
}

// replaced is which rows of word i have got another id since a snapshot.
func (g *Grid) replaced(i int, rows uint64, snapshot uint32) (others uint64) {
	for ; rows != 0; rows &= rows - 1 {
		if g.since[i*64+bits.TrailingZeros64(rows)] > snapshot {
			others |= rows & -rows
		}
	}
	return others
}

// recycle empties the grid of the snapshot before.
func (g *Grid) recycle() {
	g.pool.free = append(g.pool.free, g.pool.used...)
	g.pool.used = g.pool.used[:0]
	for _, t := range g.inUse {
		g.teams[t] = nil
	}
	clear(g.views)
	g.inUse = g.inUse[:0]
}

// set returns an empty set.
func (g *Grid) set() []uint64 {
	var s []uint64
	if n := len(g.pool.free); n > 0 {
		s, g.pool.free = g.pool.free[n-1], g.pool.free[:n-1]
		clear(s)
	} else {
		s = make([]uint64, g.words)
	}
	g.pool.used = append(g.pool.used, s)
	return s
}

// team is the set of a team's rows, nil for none.
func (g *Grid) team(t uint8) []uint64 {
	if t == 0 {
		return nil
	}
	return g.teams[t]
}

// span adds the rows of the cells from x to last of row z, which are neighbours in order, to a set.
func (g *Grid) span(z, x, last int, set []uint64) {
	x, last = max(x, 0), min(last, g.cfg.Wide-1)
	if x > last {
		return
	}
	at := z * g.cfg.Wide
	for _, slot := range g.byCell.order[g.byCell.start[at+x]:g.byCell.start[at+last+1]] {
		set[slot>>6] |= 1 << (slot & 63)
	}
}

// disc is a circle of cells: for each distance in z up to its radius, the largest distance in x.
type disc []int

func newDisc(radius, most int) (d disc) {
	for dz := 0; dz <= min(radius, most); dz++ {
		dx := 0
		for dx < most && (dx+1)*(dx+1)+dz*dz <= radius*radius {
			dx++
		}
		d = append(d, dx)
	}
	return d
}

// fewRows is up to how many rows Visible is asked for each occupied cell, even without a limit of
// view distance.
const fewRows = 64

// from is what is visible from a cell, computed for the first viewer in it.
func (g *Grid) from(cell int) *view {
	v := &g.views[cell]
	if v.all != nil {
		return v
	}
	v.all = g.set()
	limited := g.cfg.ViewDistance < max(g.cfg.Wide, g.cfg.Deep)*2
	switch {
	case g.cfg.VisibleFrom != nil && !limited && g.byCell.start[len(g.views)] > fewRows:
		g.addListed(cell, v.all)
	case g.cfg.Visible != nil:
		g.addVisible(cell, v.all)
	case !limited:
		copy(v.all, g.here)
	default:
		g.addDisc(cell, g.discs.far, v.all)
	}
	v.words = g.set()[:(g.words+63)/64]
	for i, w := range v.all {
		if w != 0 {
			v.words[i>>6] |= 1 << (i & 63)
		}
	}
	return v
}

// rings computes near and mid of a cell's view.
func (g *Grid) rings(cell int, v *view) {
	if v.near == nil {
		v.near, v.mid = g.set(), g.set()
		g.addDisc(cell, g.discs.near, v.near)
		g.addDisc(cell, g.discs.mid, v.mid)
	}
}

// addListed adds the rows that VisibleFrom lists.
func (g *Grid) addListed(cell int, set []uint64) {
	g.listed = g.cfg.VisibleFrom(cell, g.listed[:0])
	for _, to := range g.listed {
		for _, slot := range g.byCell.order[g.byCell.start[to]:g.byCell.start[int(to)+1]] {
			set[slot>>6] |= 1 << (slot & 63)
		}
	}
}

// addDisc adds the rows in a disc.
func (g *Grid) addDisc(cell int, d disc, set []uint64) {
	x, z := cell%g.cfg.Wide, cell/g.cfg.Wide
	for at := max(z-len(d)+1, 0); at < min(z+len(d), g.cfg.Deep); at++ {
		reach := d[max(at-z, z-at)]
		g.span(at, x-reach, x+reach, set)
	}
}

// addVisible adds the rows in view distance for which Visible is true.
func (g *Grid) addVisible(cell int, set []uint64) {
	x, z := cell%g.cfg.Wide, cell/g.cfg.Wide
	for at := max(z-len(g.discs.far)+1, 0); at < min(z+len(g.discs.far), g.cfg.Deep); at++ {
		reach, row := g.discs.far[max(at-z, z-at)], at*g.cfg.Wide
		first, end := row+max(x-reach, 0), row+min(x+reach, g.cfg.Wide-1)+1
		last, visible := -1, false
		for _, slot := range g.byCell.order[g.byCell.start[first]:g.byCell.start[end]] {
			if to := int(g.byCell.cells[slot]); to != last {
				last, visible = to, g.cfg.Visible(cell, to)
			}
			if visible {
				set[slot>>6] |= 1 << (slot & 63)
			}
		}
	}
}
