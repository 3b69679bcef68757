package rows

import (
	"math"
	"strings"
)

// sourcesOf lists the sources that may help to predict field f when the fields in told are told
// already.
func sourcesOf(fields []Field, f int, told []bool) (list []source) {
	add := func(op sourceOp, a, b, c int) { list = append(list, source{op, uint8(a), uint8(b), uint8(c)}) }
	add(srcOne, 0, 0, 0)
	if fields[f].Kind != Flag {
		for c := 1; c < nLags; c++ {
			add(srcTrend, f, 0, c)
		}
		add(srcTrend, f, 1, 2)
		add(srcTrend, f, 3, 4)
		add(srcBend, f, 1, 2)
		add(srcBend, f, 2, 4)
		add(srcBend, f, 3, 4)
		add(srcBend, f, 4, 5)
		if fields[f].Kind != Angle {
			add(srcHeld, f, 0, 0)
		}
	}
	if fields[f].Kind == Stamp {
		add(srcAge, 0, 0, 0)
	}
	for a := range fields {
		if vector(fields[f].Name, fields[a].Name) || vector(fields[a].Name, fields[f].Name) || a == f && fields[f].Kind == Number {
			for b := range fields {
				if fields[b].Kind != Angle || !told[b] {
					continue
				}
				if a == f {
					add(srcBow, a, b, 0)
				} else {
					add(srcSwing, a, b, 0)
					add(srcSwung, a, b, 0)
				}
			}
		}
		if a == f {
			continue
		}
		angle := fields[a].Kind == Angle
		if told[a] {
			add(srcMoved, a, 0, 0)
			if angle == (fields[f].Kind == Angle) {
				add(srcSame, a, 0, 0)
			}
			if angle && fields[f].Kind == Angle && fields[a].Mod != fields[f].Mod {
				add(srcNear, a, 0, 0)
			}
			if !angle {
				add(srcFresh, a, 0, 0)
			}
		}
		if fields[a].Kind == Number {
			add(srcHeld, a, 0, 0)
		}
		if fields[a].Kind != Stamp {
			add(srcTrend, a, 0, 1)
			add(srcTrend, a, 0, 2)
		}
		for b := range fields {
			if b == f || a == b || !told[a] || !told[b] {
				continue
			}
			if fields[f].Kind == Angle && angle && fields[b].Kind == Angle {
				add(srcApart, a, b, 0)
			}
			if !vector(fields[a].Name, fields[b].Name) {
				continue
			}
			if fields[f].Kind == Angle {
				add(srcCourse, a, b, 0)
				add(srcCourseNear, a, b, 0)
				continue
			}
			for c := range fields {
				if fields[c].Kind == Angle && told[c] && fields[f].Kind == Number {
					add(srcAlong, a, b, c)
					add(srcAcross, a, b, c)
					add(srcWasAlong, a, b, c)
					add(srcWasAcross, a, b, c)
				}
			}
		}
	}
	return list
}

// vector reports whether a and b name two components of one vector that span the ground: x and z,
// or x and y.
func vector(a, b string) bool {
	stem, axis, ok := strings.Cut(a, ".")
	other, second, ok2 := strings.Cut(b, ".")
	return ok && ok2 && stem == other && axis == "x" && (second == "z" || second == "y")
}

// findOrder finds in which order fields are best told. From the last on, it puts that field which
// costs least once all others are known: what follows from others goes behind them.
func findOrder(s *sample) ([]int, []predictor) {
	n := len(s.schema.Fields)
	told := make([]bool, n)
	for f := range told {
		told[f] = true
	}
	known := map[source][]int32{}
	fits, costs, stale := make([]predictor, n), make([]float64, n), make([]bool, n)
	for f := range stale {
		stale[f] = true
	}
	order := make([]int, n)
	for at := n - 1; at >= 0; at-- {
		last := -1
		for f := range n {
			if !told[f] {
				continue
			}
			if stale[f] {
				told[f] = false
				fits[f], costs[f] = s.fit(f, told, known)
				told[f], stale[f] = true, false
			}
			if last < 0 || costs[f] <= costs[last] {
				last = f
			}
		}
		order[at] = last
		told[last] = false
		for f := range n {
			if !told[f] {
				continue
			}
			for _, t := range fits[f].terms {
				stale[f] = stale[f] || t.uses(last)
			}
		}
	}
	return order, fits
}

// uses reports whether the source needs field f to be told.
func (s source) uses(f int) bool {
	a, b, c := int(s.a) == f, int(s.b) == f, int(s.c) == f
	switch s.op {
	case srcMoved, srcFresh, srcSame, srcNear:
		return a
	case srcSwing, srcBow:
		return b
	case srcApart, srcCourse, srcCourseNear:
		return a || b
	case srcAlong, srcAcross, srcWasAlong, srcWasAcross:
		return a || b || c
	default:
		return false
	}
}

// refit fits the weights again on the whole set and works out the errors.
func (s *sample) refit(m *Model) {
	n := len(s.schema.Fields)
	for _, f := range m.order {
		p := &m.predictors[f]
		if len(p.terms) > 1 || len(p.terms) == 1 && p.terms[0].weight != 1<<weightBits {
			target := make([]int32, len(s.rows))
			var columns [][]int32
			var chosen []int
			for i := range target {
				target[i] = s.moved[i*n+f]
			}
			for k, t := range p.terms {
				columns = append(columns, s.column(t.source, f))
				chosen = append(chosen, k)
			}
			if w := solve(columns, chosen, target); w != nil {
				for k := range w {
					p.terms[k].weight = int32(math.Round(math.Max(-64, math.Min(64, w[k])) * (1 << weightBits)))
				}
			}
		}
		s.predict(p, f)
	}
}

// findPulls finds out how much of its nearest neighbour's error a field shares, and predicts again
// with that.
func (s *sample) findPulls(m *Model) {
	n := len(s.schema.Fields)
	shared := make([]int32, n)
	for f := range n {
		if len(m.predictors[f].terms) == 0 {
			continue
		}
		var target, mate, before []int32
		for i := range s.rows {
			if k := s.mates[i]; k >= 0 && s.moves[i] {
				target, mate = append(target, s.raw[i*n+f]), append(mate, s.raw[k*n+f])
			}
		}
		if len(target) < 1000 {
			continue
		}
		before = append(before, target...)
		w := solve([][]int32{mate}, []int{0}, target)
		if w == nil || w[0] < 0.02 || w[0] > 2 {
			continue
		}
		weight := int32(w[0] * (1 << weightBits))
		for i := range target {
			target[i] -= int32((int64(mate[i])*int64(weight) + 1<<(weightBits-1)) >> weightBits)
		}
		if price(target) < price(before)-0.01 {
			shared[f] = weight
		}
	}
	s.pulled = true
	for f, w := range shared {
		if w != 0 {
			m.predictors[f].pull = w
			s.predict(&m.predictors[f], f)
		}
	}
	// What is predicted from fields that were told has not changed, so one pass is enough.
	for f := range n {
		m.pulls = m.pulls || shared[f] != 0
	}
	s.note(m)
}
