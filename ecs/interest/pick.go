package interest

import (
	"math"
	"math/bits"
)

// Select chooses of the rows that are seen those of the greatest weight, as far as their cost, in bits by slot, fits into budget.
// Rows that cost nothing, as there is nothing to say of them, are not chosen. Of rows of equal weight those go first that come
// next in turn. It returns what the chosen rows cost.
//
// The order is never made: a histogram of costs by the 8 highest bits of the weights, and one by those below of the rows among
// which the limit falls, tell the weight down to which all fit.
func (c *Client) Select(cost []uint16, budget int) (used int) {
	var costs [256]int32
	shift := c.coarseShift()
	c.threshold = 0
	if total := c.sumCosts(cost, &costs, shift); total <= budget {
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

// coarseShift is how many bits the greatest weight has beyond 8.
func (c *Client) coarseShift() int {
	any := uint64(0)
	for i, seen := range c.visible {
		if seen != 0 {
			for _, v := range (*[16]uint64)(c.priority[i*16:]) {
				any |= v
			}
		}
	}
	any |= any >> 32
	return max(bits.Len16(uint16(any|any>>16))-8, 0)
}

// sumCosts adds up the costs of the rows that are seen, all of them and by weight less the lowest bits, and picks those that cost anything.
func (c *Client) sumCosts(cost []uint16, costs *[256]int32, shift int) (total int) {
	for i, w := range c.visible {
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

// sumFine adds up the costs of the picked rows whose weight less the lowest bits is a value, by these bits.
func (c *Client) sumFine(cost []uint16, costs *[256]int32, value, shift int) {
	for i, w := range c.selected {
		if w == 0 {
			continue
		}
		lanes := (*[16]uint64)(c.priority[i*16:])
		for w &= atLeast(lanes, uint16(value<<shift)) &^ atLeast(lanes, uint16((value+1)<<shift)); w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			costs[uint8(lanes[bit>>2&15]>>(bit&3*16))&(1<<shift-1)] += int32(cost[i*64+bit])
		}
	}
}

// threshold is the greatest value of which not all fit into budget, and what is left for it.
func threshold(costs *[256]int32, budget int) (value, room int) {
	for value = 255; value > 0 && int(costs[value]) <= budget; value-- {
		budget -= int(costs[value])
	}
	return value, budget
}

// splitTies leaves of the picked rows those of more than a weight, and collects those that stand at it as ties.
func (c *Client) splitTies(weight uint16) {
	for i, w := range c.selected {
		c.ties[i] = 0
		if w != 0 {
			lanes := (*[16]uint64)(c.priority[i*16:])
			c.selected[i] = w & atLeast(lanes, weight+1)
			c.ties[i] = w & atLeast(lanes, weight) &^ c.selected[i]
		}
	}
}

// selectTies picks ties while they fit, from turn on.
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

// MarkSent says that rows went out: their weights begin anew.
func (c *Client) MarkSent(rows []uint64) {
	for i, w := range rows[:min(len(rows), c.words)] {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			c.priority[slot>>2] &^= 0xffff << (slot & 3 * 16)
		}
	}
}

// Bound is the most snapshots that a row can wait of which rows are seen all the time, where every snapshot takes at least each of
// them and a row gains at most most in one.
func Bound(rows, each, most int) int {
	n := 1.0
	for range 64 { // it grows towards the solution
		n = float64(rows-1) * (1 + float64(most)*(1+math.Log(max(n, 1)))) / float64(each)
	}
	return int(n) + 1
}
