package interest

import (
	"fmt"
	"math/bits"
)

// Select chooses the visible rows of the highest priority whose costs, in bits by slot, fit into
// budget. Rows that cost nothing are not chosen. Rows of equal priority take turns. It returns the
// cost of the chosen rows. cost has 64 entries for each word of a set, else it panics.
//
// It sorts nothing. A histogram of costs by the highest 8 bits of priorities, and one by the lower
// bits of the rows at the limit, give the priority down to which all rows fit.
func (c *Client) Select(cost []uint16, budget int) (used int) {
	return c.SelectAmong(c.visible, cost, budget)
}

// SelectAmong is Select of visible rows of a set.
func (c *Client) SelectAmong(rows []uint64, cost []uint16, budget int) (used int) {
	if len(cost) < 64*c.words {
		panic(fmt.Sprintf("interest: Select with costs of %d slots, want %d: 64 for each word of a set", len(cost), 64*c.words))
	}
	var costs [256]int32
	shift := c.coarseShift()
	c.threshold = 0
	if total := c.sumCosts(rows, cost, &costs, shift); total <= budget {
		return total
	}
	value, room := threshold(&costs, budget)
	if shift > 0 {
		costs = [256]int32{}
		c.sumFine(cost, &costs, value, shift)
		fine, rest := threshold(&costs, room)
		value, room = value<<shift|fine, rest
	}
	c.threshold = value
	c.splitTies(uint16(value))
	return budget - room + c.selectTies(cost, room)
}

// Shortlist fills set with the rows of the highest priority: at least count of rows, or all, with
// all that have the priority of the last. A Select of more rows chooses none but these if their
// costs exceed its budget.
func (c *Client) Shortlist(set, rows []uint64, count int) {
	low, high := 0, 256<<c.coarseShift() // enough rows have low or more; too few have high or more
	guess := c.threshold - c.threshold/8 // the limit moves little from one snapshot to the next
	for low < high-1 {
		n, value := 0, (low+high)/2
		if low < guess && guess < high {
			value, guess = guess, 0
		}
		for i, w := range rows {
			if w != 0 {
				set[i] = w & atLeast((*[16]uint64)(c.priority[i*16:]), uint16(value))
				n += bits.OnesCount64(set[i])
			}
		}
		switch {
		case n < count:
			high = value
		case n <= count+count/4:
			low, high = value, value
		default:
			low = value
		}
	}
	for i, w := range rows {
		if set[i] = w; w != 0 && low > 0 {
			set[i] = w & atLeast((*[16]uint64)(c.priority[i*16:]), uint16(low))
		}
	}
}

// coarseShift is how many bits the highest priority has beyond 8.
func (c *Client) coarseShift() int {
	any := uint64(0)
	for i, visible := range c.visible {
		if visible != 0 {
			for _, v := range (*[16]uint64)(c.priority[i*16:]) {
				any |= v
			}
		}
	}
	any |= any >> 32
	return max(bits.Len16(uint16(any|any>>16))-8, 0)
}

// sumCosts adds up the costs of rows, in total and by priority >> shift, and selects the rows that
// cost anything.
func (c *Client) sumCosts(rows []uint64, cost []uint16, costs *[256]int32, shift int) (total int) {
	clear(c.selected[min(len(rows), len(c.selected)):])
	for i, w := range rows {
		some := uint64(0)
		if w != 0 {
			lanes, cost := (*[16]uint64)(c.priority[i*16:]), (*[64]uint16)(cost[i*64:])
			for ; w != 0; w &= w - 1 {
				bit := bits.TrailingZeros64(w)
				n := uint32(cost[bit&63])
				costs[uint8(uint16(lanes[bit>>2&15]>>(bit&3*16))>>(shift&15))] += int32(n)
				total += int(n)
				some |= uint64(n+0xffff) >> 16 << (bit & 63)
			}
		}
		c.selected[i] = some
	}
	return total
}

// sumFine adds up the costs of the selected rows with priority >> shift == value, by their lower
// bits.
func (c *Client) sumFine(cost []uint16, costs *[256]int32, value, shift int) {
	for i, w := range c.selected {
		if w == 0 {
			continue
		}
		lanes := (*[16]uint64)(c.priority[i*16:])
		w &= atLeast(lanes, uint16(value<<shift)) &^ atLeast(lanes, uint16((value+1)<<shift))
		for ; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			costs[uint8(lanes[bit>>2&15]>>(bit&3*16))&(1<<shift-1)] += int32(cost[i*64+bit])
		}
	}
}

// threshold is the highest value whose rows do not all fit into budget, and what is left for them.
func threshold(costs *[256]int32, budget int) (value, room int) {
	for value = 255; value > 0 && int(costs[value]) <= budget; value-- {
		budget -= int(costs[value])
	}
	return value, budget
}

// splitTies keeps the selected rows above a priority, and collects those at it as ties.
func (c *Client) splitTies(priority uint16) {
	for i, w := range c.selected {
		c.ties[i] = 0
		if w != 0 {
			lanes := (*[16]uint64)(c.priority[i*16:])
			c.selected[i] = w & atLeast(lanes, priority+1)
			c.ties[i] = w & atLeast(lanes, priority) &^ c.selected[i]
		}
	}
}

// selectTies selects ties while they fit, from turn on.
func (c *Client) selectTies(cost []uint16, room int) (used int) {
	first := c.turn >> 6
	for n := range c.words + 1 {
		i := (first + n) % c.words
		w := c.ties[i] &^ c.selected[i]
		if n == 0 {
			w &= ^uint64(0) << (c.turn & 63)
		}
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			if used+int(cost[slot]) > room {
				c.turn = slot
				return used
			}
			used += int(cost[slot])
			c.selected[i] |= w & -w
		}
	}
	return used
}

// MarkSent resets the priorities of rows that were sent.
func (c *Client) MarkSent(rows []uint64) {
	for i, w := range rows[:min(len(rows), c.words)] {
		if w == 0 {
			continue
		}
		lanes := (*[16]uint64)(c.priority[i*16:])
		for n := range lanes {
			four := w >> (4 * n) & 15
			four = (four | four<<15 | four<<30 | four<<45) & 0x0001000100010001
			lanes[n] &^= four * 0xffff
		}
	}
}
