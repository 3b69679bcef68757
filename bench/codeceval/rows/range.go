package rows

import (
	"errors"
	"slices"

	"github.com/tickrate/tickrate/compress/rangecoder"
)

// ErrFrame says that bytes are no frame, as they end too early.
var ErrFrame = errors.New("rows: not a frame")

// Range codes frames with a range coder: the smallest messages. It is not safe for concurrent use.
type Range struct {
	model  *Model
	row    row
	zeros  []int32
	fresh  []int32
	steps  [maxGroup]int32
	missed [maxGroup]int64
	enc    rangecoder.Encoder
	dec    rangecoder.Decoder
	near   neighbours
	drift  []drifts // by field
	wake   drifts   // of resting rows
	errors []int32  // of the rows in near
}

// NewRange returns a coder with memory of its own.
func NewRange(m *Model) *Range {
	n := len(m.schema.Fields)
	c := &Range{model: m, row: newRow(n, m.features), zeros: make([]int32, n), fresh: make([]int32, n), errors: make([]int32, 0, maxNear*n), drift: make([]drifts, n)}
	c.near.locate(m.schema.Fields)
	return c
}

// Append codes a frame against past and appends it to dst. live says which rows count, nil for all.
func (c *Range) Append(dst []byte, frame []int32, past *Past, live []bool) []byte {
	c.enc.Reset(dst)
	c.begin()
	n := len(c.model.schema.Fields)
	for e := range len(frame) / n {
		if live == nil || live[e] {
			c.put(frame[e*n:][:n], past, e)
		}
	}
	return c.enc.Finish()
}

func (c *Range) put(values []int32, past *Past, e int) {
	m, r := c.model, &c.row
	fields := m.schema.Fields
	r.begin(past, e, len(fields), c.fresh, c.zeros)
	var at place
	if r.rests() {
		wakes := !slices.Equal(values, r.held[0])
		m.wake.look(&at, r, fields)
		c.wake.put(&c.enc, &m.wake, &at, 0, wakes)
		if !wakes {
			c.leave()
			return
		}
	}
	c.meet()
	for u := range m.groups {
		g := &m.groups[u]
		wrong := false
		order := m.order[g.first:][:g.count]
		for i, f := range order {
			m.predictors[f].guess(r, fields, f)
			v := values[f]
			miss := miss(v, r.guess, fields[f].mod())
			c.steps[i], c.missed[i] = r.step, miss
			wrong = wrong || miss != 0
			r.tell(fields, f, v)
		}
		g.any.look(&at, r, fields)
		c.enc.Bit(wrong, g.any.p(&at, 0))
		if !wrong {
			continue
		}
		if r.entry == 0 {
			c.join()
		}
		r.entry |= 1 << (u & 31)
		certain := true
		for i, f := range order {
			r.step = c.steps[i]
			mix := &m.mixers[f]
			mix.look(&at, r, fields)
			x := errorCoder{mix, &at, &c.drift[f], certain && i == len(order)-1}
			x.put(&c.enc, c.missed[i], r.step)
			certain = certain && c.missed[i] == 0
		}
	}
	c.leave()
}

// Decode undoes Append: it fills the live rows of frame, which may hold anything before.
func (c *Range) Decode(src []byte, frame []int32, past *Past, live []bool) error {
	c.dec.Reset(src)
	c.begin()
	n := len(c.model.schema.Fields)
	for e := range len(frame) / n {
		if live == nil || live[e] {
			c.take(frame[e*n:][:n], past, e)
		}
	}
	if c.dec.Err() != nil {
		return ErrFrame
	}
	return nil
}

func (c *Range) take(values []int32, past *Past, e int) {
	m, r := c.model, &c.row
	fields := m.schema.Fields
	r.begin(past, e, len(fields), values, c.zeros)
	var at place
	if r.rests() {
		m.wake.look(&at, r, fields)
		if !c.wake.take(&c.dec, &m.wake, &at, 0) {
			copy(values, r.held[0])
			c.leave()
			return
		}
	}
	c.meet()
	for u := range m.groups {
		g := &m.groups[u]
		order := m.order[g.first:][:g.count]
		g.any.look(&at, r, fields)
		if !c.dec.Bit(g.any.p(&at, 0)) {
			for _, f := range order {
				m.predictors[f].guess(r, fields, f)
				r.tell(fields, f, r.guess)
			}
			continue
		}
		if r.entry == 0 {
			c.join()
		}
		r.entry |= 1 << (u & 31)
		certain := true
		for i, f := range order {
			m.predictors[f].guess(r, fields, f)
			mix := &m.mixers[f]
			mix.look(&at, r, fields)
			x := errorCoder{mix, &at, &c.drift[f], certain && i == len(order)-1}
			miss := x.take(&c.dec, r.step)
			certain = certain && miss == 0
			r.tell(fields, f, hit(miss, r.guess, fields[f].mod()))
		}
	}
	c.leave()
}

// begin forgets the rows of the frame before.
func (c *Range) begin() {
	c.row.above = 0
	c.row.mate, c.row.lead, c.row.pull = c.zeros, c.zeros, c.zeros
	clear(c.drift)
	clear(c.wake[:])
	c.near.clear()
	c.errors = c.errors[:0]
}

// meet finds the neighbour of a row that was moving.
func (c *Range) meet() {
	r := &c.row
	r.mate, r.lead, r.pull = c.zeros, c.zeros, c.zeros
	n := len(c.zeros)
	if len(c.errors) == 0 {
		return
	}
	r.lead = c.errors[:n]
	if !c.near.moves(&r.held) {
		return
	}
	if i := c.near.nearest(r.held[0]); i >= 0 {
		r.mate = c.errors[i*n:][:n]
		r.pull = r.mate
	}
}

// join finds the neighbour of a row that turns out to have errors.
func (c *Range) join() {
	r := &c.row
	if n := len(c.zeros); len(c.errors) > 0 && !c.near.moves(&r.held) {
		if i := c.near.nearest(r.held[0]); i >= 0 {
			r.mate = c.errors[i*n:][:n]
		}
	}
}

// leave remembers a row that is told.
func (c *Range) leave() {
	r := &c.row
	if r.entry != 0 && c.model.mates {
		if c.near.add(r.held[0], len(c.near.at)) {
			c.errors = append(c.errors, r.raw...)
		}
	}
	r.above = r.above<<1 | min(r.entry, 1)
}
