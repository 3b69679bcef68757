package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Reason says what bits are for.
type Reason uint8

// The reasons. Values of fields have the first three; all others are of a row, or of no row at all.
const (
	ReasonUpdate   Reason = iota // how a field that changed differs from the baseline
	ReasonSpawn                  // a row where nobody was, or that has no baseline: that it is there, generation, values
	ReasonReplace                // the same of a row whose slot held another one
	ReasonGone                   // a row is there no more
	ReasonMask                   // which fields of a row changed
	ReasonSame                   // that nothing changed: of a row, or of a whole group
	ReasonAbsent                 // that nobody is in a slot
	ReasonGap                    // which slot a row is in
	ReasonBaseline               // which snapshot a run or a row is coded against
	ReasonHead                   // heads of runs and blocks
	ReasonAlign                  // zero bits up to a whole byte
	ReasonFill                   // Padding behind the last run
	NumReasons                   // how many reasons there are
)

var reasonNames = [NumReasons]string{"update", "spawn", "replace", "gone", "mask", "same", "absent", "gap", "baseline",
	"head", "align", "fill"}

// String names the reason in one word.
func (r Reason) String() string {
	if r >= NumReasons {
		return "invalid"
	}
	return reasonNames[r]
}

// Cell is one entry of an account: Bits of Component's Field were sent for Reason. Field is empty where the bits are of a
// row, or of no row, and not of a field.
type Cell struct {
	Component, Field string
	Reason           Reason
	Bits             uint64
}

// Meter counts what the bits of one schema's sections are for, by field and reason. It reads what was coded a second time, so
// coding and decoding pay nothing where nobody counts: Decoder.Explain, OwnerReader.Explain and Encoder.Explain fill it. To
// every one of them applies: without an error exactly the bits that were read are added, 8 for each byte; with one, none.
// What a range coder spends on a decision is no whole number: fractions add up, and whole bits are counted where they come full.
// It takes 256 bytes a field and allocates nothing.
type Meter struct {
	schema schema.Schema
	bits   []tally // first of what has no field, then by field
	stage  []tally // of the section that is being read

	lanes    []lane // of the group in hand: what is expected
	contexts contexts
	coder    rangecoder.Tracker
	spent    uint64 // whole bits of the message in hand that are noted
}

type tally [NumReasons]uint64

// NewMeter returns a meter that has counted nothing, for sections of a model of this schema.
func NewMeter(s schema.Schema) *Meter {
	return &Meter{schema: s, bits: make([]tally, 1+len(s.Fields)), stage: make([]tally, 1+len(s.Fields)), lanes: make([]lane, len(s.Fields))}
}

// Reset forgets what was counted.
func (m *Meter) Reset() { clear(m.bits) }

// Total is the sum of all cells, in bits.
func (m *Meter) Total() (sum uint64) {
	for i := range m.bits {
		for _, n := range m.bits[i] {
			sum += n
		}
	}
	return sum
}

// Bits is one cell: of field, an index into the schema's, or -1 for what has none.
func (m *Meter) Bits(field int, r Reason) uint64 { return m.bits[1+field][r] }

// Each calls do for every cell that is not empty, in the schema's order of fields and then by reason.
func (m *Meter) Each(do func(Cell)) {
	for i := range m.bits {
		name := ""
		if i > 0 {
			name = m.schema.Fields[i-1].Name
		}
		for r, n := range m.bits[i] {
			if n > 0 {
				do(Cell{m.schema.Name, name, Reason(r), n})
			}
		}
	}
}

// Cells appends what Each names.
func (m *Meter) Cells(dst []Cell) []Cell {
	m.Each(func(c Cell) { dst = append(dst, c) })
	return dst
}

func (m *Meter) begin() { clear(m.stage) }

// commit adds what was read.
func (m *Meter) commit() {
	for i := range m.stage {
		for r, n := range m.stage[i] {
			m.bits[i][r] += n
		}
	}
}

// row notes bits of a row, or of none.
func (m *Meter) row(r Reason, n int) { m.stage[0][r] += uint64(n) }

// field notes bits of field f.
func (m *Meter) field(f int, r Reason, n uint) { m.stage[1+f][r] += uint64(n) }

