package schema

import (
	"math"

	"github.com/tickrate/tickrate/compress/huffman"
)

// maxSamples bounds the rows that training remembers. From then on it keeps every second one, every
// fourth, and so on.
const maxSamples = 1 << 18

// samples are rows of what was counted, evenly spread.
type samples struct {
	rows []Row
	step int // every step-th row is kept
	skip int // rows to pass over
}

func (s *samples) add(r *Row) {
	if s.skip > 0 {
		s.skip--
		return
	}
	s.keep(*r)
	s.skip = s.step - 1
}

func (s *samples) keep(row Row) {
	s.step = max(s.step, 1)
	if s.rows = append(s.rows, row); len(s.rows) < maxSamples {
		return
	}
	for i := range len(s.rows) / 2 {
		s.rows[i] = s.rows[2*i]
	}
	s.rows, s.step = s.rows[:len(s.rows)/2], 2*s.step
}

// chance is the byte of a decision that was false no times and true yes times.
func chance(no, yes float64) uint8 { return evidenceByte(math.Log(no / yes)) }

// evidenceByte is the byte of a logarithm of odds.
func evidenceByte(x float64) uint8 {
	return uint8(int8(math.Round(min(max(float64(x*evidenceOne), -127), 127))))
}

// symbols of a cell: unchanged, and the buckets.
const cellSymbols = 1 + huffman.Buckets

// cell counts what was seen at one level and in one state of each feature.
type cell [cellSymbols]uint64

func (c *cell) add(o *cell) {
	for i, n := range o {
		c[i] += n
	}
}

// symbolBits is the cost of learning one symbol of a cell.
const symbolBits = 6

// bits is the cost of coding what the cell counts, and of learning the symbols that it has.
func (c *cell) bits() (bits float64) {
	for _, n := range c {
		if n > 0 {
			bits += symbolBits
		}
	}
	return bits + cost(c[:])
}

// trainDecisions returns the file's part for what was counted.
func trainDecisions(s Schema, c *Counts, classes [][ErrorLevels]uint8) []byte {
	var here, gone uint64 // integers, as sums of floats depend on the order of a map
	count := func(sym int, n uint64) {
		if sym < Update {
			gone += n
		} else {
			here += n
		}
	}
	for sym, n := range c.Masks[0] {
		count(sym, n)
	}
	for k, n := range c.ContextSymbols {
		count(int(k&0xffff), n)
	}
	raw := []byte{
		chance(255+float64(c.Empty[0]), 1+float64(c.Empty[1])), chance(8+float64(here), 0.1+float64(gone)),
	}
	columns := columnsOf(s, c.samples.rows, classes)
	for f := range s.Fields {
		raw = append(raw, columns.field(s, f)...)
	}
	return raw
}

// columns is the samples field by field.
type columns struct {
	levels   [][]uint8 // by field
	symbols  [][]uint8 // by field: of a cell
	features [][]uint8 // states, by feature; the last is of no feature
	cells    [len(leafMap{})]cell
}

func columnsOf(s Schema, rows []Row, classes [][ErrorLevels]uint8) *columns {
	c := &columns{}
	for range Features + 1 {
		c.features = append(c.features, make([]uint8, len(rows)))
	}
	for f, field := range s.Fields {
		uses := field.Predict != Hold || classes[f] != [ErrorLevels]uint8{} // as Coder.UsesSignal
		levels, symbols := make([]uint8, len(rows)), make([]uint8, len(rows))
		for i := range rows {
			signal := rows[i].Signals[f]
			if !uses {
				signal = 0
			}
			levels[i] = signal & (ErrorLevels - 1)
			c.features[MaxFields+f][i] = levelStates[levels[i]]
			if d := rows[i].Errors[f]; d != 0 {
				sym, _, _ := huffman.Bucket(d)
				c.features[f][i] = changeStates[sym]
				symbols[i] = uint8(1 + huffman.Mirror(sym, uint32(signal/Falling)))
			}
		}
		c.levels, c.symbols = append(c.levels, levels), append(c.symbols, symbols)
	}
	return c
}

// field returns the file's part of field f.
func (c *columns) field(s Schema, f int) []byte {
	var picked [featureCount]int
	var ends [featureCount]uint8
	for i := range picked {
		picked[i], ends[i] = NoFeature, 1
	}
	least := c.count(f, picked)
	for i := range picked {
		for of := range Features {
			if !isFeature(of, f, len(s.Fields)) || of == MaxFields+f {
				continue
			}
			try := picked
			try[i] = of
			if bits := c.count(f, try); bits < least {
				least, picked[i], ends[i] = bits, of, featureStates
			}
		}
		if picked[i] == NoFeature {
			break
		}
	}
	c.count(f, picked)
	leafOf, leaves := c.merge()
	var raw []byte
	for _, of := range picked {
		if of == NoFeature {
			of = noField
		}
		raw = append(raw, uint8(of))
	}
	raw = append(raw, uint8(len(leaves)))
	for cell := range cellsOf(ends) {
		raw = append(raw, leafOf[cell])
	}
	all := cell{}
	for i := range leaves {
		all.add(&leaves[i])
	}
	for i := range leaves {
		w := weigh(s.Fields[f], &leaves[i], &all)
		raw = append(raw, nodesOf(&w)...)
	}
	return raw
}

