package rows

import (
	"math"
	"math/rand/v2"
	"testing"
)

// wildBatch is a batch of random rows, and each of them as a row of its own, with everything told.
func wildBatch(rng *rand.Rand, s Schema) (*batch, []row) {
	n := len(s.Fields)
	pick := func(f int) int32 {
		switch rng.IntN(6) {
		case 0:
			return int32(rng.Uint32())
		case 1:
			return []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 3599}[rng.IntN(6)]
		default:
			if mod := s.Fields[f].mod(); mod != 0 {
				return rng.Int32N(mod)
			}
			return rng.Int32N(401) - 200
		}
	}
	entities := 1 + rng.IntN(lanes)
	past := Past{Now: int32(rng.Uint32())}
	for range rng.IntN(Depth + 2) {
		frame := make([]int32, entities*n)
		for i := range frame {
			frame[i] = pick(i % n)
		}
		past.Frames = append(past.Frames, frame)
	}
	b := newBatch(n)
	b.begin(&past)
	rows, zeros := make([]row, entities), make([]int32, n)
	for e := range rows {
		b.add(e * n)
		r := newRow(n, 0)
		r.begin(&past, e, n, make([]int32, n), zeros)
		r.mate, r.lead, r.pull = zeros, zeros, zeros
		rows[e] = r
	}
	b.start()
	for e := range rows {
		r := &rows[e]
		r.entry = rng.Uint32()
		b.entry[e] = r.entry
		for f := range n {
			r.fresh[f], r.moved[f], r.wrong[f] = pick(f), pick(f), pick(f)
			b.fresh[f][e], b.moved[f][e], b.wrong[f][e] = r.fresh[f], r.moved[f], r.wrong[f]
		}
	}
	return b, rows
}

// A batch knows of each of its rows what the row knows by itself: predictions of every source, and
// whether it rests.
func TestBatchPredicts(t *testing.T) {
	s, _ := walkers(1, 1, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	var mods []int32
	for _, f := range s.Fields {
		mods = append(mods, f.mod())
	}
	for range 3000 {
		b, rows := wildBatch(rng, s)
		f := rng.IntN(len(s.Fields))
		var p predictor
		for range rng.IntN(4) {
			x := source{sourceOp(rng.IntN(int(srcOps))), uint8(rng.IntN(len(s.Fields))), uint8(rng.IntN(len(s.Fields))), uint8(rng.IntN(len(s.Fields)))}
			if x.fits(s.Fields, f) {
				p.terms = append(p.terms, term{x, int32(rng.Uint32()) >> rng.IntN(31)})
			}
		}
		b.predict(&p, mods, f)
		for e := range rows {
			p.guess(&rows[e], s.Fields, f)
			if b.guess[e] != rows[e].guess || b.step[f][e] != rows[e].step {
				t.Fatalf("field %d of row %d of %d by %v: %d by %d, the row itself says %d by %d",
					f, e, len(rows), p.terms, b.guess[e], b.step[f][e], rows[e].guess, rows[e].step)
			}
			if n := len(s.Fields); b.rests(e*n, n) != rows[e].rests() {
				t.Fatalf("row %d rests, or not", e)
			}
		}
	}
}

// A tree laid out by feature leads to the same leaves as the forks themselves.
func TestBatchLeaves(t *testing.T) {
	s, _ := walkers(1, 1, 1)
	rng := rand.New(rand.NewPCG(1, 3))
	var mods []int32
	for _, f := range s.Fields {
		mods = append(mods, f.mod())
	}
	for round := range 3000 {
		b, rows := wildBatch(rng, s)
		var tr tree
		open := [][2]int{} // ways that lead nowhere yet: fork, way
		for i := range rng.IntN(treeLeaves) {
			x := feature{op: featureOp(rng.IntN(int(featOps))), a: uint8(rng.IntN(len(s.Fields))), b: uint8(rng.IntN(nLags)), c: uint8(rng.IntN(nLags))}
			tr.forks = append(tr.forks, fork{ask: x, ones: uint16(rng.Uint32())})
			if i > 0 {
				k := rng.IntN(len(open))
				tr.forks[open[k][0]].next[open[k][1]] = int16(i)
				open[k] = open[len(open)-1]
				open = open[:len(open)-1]
			}
			open = append(open, [2]int{i, 0}, [2]int{i, 1})
		}
		for leaf, way := range open {
			tr.forks[way[0]].next[way[1]] = ^int16(leaf)
		}
		tr.lay()
		f := rng.IntN(len(s.Fields))
		var list, leaf [lanes]uint8
		n := 0
		for e := range rows {
			b.step[f][e] = int32(rng.Uint32()) >> rng.IntN(31)
			rows[e].step = b.step[f][e]
			if rng.IntN(3) > 0 {
				list[n] = uint8(e)
				n++
			}
		}
		tr.cuts.leaves(b, mods, f, list[:n], leaf[:n])
		for k, e := range list[:n] {
			if want := tr.find(&rows[e], s.Fields); int(leaf[k]) != want {
				t.Fatalf("round %d, row %d of %d: leaf %d, by the forks %d of %+v", round, e, len(rows), leaf[k], want, tr.forks)
			}
		}
	}
}

// The table of small errors says what is worked out for large ones.
func TestErrorSymbol(t *testing.T) {
	for m := int64(-300); m <= 300; m++ {
		for _, step := range []int32{0, 1, -1, 100, -300, 300} {
			if m == 0 {
				continue
			}
			sym, extra, n := errorSymbol(m, step)
			if step != 0 && m == -int64(step) {
				if sym != 0 || n != 0 {
					t.Fatalf("error %d of a step of %d is symbol %d", m, step, sym)
				}
				continue
			}
			if sym2, extra2, n2 := splitError(m); sym != sym2 || extra != extra2 || n != n2 {
				t.Fatalf("error %d: symbol %d with %d, expected %d with %d", m, sym, extra, sym2, extra2)
			}
		}
	}
}

// Rows that rest cost next to nothing, however lively the recordings were that the model saw; and
// waking up is told.
func TestRestingRows(t *testing.T) {
	m := walkerModel()
	s, rec := walkers(9, 24, 40)
	still := rec.Frames[30]
	past := Past{Now: 200}
	for range Depth {
		past.Frames = append(past.Frames, still)
	}
	for name, c := range coders(m) {
		if out := c[0].Append(nil, still, &past, nil); len(out) > 2 {
			t.Errorf("%s: 24 resting rows take %d bytes", name, len(out))
		}
		frame := append([]int32(nil), still...)
		got := make([]int32, len(frame))
		for e := 0; e < 24; e += 5 {
			frame[e*len(s.Fields)+e%len(s.Fields)]++
			if err := c[1].Decode(c[0].Append(nil, frame, &past, nil), got, &past, nil); err != nil || got[e*len(s.Fields)+e%len(s.Fields)] != frame[e*len(s.Fields)+e%len(s.Fields)] {
				t.Fatalf("%s: row %d woke up, and nobody noticed: %v", name, e, err)
			}
		}
	}
}

// fits reports whether the source can be computed for a target of these fields.
func (s source) fits(fields []Field, target int) bool {
	angle := func(f uint8) bool { return fields[f].Kind == Angle }
	switch s.op {
	case srcTrend, srcBend:
		return int(s.b) < nLags && int(s.c) < nLags
	case srcCourse, srcCourseNear:
		return angle(uint8(target))
	case srcAlong, srcAcross, srcWasAlong, srcWasAcross:
		return angle(s.c)
	case srcSwing, srcSwung, srcBow:
		return angle(s.b)
	default:
		return true
	}
}
