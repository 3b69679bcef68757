package rows

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
)

func bitLen(n uint64) int { return bits.Len64(n) }

// Rows that are expected to be right are told of together: one symbol says which of 8 blocks have wrong ones, and one
// for each of those which of its 8 rows are.
const (
	blockRows = 8
	batchRows = 8 * blockRows
)

// Huffman codes frames with prefix codes: larger messages than Range's, in less time. It is not safe for concurrent use.
type Huffman struct {
	model  *Model
	row    row
	zeros  []int32
	fresh  []int32
	steps  [maxGroup]int32
	missed [maxGroup]int64
	quiet  []int32 // rows of the batch under way
	w      bitio.Writer
	r      bitio.Reader
}

// NewHuffman returns a coder with memory of its own.
func NewHuffman(m *Model) *Huffman {
	n := len(m.schema.Fields)
	return &Huffman{model: m, row: newRow(n, m.features), zeros: make([]int32, n), fresh: make([]int32, n), quiet: make([]int32, 0, batchRows)}
}

// Append codes a frame against past and appends it to dst. live says which rows count, nil for all.
//
// First come the rows not expected to be right, each with all its groups; whenever batchRows of the others have gone
// by, and at the end, their batch.
func (c *Huffman) Append(dst []byte, frame []int32, past *Past, live []bool) []byte {
	c.w.Reset(dst)
	c.row.mate, c.row.lead, c.row.pull, c.row.above = c.zeros, c.zeros, c.zeros, 0
	c.quiet = c.quiet[:0]
	m := c.model
	n := len(m.schema.Fields)
	for e := range len(frame) / n {
		if live != nil && !live[e] {
			continue
		}
		c.row.begin(past, e, n, c.fresh, c.zeros)
		if m.calm[m.quiet.find(&c.row, m.schema.Fields)] {
			if c.quiet = append(c.quiet, int32(e)); len(c.quiet) == batchRows {
				c.putBatch(frame, past)
			}
			continue
		}
		c.put(frame[e*n:][:n])
	}
	c.putBatch(frame, past)
	return c.w.Bytes()
}

// putBatch codes the quiet rows gathered.
func (c *Huffman) putBatch(frame []int32, past *Past) {
	if len(c.quiet) == 0 {
		return
	}
	n := len(c.zeros)
	var blocks [8]uint64
	top := uint64(0)
	for i, e := range c.quiet {
		c.row.begin(past, int(e), n, c.fresh, c.zeros)
		if !c.right(frame[int(e)*n:][:n]) {
			blocks[i/blockRows] |= 1 << (i % blockRows)
			top |= 1 << (i / blockRows)
		}
	}
	c.code(c.model.batches[0].Code(int(top)))
	for ; top != 0; top &= top - 1 {
		b := bits.TrailingZeros64(top)
		c.code(c.model.batches[1].Code(int(blocks[b])))
		for rest := blocks[b]; rest != 0; rest &= rest - 1 {
			e := int(c.quiet[b*blockRows+bits.TrailingZeros64(rest)])
			c.row.begin(past, e, n, c.fresh, c.zeros)
			c.put(frame[e*n:][:n])
		}
	}
	c.quiet = c.quiet[:0]
}

func (c *Huffman) code(code uint32, n uint8) { c.w.Bits(uint64(code), uint(n)) }

func (c *Huffman) symbol(t *huffman.Table) int {
	sym, n := t.Lookup(c.r.Peek(huffman.MaxLength))
	c.r.Skip(n)
	return sym
}

// right reports whether all predictions of the row are.
func (c *Huffman) right(values []int32) bool {
	m, r := c.model, &c.row
	for _, f := range m.order {
		m.predictors[f].guess(r, m.schema.Fields, f)
		if values[f] != r.guess {
			return false
		}
		r.tell(m.schema.Fields, f, r.guess)
	}
	return true
}

