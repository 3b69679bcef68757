package schema

import (
	"maps"
	"slices"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Counts is how often each symbol occurred: an encoder collects it and Train uses it.
type Counts struct {
	Masks          [][]uint64        // by mask, by symbol; of entity rows those with one baseline
	ContextSymbols map[uint32]uint64 // of the other entity rows, by ContextSymbol
	Fields         [][]uint64        // by field, by signal times the field's buckets + bucket
	samples        samples           // of entity rows
	rest           restCounts
	Empty          [2]uint64 // slots that were empty, of groups that changed: still, and filled
	// Of new rows, with the kind of each for its level; nil for a single row.
	Spawns *Counts
}

// restCounts is of halves of groups with rows at rest in all of their baselines: how many of these
// halves stayed so, and how many did not; and the rows at rest of the first, which ContextSymbols
// lacks.
type restCounts struct{ still, moved, rows uint64 }

func (c *restCounts) add(o restCounts) {
	c.still, c.moved, c.rows = c.still+o.still, c.moved+o.moved, c.rows+o.rows
}

// HalfStayed counts half a group in which all rows at rest are as predicted. rows is their number, at
// least MinRest. No symbol is counted for them.
func (c *Counts) HalfStayed(rows int) { c.rest.add(restCounts{still: 1, rows: uint64(rows)}) }

// HalfChanged counts half a group that has at least MinRest rows at rest and in which one of them
// changed.
func (c *Counts) HalfChanged() { c.rest.moved++ }

// RowsAtRest is the rows of HalfStayed, for which no symbol is counted.
func (c *Counts) RowsAtRest() uint64 { return c.rest.rows }

// MinRest is how many rows at rest half a group must have for a bit of its own.
const MinRest = 2

// pays reports whether a bit for halves at rest saves more than it costs, with a margin.
func (c restCounts) pays() bool { return float64(c.rows) > 1.15*float64(c.still+c.moved) }

// ContextSymbol is the key of an entity row's symbol in Counts.ContextSymbols. inexact has bit f
// set if field f was not at LevelExact.
func ContextSymbol(inexact uint16, symbol int) uint32 { return uint32(inexact)<<16 | uint32(symbol) }

// Field counts bucket sym of a change of field f at a signal.
func (c *Counts) Field(f int, signal uint8, sym int) {
	c.Fields[f][int(signal)*(len(c.Fields[f])/Signals)+sym]++
}

// Row is what an encoder tells of an entity row that stays, field by field.
type Row struct {
	Signals [MaxFields]uint8
	// Differences: of the value from its prediction, without corrections by terms, and from the
	// newest baseline.
	Errors, Moves [MaxFields]int32
	Trends        [MaxFields]int32 // as of Coder.Trend, clamped to 32 bits
	Rests         bool             // see Counts.HalfStayed
}

// Row notes a row.
func (c *Counts) Row(r *Row) { c.samples.add(r) }

// NewCounts returns counts of zero in the shape of s, which must pass Check.
func NewCounts(s Schema) *Counts {
	mustCheck(s)
	c := newCounts(s)
	if !s.Single {
		c.Spawns = newCounts(s)
	}
	return c
}

func newCounts(s Schema) *Counts {
	c := &Counts{ContextSymbols: map[uint32]uint64{}}
	for _, m := range shape(s, 1) {
		c.Masks = append(c.Masks, make([]uint64, s.symbols(m)))
	}
	for _, f := range s.Fields {
		c.Fields = append(c.Fields, make([]uint64, Signals*symbolsOf(f)))
	}
	return c
}

// Add adds what another run counted of the same schema.
func (c *Counts) Add(o *Counts) {
	add := func(to, from [][]uint64) {
		for i, t := range to {
			for sym, n := range from[i] {
				t[sym] += n
			}
		}
	}
	add(c.Masks, o.Masks)
	add(c.Fields, o.Fields)
	for _, row := range o.samples.rows {
		c.samples.keep(row)
	}
	for k, n := range o.ContextSymbols {
		c.ContextSymbols[k] += n
	}
	c.rest.add(o.rest)
	for i := range c.Empty {
		c.Empty[i] += o.Empty[i]
	}
	if c.Spawns != nil {
		c.Spawns.Add(o.Spawns)
	}
}

func mustCheck(s Schema) {
	if err := s.Check(); err != nil {
		panic(err.Error())
	}
}

// priorWeight is how many observations the prior is worth: enough to order what was never seen, too
// little to matter beside a minute of traffic. poolWeight is that of all contexts or classes
// together for each of them.
const (
	priorWeight = 8
	poolWeight  = 32
)

// Train returns the model that codes the counted traffic in the fewest bits, with the prior of
// DefaultModel for what was never seen. Counts must have the shape of s, which must pass Check. The
// same counts give the same model.
func Train(s Schema, counts *Counts) *Model {
	p := modelPlan{terms: make([][]Term, len(s.Fields)), restRows: GroupHalf + 1}
	if !s.Single {
		p.terms = fitTerms(s, counts.samples.rows)
		counts = counts.corrected(s, p.terms)
		if counts.rest.pays() {
			p.restRows = MinRest
		} else if counts.rest.rows > 0 {
			counts = counts.restless()
		}
	}
	if s.Single {
		for i, m := range shape(s, 1) {
			p.masks = append(p.masks, lengthsOf(counts.Masks[i], nil, maskPrior(s, m), huffman.MaxLength))
		}
	} else {
		p.contextFields = pickContextFields(s, counts)
		seen, all := byContext(s, counts, p.contextFields), pool(counts.Masks[0])
		for k, n := range counts.ContextSymbols {
			all[k&0xffff] += n
		}
		prior := maskPrior(s, Mask{Fields: len(s.Fields)})
		for _, c := range seen {
			p.masks = append(p.masks, lengthsOf(c, all, prior, huffman.MaxLength))
		}
	}
	p.trainFields(s, counts)
	if !s.Single {
		p.raw = trainDecisions(s, counts, p.classes)
		spawns := trainSpawns(s, counts.Spawns)
		p.spawns = &spawns
	}
	m, err := newModel(s, p)
	if err != nil {
		panic("schema: a trained model is no model: " + err.Error())
	}
	return m
}

// trainFields plans the tables of the fields.
func (p *modelPlan) trainFields(s Schema, counts *Counts) {
	for i, f := range s.Fields {
		classes, seen := chooseClasses(mirrored(counts.Fields[i], symbolsOf(f)), symbolsOf(f))
		// One class and Hold: the signal decides nothing, so the differences stay as they are.
		if len(seen) == 1 && f.Predict == Hold {
			seen[0] = pool(chunks(counts.Fields[i], symbolsOf(f))...)
		}
		var tables [][]uint8
		for _, c := range seen {
			tables = append(tables, lengthsOf(c, pool(seen...), fieldPrior(f), MaxFieldCode))
		}
		p.classes, p.fields = append(p.classes, classes), append(p.fields, tables)
	}
}

// restless is the counts of a coder that has no bit for rows at rest.
func (c *Counts) restless() *Counts {
	out := *c
	out.ContextSymbols = maps.Clone(c.ContextSymbols)
	out.ContextSymbols[ContextSymbol(0, Update)] += c.rest.rows
	return &out
}

// mirrored is the counts of a field by level: those of a falling field as if it was rising.
func mirrored(counts []uint64, symbols int) (levels []uint64) {
	levels = slices.Clone(counts[:ErrorLevels*symbols])
	for i, n := range counts[ErrorLevels*symbols:] {
		levels[i-i%symbols+huffman.Mirror(i%symbols, 1)] += n
	}
	return levels
}

// chunks cuts counts into tables of symbols entries each.
func chunks(counts []uint64, symbols int) [][]uint64 {
	return slices.Collect(slices.Chunk(counts, symbols))
}

// pool adds tables up.
func pool(tables ...[]uint64) []uint64 {
	all := make([]uint64, len(tables[0]))
	for _, t := range tables {
		for sym, n := range t {
			all[sym] += n
		}
	}
	return all
}

// lengthsOf builds the code of seen, with a little weight on all and on the prior.
func lengthsOf(seen, all []uint64, prior []float64, limit int) []uint8 {
	const scale = 1 << 24
	total, pooled := 0.0, uint64(0)
	for _, w := range prior {
		total += w
	}
	for _, n := range all {
		pooled += n
	}
	weights := make([]uint64, len(prior))
	for sym, w := range prior {
		weights[sym] = min(seen[sym], 1<<38)*scale + uint64(w/total*priorWeight*scale) + 1
		if pooled > 0 {
			weights[sym] += uint64(float64(all[sym]) / float64(pooled) * poolWeight * scale)
		}
	}
	return huffman.Build(weights, limit)
}

// DefaultModel is a model without training: small changes are likelier than large ones, and fields
// change independently, as often as their schema says. It panics if s fails Check.
func DefaultModel(s Schema) *Model { return Train(s, NewCounts(s)) }

// fieldPrior is the expected share of each bucket, not normalised.
func fieldPrior(f Field) []float64 {
	weights := make([]float64, symbolsOf(f))
	for sym := range weights {
		// An octave spans twice the one below: this is a little steeper than 1/|delta|.
		w := 1.0
		for range huffman.Octave(sym) {
			w = float64(w * 0.8)
		}
		if sym < 2 {
			w *= 2 // the only octave of two buckets; others have four
		}
		weights[sym] = w
	}
	return weights
}

// maskPrior: a third of the rows rest, the others change each field by itself.
func maskPrior(s Schema, m Mask) (weights []float64) {
	const rest, gone, replace = 0.33, 0.002, 0.002
	if !s.Single {
		weights = append(weights, gone, replace)
	}
	for mask := range 1 << m.Fields {
		p := 1 - rest
		for bit := range m.Fields {
			often := float64(s.Fields[m.First+bit].Often) / 100
			if often == 0 {
				often = 0.1
			}
			if mask>>bit&1 == 0 {
				often = 1 - often
			}
			p = float64(p * often) // rounded: both ends must arrive at the same model
		}
		if mask == 0 {
			p += rest
		}
		weights = append(weights, p)
	}
	return weights
}
