package snapshot

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// fingerprint is everything that a decoder holds.
func (d *Decoder) fingerprint() (h uint64) {
	mix := func(v uint64) { h = (h ^ v) * 1099511628211 }
	for _, f := range d.frames {
		mix(uint64(f.Tick))
		for g := range f.ids {
			for r, id := range f.ids[g] {
				if !f.HasRow(g*GroupRows + r) {
					continue
				}
				mix(uint64(g*GroupRows + r))
				mix(uint64(id))
				for _, l := range f.group(g) {
					mix(uint64(uint32(l[r])))
				}
			}
		}
	}
	for _, t := range d.newest {
		mix(uint64(t))
	}
	return h
}

// checkSane: what is held is in range and every identity names its slot.
func (d *Decoder) checkSane(t *testing.T) {
	for _, f := range d.frames {
		for g := range f.ids {
			for r, id := range f.ids[g] {
				if !f.HasRow(g*GroupRows+r) || id == 0 {
					continue
				}
				if id.Index() != g*GroupRows+r || id.Generation() == 0 {
					t.Fatalf("%v in slot %d", id, g*GroupRows+r)
				}
				for i, l := range f.group(g) {
					if lo, hi := f.fields[i].Range(); l[r] < lo || l[r] > hi {
						t.Fatalf("field %s holds %d", f.fields[i].Name, l[r])
					}
				}
			}
		}
	}
}

// hostileStart is a client that holds ticks 3 to 5 of a small lobby, and a good datagram for tick
// 6. The datagram has two runs, and the first takes firstRun bytes.
func hostileStart(t testing.TB) (d *Decoder, good []byte, firstRun int) {
	return hostileWith(t, schema.DefaultModel(playerSchema))
}

func hostileWith(t testing.TB, m *schema.Model) (d *Decoder, good []byte, firstRun int) {
	ring := recorded(playerSchema, 48, 6, newWorld(playerSchema, 48, 9, 0.7, 0.1, 0.1))
	d = NewDecoder(m, 48, 1)
	for at := tick.Tick(3); at <= 5; at++ {
		base := ring.At(at - 1)
		if at == 3 {
			base = nil // tick 2 never arrived
		}
		mustSection(t, d, ring.At(at), base, m)
	}
	e := NewEncoder(m, 48)
	e.Begin(ring.At(6), ring)
	good = append(AppendRun(nil, Run{First: 0, Count: 2, Baselines: Baselines{5, 4, 3}}, 6, 1), e.Run(0, 2, Baselines{5, 4, 3})...)
	firstRun = len(good)
	return d, append(append(good, AppendRun(nil, Run{First: 2, Count: 1}, 6, 1)...), e.Group(2, Baselines{})...), firstRun
}

// hostileRows is another good datagram for tick 6 of the same lobby, of a run of rows.
func hostileRows() []byte {
	m := schema.DefaultModel(playerSchema)
	ring := recorded(playerSchema, 48, 6, newWorld(playerSchema, 48, 9, 0.7, 0.1, 0.1))
	var all []statement
	for slot := range 47 {
		if slot%16 == 3 || slot > 20 && slot < 30 || slot > 35 && slot%4 == 0 {
			s := statement{slot, slot%5 > 0 && ring.At(6).ID(slot) != 0, Baselines{tick.Tick(slot % 3 * 2)}}
			if t := s.base[0]; t > 3 && ring.At(t).ID(slot) == 0 || t < 3 {
				s.base = Baselines{}
			}
			if slot > 30 && ring.At(5).ID(slot) != 0 {
				s.base = Baselines{5, 4, 3}
			}
			all = append(all, s)
		}
	}
	out, _ := naiveRows(m, ring, ring.At(6), 1, all, 1000, Baselines{5, 4, 3})
	return out
}

