package rows

import (
	"slices"

	"github.com/tickrate/tickrate/compress/huffman"
)

// group is a number of fields that are told together: first whether any of their predictions is
// wrong.
type group struct {
	first, count int   // in Model.order
	any          mixer // for Range: is one wrong?
	mask         tree  // for Huffman: bit i set if the prediction of the i-th is wrong
}

// maxGroup bounds the fields of a group, whose mask is one symbol.
const maxGroup = 8

// Model is what both ends must share to code the rows of a schema. It is immutable.
type Model struct {
	schema     Schema
	order      []int       // fields, as they are told
	predictors []predictor // by field
	groups     []group
	mixers     []mixer // for Range, by field
	trees      []tree  // for Huffman, by field
	pulls      bool    // for Range: some predictor asks a neighbour
	mates      bool    // for Range: some predictor or feature does

	mods     []int32 // by field
	asked    []asked // by field
	anyCalm  bool    // some leaf of quiet is calm
	features int     // that rows remember
	// For Huffman: sorts rows by what they were; its leaves have no codes.
	quiet tree
	calm  []bool // by leaf of quiet: the row is expected to be right
	// Which blocks of calm rows have wrong ones, and which rows of a block.
	batches [2]*huffman.Table
	// Which blocks of resting rows have some that change, and which rows of a block.
	rests [2]*huffman.Table
	wake  mixer // for Range: does a resting row change?
}

// Schema is what the model codes.
func (m *Model) Schema() Schema { return m.schema }

// asked says what batches need to know of a field once it is told.
type asked struct{ moved, wrong bool }

// noteAsked finds out what predictors and trees ask.
func (m *Model) noteAsked() {
	m.asked = make([]asked, len(m.schema.Fields))
	for f := range m.predictors {
		for _, t := range m.predictors[f].terms {
			switch t.op {
			case srcMoved:
				m.asked[t.a].moved = true
			case srcSwing, srcBow:
				m.asked[t.b].moved = true
			}
		}
	}
	ofTree := func(t *tree) {
		for _, f := range t.forks {
			switch f.ask.op {
			case featMoved:
				m.asked[f.ask.a].moved = true
			case featWrong, featWrongSize:
				m.asked[f.ask.a].wrong = true
			}
		}
	}
	ofTree(&m.quiet)
	for u := range m.groups {
		ofTree(&m.groups[u].mask)
	}
	for f := range m.trees {
		ofTree(&m.trees[f])
	}
}

// number finishes a model: it gives features that last a place in the rows' memo, equal ones the
// same.
func (m *Model) number() {
	places := map[feature]uint16{}
	place := func(x *feature) {
		if x.id = 0; !x.lasts() {
			return
		}
		id, ok := places[*x]
		if !ok {
			id = uint16(len(places) + 1)
			places[*x] = id
		}
		x.id = id
	}
	m.mods, m.anyCalm = nil, slices.Contains(m.calm, true)
	for _, f := range m.schema.Fields {
		m.mods = append(m.mods, f.mod())
	}
	m.noteAsked()
	m.mates = m.pulls
	ofMixer := func(x *mixer) {
		for i := range x.asks {
			switch x.asks[i].op {
			case featMate, featLead, featMateSize:
				m.mates = true
			}
			place(&x.asks[i])
		}
	}
	m.quiet.lay()
	ofMixer(&m.wake)
	for u := range m.groups {
		m.groups[u].mask.lay()
		ofMixer(&m.groups[u].any)
	}
	for f := range m.trees {
		m.trees[f].lay()
		ofMixer(&m.mixers[f])
	}
	m.features = len(places)
}
