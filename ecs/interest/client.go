package interest

import "math/bits"

// maxHysteresis is what 4 bits count to.
const maxHysteresis = 15

// Viewer is the position and direction that a client sees from.
type Viewer struct {
	Slot       int // its own row, which is always visible; -1 for none
	X, Z       float32
	Team       uint8   // rows of this team are always visible; 0 for none
	DirX, DirZ float32 // direction of view, of any length; 0, 0 for none
}

// Client has the visible rows and the priorities of one client. It takes 3 bytes a slot.
type Client struct {
	grid        Config
	words       int
	visible     []uint64
	inSight     []uint64
	selected    []uint64
	ahead       []uint64
	hysteresis  []counters // by word
	counting    []uint64   // bit i: word i of hysteresis is not all 0
	priority    []uint64   // 4 rows a word, 16 bits a row, at most maxPriority
	ties        []uint64   // of Select
	before      []uint64   // rows that were visible before the last UpdateVisible
	turn        int        // slot at which rows of equal priority begin
	updated     uint32     // the grid's count of snapshots at the last update
	hasPriority bool       // priority is not all 0
	threshold   int        // of the last Select
}

// counters are 64 counters of 4 bits, as the 4 sets of their bits: the snapshots for which a row
// stays in sight.
type counters [4]uint64

// maxPriority is where a row's priority stays. The highest bit of a lane is room for the sum.
const maxPriority = 1<<15 - 1

// NewClient returns a client of a grid to which nothing was visible yet.
func NewClient(g *Grid) *Client {
	c := &Client{grid: g.cfg, words: g.words, hysteresis: make([]counters, g.words)}
	sets := make([]uint64, (6+16)*g.words+(g.words+63)/64)
	cut := func(n int) (s []uint64) {
		s, sets = sets[:n:n], sets[n:]
		return s
	}
	c.visible, c.inSight, c.selected = cut(g.words), cut(g.words), cut(g.words)
	c.ahead, c.ties, c.before = cut(g.words), cut(g.words), cut(g.words)
	c.counting = cut((g.words + 63) / 64)
	c.priority = cut(g.words * 16)
	return c
}

// Reset makes it a client to which nothing was visible yet.
func (c *Client) Reset() {
	clear(c.visible)
	clear(c.inSight)
	clear(c.priority)
	c.hasPriority = false
	clear(c.hysteresis)
	clear(c.counting)
}

// Visible is the set of visible rows as of the last update. It belongs to the client.
func (c *Client) Visible() []uint64 { return c.visible }

// InSight is the set of rows that are visible for more than their team, as of the last update. It
// belongs to the client.
func (c *Client) InSight() []uint64 { return c.inSight }

// Selected is the set that the last Select has chosen. It belongs to the client.
func (c *Client) Selected() []uint64 { return c.selected }

// Threshold is the priority at which the last Select has stopped: it chose all rows above, and some
// at it; 0 if it chose all.
func (c *Client) Threshold() int { return c.threshold }

// Priority is what a slot has gained since it was sent.
func (c *Client) Priority(slot int) int {
	return int(c.priority[slot>>2] >> (slot & 3 * 16) & 0xffff)
}

// Update computes the visible rows in the grid's snapshot, and adds to their priorities. opponents
// is the set of rows in combat with the viewer, nil for none; it makes no row visible.
func (c *Client) Update(g *Grid, v Viewer, opponents []uint64) {
	cell := g.Cell(v.X, v.Z)
	from := g.from(cell)
	g.rings(cell, from)
	team := g.team(v.Team)
	c.cone(g, v)
	c.hasPriority = true
	for i := range g.here {
		visible := c.visibleNow(g, i, from, team, v.Slot)
		if visible|c.visible[i] == 0 {
			continue // all priorities are 0
		}
		c.addGains(g, from, i, &criteria{
			visible: visible, fresh: visible &^ c.visible[i], combat: inSet(opponents, i),
		})
		c.visible[i] = visible
	}
	c.updated = g.fills
}

// UpdateVisible is Update for a client that is sent all visible rows: it takes a part of the time,
// and all priorities become 0. Select then needs an AddPriority first.
func (c *Client) UpdateVisible(g *Grid, v Viewer) {
	if c.hasPriority {
		clear(c.priority)
		c.hasPriority = false
	}
	from := g.from(g.Cell(v.X, v.Z))
	c.visible, c.before = c.before, c.visible
	if team := g.team(v.Team); team != nil {
		copy(c.visible, team)
	} else {
		clear(c.visible)
	}
	clear(c.inSight)
	for k, words := range from.words {
		words |= c.counting[k]
		if v.Slot>>12 == k {
			words |= 1 << (v.Slot >> 6 & 63)
		}
		for ; words != 0; words &= words - 1 {
			i := k*64 + bits.TrailingZeros64(words)
			c.inSight[i] = c.sight(g, i, c.sightNow(g, i, from, v.Slot))
			c.visible[i] |= c.inSight[i]
		}
	}
	c.updated = g.fills
}

