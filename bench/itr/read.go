package itr

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
)

// Limits of a file. They bound what a damaged header can make a reader allocate: memory grows with
// snapshots really read, and never beyond MaxValues.
const (
	MaxFields    = 64
	MaxEntities  = 1 << 16
	MaxSnapshots = 1 << 20
	MaxValues    = 1 << 27 // entities * fields * snapshots: half a GiB
	MaxMod       = 1 << 30
)

const magic = "ITR1"

// ErrFormat says that bytes are no trace; the error that wraps it names the file, the byte and what
// was expected.
var ErrFormat = errors.New("not a usable trace")

// Open reads a trace file.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("itr: %w", err) // names the path
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a trace from r, up to its end; name stands for the file in errors and in the trace.
func Read(r io.Reader, name string) (*Trace, error) {
	d := reader{src: bufio.NewReaderSize(r, 1<<16), name: name}
	t := d.header()
	if d.err == nil {
		d.snapshots(t)
	}
	if d.err != nil {
		return nil, d.err
	}
	if _, err := d.src.ReadByte(); err != io.EOF {
		return nil, fmt.Errorf("itr: %s: byte %d: %w: bytes behind the last of %d snapshots, expected none",
			name, d.at, ErrFormat, len(t.Snapshots))
	}
	return t, nil
}

// reader keeps count of bytes and the first thing that went wrong.
type reader struct {
	src     *bufio.Reader
	name    string
	at      int64 // bytes read
	planned int   // snapshots announced
	err     error
}

// fail keeps the first error; at is where what is wrong begins.
func (d *reader) fail(at int64, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("itr: %s: byte %d: %w: %s", d.name, at, ErrFormat, fmt.Sprintf(format, args...))
	}
}

func (d *reader) byte(what string) byte {
	b, err := d.src.ReadByte()
	switch {
	case d.err != nil:
		return 0
	case err == io.EOF:
		d.fail(d.at, "the file ends, expected %s", what)
		return 0
	case err != nil:
		d.err = fmt.Errorf("itr: %s: byte %d: reading %s: %w", d.name, d.at, what, err)
		return 0
	}
	d.at++
	return b
}

func (d *reader) u32(what string) uint32 {
	var b [4]byte
	for i := range b {
		b[i] = d.byte(what)
	}
	return binary.LittleEndian.Uint32(b[:])
}

// limited reads a number in [lo, hi].
func (d *reader) limited(what string, lo, hi uint32) int {
	at := d.at
	v := d.u32(what)
	if d.err == nil && (v < lo || v > hi) {
		d.fail(at, "%s is %d, expected %d to %d", what, v, lo, hi)
	}
	return int(v)
}

// uvarint reads a number of up to 64 bits.
func (d *reader) uvarint(what string) uint64 {
	at, v := d.at, uint64(0)
	for shift := uint(0); d.err == nil; shift += 7 {
		b := d.byte(what)
		if shift == 63 && b > 1 {
			d.fail(at, "%s is longer than 64 bits", what)
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	return 0
}

func (d *reader) header() *Trace {
	for i := range len(magic) {
		if b := d.byte("the magic " + magic); d.err == nil && b != magic[i] {
			d.fail(int64(i), "0x%02x, expected the magic %q of an entity-state trace", b, magic)
		}
	}
	t := &Trace{Name: d.name}
	t.TickRate = d.limited("the tick rate", 1, 100000)
	t.TicksPerSnapshot = d.limited("the ticks per snapshot", 1, 100000)
	t.Entities = d.limited("the number of entities", 1, MaxEntities)
	nFields := d.limited("the number of fields", 1, MaxFields)
	at := d.at
	nSnapshots := d.limited("the number of snapshots", 1, MaxSnapshots)
	if d.err != nil {
		return nil
	}
	if n := uint64(t.Entities) * uint64(nFields) * uint64(nSnapshots); n > MaxValues {
		d.fail(at, "%d entities of %d fields in %d snapshots, expected at most %d values",
			t.Entities, nFields, nSnapshots, MaxValues)
		return nil
	}
	for i := range nFields {
		t.Fields = append(t.Fields, d.field(i))
	}
	d.planned = nSnapshots
	return t
}

func (d *reader) field(i int) Field {
	name := make([]byte, d.byte("the length of a field's name"))
	for j := range name {
		name[j] = d.byte("a field's name")
	}
	at := d.at
	kind := d.byte("a field's kind")
	if d.err == nil && kind >= byte(kinds) {
		d.fail(at, "field %d (%q) is of kind %d, expected 0 to %d", i, name, kind, kinds-1)
	}
	at = d.at
	mod := d.u32("a field's modulus")
	if wraps := Kind(kind) == Angle; d.err == nil && (mod > MaxMod || wraps && mod < 2) {
		d.fail(at, "field %d (%q) goes round at %d, expected 2 to %d", i, name, mod, MaxMod)
	}
	return Field{Name: string(name), Kind: Kind(kind), Mod: int32(mod)}
}

// snapshots reads every snapshot; each is a copy of the one before with the changes put in.
func (d *reader) snapshots(t *Trace) {
	n := len(t.Fields)
	last := make([]int32, t.Entities*n)
	for s := 0; s < d.planned && d.err == nil; s++ {
		next := append([]int32(nil), last...)
		at := d.at
		changed := d.uvarint("the number of changed entities")
		if d.err == nil && changed > uint64(t.Entities) {
			d.fail(at, "snapshot %d changes %d entities, expected at most %d", s, changed, t.Entities)
		}
		entity := uint64(0)
		for range changed {
			at = d.at
			skip := d.uvarint("a changed entity")
			if d.err != nil {
				return
			}
			if skip >= uint64(t.Entities) || entity+skip >= uint64(t.Entities) {
				d.fail(at, "snapshot %d changes entity %d, expected one below %d", s, entity+skip, t.Entities)
				return
			}
			entity += skip
			d.row(next[int(entity)*n:][:n], s)
			entity++
		}
		t.Snapshots = append(t.Snapshots, next)
		last = next
	}
}

// row applies the changes of one entity.
func (d *reader) row(row []int32, s int) {
	at := d.at
	mask := d.uvarint("a mask of changed fields")
	if d.err == nil && len(row) < 64 && mask>>len(row) != 0 {
		d.fail(at, "snapshot %d: mask %#x of changed fields, expected no bit above field %d",
			s, mask, len(row)-1)
	}
	for ; mask != 0 && d.err == nil; mask &= mask - 1 {
		f := bits.TrailingZeros64(mask)
		at = d.at
		z := d.uvarint("a change")
		v := int64(row[f]) + (int64(z>>1) ^ -int64(z&1))
		if d.err == nil && (z > 1<<33 || v < math.MinInt32 || v > math.MaxInt32) {
			d.fail(at, "snapshot %d: field %d becomes %d, expected 32 bits", s, f, v)
			return
		}
		row[f] = int32(v)
	}
}
