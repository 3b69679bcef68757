package interest

import "github.com/tickrate/tickrate/internal/planted"

// maxHysteresis is what 4 bits count to.
const maxHysteresis = 15

// Viewer is who looks.
type Viewer struct {
	Slot       int // its own row, which it always sees
	X, Z       float32
	Team       uint8   // whom it always sees; 0 for none
	DirX, DirZ float32 // where it looks, of any length; 0, 0: nowhere in particular
}

// Client is what one client saw and waits for. It takes 3 bytes a slot.
type Client struct {
	grid        Config
	words       int
	visible     []uint64
	selected    []uint64
	ahead       []uint64
	hysteresis  [4][]uint64 // bits of a counter: snapshots that a row stays seen
	priority    []uint64    // 4 rows a word, 16 bits a row: what it gained since it was sent, at most top
	ties        []uint64    // of Pick; from See until then: who came in sight
	turn        int         // where the rows of equal weight begin
	updated     uint32      // the grid's count of snapshots at the last Look
	hasPriority bool        // lanes are not all 0
	threshold   int         // of the last Pick
}

// top is where a row's weight stays: a lane's highest bit is room for the sum.
const top = 1<<15 - 1

// NewClient returns a client of a grid that saw nothing yet.
func NewClient(g *Grid) *Client {
	c := &Client{grid: g.cfg, words: g.words}
	sets := make([]uint64, (8+16)*g.words)
	cut := func(n int) (s []uint64) {
		s, sets = sets[:n:n], sets[n:]
		return s
	}
	c.visible, c.selected, c.ahead, c.ties = cut(g.words), cut(g.words), cut(g.words), cut(g.words)
	for i := range c.hysteresis {
		c.hysteresis[i] = cut(g.words)
	}
	c.priority = cut(g.words * 16)
	return c
}

// Reset makes it a client that saw nothing yet.
func (c *Client) Reset() {
	clear(c.visible)
	clear(c.priority)
	c.hasPriority = false
	for _, plane := range c.hysteresis {
		clear(plane)
	}
}

// Visible is the set of rows that the client may see since the last Look. It belongs to the client.
func (c *Client) Visible() []uint64 { return c.visible }

// Selected is the set that the last Pick chose. It belongs to the client.
func (c *Client) Selected() []uint64 { return c.selected }

// Threshold is the weight from which on the last Pick chose: all rows that weigh more, some that weigh this; 0 if it chose all.
func (c *Client) Threshold() int { return c.threshold }

// Priority is what a slot has gained since it was sent.
func (c *Client) Priority(slot int) int { return int(c.priority[slot>>2] >> (slot & 3 * 16) & 0xffff) }

// Update finds what a viewer may see in the grid's snapshot, and adds to the weights of these rows. fights is the set of rows that
// fight with the viewer, nil for none: it makes nobody seen.
func (c *Client) Update(g *Grid, v Viewer, fights []uint64) {
	cell := g.Cell(v.X, v.Z)
	from := g.from(cell)
	g.rings(cell, from)
	team := g.team(v.Team)
	c.cone(g, v)
	c.hasPriority = true
	for i := range g.here {
		seen := c.visibleNow(g, i, from, team, v.Slot)
		if seen|c.visible[i] == 0 {
			continue // and all weights are 0
		}
		fight := g.inCombat[i]
		if i < len(fights) {
			fight |= fights[i]
		}
		g.gains.add((*[16]uint64)(c.priority[i*16:]), seen, from.mid[i], from.near[i], c.ahead[i], fight, seen&^c.visible[i])
		c.visible[i] = seen
	}
	c.updated = g.fills
}

// UpdateVisible is Look for a client that is told all that it sees: it takes a part of the time, and all weights begin anew.
// There is nothing to Pick until the next Look, or Weigh.
func (c *Client) UpdateVisible(g *Grid, v Viewer) {
	if c.hasPriority {
		clear(c.priority)
		c.hasPriority = false
	}
	from, team := g.from(g.Cell(v.X, v.Z)), g.team(v.Team)
	for i := range g.here {
		seen := c.visibleNow(g, i, from, team, v.Slot)
		c.ties[i] = seen &^ c.visible[i]
		c.visible[i] = seen
	}
	c.updated = g.fills
}

// AddPriority makes of See what Look would have been, for a client that cannot be told all that it sees after all. The viewer is that of See.
func (c *Client) AddPriority(g *Grid, v Viewer, fights []uint64) {
	cell := g.Cell(v.X, v.Z)
	from := g.from(cell)
	g.rings(cell, from)
	c.cone(g, v)
	c.hasPriority = true
	for i, seen := range c.visible {
		if seen == 0 {
			continue
		}
		fight := g.inCombat[i]
		if i < len(fights) {
			fight |= fights[i]
		}
		g.gains.add((*[16]uint64)(c.priority[i*16:]), seen, from.mid[i], from.near[i], c.ahead[i], fight, c.ties[i])
	}
}

// MarkAllSent takes in that the client was told of everybody in snapshots in which it did not look, the last time of those of seen: nobody
// waits. It is for a client to which nobody is hidden.
func (c *Client) MarkAllSent(seen []uint64) {
	copy(c.visible, seen)
	if c.hasPriority {
		clear(c.priority)
		c.hasPriority = false
	}
}

// visibleNow is which rows of word i are seen from a cell, by a team, or were a moment ago.
func (c *Client) visibleNow(g *Grid, i int, from *view, team []uint64, own int) (seen uint64) {
	here, now := g.here[i], from.all[i]
	if team != nil {
		now |= team[i]
	}
	if own>>6 == i {
		now |= 1 << (own & 63)
	}
	if planted.On(planted.SightTooFar) {
		now |= c.visible[i]
	}
	now &= here
	seen = now | c.countDown(i, now)&here
	if late := seen &^ now; late != 0 {
		if others := g.replaced(i, late, c.updated); others != 0 {
			seen &^= others
			for _, plane := range c.hysteresis {
				plane[i] &^= others
			}
		}
	}
	return seen
}

// countDown sets the counters of rows that are seen now and counts the others down. It returns those that had not run out.
func (c *Client) countDown(i int, now uint64) (kept uint64) {
	if c.grid.Hysteresis == 0 {
		return 0
	}
	a, b, d, e := c.hysteresis[0][i], c.hysteresis[1][i], c.hysteresis[2][i], c.hysteresis[3][i]
	kept = a | b | d | e
	borrow := kept // less one, where it is not 0
	a, borrow = a^borrow, borrow&^a
	b, borrow = b^borrow, borrow&^b
	d, borrow = d^borrow, borrow&^d
	e ^= borrow
	n := uint64(c.grid.Hysteresis)
	c.hysteresis[0][i] = a&^now | now&-(n&1)
	c.hysteresis[1][i] = b&^now | now&-(n>>1&1)
	c.hysteresis[2][i] = d&^now | now&-(n>>2&1)
	c.hysteresis[3][i] = e&^now | now&-(n>>3&1)
	return kept
}

// cone fills ahead with the rows in the cells of the viewer's cone.
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
