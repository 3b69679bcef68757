package rows

import "github.com/tickrate/tickrate/compress/huffman"

// group is a number of fields that are told together: first whether any of their predictions is wrong.
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

	quiet   tree              // for Huffman: sorts rows by what they were; its leaves have no codes
	calm    []bool            // by leaf of quiet: the row is expected to be right
	batches [2]*huffman.Table // which blocks of calm rows have wrong ones, and which rows of a block
}

// Schema is what the model codes.
func (m *Model) Schema() Schema { return m.schema }
