package rows

import (
	"math"
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Parameters of the search for trees.
const (
	treeAsk    = 12    // features that a tree may ask
	treeLeaves = 32    // leaves of a tree
	treeRows   = 40000 // rows that decide on forks
)

// grower is a leaf of a tree that may become a fork.
type grower struct {
	rows   []int32 // indexes into symbols
	parent int     // fork above, or -1
	way    int
	gain   float64 // bits saved by the best fork
	ask    int     // column of that fork
	ones   uint16
}

// grow finds the tree of at most treeLeaves leaves that saves most bits of the symbols: it always
// splits the leaf whose best fork saves most. columns are features by row. It returns the forks and
// which leaf each row ends at.
func grow(symbols []uint16, alphabet int, columns [][]uint8, list []feature) (forks []fork, leaf []int) {
	all := make([]int32, len(symbols))
	for i := range all {
		all[i] = int32(i)
	}
	open := []grower{bestFork(symbols, alphabet, columns, all)}
	open[0].parent = -1
	for len(open) < treeLeaves {
		best := 0
		for i := range open {
			if open[i].gain > open[best].gain {
				best = i
			}
		}
		g := open[best]
		if g.gain <= 0 {
			break
		}
		at := len(forks)
		forks = append(forks, fork{ask: list[g.ask], ones: g.ones})
		if g.parent >= 0 {
			forks[g.parent].next[g.way] = int16(at)
		}
		var sides [2][]int32
		for _, i := range g.rows {
			way := g.ones >> columns[g.ask][i] & 1
			sides[way] = append(sides[way], i)
		}
		for way, rows := range sides {
			next := bestFork(symbols, alphabet, columns, rows)
			next.parent, next.way = at, way
			if way == 0 {
				open[best] = next
			} else {
				open = append(open, next)
			}
		}
	}
	leaf = make([]int, len(symbols))
	for i, g := range open {
		if g.parent >= 0 {
			forks[g.parent].next[g.way] = ^int16(i)
		}
		for _, r := range g.rows {
			leaf[r] = i
		}
	}
	return forks, leaf
}

// bestFork finds the fork that saves most bits of the rows' symbols.
func bestFork(symbols []uint16, alphabet int, columns [][]uint8, rows []int32) grower {
	best := grower{rows: rows}
	if len(rows) < 40 {
		return best
	}
	count := make([]int32, states*alphabet)
	for ask, col := range columns {
		clear(count)
		for _, i := range rows {
			count[int(col[i])*alphabet+int(symbols[i])]++
		}
		if ones, gain := cut(count, alphabet); gain > best.gain {
			best.gain, best.ask, best.ones = gain, ask, ones
		}
	}
	return best
}

// cut sorts the states into two kinds so that a code for each kind saves most, starting from a cut
// of the order.
func cut(count []int32, alphabet int) (ones uint16, gain float64) {
	total := make([]int32, alphabet)
	var weight [states]int32
	used := 0
	for s := range states {
		for y, c := range count[s*alphabet:][:alphabet] {
			total[y] += c
			weight[s] += c
		}
		if weight[s] > 0 {
			used++
		}
	}
	if used < 2 {
		return 0, 0
	}
	whole := codeBits(total)
	side := make([]int32, alphabet)
	other := make([]int32, alphabet)
	try := func(mask uint16) float64 {
		clear(side)
		n := int32(0)
		for s := range states {
			if mask>>s&1 == 0 {
				continue
			}
			n += weight[s]
			for y, c := range count[s*alphabet:][:alphabet] {
				side[y] += c
			}
		}
		kinds := 0
		for y := range other {
			if other[y] = total[y] - side[y]; side[y] > 0 && other[y] > 0 {
				kinds++
			}
		}
		all := int32(0)
		for _, w := range weight {
			all += w
		}
		if n < 15 || all-n < 15 {
			return 0
		}
		return whole - codeBits(side) - codeBits(other) - 3*float64(kinds) - 20
	}
	for s := 1; s < states; s++ { // cuts of the order, and single states
		for _, mask := range []uint16{1<<s - 1, 1 << s} {
			if g := try(mask); g > gain {
				ones, gain = mask, g
			}
		}
	}
	if gain == 0 {
		return 0, 0
	}
	for better := true; better; { // then one state after another changes sides
		better = false
		for s := range states {
			if weight[s] == 0 {
				continue
			}
			if g := try(ones ^ 1<<s); g > gain+1 {
				ones, gain, better = ones^1<<s, g, true
			}
		}
	}
	return ones, gain
}

// codeBits is what symbols cost in a prefix code: their entropy, and never less than a bit each.
func codeBits(count []int32) float64 {
	n, most := 0.0, 0.0
	sum := 0.0
	for _, c := range count {
		if c > 0 {
			x := float64(c)
			n += x
			sum += x * math.Log2(x)
			most = math.Max(most, x)
		}
	}
	if n == 0 {
		return 0
	}
	entropy := n*math.Log2(n) - sum
	// The likeliest symbol takes a whole bit where it deserves less.
	if p := most / n; p > 0.5 {
		return n + math.Max(0, entropy-n*evenness(p))
	}
	return entropy
}

// evenness is the entropy of a decision.
func evenness(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// codeOf makes the code for counted symbols; each gets one.
func codeOf(count []uint64) *huffman.Table {
	weights := make([]uint64, len(count))
	for i, c := range count {
		weights[i] = c<<10 + 1
	}
	t, err := huffman.FromLengths(huffman.Build(weights, huffman.MaxLength))
	if err != nil {
		panic("rows: a built code is no code: " + err.Error())
	}
	return t
}

// plant grows a tree on some rows and makes its codes from all that count. symbol returns a row's
// symbol, or -1 if the row does not count.
func (s *sample) plant(list []feature, f, told, alphabet int, symbol func(i int) int) tree {
	fields := s.schema.Fields
	index := s.thinIndex(treeRows, func(i int) bool { return symbol(i) >= 0 })
	symbols := make([]uint16, len(index))
	few := make([]uint8, len(index))
	columns := make([][]uint8, len(list))
	for j := range columns {
		columns[j] = make([]uint8, len(index))
	}
	var r row
	set := func(i int) {
		s.at(&r, i, told)
		if f >= 0 {
			r.step = s.step[f][i]
		}
	}
	for k, i := range index {
		set(i)
		symbols[k] = uint16(symbol(i))
		few[k] = uint8(min(bits.Len16(symbols[k]), 15))
		if alphabet <= 16 {
			few[k] = uint8(symbols[k])
		} else if f >= 0 {
			few[k] = uint8(min(symbols[k], 15))
		}
		for j, x := range list {
			columns[j][k] = uint8(x.value(&r, fields))
		}
	}
	picked := pickFeatures(few, columns, treeAsk)
	var ask []feature
	var askColumns [][]uint8
	for _, j := range picked {
		ask, askColumns = append(ask, list[j]), append(askColumns, columns[j])
	}
	forks, _ := grow(symbols, alphabet, askColumns, ask)
	t := tree{forks: forks}
	counts := make([][]uint64, len(forks)+1)
	for i := range counts {
		counts[i] = make([]uint64, alphabet)
	}
	for i := range s.rows {
		if y := symbol(i); y >= 0 {
			set(i)
			counts[t.find(&r, fields)][y]++
		}
	}
	for _, c := range counts {
		t.leaves = append(t.leaves, codeOf(c))
	}
	return t
}

// findTrees grows the trees of a Huffman coder.
func (s *sample) findTrees(m *Model) {
	fields := s.schema.Fields
	n := len(fields)
	told := make([]bool, n)
	list := func(f, groups int) []feature {
		var out []feature
		for _, x := range featuresOf(fields, told, groups, false) {
			if x.op != featAbove {
				out = append(out, x)
			}
		}
		if f >= 0 {
			out = append(out, feature{op: featStep}, feature{op: featStepSize})
		}
		return out
	}
	s.findCalm(m, list(-1, 0))
	for u := range m.groups {
		g := &m.groups[u]
		order := m.order[g.first:][:g.count]
		g.mask = s.plant(list(-1, u), -1, u, 1<<g.count, func(i int) int {
			if s.still[i] || !s.rest[i] && m.calm[s.leaf[i]] && s.entry[i] == 0 {
				return -1
			}
			mask := 0
			for k, f := range order {
				if s.wrong[i*n+f] != 0 {
					mask |= 1 << k
				}
			}
			return mask
		})
		for _, f := range order {
			mod := fields[f].mod()
			m.trees[f] = s.plant(list(f, u+1), f, u+1, errorSymbols, func(i int) int {
				if s.wrong[i*n+f] == 0 || s.still[i] {
					return -1
				}
				v := miss(s.rows[i].fresh[f], s.guess[f][i], mod)
				if step := s.step[f][i]; step != 0 && v == -int64(step) {
					return 0
				}
				sym, _, _ := splitError(v)
				return sym
			})
			told[f] = true
		}
	}
}

// calmLimit is how often a row of a calm leaf may be wrong.
const calmLimit = 0.15

// findCalm finds out from what rows were which of them are likely to be right, and how those and
// resting rows are told.
func (s *sample) findCalm(m *Model, list []feature) {
	m.quiet = s.plant(list, -1, 0, 2, func(i int) int {
		if s.rest[i] {
			return -1
		}
		return int(min(s.entry[i], 1))
	})
	leaves := len(m.quiet.leaves)
	m.quiet.leaves = nil
	s.leaf = make([]int, len(s.rows))
	all, wrong := make([]float64, leaves), make([]float64, leaves)
	var r row
	for i := range s.rows {
		if s.rest[i] {
			continue
		}
		s.at(&r, i, 0)
		q := m.quiet.find(&r, s.schema.Fields)
		s.leaf[i] = q
		all[q]++
		wrong[q] += float64(min(s.entry[i], 1))
	}
	m.calm = make([]bool, leaves)
	for q := range m.calm {
		m.calm[q] = wrong[q] < calmLimit*all[q]
	}
	m.batches = s.batchCodes(func(i int) (in, odd bool) { return !s.rest[i] && m.calm[s.leaf[i]], s.entry[i] != 0 })
	m.rests = s.batchCodes(func(i int) (in, odd bool) { return s.rest[i], !s.still[i] })
}

// batchCodes makes the codes that tell which rows of a batch are odd; of returns whether a row is
// in one, and odd.
func (s *sample) batchCodes(of func(i int) (in, odd bool)) (codes [2]*huffman.Table) {
	var counts [2][]uint64
	for k := range counts {
		counts[k] = make([]uint64, 1<<blockRows)
	}
	counts[0][0] = evenPrior
	block, top, k := 0, 0, 0
	end := func() {
		if block != 0 {
			counts[1][block]++
			top |= 1 << ((k - 1) / blockRows)
		}
		block = 0
	}
	batch := func() {
		if k > 0 {
			end()
			counts[0][top]++
		}
		top, k = 0, 0
	}
	for i := range s.rows {
		if s.rows[i].first {
			batch()
		}
		in, odd := of(i)
		if !in {
			continue
		}
		if odd {
			block |= 1 << (k % blockRows)
		}
		if k++; k%blockRows == 0 {
			end()
		}
		if k == batchRows {
			batch()
		}
	}
	batch()
	for k := range counts {
		codes[k] = codeOf(counts[k])
	}
	return codes
}

// evenPrior is how many batches without an odd row are taken as seen: where training saw few, idle
// rows must cost little.
const evenPrior = 32
