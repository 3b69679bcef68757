package interest

import (
	"math"
	"math/bits"
)

// Pick chooses of the rows that are seen those of the greatest weight, as far as their cost, in bits by slot, fits into budget.
// Rows that cost nothing, as there is nothing to say of them, are not chosen. Of rows of equal weight those go first that come
// next in turn. It returns what the chosen rows cost.
//
// The order is never made: two histograms of costs, by the high and by the low byte of the weight, tell the weight down to which
// all fit.
func (c *Client) Pick(cost []uint16, budget int) (used int) {
	var high, low [256]int32
	total := 0
	for i, w := range c.seen {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			n := int32(cost[slot])
			high[uint8(c.lanes[slot>>2]>>(slot&3*16+8))] += n
			total += int(n)
		}
	}
	if total <= budget {
		return c.above(cost, 0) // who is seen weighs at least 1
	}
	byte1, room := threshold(&high, budget)
	for i, w := range c.seen {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			v := uint16(c.lanes[slot>>2] >> (slot & 3 * 16))
			if int(v>>8) == byte1 {
				low[uint8(v)] += int32(cost[slot])
			}
		}
	}
	byte0, room := threshold(&low, room)
	return c.above(cost, uint16(byte1<<8|byte0)) + c.share(cost, room)
}

// threshold is the greatest value of which not all fit into budget, and what is left for it.
func threshold(costs *[256]int32, budget int) (value, room int) {
	for value = 255; value > 0 && int(costs[value]) <= budget; value-- {
		budget -= int(costs[value])
	}
	return value, budget
}

// above picks all rows of more than a weight and none but those, and collects those that stand at it as ties.
func (c *Client) above(cost []uint16, weight uint16) (used int) {
	for i, w := range c.seen {
		picked, ties := uint64(0), uint64(0)
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			v, n := uint16(c.lanes[slot>>2]>>(slot&3*16)), cost[slot]
			switch {
			case n == 0 || v < weight:
			case v > weight:
				picked |= w & -w
				used += int(n)
			default:
				ties |= w & -w
			}
		}
		c.picked[i], c.ties[i] = picked, ties
	}
	return used
}

// share picks ties while they fit, from turn on.
func (c *Client) share(cost []uint16, room int) (used int) {
	first := c.turn >> 6
	for n := range c.words + 1 {
		i := (first + n) % c.words
		w := c.ties[i] &^ c.picked[i]
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
			c.picked[i] |= w & -w
		}
	}
	return used
}

// Sent says that rows went out: their weights begin anew.
func (c *Client) Sent(rows []uint64) {
	for i, w := range rows[:min(len(rows), c.words)] {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			c.lanes[slot>>2] &^= 0xffff << (slot & 3 * 16)
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
