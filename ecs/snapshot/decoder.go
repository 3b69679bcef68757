package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Decoder rebuilds frames from sections and keeps the last Window intervals of them, as baselines
// and for the client to show. Datagrams may be lost, doubled, late or hostile: a refused section
// changes nothing. The client must not acknowledge a refused section, or the server would code
// against a baseline that the client lacks. A Decoder takes (Window+1) * slots * (4*fields+4.25) +
// 4 * slots bytes.
type Decoder struct {
	sectionReader
	frames [Window]*Frame
	newest []tick.Tick // by slot
	last   tick.Tick   // newest of all
	schema schemaErrors
}

// NewDecoder returns a decoder for frames of up to slots slots that come every interval ticks.
func NewDecoder(m *schema.Model, slots int, interval tick.Tick) *Decoder {
	if interval == 0 {
		panic("snapshot: decoder of an interval of 0 ticks, want at least 1")
	}
	frames := newFrames(m.Schema(), slots, 1+Window)
	d, c := &Decoder{}, newCodec(m)
	d.sectionReader = newSectionReader(&c, &frames[Window], interval, d.At)
	for i := range d.frames {
		d.frames[i] = &frames[i]
	}
	d.newest, d.schema = make([]tick.Tick, d.stage.Slots()), newSchemaErrors(m)
	return d
}

// Section decodes the runs that fill src up to its padding, of the snapshot of tick t: all of them
// or, on an error, none. Groups ascend. Rows that are held already are read and ignored. An error
// that looks like another schema at the sender is a *SchemaError.
func (d *Decoder) Section(t tick.Tick, src []byte) error {
	if err := d.schema.name(d.read(t, src)); err != nil {
		return err
	}
	d.commit(t)
	return nil
}

// read decodes a section into the stage.
func (d *Decoder) read(t tick.Tick, src []byte) error {
	if err := d.begin(t); err != nil {
		return err
	}
	return readSection[unmetered](&d.sectionReader, t, src, nil)
}

func (d *Decoder) slot(t tick.Tick) *Frame { return d.frames[int(t/d.interval)&(Window-1)] }

func (d *Decoder) begin(t tick.Tick) error {
	if t == 0 || d.slot(t).Tick > t || d.past(t) {
		return ErrStale
	}
	return nil
}

// past reports whether tick t is a window or more behind the newest. Such a frame is forgotten
// even if no frame has replaced it: a lost snapshot may have removed one of its rows and reused
// the slot.
func (d *Decoder) past(t tick.Tick) bool { return t <= d.last && d.last-t >= Window*d.interval }

// commit moves the stage into the frame of tick t, which replaces one that is a window older.
func (d *Decoder) commit(t tick.Tick) {
	if len(d.staged) == 0 {
		return
	}
	d.last = max(d.last, t)
	f := d.slot(t)
	if f.Tick != t {
		d.frames[int(t/d.interval)&(Window-1)], d.stage = d.stage, f
		d.adopt(t)
		return
	}
	for _, s := range d.staged {
		g, rows := s.group, s.rows&^rowsOf(f.known, s.group)
		d.know(f, g, rows, t)
		if rows == allRows {
			f.ids[g] = d.stage.ids[g]
			copy(f.group(g), d.stage.group(g))
			continue
		}
		from, to := d.stage.group(g), f.group(g)
		for ; rows != 0; rows &= rows - 1 {
			r := bits.TrailingZeros16(rows)
			f.ids[g][r] = d.stage.ids[g][r]
			for i := range to {
				to[i][r] = from[i][r]
			}
		}
	}
}

// adopt makes the former stage the frame of tick t.
func (d *Decoder) adopt(t tick.Tick) {
	f, next := d.slot(t), 0
	f.Tick, f.groups = t, 0
	clear(f.known)
	for _, s := range d.staged {
		clear(f.ids[next:s.group])
		next = s.group + 1
		for rows := allRows &^ s.rows; rows != 0; rows &= rows - 1 {
			f.ids[s.group][bits.TrailingZeros16(rows)] = 0
		}
		d.know(f, s.group, s.rows, t)
	}
	clear(f.ids[next:])
}

// know marks rows of a group of frame f, of tick t, as known.
func (d *Decoder) know(f *Frame, g int, rows uint16, t tick.Tick) {
	f.groups = max(f.groups, g+1)
	f.known[g>>2] |= uint64(rows) << (g & 3 * GroupRows)
	newest := (*[GroupRows]tick.Tick)(d.newest[g*GroupRows:])
	if rows == allRows {
		for r := range newest {
			newest[r] = max(newest[r], t)
		}
		return
	}
	for ; rows != 0; rows &= rows - 1 {
		r := bits.TrailingZeros16(rows)
		newest[r] = max(newest[r], t)
	}
}

// At returns the frame of tick t as far as it is held, or nil. It is valid until a frame arrives
// that is a window newer or more.
func (d *Decoder) At(t tick.Tick) *Frame {
	if f := d.slot(t); t != 0 && f.Tick == t && !d.past(t) {
		return f
	}
	return nil
}

// Groups is the number of groups that can be held.
func (d *Decoder) Groups() int { return len(d.stage.ids) }

// Newest is the tick of the newest frame that knows a slot, 0 if none does.
func (d *Decoder) Newest(slot int) tick.Tick {
	if uint(slot) >= uint(len(d.newest)) {
		return 0
	}
	return d.newest[slot]
}

// Before returns the newest frame at or before tick t that knows a slot, or nil. It looks back at
// most a Window from t and from the newest frame.
func (d *Decoder) Before(slot int, t tick.Tick) *Frame {
	n := d.Newest(slot)
	if n == 0 {
		return nil
	}
	if n <= t {
		if f := d.knowing(n, slot); f != nil {
			return f
		}
	}
	for range Window {
		if d.past(t) {
			return nil
		}
		f := d.slot(t)
		// Otherwise it is a window older.
		if f.Tick/d.interval == t/d.interval && f.Tick <= t && !d.past(f.Tick) && f.HasRow(slot) {
			return f
		}
		if t <= d.interval {
			return nil
		}
		t -= d.interval
	}
	return nil
}

// After returns the oldest frame after tick t that knows a slot, or nil.
func (d *Decoder) After(slot int, t tick.Tick) *Frame {
	newest := d.Newest(slot)
	if newest <= t {
		return nil
	}
	if oldest := d.last - min(d.last, Window*d.interval); t < oldest {
		t = oldest
	}
	for at := t; ; at += d.interval {
		if f := d.slot(at); f.Tick > t && f.Tick <= newest && f.HasRow(slot) &&
			f.Tick/d.interval == at/d.interval {
			return f
		}
		if at/d.interval >= newest/d.interval {
			return d.knowing(newest, slot)
		}
	}
}

func (d *Decoder) knowing(t tick.Tick, slot int) *Frame {
	if f := d.At(t); f != nil && f.HasRow(slot) {
		return f
	}
	return nil
}