// align notes the bits from bit off to the end of its byte and returns that end in bytes.
func (m *Meter) align(off int) (end int) {
	end = (off + 7) / 8
	m.row(ReasonAlign, end*8-off)
	return end
}

// Explain adds to m what the bits of a section are for that Section has taken, with the same t and src, just now. Errors
// are those of Section; after a section that was taken there are none.
func (d *Decoder) Explain(m *Meter, t tick.Tick, src []byte) error {
	return explainer{m, &d.codec, t, d.interval, d.At}.section(src)
}

// Explain adds to m what the bits of a datagram's runs are for that a Packer has made of the encoder's frame, for a client that gets
// a snapshot every interval ticks. Errors are those of Decoder.Section; of what a Packer made there are none.
func (e *Encoder) Explain(m *Meter, interval tick.Tick, src []byte) error {
	return explainer{m, &e.codec, e.Tick(), interval, e.ring.At}.section(src)
}

// explainer reads sections for a meter: the twin of Decoder.Section, which keeps no values. Of baselines it wants to know who is in
// them, and which tables they choose.
type explainer struct {
	meter    *Meter
	codec    *codec
	tick     tick.Tick
	interval tick.Tick
	at       func(tick.Tick) *Frame
}

func (x explainer) section(src []byte) error {
	x.meter.begin()
	for !padded(src) {
		run, rest, err := ParseRun(src, x.tick, x.interval)
		if err != nil {
			return err
		}
		x.meter.row(ReasonHead, 8*baseAt)
		x.meter.row(ReasonBaseline, 8*(run.headBytes()-baseAt))
		if run.Rows {
			src, err = x.rows(run, rest)
		} else {
			src, err = x.blocks(run, rest)
		}
		if err != nil {
			return err
		}
	}
	x.meter.row(ReasonFill, 8*len(src))
	x.meter.commit()
	return nil
}

// held finds baselines.
func (x *explainer) held(base Bases) (h held, err error) {
	for i, t := range base[:base.count()] {
		if h.frames[i] = x.at(t); h.frames[i] == nil {
			return h, ErrNoBaseline
		}
	}
	h.times = base.times(x.tick)
	return h, nil
}

func (x *explainer) blocks(run Run, src []byte) (rest []byte, err error) {
	h, err := x.held(run.Base)
	if err != nil {
		return nil, err
	}
	for g := run.First; g < run.First+run.Count; g++ {
		was, ctx := &empty, &unknown
		if f := h.frames[0]; f != nil {
			if g >= len(f.ids) {
				return nil, ErrGroup
			}
			if was = &f.ids[g]; !h.times.Alone() {
				ctx = &x.meter.contexts
				x.codec.expect(&h, g, x.meter.lanes, ctx)
			}
		}
		n, ok := 0, false
		if was != &empty && x.codec.ranged() {
			n, ok = x.message(src, was, ctx)
		} else {
			n, ok = x.block(src, was, ctx)
		}
		if !ok || n > len(src) {
			return nil, ErrBlock
		}
		src = src[n:]
	}
	return src, nil
}

// block is codec.decode without values.
func (x *explainer) block(src []byte, was *idLane, ctx *contexts) (n int, ok bool) {
	head := bitio.Peek(src, 0)
	if head&1 == 0 {
		x.meter.row(ReasonSame, 8)
		return 1, true
	}
	x.meter.row(ReasonHead, 2)
	off, spawns := 2, head>>1&1 != 0
	for r := range GroupRows {
		if was[r] == 0 && !spawns {
			continue
		}
		if off, ok = x.row(src, off, was[r] != 0, ctx[r]); !ok {
			return 0, false
		}
	}
	return x.meter.align(off), true
}

