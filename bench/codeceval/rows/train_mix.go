package rows

import (
	"math"
	"math/bits"
)

// featuresOf lists the features that may say something about the errors of a field told when those
// in told are.
func featuresOf(fields []Field, told []bool, groups int, mates bool) (list []feature) {
	add := func(op featureOp, a, b, c int) {
		list = append(list, feature{op: op, a: uint8(a), b: uint8(b), c: uint8(c)})
	}
	add(featAbove, 0, 0, 0)
	for u := range groups {
		if u%3 == 0 && u >= 0 {
			add(featEntry, u, 0, 0)
		}
	}
	for a, f := range fields {
		add(featStill, a, 0, 0)
		if f.Kind == Number || f.Kind == Angle {
			add(featTrend, a, 0, 1)
			add(featTrend, a, 0, 2)
			add(featTrend, a, 1, 2)
			add(featTrend, a, 0, 4)
			add(featBend, a, 1, 2)
			add(featBend, a, 3, 4)
			add(featBend, a, 4, 5)
			add(featBendSign, a, 1, 2)
			add(featBendSign, a, 3, 4)
			add(featTrendSize, a, 0, 1)
			add(featTrendSize, a, 0, 4)
		}
		if f.Kind == Number {
			add(featSize, a, 0, 0)
			add(featHeld, a, 0, 0)
		}
		if f.Kind == Flag {
			add(featHeld, a, 0, 0)
		}
		if f.Kind == Stamp {
			add(featHeldAge, a, 0, 0)
		}
		if mates && f.Kind != Flag {
			add(featMate, a, 0, 0)
			add(featLead, a, 0, 0)
			add(featMateSize, a, 0, 0)
		}
		if !told[a] {
			continue
		}
		add(featWrong, a, 0, 0)
		add(featMoved, a, 0, 0)
		if f.Kind == Number || f.Kind == Angle {
			add(featWrongSize, a, 0, 0)
		}
		if f.Kind == Flag || f.Kind == Number {
			add(featFresh, a, 0, 0)
		}
		if f.Kind == Stamp {
			add(featAge, a, 0, 0)
		}
	}
	return list
}

// symbol sorts an error for the choice of features: 0 right, 1 still, then by sign and size.
func symbol(m, step int32) uint8 {
	if m == 0 {
		return 0
	}
	if step != 0 && m == -step {
		return 1
	}
	l := min(bits.Len32(uint32(max(m, -m))), 7)
	return uint8(2*l) + uint8(uint32(m)>>31)
}

// pickFeatures chooses k features that say most about y: each time the one that adds most to each
// of those chosen before (conditional mutual information maximisation, Fleuret 2004). A score only
// falls as more are chosen, so those that are behind already wait until they are in front.
func pickFeatures(y []uint8, columns [][]uint8, k int) (picked []int) {
	n := len(columns)
	none := make([]uint8, len(y))
	score, judged := make([]float64, n), make([]int, n) // judged beside how many of the chosen
	for j := range score {
		score[j] = information(y, columns[j], none)
	}
	for len(picked) < k {
		best := -1
		for j := range n {
			for judged[j] < len(picked) && (best < 0 || score[j] > score[best]) {
				score[j] = math.Min(score[j], information(y, columns[j], columns[picked[judged[j]]]))
				judged[j]++
			}
			if best < 0 || score[j] > score[best] {
				best = j
			}
		}
		if best < 0 || score[best] < 1e-4 {
			return picked
		}
		picked = append(picked, best)
		score[best] = math.Inf(-1)
	}
	return picked
}

