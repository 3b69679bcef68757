package schema

import (
	"math"
	"slices"
)

// What a table more must save to be worth having: bits of all that was counted.
const tableBits = 300

// cost is how many bits counts take, each symbol as few as its share allows.
func cost(counts []uint64) float64 {
	total, bits := 0.0, 0.0
	for _, n := range counts {
		if n > 0 {
			total += float64(n)
			bits -= float64(float64(n) * math.Log2(float64(n)))
		}
	}
	if total == 0 {
		return 0
	}
	return bits + float64(total*math.Log2(total))
}

// chooseClasses cuts a field's levels, from LevelExact up and LevelUnknown last, into the
// neighbours that share a table, so that what was counted takes the fewest bits. It returns each
// level's class, that of LevelUnknown 0, and each class's counts.
func chooseClasses(counts []uint64, symbols int) (classes [ErrorLevels]uint8, seen [][]uint64) {
	level := func(i int) []uint64 { // the i-th in order
		i = (i + LevelExact) % ErrorLevels
		return counts[i*symbols : (i+1)*symbols]
	}
	var least [MaxClasses + 1][ErrorLevels + 1]float64 // by classes, by levels that they cover
	var from [MaxClasses + 1][ErrorLevels + 1]int
	for n := range ErrorLevels + 1 {
		least[0][n] = math.Inf(1)
	}
	least[0][0] = 0
	for k := 1; k <= MaxClasses; k++ {
		for end := range ErrorLevels + 1 {
			least[k][end] = math.Inf(1)
			sum := make([]uint64, symbols)
			for begin := end - 1; begin >= 0; begin-- {
				for sym, n := range level(begin) {
					sum[sym] += n
				}
				if c := least[k-1][begin] + tableBits + cost(sum); c < least[k][end] {
					least[k][end], from[k][end] = c, begin
				}
			}
		}
	}
	best := 1
	for k := range least {
		if least[k][ErrorLevels] < least[best][ErrorLevels] {
			best = k
		}
	}
	seen = make([][]uint64, best)
	for k, end := best, ErrorLevels; k > 0; k-- {
		seen[best-k] = make([]uint64, symbols)
		for i := from[k][end]; i < end; i++ {
			classes[(i+LevelExact)%ErrorLevels] = uint8(best - k)
			for sym, n := range level(i) {
				seen[best-k][sym] += n
			}
		}
		end = from[k][end]
	}
	return classes, seen
}

// byContext is what was counted of entity rows, context by context.
func byContext(s Schema, c *Counts, fields []int) [][]uint64 {
	seen := [][]uint64{c.Masks[0]}
	for range 1 << len(fields) {
		seen = append(seen, make([]uint64, len(c.Masks[0])))
	}
	for k, n := range c.ContextSymbols {
		context := 1
		for i, f := range fields {
			context += int(k>>16>>f&1) << i
		}
		seen[context][k&0xffff] += n
	}
	return seen
}

// pickContextFields picks, one after the other, the fields whose level says most about the symbols
// of a row. They ascend.
func pickContextFields(s Schema, c *Counts) (fields []int) {
	bits := func(fields []int) (sum float64) {
		for _, seen := range byContext(s, c, fields) {
			sum += cost(seen) + tableBits
		}
		return sum
	}
	least := bits(nil)
	for len(fields) < MaxContextFields {
		at := -1
		for f := range s.Fields {
			if slices.Contains(fields, f) {
				continue
			}
			if b := bits(append(slices.Clone(fields), f)); b < least {
				least, at = b, f
			}
		}
		if at < 0 {
			break
		}
		fields = append(fields, at)
	}
	slices.Sort(fields)
	return fields
}
