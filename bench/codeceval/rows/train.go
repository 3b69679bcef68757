package rows

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Recording is what a model is trained on: the frames of one match, one after another, one Interval
// apart.
type Recording struct {
	Frames [][]int32
	Live   [][]bool              // nil, or by frame, by row: whether it counts
	First  int                   // frames before this one serve as past only
	Now    func(frame int) int32 // tick of a frame; nil: frame * Interval
}

// Training says how to train. The zero value is a good start.
type Training struct {
	Delay int // frames between the newest one held and the one coded; 0 means 2
	Rows  int // rows to look at, at most; 0 means about 5 million values
	// Features that a decision of Range weighs, 1 to 9; 0 means 9: fewer are faster and a little
	// larger.
	Contexts int
}

// sample is a training set: rows with their past, and what the predictors make of them.
type sample struct {
	schema Schema
	rows   []sampleRow
	guess  [][]int32 // by field, by row
	step   [][]int32
	moved  []int32 // by row, by field
	wrong  []int32
	above  []uint32
	leads  []int  // by row: the first row of its frame that has errors, or -1
	pulled bool   // rows are predicted with their neighbours' help
	moves  []bool // by row: it was moving
	raw    []int32
	mates  []int // by row: the row whose errors are nearest, or -1
	entry  []uint32
	zeros  []int32
	leaf   []int  // by row: leaf of the model's quiet tree
	rest   []bool // by row: the same in all frames held
	still  []bool // by row: that, and still so
}

type sampleRow struct {
	held  [nLags][]int32
	fresh []int32
	now   int32
	first bool // of its frame
}

// PastAt returns what is held when frame s of the recording is coded, delay frames later than the
// newest acknowledged.
func (rec *Recording) PastAt(s, delay int, interval int32, dst *Past) {
	dst.Frames = dst.Frames[:0]
	for i := s - delay; i >= 0 && len(dst.Frames) < Depth; i-- {
		dst.Frames = append(dst.Frames, rec.Frames[i])
	}
	if dst.Now = int32(s) * max(interval, 1); rec.Now != nil {
		dst.Now = rec.Now(s)
	}
}

