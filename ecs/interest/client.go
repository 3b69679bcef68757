package interest

import "github.com/tickrate/tickrate/internal/planted"

// maxLinger is what 4 bits count to.
const maxLinger = 15

// Viewer is who looks.
type Viewer struct {
	Slot       int // its own row, which it always sees
	X, Z       float32
	Team       uint8   // whom it always sees; 0 for none
	DirX, DirZ float32 // where it looks, of any length; 0, 0: nowhere in particular
}

// Client is what one client saw and waits for. It takes 3 bytes a slot.
type Client struct {
	grid   Config
	words  int
	seen   []uint64
	picked []uint64
	ahead  []uint64
	linger [4][]uint64 // bits of a counter: snapshots that a row stays seen
	lanes  []uint64    // 4 rows a word, 16 bits a row: what it gained since it was sent, at most top
	ties   []uint64    // of Pick; from See until then: who came in sight
	turn   int         // where the rows of equal weight begin
	looked uint32      // the grid's count of snapshots at the last Look
	weighs bool        // lanes are not all 0
	floor  int         // of the last Pick
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
	c.seen, c.picked, c.ahead, c.ties = cut(g.words), cut(g.words), cut(g.words), cut(g.words)
	for i := range c.linger {
		c.linger[i] = cut(g.words)
	}
	c.lanes = cut(g.words * 16)
	return c
}

// Reset makes it a client that saw nothing yet.
func (c *Client) Reset() {
	clear(c.seen)
	clear(c.lanes)
	c.weighs = false
	for _, plane := range c.linger {
		clear(plane)
	}
}

// Seen is the set of rows that the client may see since the last Look. It belongs to the client.
func (c *Client) Seen() []uint64 { return c.seen }

// Picked is the set that the last Pick chose. It belongs to the client.
func (c *Client) Picked() []uint64 { return c.picked }

// Floor is the weight from which on the last Pick chose: all rows that weigh more, some that weigh this; 0 if it chose all.
func (c *Client) Floor() int { return c.floor }

// Weight is what a slot has gained since it was sent.
func (c *Client) Weight(slot int) int { return int(c.lanes[slot>>2] >> (slot & 3 * 16) & 0xffff) }

// Look finds what a viewer may see in the grid's snapshot, and adds to the weights of these rows. fights is the set of rows that
// fight with the viewer, nil for none: it makes nobody seen.
func (c *Client) Look(g *Grid, v Viewer, fights []uint64) {
	cell := g.Cell(v.X, v.Z)
	from := g.from(cell)
	g.rings(cell, from)
	team := g.team(v.Team)
	c.cone(g, v)
	c.weighs = true
	for i := range g.here {
		seen := c.seenNow(g, i, from, team, v.Slot)
		if seen|c.seen[i] == 0 {
			continue // and all weights are 0
		}
		fight := g.hot[i]
		if i < len(fights) {
			fight |= fights[i]
		}
		g.gains.add((*[16]uint64)(c.lanes[i*16:]), seen, from.mid[i], from.near[i], c.ahead[i], fight, seen&^c.seen[i])
		c.seen[i] = seen
	}
	c.looked = g.fills
}

// See is Look for a client that is told all that it sees: it takes a part of the time, and all weights begin anew.
// There is nothing to Pick until the next Look, or Weigh.
func (c *Client) See(g *Grid, v Viewer) {
	if c.weighs {
		clear(c.lanes)
		c.weighs = false
	}
	from, team := g.from(g.Cell(v.X, v.Z)), g.team(v.Team)
	for i := range g.here {
		seen := c.seenNow(g, i, from, team, v.Slot)
		c.ties[i] = seen &^ c.seen[i]
		c.seen[i] = seen
	}
	c.looked = g.fills
}

// Weigh makes of See what Look would have been, for a client that cannot be told all that it sees after all. The viewer is that of See.
func (c *Client) Weigh(g *Grid, v Viewer, fights []uint64) {
	cell := g.Cell(v.X, v.Z)
	from := g.from(cell)
	g.rings(cell, from)
	c.cone(g, v)
	c.weighs = true
	for i, seen := range c.seen {
		if seen == 0 {
			continue
		}
		fight := g.hot[i]
		if i < len(fights) {
			fight |= fights[i]
		}
		g.gains.add((*[16]uint64)(c.lanes[i*16:]), seen, from.mid[i], from.near[i], c.ahead[i], fight, c.ties[i])
	}
}

// Caught takes in that the client was told of everybody in snapshots in which it did not look, the last time of those of seen: nobody
// waits. It is for a client to which nobody is hidden.
func (c *Client) Caught(seen []uint64) {
	copy(c.seen, seen)
	if c.weighs {
		clear(c.lanes)
		c.weighs = false
	}
}

// seenNow is which rows of word i are seen from a cell, by a team, or were a moment ago.
func (c *Client) seenNow(g *Grid, i int, from *view, team []uint64, own int) (seen uint64) {
	here, now := g.here[i], from.all[i]
	if team != nil {
		now |= team[i]
	}
	if own>>6 == i {
		now |= 1 << (own & 63)
	}
	if planted.On(planted.SightTooFar) {
		now |= c.seen[i]
	}
	now &= here
	seen = now | c.stay(i, now)&here
	if late := seen &^ now; late != 0 {
		if others := g.replaced(i, late, c.looked); others != 0 {
			seen &^= others
			for _, plane := range c.linger {
				plane[i] &^= others
			}
		}
	}
	return seen
}

// stay sets the counters of rows that are seen now and counts the others down. It returns those that had not run out.
func (c *Client) stay(i int, now uint64) (kept uint64) {
	if c.grid.Linger == 0 {
		return 0
	}
	a, b, d, e := c.linger[0][i], c.linger[1][i], c.linger[2][i], c.linger[3][i]
	kept = a | b | d | e
	borrow := kept // less one, where it is not 0
	a, borrow = a^borrow, borrow&^a
	b, borrow = b^borrow, borrow&^b
	d, borrow = d^borrow, borrow&^d
	e ^= borrow
	n := uint64(c.grid.Linger)
	c.linger[0][i] = a&^now | now&-(n&1)
	c.linger[1][i] = b&^now | now&-(n>>1&1)
	c.linger[2][i] = d&^now | now&-(n>>2&1)
	c.linger[3][i] = e&^now | now&-(n>>3&1)
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
