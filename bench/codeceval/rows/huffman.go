package rows

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
)

// Rows that are expected to be right, and rows that rest, are told of together: one symbol says
// which of 8 blocks have others, and one for each of those which of its 8 rows are.
const (
	blockRows = 8
	batchRows = 8 * blockRows
)

// Huffman codes frames with prefix codes: larger messages than Range's, in less time. It is not
// safe for concurrent use.
//
// Rows are sorted into batches of up to 64 by what they were: resting rows were the same in all
// frames looked at, calm ones are expected to be right, the others are lively. A batch is told when
// it is full, and at the end the lively one, the calm one and the resting one:
//
//	lively   by group: the masks of all rows; then by field of the group: the errors of all rows that have one
//	calm     which rows are wrong; these as a lively batch
//	resting  which rows changed; these as a lively batch
type Huffman struct {
	model  *Model
	scout  *batch // rows to be sorted
	lively *batch
	calm   *batch
	odd    *batch  // of a calm or resting batch: those to be told
	rest   []int32 // where resting rows begin
	missed [maxGroup][lanes]int64
	w      bitio.Writer
	src    []byte
	off    int // next bit of src
}

// NewHuffman returns a coder with memory of its own.
func NewHuffman(m *Model) *Huffman {
	n := len(m.schema.Fields)
	return &Huffman{model: m, scout: newBatch(n), lively: newBatch(n), calm: newBatch(n), odd: newBatch(n), rest: make([]int32, 0, batchRows)}
}

// everyone lists the rows of a batch.
var everyone = func() (list [lanes]uint8) {
	for i := range list {
		list[i] = uint8(i)
	}
	return list
}()

// begin empties all batches.
func (c *Huffman) begin(past *Past) {
	for _, b := range []*batch{c.scout, c.lively, c.calm, c.odd} {
		b.begin(past)
	}
	c.rest = c.rest[:0]
}

// way is what becomes of each kind of batch: it is told, or what was told of it is read.
type way struct {
	lively     func(*Huffman, *batch, []int32)
	calm, rest func(*Huffman, []int32)
}

var (
	writing = way{(*Huffman).put, (*Huffman).putCalm, (*Huffman).putRest}
	reading = way{(*Huffman).take, (*Huffman).takeCalm, (*Huffman).takeRest}
)

// Append codes a frame against past and appends it to dst. live says which rows count, nil for all.
func (c *Huffman) Append(dst []byte, frame []int32, past *Past, live []bool) []byte {
	c.w.Reset(dst)
	c.walk(&writing, frame, past, live)
	return c.w.Bytes()
}

// walk goes through the live rows of a frame and gives batches, in one order both ways, to those
// that write or read them.
func (c *Huffman) walk(to *way, frame []int32, past *Past, live []bool) {
	c.begin(past)
	n := len(c.model.schema.Fields)
	for e := range len(frame) / n {
		if live != nil && !live[e] {
			continue
		}
		switch sorted, rest := c.gather(e*n, n); {
		case sorted:
			c.spread(to, frame)
		case rest:
			to.rest(c, frame)
		}
	}
	c.spread(to, frame)
	to.lively(c, c.lively, frame)
	to.calm(c, frame)
	to.rest(c, frame)
}

// gather puts the row at an offset to those that rest or to the others, and reports which of the
// two are now enough for a batch.
func (c *Huffman) gather(at, fields int) (sorted, rest bool) {
	if !c.scout.rests(at, fields) {
		return c.scout.add(at), false
	}
	c.rest = append(c.rest, int32(at))
	return false, len(c.rest) == batchRows
}

// spread sorts the rows gathered, and gives on batches that get full.
func (c *Huffman) spread(to *way, frame []int32) {
	if !c.model.anyCalm {
		to.lively(c, c.scout, frame)
		return
	}
	var leaf [lanes]uint8
	for i, at := range c.sort(&leaf) {
		if c.model.calm[leaf[i]] {
			if c.calm.add(int(at)) {
				to.calm(c, frame)
			}
		} else if c.lively.add(int(at)) {
			to.lively(c, c.lively, frame)
		}
	}
}