// gather picks whole frames, evenly over all recordings, until there are enough rows.
func gather(s Schema, recs []Recording, delay, rows int) (*sample, error) {
	n := len(s.Fields)
	total := 0
	usable := func(rec *Recording) (from, to int) { return max(rec.First, delay+Depth), len(rec.Frames) }
	for i := range recs {
		rec := &recs[i]
		for from, to := usable(rec); from < to; from++ {
			if len(rec.Frames[from])%n != 0 {
				return nil, fmt.Errorf("rows: frame %d has %d values, expected a multiple of %d fields", from, len(rec.Frames[from]), n)
			}
			total += len(rec.Frames[from]) / n
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("rows: nothing to train on: expected a recording of more than %d frames", delay+Depth)
	}
	out := &sample{schema: s, zeros: make([]int32, n)}
	zeros := make([]int32, n)
	scratch := newRow(n, 0)
	share, due := min(1, float64(rows)/float64(total)), 0.0
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range recs {
		rec := &recs[i]
		var past Past
		from, to := usable(rec)
		for f := from; f < to; f++ {
			if due += share; due < rng.Float64()*0.5+0.5 {
				continue
			}
			due--
			rec.PastAt(f, delay, s.Interval, &past)
			first := true
			for e := range len(rec.Frames[f]) / n {
				if rec.Live != nil && !rec.Live[f][e] {
					continue
				}
				scratch.begin(&past, e, n, nil, zeros)
				out.rows = append(out.rows, sampleRow{scratch.held, rec.Frames[f][e*n:][:n], past.Now, first})
				first = false
			}
		}
	}
	k := len(out.rows)
	out.guess, out.step = make([][]int32, n), make([][]int32, n)
	for f := range n {
		out.guess[f], out.step[f] = make([]int32, k), make([]int32, k)
	}
	out.moved, out.wrong, out.raw = make([]int32, k*n), make([]int32, k*n), make([]int32, k*n)
	out.moves = make([]bool, k)
	out.above, out.entry = make([]uint32, k), make([]uint32, k)
	out.rest, out.still = make([]bool, k), make([]bool, k)
	for i := range out.rows {
		scratch.held = out.rows[i].held
		out.rest[i] = scratch.rests()
		out.still[i] = out.rest[i] && slices.Equal(scratch.held[0], out.rows[i].fresh)
		for f := range n {
			out.moved[i*n+f] = away(out.rows[i].fresh[f], out.rows[i].held[0][f], s.Fields[f].mod())
		}
	}
	return out, nil
}

// at points r at row i of the sample, of which the first told groups are told.
func (s *sample) at(r *row, i, told int) {
	n := len(s.schema.Fields)
	q := &s.rows[i]
	r.held, r.fresh, r.now = q.held, q.fresh, q.now
	r.moved, r.wrong = s.moved[i*n:][:n], s.wrong[i*n:][:n]
	if r.mate = s.zeros; s.mates != nil && s.mates[i] >= 0 {
		r.mate = s.raw[s.mates[i]*n:][:n]
	}
	if r.pull = s.zeros; s.pulled && s.moves[i] {
		r.pull = r.mate
	}
	if r.lead = s.zeros; s.leads != nil && s.leads[i] >= 0 {
		r.lead = s.raw[s.leads[i]*n:][:n]
	}
	r.above, r.entry = s.above[i], s.entry[i]&(1<<told-1)
}

// predict works out guesses and errors of field f for all rows.
func (s *sample) predict(p *predictor, f int) {
	var r row
	n := len(s.schema.Fields)
	for i := range s.rows {
		s.at(&r, i, 0)
		p.guess(&r, s.schema.Fields, f)
		s.guess[f][i], s.step[f][i] = r.guess, r.step
		s.wrong[i*n+f] = away(r.fresh[f], r.guess, s.schema.Fields[f].mod())
		s.raw[i*n+f] = away(r.fresh[f], r.base, s.schema.Fields[f].mod())
	}
}

// Train makes a model for recordings of rows of s, for pasts whose newest frame is Delay frames
// old.
func Train(s Schema, recs []Recording, how Training) (*Model, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if how.Delay == 0 {
		how.Delay = 2
	}
	if how.Contexts == 0 {
		how.Contexts = maxSlots - maxPairs
	}
	if how.Delay < 0 || how.Rows < 0 || how.Contexts < 0 || how.Contexts > maxSlots-maxPairs {
		return nil, fmt.Errorf("rows: training %+v: expected no negative numbers and at most %d contexts", how, maxSlots-maxPairs)
	}
	n := len(s.Fields)
	if how.Rows == 0 {
		how.Rows = 5_000_000 / max(n, 8)
	}
	set, err := gather(s, recs, how.Delay, how.Rows)
	if err != nil {
		return nil, err
	}
	m := &Model{schema: s, predictors: make([]predictor, n), mixers: make([]mixer, n), trees: make([]tree, n)}
	m.order, m.predictors = findOrder(set.thin(3000, 600))
	set.refit(m)
	m.groups = set.grouped(m.order)
	set.note(m)
	set.findTrees(m)
	set.findPulls(m)
	set.findMixers(m, how.Contexts)
	m.number()
	return m, nil
}

// thin returns at most about moving rows of the set in which something changes and resting ones in
// which nothing does, for searches that need no more.
func (s *sample) thin(moving, resting int) *sample {
	n := len(s.schema.Fields)
	moves := func(i int) bool { return slices.ContainsFunc(s.moved[i*n:][:n], func(d int32) bool { return d != 0 }) }
	index := s.thinIndex(moving, moves)
	index = append(index, s.thinIndex(resting, func(i int) bool { return !moves(i) })...)
	out := &sample{schema: s.schema, zeros: s.zeros}
	for _, i := range index {
		out.rows = append(out.rows, s.rows[i])
		out.moved = append(out.moved, s.moved[i*n:][:n]...)
		out.wrong = append(out.wrong, s.wrong[i*n:][:n]...)
		out.raw = append(out.raw, s.raw[i*n:][:n]...)
		out.above = append(out.above, s.above[i])
		out.entry = append(out.entry, s.entry[i])
	}
	k := len(out.rows)
	out.guess, out.step = make([][]int32, n), make([][]int32, n)
	for f := range n {
		out.guess[f], out.step[f] = make([]int32, k), make([]int32, k)
	}
	return out
}

// grouped cuts the order into groups.
func (s *sample) grouped(order []int) (groups []group) {
	for i := 0; i < len(order); {
		k := min(groupSize, len(order)-i)
		groups = append(groups, group{first: i, count: k})
		i += k
	}
	return groups
}

// groupSize is how many fields share a mask: fewer cost more masks, more fill more rare masks.
const groupSize = 6

// note works out which groups had errors, and which rows above.
func (s *sample) note(m *Model) {
	n := len(s.schema.Fields)
	above := uint32(0)
	var near neighbours
	near.locate(s.schema.Fields)
	s.mates, s.leads = make([]int, len(s.rows)), make([]int, len(s.rows))
	lead := -1
	for i := range s.rows {
		if s.rows[i].first {
			above = 0
			near.clear()
			lead = -1
		}
		s.above[i], s.entry[i] = above, 0
		for u, g := range m.groups {
			if s.still[i] {
				break // none of its groups is told
			}
			for _, f := range m.order[g.first:][:g.count] {
				if s.wrong[i*n+f] != 0 {
					s.entry[i] |= 1 << (u & 31)
				}
			}
		}
		s.mates[i], s.leads[i] = -1, lead
		s.moves[i] = near.moves(&s.rows[i].held)
		if s.moves[i] || s.entry[i] != 0 {
			s.mates[i] = near.nearest(s.rows[i].held[0])
		}
		if s.entry[i] != 0 {
			if lead < 0 {
				lead = i
			}
			near.add(s.rows[i].held[0], i)
		}
		above = above<<1 | min(s.entry[i], 1)
	}
}