// information is I(y; x | z) in bits, less what chance would give.
func information(y, x, z []uint8) float64 {
	var count [states * states * states]int32
	for i := range y {
		count[int(z[i]&15)<<8|int(x[i]&15)<<4|int(y[i]&15)]++
	}
	n := float64(len(y))
	total, cells := 0.0, 0.0
	for zi := range states {
		var xs, ys [states]float64
		all := 0.0
		for xi := range states {
			for yi := range states {
				c := float64(count[zi<<8|xi<<4|yi])
				xs[xi] += c
				ys[yi] += c
				all += c
			}
		}
		if all == 0 {
			continue
		}
		nx, ny := 0.0, 0.0
		for xi := range states {
			if xs[xi] == 0 {
				continue
			}
			nx++
			for yi := range states {
				if c := float64(count[zi<<8|xi<<4|yi]); c > 0 {
					total += c * math.Log2(c*all/(xs[xi]*ys[yi]))
				}
			}
		}
		for yi := range states {
			if ys[yi] > 0 {
				ny++
			}
		}
		cells += (nx - 1) * (ny - 1)
	}
	return total/n - cells/(2*n*math.Ln2)
}

// Parameters of the search.
const (
	maxPairs  = 3
	epochs    = 3
	learnRate = 0.06
)

// pairings are the pairs of features, by rank, that get a slot of their own.
var pairings = [maxPairs][2]uint8{{0, 1}, {0, 2}, {1, 2}}

// findMixers chooses the features of every decision, at most that many, and learns the weights.
func (s *sample) findMixers(m *Model, contexts int) {
	fields := s.schema.Fields
	n := len(fields)
	var thin []int
	told := make([]bool, n)
	cache := map[feature][]uint8{}
	var r row
	column := func(x feature, f, groups int) []uint8 {
		if c := cache[x]; c != nil {
			return c
		}
		out := make([]uint8, len(thin))
		for k, i := range thin {
			s.at(&r, i, groups)
			if f >= 0 {
				r.step = s.step[f][i]
			}
			out[k] = uint8(x.value(&r, fields))
		}
		if x.op != featStep && x.op != featStepSize && x.op != featEntry {
			cache[x] = out
		}
		return out
	}
	choose := func(y []uint8, f, groups int) (asks []feature, slots []slot) {
		list := featuresOf(fields, told, groups, f >= 0)
		if f >= 0 {
			list = append(list, feature{op: featStep}, feature{op: featStepSize})
		}
		columns := make([][]uint8, len(list))
		for j, x := range list {
			columns[j] = column(x, f, groups)
		}
		picked := pickFeatures(y, columns, contexts)
		for k, j := range picked {
			asks = append(asks, list[j])
			slots = append(slots, slot{a: uint8(k), b: pairless})
		}
		for _, pair := range pairings {
			if int(pair[1]) < len(picked) {
				slots = append(slots, slot{a: pair[0], b: pair[1]})
			}
		}
		return asks, slots
	}
	resting := func(i int) bool { return s.rest[i] }
	thin = s.thinIndex(12000, resting)
	y := make([]uint8, len(thin))
	for k, i := range thin {
		if y[k] = 1; s.still[i] {
			y[k] = 0
		}
	}
	m.wake = newMixer(choose(y, -1, 0))(1)
	s.learn(&m.wake, -1, 0, resting, func(i int, visit func(node uint32, bit bool)) { visit(0, !s.still[i]) })
	talks := func(i int) bool { return !s.still[i] }
	for u := range m.groups {
		g := &m.groups[u]
		clear(cache)
		thin = s.thinIndex(12000, talks)
		y := make([]uint8, len(thin))
		for k, i := range thin {
			y[k] = uint8(s.entry[i] >> (u & 31) & 1)
		}
		g.any = newMixer(choose(y, -1, u))(1)
		s.learn(&g.any, -1, u, talks, func(i int, visit func(node uint32, bit bool)) {
			visit(0, s.entry[i]>>(u&31)&1 != 0)
		})
		clear(cache)
		thin = s.thinIndex(12000, func(i int) bool { return s.entry[i]>>(u&31)&1 != 0 })
		y = y[:len(thin)]
		for k, f := range m.order[g.first:][:g.count] {
			j := 0
			for _, i := range thin {
				y[j] = symbol(s.wrong[i*n+f], s.step[f][i])
				j++
			}
			m.mixers[f] = newMixer(choose(y, f, u+1))(nodeCount)
			before := m.order[g.first:][:k]
			lastOne := k == g.count-1
			mod := fields[f].mod()
			wrongGroup := func(i int) bool { return s.entry[i]>>(u&31)&1 != 0 }
			s.learn(&m.mixers[f], f, u+1, wrongGroup, func(i int, visit func(node uint32, bit bool)) {
				certain := lastOne
				for _, b := range before {
					certain = certain && s.wrong[i*n+b] == 0
				}
				visitError(miss(s.rows[i].fresh[f], s.guess[f][i], mod), s.step[f][i], certain, visit)
			})
			told[f] = true
		}
	}
}