// sort finds the leaf of the quiet tree of each row gathered, empties the scout and returns where
// the rows begin.
func (c *Huffman) sort(leaf *[lanes]uint8) []int32 {
	b := c.scout
	n := b.n
	b.start()
	c.model.quiet.cuts.leaves(b, c.model.mods, -1, everyone[:n], leaf[:n])
	b.n = 0
	return b.at[:n]
}

// putCalm tells a calm batch.
func (c *Huffman) putCalm(frame []int32) {
	m, b := c.model, c.calm
	if b.n == 0 {
		return
	}
	b.start()
	var wrong [lanes]uint32
	for _, f := range m.order {
		b.load(f, frame)
		b.predict(&m.predictors[f], m.mods, f)
		fresh := &b.fresh[f]
		for i := range wrong[:b.n] {
			wrong[i] |= differ(fresh[i], b.guess[i])
		}
		b.tell(m.asked[f], m.mods[f], f)
	}
	set := uint64(0)
	for i, x := range wrong[:b.n] {
		set |= uint64(x) << i
	}
	c.putOdd(&m.batches, b.at[:b.n], set, frame)
	b.n = 0
}

// putRest tells a resting batch.
func (c *Huffman) putRest(frame []int32) {
	if len(c.rest) == 0 {
		return
	}
	n, set := len(c.model.schema.Fields), uint64(0)
	for i, at := range c.rest {
		if c.scout.changed(frame, int(at), n) {
			set |= 1 << i
		}
	}
	c.putOdd(&c.model.rests, c.rest, set, frame)
	c.rest = c.rest[:0]
}

// putOdd tells which rows are in the set, and then these.
func (c *Huffman) putOdd(codes *[2]*huffman.Table, at []int32, set uint64, frame []int32) {
	top := 0
	for b := range 8 {
		if set>>(8*b)&0xff != 0 {
			top |= 1 << b
		}
	}
	c.code(codes[0].Code(top))
	for ; top != 0; top &= top - 1 {
		b := bits.TrailingZeros(uint(top))
		c.code(codes[1].Code(int(set >> (8 * b) & 0xff)))
	}
	for ; set != 0; set &= set - 1 {
		c.odd.add(int(at[bits.TrailingZeros64(set)]))
	}
	c.put(c.odd, frame)
}

func (c *Huffman) code(code uint32, n uint8) { c.w.Bits(uint64(code), uint(n)) }

// put tells a lively batch and empties it.
func (c *Huffman) put(b *batch, frame []int32) {
	if b.n == 0 {
		return
	}
	m := c.model
	b.start()
	var leaf, list [lanes]uint8
	for u := range m.groups {
		g := &m.groups[u]
		order := m.order[g.first:][:g.count]
		var masks [lanes]uint32
		for k, f := range order {
			b.load(f, frame)
			b.predict(&m.predictors[f], m.mods, f)
			b.misses(m.mods[f], f, &c.missed[k&(maxGroup-1)], &masks, k)
			b.tell(m.asked[f], m.mods[f], f)
		}
		g.mask.cuts.leaves(b, m.mods, -1, everyone[:b.n], leaf[:b.n])
		all := uint32(0)
		for i, mask := range masks[:b.n] {
			code := g.mask.codes[int(leaf[i])<<g.count|int(mask)]
			c.w.Bits(uint64(code&0xffff), uint(code>>16))
			all |= mask
			b.entry[i] |= min(mask, 1) << (u & 31)
		}
		for ; all != 0; all &= all - 1 {
			k := bits.TrailingZeros32(all)
			f := order[k]
			n := 0
			for i, mask := range masks[:b.n] { // without a branch
				list[n&(lanes-1)] = uint8(i)
				n += int(mask >> k & 1)
			}
			t := &m.trees[f]
			t.cuts.leaves(b, m.mods, f, list[:n], leaf[:n])
			step, missed := &b.step[f], &c.missed[k&(maxGroup-1)]
			for j, i := range list[:n] {
				i &= lanes - 1
				sym, extra, nExtra := errorSymbol(missed[i], step[i])
				code := t.codes[int(leaf[j])*errorSymbols+sym]
				n := uint(code >> 16)
				c.w.Bits(uint64(code&0xffff)|extra<<n, n+nExtra)
			}
		}
	}
	b.n = 0
}

