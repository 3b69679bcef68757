package snapshot

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// EncodeRow appends a single row against base, or without one if base is nil. Values must be in
// range.
//
//	with a base:     for each mask of the model: its symbol, then the changes of its fields
//	without a base:  each field in the width of its range
func EncodeRow(w *bitio.Writer, m *schema.Model, base, row []int32) {
	coders := m.Coders()
	if base == nil {
		for f := range coders {
			w.Bits(coders[f].Raw(row[f]))
		}
		return
	}
	row, base = row[:len(coders)], base[:len(coders)]
	masks := m.Masks()
	for k := range masks {
		part := &masks[k]
		mask := differ(row[part.First:][:part.Fields], base[part.First:][:part.Fields])
		part.Table.Encode(w, int(mask))
		for m := mask; m != 0; m &= m - 1 {
			f := part.First + bits.TrailingZeros32(m)
			w.Bits(coders[f].Bits(row[f], base[f], 0))
		}
	}
}

// differ sets bit i where value i is not as in base.
func differ(row, base []int32) (mask uint32) {
	base = base[:len(row)]
	for i, v := range row {
		x := uint32(v ^ base[i])
		mask |= (x | -x) >> 31 << (i & 31) // branch-free: whether a field moved is hard to predict
	}
	return mask
}

// DecodeRow reads what EncodeRow wrote into dst, which has room for one value per field. On
// ErrBlock dst holds anything.
func DecodeRow(r *bitio.Reader, m *schema.Model, base, dst []int32) error {
	return decodeRow[unmetered](r, m, base, dst, nil)
}

// decodeRow is DecodeRow; a measured one notes in meter what the bits are for.
func decodeRow[M metered](r *bitio.Reader, m *schema.Model, base, dst []int32, meter *Meter) error {
	var on M
	coders, good := m.Coders(), true
	if base == nil {
		for f := range coders {
			v, ok := coders[f].RawValue(r.Bits(coders[f].Width()))
			dst[f], good = v, good && ok
			if len(on) == 1 {
				meter.field(f, ReasonSpawn, coders[f].Width())
			}
		}
	} else {
		base, dst = base[:len(coders)], dst[:len(coders)]
		copy(dst, base)
		// The lowest left bits of window are not read yet.
		window, left := r.Peek(bitio.MaxBits), uint(bitio.MaxBits)
		masks := m.Masks()
		for i := range masks {
			part := &masks[i]
			if left < huffman.MaxLength {
				window, left = refill(r, left)
			}
			mask, n := part.Lookup(window)
			if mask < 0 {
				return ErrBlock
			}
			if len(on) == 1 {
				meter.head(schema.Update+mask, n)
			}
			window, left = window>>(n&63), left-n
			for m := uint(mask); m != 0; m &= m - 1 {
				f := part.First + bits.TrailingZeros(m)
				v, n, ok := coders[f].Value(window, base[f], 0)
				if n > left || n == 0 {
					window, left = refill(r, left)
					v, n, ok = coders[f].Value(window, base[f], 0)
				}
				if len(on) == 1 {
					meter.field(f, ReasonUpdate, n)
				}
				window, left = window>>(n&63), left-n
				dst[f], good = v, good && ok
			}
		}
		r.Skip(bitio.MaxBits - left)
	}
	if !good || r.Err() != nil {
		return ErrBlock
	}
	return nil
}

// refill returns a window after all but the last left bits of the one before.
func refill(r *bitio.Reader, left uint) (uint64, uint) {
	r.Skip(bitio.MaxBits - left)
	return r.Peek(bitio.MaxBits), bitio.MaxBits
}

// ownerRows remembers single rows over a window.
type ownerRows struct {
	model    *schema.Model
	interval tick.Tick
	values   []int32
	ticks    [Window]tick.Tick
}

func newOwnerRows(m *schema.Model, interval tick.Tick) ownerRows {
	if !m.Schema().Single || interval == 0 {
		panic(fmt.Sprintf("snapshot: owner rows of schema %s every %d ticks, want a single-row schema and at least 1 tick",
			m.Schema().Name, interval))
	}
	return ownerRows{model: m, interval: interval, values: make([]int32, Window*len(m.Coders()))}
}

// at returns the place for tick t and whether it holds that tick.
func (o *ownerRows) at(t tick.Tick) (i int, row []int32, held bool) {
	i = int(t/o.interval) & (Window - 1)
	n := len(o.model.Coders())
	return i, o.values[i*n : (i+1)*n], t != 0 && o.ticks[i] == t
}

// baseline is the row against which the row of tick t at the front of src is coded, nil for none.
func (o *ownerRows) baseline(t tick.Tick, src []byte) (base []int32, err error) {
	if len(src) == 0 || src[0] >= Window {
		return nil, ErrRun
	}
	age := tick.Tick(src[0])
	if age == 0 {
		return nil, nil
	}
	if uint64(age)*uint64(o.interval) >= uint64(t) {
		return nil, ErrRun
	}
	_, base, held := o.at(t - age*o.interval)
	if !held {
		return nil, ErrNoBaseline
	}
	return base, nil
}