func newMixer(asks []feature, slots []slot) func(nodes int) mixer {
	return func(nodes int) mixer {
		m := mixer{asks: asks, slots: slots}
		size := 0
		for i := range slots {
			slots[i].start = uint32(size)
			size += slots[i].lines()
		}
		m.nodes, m.bias = uint32(nodes), uint32(size*nodes)
		m.weights = make([]int16, nodes*(size+1))
		return m
	}
}

// thinIndex picks about k of the rows that count, nil for all.
func (s *sample) thinIndex(k int, counts func(i int) bool) (index []int) {
	for i := range s.rows {
		if counts == nil || counts(i) {
			index = append(index, i)
		}
	}
	if len(index) <= k {
		return index
	}
	all := index
	index = make([]int, k)
	for i := range index {
		index[i] = all[i*len(all)/k]
	}
	return index
}

// visitError walks the decisions of errorCoder.put.
func visitError(m int64, step int32, certain bool, visit func(node uint32, bit bool)) {
	if !certain {
		visit(nodeWrong, m != 0)
	}
	if m == 0 {
		return
	}
	if step != 0 {
		still := m == -int64(step)
		visit(nodeStill, still)
		if still {
			return
		}
	}
	visit(nodeMinus, m < 0)
	n := uint64(max(m, -m))
	l := uint32(bits.Len64(n)) - 1
	for i := uint32(0); i <= l && i < maxLength-1; i++ {
		visit(nodeLonger+min(i, lengths-1), i < l)
	}
	if l == 0 {
		return
	}
	second := uint32(n>>(l-1)) & 1
	k := min(l-1, lengths-1)
	visit(nodeSecond+k, second != 0)
	if l > 1 {
		visit(nodeThird+2*k+second, n>>(l-2)&1 != 0)
	}
}

// learn finds the weights of a mixer by stochastic gradient descent (AdaGrad) on the bits that
// decisions cost.
func (s *sample) learn(m *mixer, f, told int, counts func(i int) bool, decisions func(i int, visit func(node uint32, bit bool))) {
	w := make([]float32, len(m.weights))
	g := make([]float32, len(m.weights))
	fields := s.schema.Fields
	var r row
	var at place
	index := s.thinIndex(len(s.rows), counts)
	places := make([]place, 0, len(index))
	for _, i := range index {
		s.at(&r, i, told)
		if f >= 0 {
			r.step = s.step[f][i]
		}
		m.look(&at, &r, fields)
		places = append(places, at)
	}
	k := len(m.slots)
	for epoch := range epochs {
		rate := float32(learnRate) / float32(1+epoch)
		for j := range index {
			at := int(uint64(j) * 1000003 % uint64(len(index)))
			p := &places[at]
			decisions(index[at], func(node uint32, bit bool) {
				sum := w[m.bias+node]
				for _, at := range p[:k] {
					sum += w[at+node]
				}
				d := -1 / (1 + float32(math.Exp(float64(-sum))))
				if bit {
					d++
				}
				step := func(at uint32) {
					g[at] += d * d
					w[at] += rate * d / float32(math.Sqrt(float64(g[at])+1e-4))
				}
				step(m.bias + node)
				for _, at := range p[:k] {
					step(at + node)
				}
			})
		}
	}
	for i, x := range w {
		m.weights[i] = int16(math.Round(math.Max(-32767, math.Min(32767, float64(x)*weightOne))))
	}
}