// Decode undoes Append: it fills the live rows of frame, which may hold anything before.
func (c *Huffman) Decode(src []byte, frame []int32, past *Past, live []bool) error {
	c.src, c.off = src, 0
	c.walk(&reading, frame, past, live)
	c.src = nil
	if c.off > len(src)*8 {
		return ErrFrame
	}
	return nil
}

func (c *Huffman) takeCalm(frame []int32) {
	m, b := c.model, c.calm
	if b.n == 0 {
		return
	}
	set := c.takeOdd(&m.batches, b.at[:b.n], frame)
	n := 0
	for i, at := range b.at[:b.n] { // those that are right stay
		b.at[n] = at
		n += int(^set >> i & 1)
	}
	b.n = n
	b.start()
	for _, f := range m.order {
		b.predict(&m.predictors[f], m.mods, f)
		b.fresh[f] = b.guess
		b.tell(m.asked[f], m.mods[f], f)
		b.store(f, frame)
	}
	b.n = 0
}

func (c *Huffman) takeRest(frame []int32) {
	if len(c.rest) == 0 {
		return
	}
	n := len(c.model.schema.Fields)
	set := c.takeOdd(&c.model.rests, c.rest, frame)
	for i, at := range c.rest {
		if set>>i&1 == 0 {
			c.scout.keep(frame, int(at), n)
		}
	}
	c.rest = c.rest[:0]
}

// takeOdd undoes putOdd and returns the set.
func (c *Huffman) takeOdd(codes *[2]*huffman.Table, at []int32, frame []int32) (set uint64) {
	for top := c.symbol(codes[0]); top != 0; top &= top - 1 {
		b := bits.TrailingZeros(uint(top)) & 7
		set |= uint64(c.symbol(codes[1])) << (8 * b)
	}
	set &= 1<<(len(at)-1)<<1 - 1
	for rest := set; rest != 0; rest &= rest - 1 {
		c.odd.add(int(at[bits.TrailingZeros64(rest)]))
	}
	c.take(c.odd, frame)
	return set
}

func (c *Huffman) symbol(t *huffman.Table) int {
	sym, n := t.Lookup(bitio.Peek(c.src, c.off))
	c.off += int(n)
	return sym
}

func (c *Huffman) take(b *batch, frame []int32) {
	if b.n == 0 {
		return
	}
	m := c.model
	b.start()
	var leaf, list [lanes]uint8
	src := c.src
	for u := range m.groups {
		g := &m.groups[u]
		var masks [lanes]uint32
		g.mask.cuts.leaves(b, m.mods, -1, everyone[:b.n], leaf[:b.n])
		off := c.off
		for i := range masks[:b.n] {
			sym, n := g.mask.leaves[leaf[i]].Lookup(bitio.Peek(src, off))
			off += int(n)
			masks[i] = uint32(sym)
			b.entry[i] |= min(uint32(sym), 1) << (u & 31)
		}
		for k, f := range m.order[g.first:][:g.count] {
			b.predict(&m.predictors[f], m.mods, f)
			b.fresh[f] = b.guess
			n := 0
			for i, mask := range masks[:b.n] {
				list[n&(lanes-1)] = uint8(i)
				n += int(mask >> k & 1)
			}
			if n > 0 {
				t := &m.trees[f]
				t.cuts.leaves(b, m.mods, f, list[:n], leaf[:n])
				step, fresh, mod := &b.step[f], &b.fresh[f], m.mods[f]
				for j, i := range list[:n] {
					i &= lanes - 1
					window := bitio.Peek(src, off)
					sym, n := t.leaves[leaf[j]].Lookup(window)
					miss := -int64(step[i])
					if sym > 0 {
						size, minus, nExtra := joinError(sym)
						off += int(n)
						n = nExtra
						size |= bitio.Peek(src, off) & (1<<n - 1)
						if miss = int64(size); minus {
							miss = -miss
						}
					}
					off += int(n)
					fresh[i] = hit(miss, b.guess[i], mod)
				}
			}
			b.tell(m.asked[f], m.mods[f], f)
			b.store(f, frame)
		}
		c.off = off
	}
	b.n = 0
}