// OwnerWriter sends one client its own row, against the newest one that the client has
// acknowledged.
type OwnerWriter struct {
	acked  uint64 // bit n: the client holds the row sent in the interval with index n
	counts *schema.Counts
	newest tick.Tick
	sent   ownerRows
	next   []int32 // of Explain
}

// NewOwnerWriter returns a writer for a single-row model and a client that gets a row every
// interval ticks. It takes Window*4 bytes a field.
func NewOwnerWriter(m *schema.Model, interval tick.Tick) *OwnerWriter {
	return &OwnerWriter{sent: newOwnerRows(m, interval), next: make([]int32, len(m.Coders()))}
}

// Reset forgets what the client holds: acknowledgements of older rows count for nothing.
func (o *OwnerWriter) Reset() {
	o.acked = 0
	clear(o.sent.ticks[:])
}

// Append writes the row of tick t, later than the one before; values out of range are clamped. It
// is never longer than 1 + (MaxRowBits+7)/8 bytes.
//
//	1  age  of the baseline in intervals; 0 for none
//	   row  as EncodeRow, zero bits up to a whole byte
func (o *OwnerWriter) Append(dst []byte, t tick.Tick, row []int32) []byte {
	i, kept, _ := o.sent.at(t)
	fields := o.sent.model.Schema().Fields
	row, kept = row[:len(fields)], kept[:len(fields)]
	for f := range fields {
		kept[f] = fields[f].Clamp(row[f])
	}
	o.sent.ticks[i], o.newest = t, t
	o.acked &^= 1 << i
	age, base := o.base(t)
	var w bitio.Writer
	w.Reset(append(dst, age))
	EncodeRow(&w, o.sent.model, base, kept)
	if o.counts != nil {
		CountRow(o.counts, o.sent.model, base, kept)
	}
	return w.Bytes()
}

// Count makes the writer count the symbols of every row, for schema.Train; nil stops it.
func (o *OwnerWriter) Count(n *schema.Counts) { o.counts = n }

func (o *OwnerWriter) base(t tick.Tick) (age uint8, base []int32) {
	for age := uint8(1); age < Window && tick.Tick(age)*o.sent.interval < t; age++ {
		i, row, held := o.sent.at(t - tick.Tick(age)*o.sent.interval)
		if held && o.acked>>i&1 != 0 {
			return age, row
		}
	}
	return 0, nil
}

// Acked records that the client holds the row of tick t. Ticks that were not sent or have left the
// window are ignored.
func (o *OwnerWriter) Acked(t tick.Tick) {
	if i, _, held := o.sent.at(t); held {
		o.acked |= 1 << i
	}
}

// OwnerReader receives a client's own row.
type OwnerReader struct {
	got    ownerRows
	next   []int32
	schema schemaErrors
}

// NewOwnerReader returns the other end of NewOwnerWriter.
func NewOwnerReader(m *schema.Model, interval tick.Tick) *OwnerReader {
	return &OwnerReader{got: newOwnerRows(m, interval), next: make([]int32, len(m.Coders())),
		schema: newSchemaErrors(m)}
}

// Parse reads the row of tick t and returns what follows. The row belongs to the reader and is
// valid until one a window newer arrives. Errors are ErrRun, ErrNoBaseline, ErrStale and ErrBlock, or
// a *SchemaError; they change nothing.
func (o *OwnerReader) Parse(t tick.Tick, src []byte) (row []int32, rest []byte, err error) {
	row, rest, err = o.parse(t, src)
	return row, rest, o.schema.name(err)
}

func (o *OwnerReader) parse(t tick.Tick, src []byte) (row []int32, rest []byte, err error) {
	i, kept, held := o.got.at(t)
	if t == 0 || o.got.ticks[i] > t {
		return nil, src, ErrStale
	}
	base, err := o.got.baseline(t, src)
	if err != nil {
		return nil, src, err
	}
	var r bitio.Reader
	r.Reset(src[1:])
	if err := DecodeRow(&r, o.got.model, base, o.next); err != nil {
		return nil, src, err
	}
	if !held {
		copy(kept, o.next)
		o.got.ticks[i] = t
	}
	return kept, r.Rest(), nil
}

// CountRow adds the symbols that EncodeRow would code against base to n, for schema.Train. A row
// without a base has none.
func CountRow(n *schema.Counts, m *schema.Model, base, row []int32) {
	if base == nil {
		return
	}
	coders := m.Coders()
	for k, part := range m.Masks() {
		mask := 0
		for i := range part.Fields {
			if f := part.First + i; row[f] != base[f] {
				mask |= 1 << i
				bucket, _, _ := huffman.Bucket(coders[f].Delta(row[f], base[f]))
				n.Field(f, schema.LevelUnknown, bucket)
			}
		}
		n.Masks[k][mask]++
	}
}