func TestBadRowsLeaveNoTrace(t *testing.T) {
	d, _, _ := hostileStart(t)
	good := hostileRows()
	before := d.fingerprint()
	for n := 1; n < len(good); n++ {
		if err := d.Section(6, good[:n]); err == nil || d.fingerprint() != before {
			t.Fatalf("%d of %d bytes: %v, want an error and no trace", n, len(good), err)
		}
	}
	for i, c := range []struct {
		src  []byte
		want error
	}{
		{[]byte{0x0f, 0, 0x80 | 4, 0x01, 0x00}, ErrNoBaseline}, // tick 2 was never received
		{[]byte{0x0f, 0, 0x80, 0x02 | 4<<2}, ErrNoBaseline},    // the same, named by the row
		{[]byte{0x0f, 0, 0x80, 0x02 | 6<<2}, ErrRun},           // age 6 is tick 0
		{[]byte{0x3f, 0, 0x80, 0x01, 0x00}, ErrGroup},          // no such group
		// Behind the run something that is none.
		{[]byte{0x0f, 0, 0x80, 0x01, 0xf1, 0x00}, ErrRun},
		{[]byte{0x0f, 0, 0x80, 0x08}, ErrBlock},                      // padding
		{[]byte{0x0f, 0, 0x80 | 0x40, 0x01}, ErrRun},                 // older than none
		{[]byte{0x0f, 0, 0x80 | 0x41, 0x10, 0x01}, ErrRun},           // as old
		{[]byte{0x0f, 0, 0x80 | 0x41, 0x41, 0x00}, ErrRun},           // of tick 0
		{[]byte{0x0f, 0, 0x80 | 0x41, 0x21, 0x00}, ErrNoBaseline},    // of tick 2
		{[]byte{0x00, 0x40 | 1, 0x21, 0x00}, ErrNoBaseline},          // the same, of a block
		{[]byte{0x1f, 0, 0x80, 0x00, 0x0f, 0, 0x80, 0x00}, ErrGroup}, // descending
		{append(good[:len(good):len(good)], 9), ErrRun},
	} {
		if err := d.Section(6, c.src); !errors.Is(err, c.want) || d.fingerprint() != before {
			t.Errorf("case %d: %v, want %v and no trace", i, err, c.want)
		}
	}
	if err := d.Section(6, good); err != nil || d.Newest(3) != 6 || d.Newest(0) == 6 || d.At(6).HasGroup(0) {
		t.Fatalf("the good one: %v", err)
	}
	after := d.fingerprint()
	if err := d.Section(6, good); err != nil || d.fingerprint() != after {
		t.Errorf("the good one again: %v, or it changed something", err)
	}
}

// A message of a range coder that is cut short is refused, or it is one that needs no more.
func TestShortRangesLeaveNoTrace(t *testing.T) {
	m := learned(playerSchema).With(schema.Range)
	d, good, firstRun := hostileWith(t, m)
	before := d.fingerprint()
	for n := 1; n < len(good); n++ {
		if err := d.Section(6, good[:n]); n != firstRun && (err == nil || d.fingerprint() != before) {
			t.Fatalf("%d of %d bytes: %v, want an error and no trace", n, len(good), err)
		} else if n == firstRun {
			d, _, _ = hostileWith(t, m)
		}
	}
	if err := d.Section(6, good); err != nil {
		t.Fatal(err)
	}
}

func TestBadSectionsLeaveNoTrace(t *testing.T) {
	d, good, firstRun := hostileStart(t)
	before := d.fingerprint()
	for n := 1; n < len(good); n++ {
		if n == firstRun {
			continue // a section of its own
		}
		if err := d.Section(6, good[:n]); err == nil {
			t.Fatalf("%d of %d bytes accepted", n, len(good))
		} else if d.fingerprint() != before {
			t.Fatalf("%d of %d bytes: refused with %v, but it left a trace", n, len(good), err)
		}
	}
	for i, c := range []struct {
		t    tick.Tick
		src  []byte
		want error
	}{
		{0, good, ErrStale},
		// Never received.
		{6, AppendRun(nil, Run{First: 0, Count: 1, Baselines: Baselines{2}}, 6, 1), ErrNoBaseline},
		{6, []byte{0x30, 0, 0}, ErrGroup},
		{6, []byte{0x0f, 255, 0, 0, 0, 0, 0, 0, 0, 0}, ErrGroup},
		{6, []byte{0x10, 0, 0, 0x10, 0, 0}, ErrGroup}, // twice the same
		{6, []byte{0x00, 0, 0x07, 0x00}, ErrBlock},
		{6, []byte{0x00, 0, 0x07, 0x00, 0xff}, ErrBlock}, // generation 0
		// An idle block with padding that is not 0.
		{6, []byte{0x00, 0, 0x02}, ErrBlock},
		{6, []byte{0xf0, 0}, ErrRun},
		{6, append(good[:len(good):len(good)], 9), ErrRun},
	} {
		if err := d.Section(c.t, c.src); !errors.Is(err, c.want) || d.fingerprint() != before {
			t.Errorf("case %d: %v, want %v and no trace", i, err, c.want)
		}
	}
	if err := d.Section(6, good); err != nil || d.Newest(2*GroupRows) != 6 {
		t.Fatalf("the good one: %v", err)
	}
	after := d.fingerprint()
	if err := d.Section(6, good); err != nil || d.fingerprint() != after {
		t.Errorf("the good one again: %v, or it changed something", err)
	}
	if err := d.Section(6+Window, nil); err != nil || d.fingerprint() != after {
		t.Errorf("an empty section: %v, or it changed something", err)
	}
}

