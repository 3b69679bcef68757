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
	spent  uint64  // whole bits of the range-coded block in hand that are noted
}

type tally [NumReasons]uint64

// NewMeter returns a meter that has counted nothing, for sections of a model of this schema.
func NewMeter(s schema.Schema) *Meter {
	return &Meter{schema: s, bits: make([]tally, 1+len(s.Fields)), stage: make([]tally, 1+len(s.Fields))}
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

// runHead notes the header of a run.
func (m *Meter) runHead(run *Run) {
	m.row(ReasonHead, 8*baseAt)
	m.row(ReasonBaseline, 8*(run.headBytes()-baseAt))
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

// took is how many bits of the range-coded block in hand were spent since it was asked last, to the nearest whole one in all.
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

// Explain adds to m what the bits of a section are for that Section has taken, with the same t and src, just now. Errors
// are those of Section; after a section that was taken there are none.
func (d *Decoder) Explain(m *Meter, t tick.Tick, src []byte) error {
	return m.explain(&d.sectionReader, t, src)
}

// Explain adds to m what the bits of a datagram's runs are for that a Packer has made of the encoder's frame, for a client
// that gets a snapshot every interval ticks. Errors are those of Decoder.Section; of what a Packer made there are none. The
// first call takes memory for a frame.
func (e *Encoder) Explain(m *Meter, interval tick.Tick, src []byte) error {
	if e.reader.stage == nil {
		stage := &newFrames(m.schema, e.groups*GroupRows, 1)[0]
		e.reader = newSectionReader(&e.codec, stage, interval, func(t tick.Tick) *Frame { return e.ring.At(t) })
	}
	e.reader.interval = interval
	return m.explain(&e.reader, e.Tick(), src)
}

// Explain adds to m what the bits of an owner's row are for that Parse has taken, with the same t and src, just now, and
// returns what follows it. Errors are those of Parse; after a row that was taken there are none.
func (o *OwnerReader) Explain(m *Meter, t tick.Tick, src []byte) (rest []byte, err error) {
	return m.explainOwner(&o.got, t, src, o.next)
}

// Explain is that of OwnerReader, for what Append just wrote at the front of src: age and row.
func (o *OwnerWriter) Explain(m *Meter, src []byte) (rest []byte, err error) {
	return m.explainOwner(&o.sent, o.newest, src, o.next)
}

// explainOwner measures a row of tick t that stands at the front of src. next is room for its values.
func (m *Meter) explainOwner(rows *ownerRows, t tick.Tick, src []byte, next []int32) (rest []byte, err error) {
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