// row is one row of a block or of a run of rows.
func (x *explainer) row(src []byte, off int, was bool, ctx uint32) (next int, ok bool) {
	window := bitio.Peek(src, off)
	if !was {
		if window&1 == 0 {
			x.meter.row(ReasonAbsent, 1)
			return off + 1, true
		}
		x.meter.row(ReasonSpawn, 1)
		return x.values(off+1, ReasonSpawn), true
	}
	sym, n := x.codec.masks[context(ctx)].Table.Lookup(window)
	off += int(n)
	switch {
	case sym == schema.Update:
		x.meter.row(ReasonSame, int(n))
	case sym > schema.Update:
		x.meter.row(ReasonMask, int(n))
		return x.changes(src, off, uint16(sym-schema.Update), ctx)
	case sym == schema.Gone:
		x.meter.row(ReasonGone, int(n))
	case sym == schema.Replace:
		x.meter.row(ReasonReplace, int(n))
		return x.values(off, ReasonReplace), true
	default:
		return off, false
	}
	return off, true
}

// changes are the fields of a mask.
func (x *explainer) changes(src []byte, off int, mask uint16, ctx uint32) (next int, ok bool) {
	for ; mask != 0; mask &= mask - 1 {
		f := bits.TrailingZeros16(mask)
		_, n, _ := x.codec.coders[f].Value(bitio.Peek(src, off), 0, class(ctx, f))
		if n == 0 { // no code
			return off, false
		}
		x.meter.field(f, ReasonUpdate, n)
		off += int(n)
	}
	return off, true
}

// values are a generation and every field in the width of its range.
func (x *explainer) values(off int, why Reason) (next int) {
	x.meter.row(why, schema.GenerationBits)
	off += schema.GenerationBits
	for f := range x.codec.coders {
		n := x.codec.coders[f].Width()
		x.meter.field(f, why, n)
		off += int(n)
	}
	return off
}

// rows is Decoder.rows without values.
func (x *explainer) rows(run Run, src []byte) (rest []byte, err error) {
	h, err := x.held(run.Base)
	if err != nil {
		return nil, err
	}
	off, slot, spacing := 0, run.First*GroupRows-1, run.spacing(x.interval)
	for range run.Count {
		window := bitio.Peek(src, off)
		gap, n := parseGap(window)
		x.meter.row(ReasonGap, int(n))
		x.meter.row(ReasonBaseline, 1)
		slot += gap + 1
		if off += int(n) + 1; window>>n&1 != 0 {
			width, with := ageBits, uint8(0)
			if spacing != 0 {
				width, with = ageBits+1, spacing*uint8(window>>(n+1+ageBits)&1)
			}
			base, ok := agedSet(uint8(window>>(n+1)&(1<<ageBits-1)), with, x.tick, x.interval)
			if !ok {
				return nil, ErrRun
			}
			if h, err = x.held(base); err != nil {
				return nil, err
			}
			x.meter.row(ReasonBaseline, width)
			off += width
		}
		g, r := slot/GroupRows, slot%GroupRows
		if f := h.frames[0]; f != nil && g >= len(f.ids) {
			return nil, ErrGroup
		}
		depth, ctx := h.depth(g, r), uint32(0)
		if depth > 0 {
			var levels [schema.MaxFields]uint8
			ctx = x.codec.expectRow(&h, depth, g, r, x.meter.lanes, &levels)
		}
		var ok bool
		if off, ok = x.row(src, off, depth > 0, ctx); !ok {
			return nil, ErrBlock
		}
	}
	end := x.meter.align(off)
	if end > len(src) {
		return nil, ErrBlock
	}
	return src[end:], nil
}

// took is how many bits of the message in hand were spent since it was asked last, to the nearest whole one in all.
func (m *Meter) took() (n int) {
	now := uint64(m.coder.Spent() + 0.5) // never more than the message's, which is a whole number
	n, m.spent = int(now-m.spent), now
	return n
}

// message is codec.rangeDecode without values.
func (x *explainer) message(src []byte, was *idLane, ctx *contexts) (n int, ok bool) {
	m, d, decide := x.meter, &x.meter.coder, x.codec.decide
	if len(src) > 0 && src[0] == escape {
		m.row(ReasonHead, 8)
		n, ok = x.block(src[1:], was, ctx)
		return n + 1, ok
	}
	d.Reset(src)
	m.spent = 0
	d.Bit(escapeP)
	if !d.Bit(decide.Idle) {
		m.row(ReasonSame, m.took())
	} else {
		m.row(ReasonHead, m.took())
		for r := range GroupRows {
			switch {
			case was[r] == 0:
				if !d.Bit(decide.Spawn) {
					m.row(ReasonAbsent, m.took())
					continue
				}
				x.spawned(ReasonSpawn)
			case !d.Bit(decide.Leave):
				x.decisions(ctx[r])
			case d.Bit(evenly):
				x.spawned(ReasonReplace)
			default:
				m.row(ReasonGone, m.took())
			}
		}
	}
	if n = d.Size(); n > len(src) {
		return 0, false
	}
	m.row(ReasonAlign, 8*n-int(m.spent))
	return n, true
}

