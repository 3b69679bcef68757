package schema

import (
	"github.com/tickrate/tickrate/compress/huffman"
)

// Counts says how often each symbol occurred: what an encoder collects and Train uses.
type Counts struct {
	Masks  [][]uint64 // by mask, by symbol
	Fields [][]uint64 // by field, by bucket
}

// NewCounts returns counts of zero in the shape of s, which must pass Check.
func NewCounts(s Schema) *Counts {
	mustCheck(s)
	c := &Counts{}
	for _, m := range shape(s) {
		c.Masks = append(c.Masks, make([]uint64, s.symbols(m)))
	}
	for _, f := range s.Fields {
		c.Fields = append(c.Fields, make([]uint64, symbolsOf(f)))
	}
	return c
}

// Add adds what another run counted of the same schema.
func (c *Counts) Add(o *Counts) {
	for i, t := range c.tables() {
		for sym, n := range o.tables()[i] {
			t[sym] += n
		}
	}
}

func (c *Counts) tables() [][]uint64 {
	return append(append([][]uint64(nil), c.Masks...), c.Fields...)
}

func mustCheck(s Schema) {
	if err := s.Check(); err != nil {
		panic(err.Error())
	}
}

// priorWeight is how many observations the prior is worth: enough to order what was never seen, too little to matter
// beside a minute of traffic.
const priorWeight = 8

// Train returns the model that codes the counted traffic in the fewest bits, with the prior of DefaultModel for what
// was never seen. Counts must have the shape of s, which must pass Check.
func Train(s Schema, counts *Counts) *Model {
	const scale = 1 << 24
	var lengths [][]uint8
	for i, seen := range counts.tables() {
		p, total := prior(s)[i], 0.0
		for _, w := range p {
			total += w
		}
		weights := make([]uint64, len(p))
		for sym, w := range p {
			weights[sym] = min(seen[sym], 1<<38)*scale + uint64(w/total*priorWeight*scale) + 1
		}
		lengths = append(lengths, huffman.Build(weights, limitOf(s, i)))
	}
	m, err := newModel(s, lengths)
	if err != nil {
		panic("schema: a trained model is no model: " + err.Error())
	}
	return m
}

func limitOf(s Schema, table int) int {
	if table < len(shape(s)) {
		return huffman.MaxLength
	}
	return MaxFieldCode
}

// DefaultModel is a model without training: small changes are likelier than large ones, and fields change
// independently, as often as they say. It panics if s fails Check.
func DefaultModel(s Schema) *Model { return Train(s, NewCounts(s)) }

// prior is the expected share of each symbol of each table, not normalised.
func prior(s Schema) (tables [][]float64) {
	for _, m := range shape(s) {
		tables = append(tables, maskPrior(s, m))
	}
	for _, f := range s.Fields {
		weights := make([]float64, symbolsOf(f))
		w := 1.0
		for sym := range weights {
			weights[sym] = w
			w *= 0.8 // a bucket spans about twice the one below: this is a little steeper than 1/|delta|
		}
		tables = append(tables, weights)
	}
	return tables
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
