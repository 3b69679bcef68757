package codeceval

import (
	"fmt"
	"math"
	"slices"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Part is a schema of the running coder for some fields of a trace. A trace with more fields than a
// row may have is cut into parts, each a plane of its own.
type Part struct {
	Schema schema.Schema
	Fields []int // of the trace, ascending
}

// layoutSamples is about how many rows of the training traces decide on a layout.
const layoutSamples = 30000

// layout makes the parts for traces of one kind: fields that change together or follow from each
// other share a part, in the order in which they follow, and each field gets the predictor that
// leaves the smallest differences.
func layout(train []*itr.Trace, delay int) []Part {
	fields := train[0].Fields
	saved := followers(train, delay)
	groups := [][]int{nil}
	if len(fields) > schema.MaxFields {
		groups = changeTogether(train, delay, saved)
	} else {
		for f := range fields {
			groups[0] = append(groups[0], f)
		}
	}
	for _, group := range groups {
		sortByFollowers(group, saved)
	}
	var parts []Part
	for i, group := range groups {
		p := Part{Schema: schema.Schema{Name: fmt.Sprintf("part.%d", i)}, Fields: group}
		for _, f := range group {
			field := fieldOf(&fields[f], f)
			if kind := fields[f].Kind; kind == itr.Number || kind == itr.Angle {
				field.Predict = bestPredictor(train, delay, f, field)
			}
			p.Schema.Fields = append(p.Schema.Fields, field)
		}
		parts = append(parts, p)
	}
	return parts
}

// fieldOf is field f of a trace in a schema. Names of traces may be none that schemas allow.
func fieldOf(x *itr.Field, f int) schema.Field {
	out := schema.Field{Name: fmt.Sprintf("f%d", f)}
	if x.Kind == itr.Angle {
		out.Wrap = x.Mod
	}
	return out
}

// sampled calls do for evenly spaced snapshots that have all baselines, about layoutSamples rows.
func sampled(train []*itr.Trace, delay int, do func(t *itr.Trace, s int)) {
	rows := 0
	for _, t := range train {
		rows += len(t.Snapshots) * t.Entities
	}
	step := max(1, rows/layoutSamples)
	for _, t := range train {
		for s := Warmup(delay); s < len(t.Snapshots); s += step {
			do(t, s)
		}
	}
}

// changeTogether cuts the fields into parts of nearly equal size. A part begins with the first
// remaining field; the field with the most mutual information about the part joins it next, where
// what fields save each other counts, too. Changes are those over delay snapshots.
func changeTogether(train []*itr.Trace, delay int, saved [][]float64) (groups [][]int) {
	n := len(train[0].Fields)
	both, rows := make([][]float64, n), 0.0
	for f := range both {
		both[f] = make([]float64, n)
	}
	sampled(train, delay, func(t *itr.Trace, s int) {
		var changed []int
		for e := range t.Entities {
			now, old := t.Row(s, e), t.Row(s-delay, e)
			changed = changed[:0]
			for f := range now {
				if now[f] != old[f] {
					changed = append(changed, f)
				}
			}
			rows++
			for _, f := range changed {
				for _, g := range changed {
					both[f][g]++
				}
			}
		}
	})
	count := (n + schema.MaxFields - 1) / schema.MaxFields
	left := make([]int, n)
	for f := range left {
		left[f] = f
	}
	for i := range count {
		group := []int{left[0]}
		left = left[1:]
		for len(group) < n*(i+1)/count-n*i/count {
			best, most := 0, math.Inf(-1)
			for k, f := range left {
				sum := 0.0
				for _, g := range group {
					sum += mutual(both[f][g], both[f][f], both[g][g], rows) + max(saved[f][g], saved[g][f])
				}
				if sum > most {
					best, most = k, sum
				}
			}
			group, left = append(group, left[best]), slices.Delete(left, best, best+1)
		}
		groups = append(groups, group)
	}
	return groups
}

// mutual is the mutual information of two events, in bits. The arguments are numbers of rows: with
// both events, with the one, with the other, and all.
func mutual(both, one, other, rows float64) (bits float64) {
	term := func(n, a, b float64) {
		if n > 0 {
			bits += n / rows * math.Log2(n*rows/(a*b))
		}
	}
	term(both, one, other)
	term(one-both, one, rows-other)
	term(other-both, rows-one, other)
	term(rows-one-other+both, rows-one, rows-other)
	return bits
}

// bestPredictor is the predictor whose differences take the fewest bits, level by level. The
// estimate is the entropy of the size classes of each context, plus the bits within a class. A
// delay that leaves no second baseline gives Hold.
func bestPredictor(train []*itr.Trace, delay, f int, field schema.Field) (best schema.Predictor) {
	acks := newAcks(1, delay)
	for range Warmup(delay) {
		acks.advance()
	}
	base := acks.baselines()
	if base[1] == 0 {
		return schema.Hold
	}
	spacing := schema.MakeBaselineSpacing(
		uint32(acks.now-base[0]), uint32(base[0]-base[1]), uint32(base[1]-base[2]))
	least := math.Inf(1)
	for _, p := range []schema.Predictor{schema.Hold, schema.Linear, schema.Quadratic, schema.Best} {
		field.Predict = p
		coder := &schema.DefaultModel(schema.Schema{Name: "one", Fields: []schema.Field{field}}).Coders()[0]
		var seen [schema.Signals]map[int]float64
		extra := 0.0
		sampled(train, delay, func(t *itr.Trace, s int) {
			column := func(at tick.Tick) (v []int32) {
				for e := range t.Entities {
					v = append(v, field.Clamp(t.Row(s-int(acks.now-at), e)[f]))
				}
				return v
			}
			expected, signals := make([]int32, t.Entities), make([]uint8, t.Entities)
			coder.Predict(&spacing, expected, column(base[0]), column(base[1]), column(base[2]), signals)
			for e, v := range column(acks.now) {
				sym := -1
				if v != expected[e] {
					bucket, _, n := huffman.Bucket(coder.Delta(v, expected[e]))
					sym, extra = bucket, extra+float64(n)
				}
				if seen[signals[e]] == nil {
					seen[signals[e]] = map[int]float64{}
				}
				seen[signals[e]][sym]++
			}
		})
		if bits := extra + entropy(seen[:]); bits < least {
			least, best = bits, p
		}
	}
	return best
}

// entropy is the bits that symbols take, each context by itself.
func entropy(seen []map[int]float64) (bits float64) {
	for _, counts := range seen {
		var sorted []float64 // sums of floats depend on their order
		all := 0.0
		for _, n := range counts {
			sorted, all = append(sorted, n), all+n
		}
		slices.Sort(sorted)
		for _, n := range sorted {
			bits -= n * math.Log2(n/all)
		}
	}
	return bits
}

// acks is a client that acknowledges every snapshot, delay snapshots late. Snapshot s has tick s+1.
type acks struct {
	tracker *snapshot.Tracker
	groups  int            // of snapshot.GroupRows entities
	delay   int            // in snapshots
	now     tick.Tick      // of the newest snapshot; 0 before the first
	runs    []snapshot.Run // scratch of baselines
}

// newAcks returns the state before the first snapshot. Each snapshot begins with advance.
func newAcks(entities, delay int) *acks {
	groups := (entities + snapshot.GroupRows - 1) / snapshot.GroupRows
	return &acks{tracker: snapshot.NewTracker(entities, 1), groups: groups, delay: delay}
}

// advance turns to the next snapshot.
func (a *acks) advance() {
	a.now++
	a.tracker.Advance(a.now)
	if at := int(a.now) - a.delay; at > 0 {
		a.tracker.Acked(tick.Tick(at), 0, a.groups)
	}
}

// baselines are what a lobby codes the snapshot in hand against: all groups have the same.
func (a *acks) baselines() snapshot.Baselines {
	a.runs = a.tracker.Runs(a.runs[:0], 0, a.groups)
	return a.runs[0].Baselines
}