func (c *Huffman) put(values []int32) {
	m, r := c.model, &c.row
	fields := m.schema.Fields
	for u := range m.groups {
		g := &m.groups[u]
		mask := uint64(0)
		order := m.order[g.first:][:g.count]
		for i, f := range order {
			m.predictors[f].guess(r, fields, f)
			v := values[f]
			miss := miss(v, r.guess, fields[f].mod())
			c.steps[i], c.missed[i] = r.step, miss
			if miss != 0 {
				mask |= 1 << i
			}
			r.tell(fields, f, v)
		}
		c.code(g.mask.at(r, fields).Code(int(mask)))
		if mask == 0 {
			continue
		}
		r.entry |= 1 << (u & 31)
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask)
			f := order[i]
			r.step = c.steps[i]
			table := m.trees[f].at(r, fields)
			if miss := c.missed[i]; r.step != 0 && miss == -int64(r.step) {
				c.code(table.Code(0))
			} else {
				sym, extra, nExtra := splitError(miss)
				code, n := table.Code(sym)
				c.code(code, n)
				c.w.Bits(extra, nExtra)
			}
		}
	}
}

// Decode undoes Append: it fills the live rows of frame, which may hold anything before.
func (c *Huffman) Decode(src []byte, frame []int32, past *Past, live []bool) error {
	c.r.Reset(src)
	c.row.mate, c.row.lead, c.row.pull, c.row.above = c.zeros, c.zeros, c.zeros, 0
	c.quiet = c.quiet[:0]
	m := c.model
	n := len(m.schema.Fields)
	for e := range len(frame) / n {
		if live != nil && !live[e] {
			continue
		}
		c.row.begin(past, e, n, c.fresh, c.zeros)
		if m.calm[m.quiet.find(&c.row, m.schema.Fields)] {
			if c.quiet = append(c.quiet, int32(e)); len(c.quiet) == batchRows {
				c.takeBatch(frame, past)
			}
			continue
		}
		c.row.fresh = frame[e*n:][:n]
		c.take()
	}
	c.takeBatch(frame, past)
	if c.r.Err() != nil {
		return ErrFrame
	}
	return nil
}

func (c *Huffman) takeBatch(frame []int32, past *Past) {
	if len(c.quiet) == 0 {
		return
	}
	m := c.model
	n := len(c.zeros)
	var blocks [8]uint64
	top := c.symbol(m.batches[0])
	for b := range blocks {
		if top>>b&1 != 0 {
			blocks[b] = uint64(c.symbol(m.batches[1]))
		}
		for i := range blockRows {
			if b*blockRows+i >= len(c.quiet) {
				break
			}
			e := int(c.quiet[b*blockRows+i])
			c.row.begin(past, e, n, frame[e*n:][:n], c.zeros)
			if blocks[b]>>i&1 != 0 {
				c.take()
				continue
			}
			for _, f := range m.order {
				m.predictors[f].guess(&c.row, m.schema.Fields, f)
				c.row.tell(m.schema.Fields, f, c.row.guess)
			}
		}
	}
	c.quiet = c.quiet[:0]
}

func (c *Huffman) take() {
	m, r := c.model, &c.row
	fields := m.schema.Fields
	for u := range m.groups {
		g := &m.groups[u]
		mask := c.symbol(g.mask.at(r, fields))
		for i, f := range m.order[g.first:][:g.count] {
			m.predictors[f].guess(r, fields, f)
			if mask>>i&1 == 0 {
				r.tell(fields, f, r.guess)
				continue
			}
			r.entry |= 1 << (u & 31)
			sym := c.symbol(m.trees[f].at(r, fields))
			miss := -int64(r.step)
			if sym != 0 {
				size, minus, nExtra := joinError(sym)
				size |= c.r.Bits(nExtra)
				if miss = int64(size); minus {
					miss = -miss
				}
			}
			r.tell(fields, f, hit(miss, r.guess, fields[f].mod()))
		}
	}
}