// AddPriority adds the priorities that UpdateVisible left out, for a client that cannot be sent all
// visible rows after all. The viewer must be that of UpdateVisible.
func (c *Client) AddPriority(g *Grid, v Viewer, opponents []uint64) {
	cell := g.Cell(v.X, v.Z)
	from := g.from(cell)
	g.rings(cell, from)
	c.cone(g, v)
	c.hasPriority = true
	for i, visible := range c.visible {
		if visible != 0 {
			c.addGains(g, from, i, &criteria{visible: visible, fresh: visible &^ c.before[i], combat: inSet(opponents, i)})
		}
	}
}

// addGains adds the gains of word i. Its visible and fresh rows and the viewer's own combat are
// given.
func (c *Client) addGains(g *Grid, from *view, i int, of *criteria) {
	of.mid, of.near, of.ahead = from.mid[i], from.near[i], c.ahead[i]
	of.combat |= g.inCombat[i]
	g.gains.add((*[16]uint64)(c.priority[i*16:]), of)
}

// inSet is word i of a set that may be shorter.
func inSet(set []uint64, i int) uint64 {
	if i < len(set) {
		return set[i]
	}
	return 0
}

// MarkAllSent records that the client was sent all rows of visible without an update: no row waits.
// It is for clients that see all rows.
func (c *Client) MarkAllSent(visible []uint64) {
	copy(c.visible, visible)
	if c.hasPriority {
		clear(c.priority)
		c.hasPriority = false
	}
}

// visibleNow is which rows of word i are visible from a cell, to a team, or were in sight a moment
// ago. A row that is visible for its team alone has no hysteresis.
func (c *Client) visibleNow(g *Grid, i int, from *view, team []uint64, own int) (visible uint64) {
	c.inSight[i] = c.sight(g, i, c.sightNow(g, i, from, own))
	if visible = c.inSight[i]; team != nil {
		visible |= team[i]
	}
	return visible
}

// sightNow is which rows of word i are in sight of a cell.
func (c *Client) sightNow(g *Grid, i int, from *view, own int) uint64 {
	now := from.all[i]
	if own>>6 == i {
		now |= 1 << (own & 63)
	}
	return now & g.here[i]
}

// sight is the rows of word i that are in sight now or were a moment ago.
func (c *Client) sight(g *Grid, i int, now uint64) uint64 {
	kept := c.countDown(i, now) & g.here[i] &^ now
	if kept == 0 {
		return now
	}
	others := g.replaced(i, kept, c.updated)
	if others != 0 {
		for n := range c.hysteresis[i] {
			c.hysteresis[i][n] &^= others
		}
	}
	return now | kept&^others
}

// countDown sets the counters of rows that are in sight now, and counts the others down. It returns
// the rows whose counters had not run out.
func (c *Client) countDown(i int, now uint64) (kept uint64) {
	if c.grid.Hysteresis == 0 {
		return 0
	}
	h := &c.hysteresis[i]
	a, b, d, e := h[0], h[1], h[2], h[3]
	kept = a | b | d | e
	borrow := kept // subtracts 1 where the counter is not 0
	a, borrow = a^borrow, borrow&^a
	b, borrow = b^borrow, borrow&^b
	d, borrow = d^borrow, borrow&^d
	e ^= borrow
	n := uint64(c.grid.Hysteresis)
	h[0] = a&^now | now&-(n&1)
	h[1] = b&^now | now&-(n>>1&1)
	h[2] = d&^now | now&-(n>>2&1)
	h[3] = e&^now | now&-(n>>3&1)
	if c.counting[i>>6] &^= 1 << (i & 63); h[0]|h[1]|h[2]|h[3] != 0 {
		c.counting[i>>6] |= 1 << (i & 63)
	}
	return kept
}

// cone sets ahead to the rows in the cells of the viewer's cone.
func (c *Client) cone(g *Grid, v Viewer) {
	clear(c.ahead)
	if v.DirX == 0 && v.DirZ == 0 || c.grid.Weights.Ahead == 0 {
		return
	}
	cone := g.newCone(v)
	for row := range g.cfg.Deep {
		first, last := cone.span(row, g.cfg.Wide)
		g.span(row, first, last, c.ahead)
	}
}
