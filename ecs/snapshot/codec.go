package snapshot

import (
	"github.com/tickrate/tickrate/ecs/schema"
)

// codec is a model laid out for the loops over rows.
type codec struct {
	masks   []schema.Mask // by context
	symbols int
	codes   []uint32 // mask symbols by context: code | length<<16; nil in a decoder
	coders  []schema.Coder
	// Context of a row whose fields are all at schema.LevelExact.
	exactContext uint64
	signalWords  [][schema.Signals]uint64 // by field, by signal: what it flips in the context
	// By field: predicted as it was, and its signal decides nothing.
	constant  []bool
	corrected uint16 // fields with terms
	restRows  int    // see schema.Model.RestRows
	rowBounds
	spawns spawnCoder
	large  []largeOctaves    // by field; with schema.Range
	decide *schema.Decisions // nil but for schema.Range
	forms  [2]blockForm      // of blocks with a baseline, and without one
	packed *packedBlocks     // nil but where zstd packs blocks
}

// rowBounds are the most that a group and its rows take.
type rowBounds struct {
	bound        int     // bytes of a group
	maxCodedBits int     // of a row of Huffman codes
	maxRowBits   int     // of a row and of the bit in front of it
	maxGoneBits  int     // that say that a row is gone
	gone         rowBits // with schema.Range: a row that is gone
}

// blockForm is how a block is laid out.
type blockForm uint8

const (
	bitBlock   blockForm = iota // Huffman codes
	rangeBlock                  // decisions of a range coder
	zstdBlock                   // columns of bytes, packed by zstd
)

// form is that of the block of a group.
func (c *codec) form(g *rowGroup) blockForm {
	if g.was == &empty {
		return c.forms[1]
	}
	return c.forms[0]
}

func newCodec(m *schema.Model) codec {
	if m.Schema().Single {
		panic("snapshot: " + m.Schema().Name + " is a single row, want a schema of entities")
	}
	c := codec{masks: m.Masks(), coders: m.Coders()}
	c.symbols = c.masks[0].Table.Symbols()
	switch m.Codec() {
	case schema.Range:
		c.decide, c.forms[0] = m.Decisions(), rangeBlock
		for f := range c.coders {
			c.large = append(c.large, newLargeOctaves(c.coders[f].Table(0)))
		}
	case schema.Zstd:
		c.forms = [2]blockForm{zstdBlock, zstdBlock}
	case schema.HuffmanZstd:
		c.forms[1] = zstdBlock
	}
	if m.Codec().Packs() {
		c.packed = newPackedBlocks(m)
	}
	c.maxCodedBits = m.MaxRowBits()
	if c.restRows = m.RestRows(); c.ranged() {
		c.restRows = schema.GroupHalf + 1 // contexts are signals there
	}
	c.spawns.init(m)
	c.initContexts(m)
	c.initTerms()
	return c
}

// writes prepares what only an encoder needs.
func (c *codec) writes(m *schema.Model) {
	c.bound, c.maxRowBits = MaxGroupBytes(m), 1+maxRowBits(m)
	c.codes = m.MaskCodes()
	c.spawns.codes = c.spawns.MaskCodes()
	if c.packed != nil {
		c.packed.writes(c.forms)
	}
	if c.ranged() {
		code, n := c.goneMessage()
		c.gone, c.maxGoneBits = rowBits(n+1)<<56|rowBits(code)<<1, int(n)
		return
	}
	for context := range c.masks {
		c.maxGoneBits = max(c.maxGoneBits, int(c.codes[context*c.symbols+schema.Gone]>>16))
	}
}

// MaxGroupBytes is the most that one group of the model can take, as a block or row by row: 16
// times the longest row, each with a baseline of its own, and the header. With 12 fields of any
// range it stays below 1120 bytes, so a group always fits a datagram.
func MaxGroupBytes(m *schema.Model) int {
	return 1 + (4+(maxRowBits(m)+maxGap+1+baseBits)*GroupRows+7)/8
}

// maxRowBits is the most that a loose row takes after the bit before it.
func maxRowBits(m *schema.Model) int {
	if m.Codec() == schema.Range {
		return looseEscapeBits + m.MaxRowBits()
	}
	return m.MaxRowBits()
}

// empty is the ids of a group without a baseline.
var empty idBlock

// of returns the codes of a row in a context.
func (c *codec) of(word uint64) []uint32 {
	return c.codes[context(word)*c.symbols:][:c.symbols]
}