// count fills the cells of field f with features, and returns what they take.
func (c *columns) count(f int, of [featureCount]int) (bits float64) {
	clear(c.cells[:])
	var states [featureCount]uint8
	for i, level := range c.levels[f] {
		for k, of := range of {
			states[k] = c.features[of][i]
		}
		c.cells[cellOf(int(level), states)][c.symbols[f][i]]++
	}
	for i := range c.cells {
		bits += c.cells[i].bits()
	}
	return bits
}

// merge joins the cells that cost least to join until there are few enough leaves and no two are
// better together. Cells that nothing fell into are in the leaf of the cell before.
func (c *columns) merge() (leafOf leafMap, leaves []cell) {
	var m leafMerger
	var at []int // by leaf before merging: its cell
	for i := range c.cells {
		if m.add(&c.cells[i]) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return leafOf, []cell{{}}
	}
	for left := len(at); left > 1; left-- {
		bits, x, y := m.cheapest()
		if bits > 0 && left <= maxRangeLeaves {
			break
		}
		m.join(x, y)
	}
	number := make([]uint8, len(at))
	for i, root := range m.into {
		if root == i {
			number[i] = uint8(len(leaves))
			leaves = append(leaves, m.leaves[i])
		}
	}
	next, leaf := 0, uint8(0)
	for i := range leafOf {
		if next < len(at) && at[next] == i {
			root := next
			for m.into[root] != root {
				root = m.into[root]
			}
			leaf, next = number[root], next+1
		}
		leafOf[i] = leaf
	}
	return leafOf, leaves
}

// leafMerger joins cells by pairs.
type leafMerger struct {
	leaves []cell
	bits   []float64   // of each
	into   []int       // the leaf that each was joined to, or itself
	costs  [][]float64 // by leaf, by earlier leaf: what joining them adds
}

// add takes a cell up, and reports whether anything fell into it.
func (m *leafMerger) add(c *cell) bool {
	bits := c.bits()
	if bits == 0 {
		return false
	}
	i := len(m.leaves)
	m.leaves, m.bits = append(m.leaves, *c), append(m.bits, bits)
	m.into, m.costs = append(m.into, i), append(m.costs, nil)
	for k := range i {
		m.costs[i] = append(m.costs[i], m.cost(i, k))
	}
	return true
}

// cost is the bits that joining two leaves adds.
func (m *leafMerger) cost(i, k int) float64 {
	sum := m.leaves[i]
	sum.add(&m.leaves[k])
	return sum.bits() - m.bits[i] - m.bits[k]
}

// cheapest finds the two leaves that cost least to join.
func (m *leafMerger) cheapest() (least float64, x, y int) {
	least = math.Inf(1)
	for i := range m.leaves {
		for k := range i {
			if m.into[i] == i && m.into[k] == k && m.costs[i][k] < least {
				least, x, y = m.costs[i][k], i, k
			}
		}
	}
	return least, x, y
}

// join adds leaf x to leaf y.
func (m *leafMerger) join(x, y int) {
	m.leaves[y].add(&m.leaves[x])
	m.into[x], m.bits[y] = y, m.leaves[y].bits()
	for i := range m.leaves {
		if m.into[i] == i && i != y {
			m.costs[max(i, y)][min(i, y)] = m.cost(i, y)
		}
	}
}

// weigh is a leaf's symbols with a little weight on those of all leaves and on the prior of the
// field.
func weigh(f Field, leaf, all *cell) (w [cellSymbols]float64) {
	prior := fieldPrior(f)
	total, pooled := 0.0, 0.0
	for _, p := range prior {
		total += p
	}
	for _, n := range all {
		pooled += float64(n)
	}
	often := float64(f.Often) / 100
	if f.Often == 0 {
		often = 0.1
	}
	for sym := range w {
		switch {
		case sym == 0:
			w[0] = float64(2 * (1 - often))
		case sym <= len(prior):
			w[sym] = float64(2 * often * prior[sym-1] / total)
		}
		if w[sym] += float64(leaf[sym]); pooled > 0 {
			w[sym] += float64(float64(all[sym]) / pooled * 8)
		}
	}
	return w
}

// nodesOf is a leaf's bytes for the weights of its symbols.
func nodesOf(w *[cellSymbols]float64) []byte {
	var octaves [2 * treeLeaves]float64
	var signs, halves [MaxOctave][2]float64
	for sym := range huffman.Buckets {
		octave, n := huffman.Octave(sym), w[1+sym]
		octaves[treeLeaves+min(octave, MaxOctave)] += n
		if octave < MaxOctave {
			signs[octave][sym&1] += n
			halves[octave][sym>>1&1^1] += n // four buckets an octave, which begin at 4*octave-2
		}
	}
	for i := treeLeaves - 1; i > 0; i-- {
		octaves[i] = octaves[2*i] + octaves[2*i+1]
	}
	nodes := make([]byte, LeafNodes)
	split := func(no, yes float64) uint8 { return chance(no+0.01, yes+0.01) }
	nodes[NodeChanged] = split(w[0], octaves[1])
	for i := 1; i < treeLeaves; i++ {
		nodes[i] = split(octaves[2*i], octaves[2*i+1])
	}
	for octave := range MaxOctave {
		nodes[NodeSign+octave] = split(signs[octave][0], signs[octave][1])
		if octave > 0 {
			nodes[NodeHalf+octave] = split(halves[octave][0], halves[octave][1])
		}
	}
	return nodes
}