// checkMeter holds the measured read of a section against the plain one, which returned err.
func (d *Decoder) checkMeter(t *testing.T, at tick.Tick, src []byte, err error) {
	t.Helper()
	m := NewMeter(playerSchema)
	explained := d.Explain(m, at, src)
	if err == nil && explained != nil {
		t.Fatalf("decoded but not explained: %v", explained)
	}
	if want := uint64(8 * len(src)); explained == nil && m.Total() != want || explained != nil && m.Total() != 0 {
		t.Fatalf("%d bits explained of %d (%v)", m.Total(), want, explained)
	}
}

func FuzzSection(f *testing.F) {
	_, good, _ := hostileStart(f)
	f.Add(uint32(6), good)
	f.Add(uint32(70), good)
	f.Add(uint32(6), hostileRows())
	f.Add(uint32(6), []byte{0, 0, 2, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, at uint32, src []byte) {
		d, _, _ := hostileStart(t)
		before := d.fingerprint()
		err := d.Section(tick.Tick(at), src)
		if err != nil && d.fingerprint() != before {
			t.Fatalf("refused with %v, but it left a trace", err)
		}
		d.checkMeter(t, tick.Tick(at), src, err)
		d.checkSane(t)
		for slot := range d.Groups() * GroupRows {
			if b := d.Before(slot, tick.Tick(at)); b != nil && (b.Tick > tick.Tick(at) || !b.HasRow(slot)) {
				t.Fatal("Before returns what it should not")
			}
			if a := d.After(slot, tick.Tick(at)); a != nil && (a.Tick <= tick.Tick(at) || !a.HasRow(slot)) {
				t.Fatal("After returns what it should not")
			}
		}
	})
}

// FuzzRange is FuzzSection for messages of a range coder, in a model that has all kinds of tables.
func FuzzRange(f *testing.F) {
	m := learned(playerSchema).With(schema.Range)
	_, good, _ := hostileWith(f, m)
	f.Add(good)
	f.Add([]byte{0, 0, 0, 1, 0xff, 1, 2, 3})
	f.Fuzz(func(t *testing.T, src []byte) {
		d, _, _ := hostileWith(t, m)
		before := d.fingerprint()
		err := d.Section(6, src)
		if err != nil && d.fingerprint() != before {
			t.Fatalf("refused with %v, but it left a trace", err)
		}
		d.checkMeter(t, 6, src, err)
		d.checkSane(t)
	})
}

// decodeBlock decodes the blocks of a run without its header and returns what follows.
func decodeBlock(d *Decoder, t tick.Tick, run Run, src []byte) (rest []byte, err error) {
	if err := d.begin(t); err != nil {
		return nil, err
	}
	d.staged = d.staged[:0]
	if rest, err = readBlocks[unmetered](&d.sectionReader, t, run, src, nil); err == nil {
		d.commit(t)
	}
	return rest, err
}

// FuzzBlock feeds one block: what is refused leaves no trace.
func FuzzBlock(f *testing.F) {
	_, good, _ := hostileStart(f)
	f.Add(good[3:], uint8(0), uint8(1|1<<4|1<<6))
	f.Fuzz(func(t *testing.T, src []byte, g, age uint8) {
		d, _, _ := hostileStart(t)
		before := d.fingerprint()
		var base Baselines
		if age > 0 {
			base[0] = 6 - tick.Tick(age&15)
			if age >= 16 {
				base[1] = base[0] - tick.Tick(age>>4&3)
				base[2] = base[1] - tick.Tick(age>>6)
			}
		}
		rest, err := decodeBlock(d, 6, Run{First: int(g), Count: 1, Baselines: base}, src)
		if err != nil && d.fingerprint() != before {
			t.Fatalf("refused with %v, but it left a trace", err)
		}
		if err == nil && len(rest) >= len(src) {
			t.Fatal("a block of no bytes")
		}
		d.checkSane(t)
	})
}

func FuzzOwner(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4}, []byte{1, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		o := NewOwnerReader(schema.DefaultModel(ownerSchema), 2)
		for i, src := range [][]byte{a, b, a} {
			at := tick.Tick(200 + 2*i)
			before := append([]int32(nil), o.got.values...)
			row, rest, err := o.Parse(at, src)
			if err != nil {
				if _, _, held := o.got.at(at); held || len(rest) != len(src) || binarySum(before) != binarySum(o.got.values) {
					t.Fatalf("refused with %v, but it left a trace", err)
				}
				continue
			}
			for j, v := range row {
				if lo, hi := ownerSchema.Fields[j].Range(); v < lo || v > hi {
					t.Fatalf("field %s holds %d", ownerSchema.Fields[j].Name, v)
				}
			}
		}
	})
}

func binarySum(values []int32) (h uint64) {
	for _, v := range values {
		h = (h ^ binary.LittleEndian.Uint64([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), 0, 0, 0, 0})) * 1099511628211
	}
	return h
}
