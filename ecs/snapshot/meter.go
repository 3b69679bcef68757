package snapshot

import (
	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Reason says what bits are for.
type Reason uint8

// The reasons. Values of fields have the first three; all others are of a row, or of no row at all.
const (
	ReasonUpdate Reason = iota // how a field that changed differs from the baseline
	// A row in an empty slot, or without a baseline: presence, generation, values.
	ReasonSpawn
	ReasonReplace  // the same of a row whose slot held another one
	ReasonGone     // a row is there no more
	ReasonMask     // which fields of a row changed
	ReasonSame     // that nothing changed: of a row, or of a whole group
	ReasonAbsent   // that nobody is in a slot
	ReasonGap      // which slot a row is in
	ReasonBaseline // which snapshot a run or a row is coded against
	ReasonHead     // heads of runs and blocks
	ReasonAlign    // zero bits up to a whole byte
	ReasonFill     // Padding after the last run
	NumReasons     // how many reasons there are
)

var reasonNames = [NumReasons]string{"update", "spawn", "replace", "gone", "mask", "same",
	"absent", "gap", "baseline", "head", "align", "fill"}

// String names the reason in one word.
func (r Reason) String() string {
	if r >= NumReasons {
		return "invalid"
	}
	return reasonNames[r]
}

// Cell is one entry of an account: Bits of Component's Field were spent for Reason. Field is empty
// where bits belong to a row, or to no row.
type Cell struct {
	Component, Field string
	Reason           Reason
	Bits             uint64
}

// Meter counts what the bits of one schema's sections are for, by field and reason.
// Decoder.Explain, OwnerReader.Explain and Encoder.Explain fill it: they read a section again, by
// the instance of the decoder that notes its bits, so that plain decoding pays nothing. Without an
// error exactly the bits that were read are added, 8 for each byte; with one, none. A range coder
// spends fractions of bits on a decision: they add up, and whole bits are counted where they come
// full. A Meter takes 256 bytes a field and allocates nothing.
type Meter struct {
	schema schema.Schema
	bits   []tally // index 0: bits that belong to no field; then by field
	stage  []tally // of the section in hand
	spent  uint64  // whole bits of the range-coded block in hand that are noted
}

type tally [NumReasons]uint64

// NewMeter returns a meter that has counted nothing, for sections of a model of this schema.
func NewMeter(s schema.Schema) *Meter {
	return &Meter{schema: s, bits: make([]tally, 1+len(s.Fields)), stage: make([]tally, 1+len(s.Fields))}
}

// Reset clears the counts.
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

// Bits is one cell: of field, an index into the schema's, or -1 for bits of no field.
func (m *Meter) Bits(field int, r Reason) uint64 { return m.bits[1+field][r] }

// Each calls do for every cell that is not empty, by field in the schema's order and then by
// reason.
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

// Cells appends what Each passes.
func (m *Meter) Cells(dst []Cell) []Cell {
	m.Each(func(c Cell) { dst = append(dst, c) })
	return dst
}

func (m *Meter) begin() { clear(m.stage) }

// commit adds the section in hand.
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

// runHead notes the header of a run.
func (m *Meter) runHead(run *Run) {
	m.row(ReasonHead, 8*run.placeBytes())
	m.row(ReasonBaseline, 8*(run.headBytes()-run.placeBytes()))
}

// emptySlot notes the bits that say whether a slot that was empty is filled.
func (m *Meter) emptySlot(spawned bool, n uint) {
	if spawned {
		m.row(ReasonSpawn, int(n))
	} else {
		m.row(ReasonAbsent, int(n))
	}
}

// head notes the symbol of a row that was there.
func (m *Meter) head(sym int, n uint) {
	switch {
	case sym == schema.Update:
		m.row(ReasonSame, int(n))
	case sym > schema.Update:
		m.row(ReasonMask, int(n))
	case sym == schema.Gone:
		m.row(ReasonGone, int(n))
	default:
		m.row(ReasonReplace, int(n))
	}
}

// took is the number of bits of a range-coded block spent since the last call, rounded so that the
// sum is right.
func (m *Meter) took(d *rangecoder.EmbeddedDecoder) (n int) {
	now := uint64(d.Spent() + 0.5) // never more than the message's, which is a whole number
	n, m.spent = int(now-m.spent), now
	return n
}

// explain measures a section that d can read.
func (m *Meter) explain(d *sectionReader, t tick.Tick, src []byte) error {
	m.begin()
	if err := readSection[measured](d, t, src, m); err != nil {
		return err
	}
	m.commit()
	return nil
}

// Explain adds to m what the bits of a section are for. Section has just accepted it with the same
// t and src. Errors are those of Section.
func (d *Decoder) Explain(m *Meter, t tick.Tick, src []byte) error {
	return m.explain(&d.sectionReader, t, src)
}

// Explain adds to m what the bits of a datagram's runs are for. A Packer has made them of the
// encoder's frame, for a client with a snapshot every interval ticks. Errors are those of
// Decoder.Section; a Packer's runs have none. The first call allocates a frame, unless
// ReserveExplain has.
func (e *Encoder) Explain(m *Meter, interval tick.Tick, src []byte) error {
	e.ReserveExplain(m.schema)
	e.reader.interval = interval
	return m.explain(&e.reader, e.Tick(), src)
}

// ReserveExplain allocates the frame of rows of a schema that Explain reads into, which otherwise its
// first call does.
func (e *Encoder) ReserveExplain(rows schema.Schema) {
	if e.reader.stage != nil {
		return
	}
	stage := &newFrames(rows, e.groups*GroupRows, 1)[0]
	frameAt := func(t tick.Tick) *Frame { return e.ring.At(t) }
	e.reader = newSectionReader(&e.codec, stage, 1, frameAt)
}

// Explain adds to m what the bits of an owner's row are for and returns what follows it. Parse has
// just accepted it with the same t and src. Errors are those of Parse.
func (o *OwnerReader) Explain(m *Meter, t tick.Tick, src []byte) (rest []byte, err error) {
	return m.explainOwner(&o.got, t, src, o.next)
}

// Explain adds to m what the bits of the row are for that Append just wrote at the front of src,
// and returns what follows.
func (o *OwnerWriter) Explain(m *Meter, src []byte) (rest []byte, err error) {
	return m.explainOwner(&o.sent, o.newest, src, o.next)
}

// explainOwner measures a row of tick t that stands at the front of src. next is room for its
// values.
func (m *Meter) explainOwner(
	rows *ownerRows, t tick.Tick, src []byte, next []int32,
) (rest []byte, err error) {
	base, err := rows.baseline(t, src)
	if err != nil {
		return src, err
	}
	m.begin()
	m.row(ReasonBaseline, 8)
	var r bitio.Reader
	r.Reset(src[1:])
	if err := decodeRow[measured](&r, rows.model, base, next, m); err != nil {
		return src, err
	}
	m.row(ReasonAlign, r.Left()&7)
	m.commit()
	return r.Rest(), nil
}