// spawned is a row as it is, in a message.
func (x *explainer) spawned(why Reason) {
	m := x.meter
	m.coder.Bits(schema.GenerationBits)
	m.row(why, m.took())
	for f := range x.codec.coders {
		evenlyBits(&m.coder, x.codec.coders[f].Width())
		m.field(f, why, uint(m.took()))
	}
}

// decisions is codec.rangeDecodeRow without values.
func (x *explainer) decisions(ctx uint32) {
	m, d := x.meter, &x.meter.coder
	var sizes [schema.MaxFields + 1]uint8
	why, mask := ReasonSame, m.took()
	for f := range x.codec.coders {
		p := &x.codec.decide.Fields[f]
		nodes := p.Nodes[(class(ctx, f)*schema.Sizes+uint32(sizes[p.Of]))*huffman.Buckets:][:huffman.Buckets]
		changed := d.Bit(uint32(nodes[0]))
		if mask += m.took(); !changed {
			continue
		}
		why = ReasonMask
		sym := decideBucket(d, nodes)
		sizes[f] = uint8(schema.SizeOf(sym))
		if _, n := huffman.BucketRange(sym); n > 0 {
			d.Bit(uint32(p.Top[sym]))
			evenlyBits(d, n-1)
		}
		m.field(f, ReasonUpdate, uint(m.took()))
	}
	m.row(why, mask)
}

// Explain adds to m what the bits of an owner's row are for that Parse has taken, with the same t and src, just now, and
// returns what follows it. Errors are those of Parse; after a row that was taken there are none.
func (o *OwnerReader) Explain(m *Meter, t tick.Tick, src []byte) (rest []byte, err error) {
	if len(src) == 0 || src[0] >= Window {
		return src, ErrRun
	}
	based := src[0] != 0
	if _, _, held := o.got.at(t - tick.Tick(src[0])*o.got.interval); based && !held {
		return src, ErrNoBaseline
	}
	n, ok := m.ownerRow(o.got.model, src[1:], based)
	if !ok {
		return src, ErrBlock
	}
	return src[1+n:], nil
}

// Explain is that of OwnerReader, for what Append just wrote at the front of src: age and row.
func (o *OwnerWriter) Explain(m *Meter, src []byte) (rest []byte, err error) {
	if len(src) == 0 || src[0] >= Window {
		return src, ErrRun
	}
	n, ok := m.ownerRow(o.sent.model, src[1:], src[0] != 0)
	if !ok {
		return src, ErrBlock
	}
	return src[1+n:], nil
}

// ownerRow is DecodeRow without values, behind the baseline's age. It returns the row's length.
func (m *Meter) ownerRow(model *schema.Model, src []byte, based bool) (n int, ok bool) {
	coders, off := model.Coders(), 0
	m.begin()
	m.row(ReasonBaseline, 8)
	if !based {
		for f := range coders {
			m.field(f, ReasonSpawn, coders[f].Width())
			off += int(coders[f].Width())
		}
	} else {
		for _, part := range model.Masks() {
			sym, n := part.Table.Lookup(bitio.Peek(src, off))
			if sym < 0 {
				return 0, false
			}
			why := ReasonMask
			if sym == 0 {
				why = ReasonSame
			}
			m.row(why, int(n))
			off += int(n)
			for mask := uint(sym); mask != 0; mask &= mask - 1 {
				f := part.First + bits.TrailingZeros(mask)
				_, n, _ := coders[f].Value(bitio.Peek(src, off), 0, 0)
				if n == 0 {
					return 0, false
				}
				m.field(f, ReasonUpdate, n)
				off += int(n)
			}
		}
	}
	n = m.align(off)
	if n > len(src) {
		return 0, false
	}
	m.commit()
	return n, true
}
