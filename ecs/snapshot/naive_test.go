package snapshot

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"pgregory.net/rapid"
)

// naiveBlock is the slow honest twin of Encoder.Group: row by row through the frame's doors, bits by the letter of the
// format, no masks of whole groups, no memory of what was coded before.
func naiveBlock(m *schema.Model, cur, base *Frame, g int) []byte {
	s := m.Schema()
	w := new(bitio.Writer)
	w.Reset(nil)
	changed, spawns := naiveFlags(s, cur, base, g)
	if !changed {
		return []byte{0}
	}
	w.Bits(1, 1)
	w.Bits(map[bool]uint64{true: 1}[spawns], 1)
	row, old := make([]int32, len(s.Fields)), make([]int32, len(s.Fields))
	for slot := g * GroupRows; slot < (g+1)*GroupRows; slot++ {
		id, was := cur.Row(slot, row), ecs.NetID(0)
		if base != nil {
			was = base.Row(slot, old)
		}
		if was != 0 || spawns {
			naiveRow(w, m, id, was, row, old)
		}
	}
	return w.Bytes()
}

// naiveRow writes one row.
func naiveRow(w *bitio.Writer, m *schema.Model, id, was ecs.NetID, row, old []int32) {
	s, spawn := m.Schema(), false
	switch {
	case was == 0:
		if spawn = id != 0; spawn {
			w.Bits(1, 1)
		} else {
			w.Bits(0, 1)
		}
	case id == 0:
		m.Masks()[0].Table.Encode(w, schema.Gone)
	case id != was:
		m.Masks()[0].Table.Encode(w, schema.Replace)
		spawn = true
	default:
		mask := 0
		for f := range row {
			if row[f] != old[f] {
				mask |= 1 << f
			}
		}
		m.Masks()[0].Table.Encode(w, schema.Update+mask)
		for f := range row {
			if row[f] != old[f] {
				naiveChange(w, &m.Coders()[f], s.Fields[f], row[f], old[f])
			}
		}
	}
	if !spawn {
		return
	}
	w.Bits(uint64(id.Generation()), 8)
	for f, field := range s.Fields {
		lo, hi := field.Range()
		n := uint(0)
		for uint64(1)<<n <= uint64(int64(hi)-int64(lo)) {
			n++
		}
		w.Bits(uint64(int64(row[f])-int64(lo)), n)
	}
}

// naiveFlags tells whether a group differs from its baseline, and whether somebody is where nobody was.
func naiveFlags(s schema.Schema, cur, base *Frame, g int) (changed, spawns bool) {
	row, old := make([]int32, len(s.Fields)), make([]int32, len(s.Fields))
	for slot := g * GroupRows; slot < (g+1)*GroupRows; slot++ {
		id, was := cur.Row(slot, row), ecs.NetID(0)
		clear(old)
		if base != nil {
			was = base.Row(slot, old)
		}
		changed = changed || id != was || id != 0 && !slices.Equal(row, old)
		spawns = spawns || was == 0 && id != 0
	}
	return changed, spawns
}

// naiveChange works out the difference in 64 bits and looks for its bucket from below.
func naiveChange(w *bitio.Writer, c *schema.Coder, f schema.Field, v, base int32) {
	d := int64(v) - int64(base)
	if f.Wrap != 0 {
		for d > int64(f.Wrap-1)/2 {
			d -= int64(f.Wrap)
		}
		for d < -int64(f.Wrap/2) {
			d += int64(f.Wrap)
		}
	}
	z := huffman.Zigzag(int32(d)) - 1
	for sym := huffman.Buckets - 1; ; sym-- {
		if first, n := huffman.BucketRange(sym); z >= first {
			code, length := c.Bits(v, base) // the bucket's code stands first
			w.Bits(code&(1<<(length-n)-1), length-n)
			w.Bits(uint64(z-first), n)
			return
		}
	}
}

func TestSharedEqualsNaive(t *testing.T) {
	for _, s := range []schema.Schema{playerSchema, edgeSchema} {
		t.Run(s.Name, func(t *testing.T) {
			m := schema.DefaultModel(s)
			rapid.Check(t, func(t *rapid.T) {
				slots := rapid.IntRange(1, 70).Draw(t, "slots")
				w := newWorld(s, slots, rapid.Uint64().Draw(t, "seed"), rapid.Float64Range(0, 1).Draw(t, "share"),
					rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "churn"), rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "wild"))
				ring := recorded(s, slots, 6, w)
				e := NewEncoder(m, slots)
				now := ring.At(6)
				e.Begin(now, ring)
				d := NewDecoder(m, slots, 1)
				for b := tick.Tick(1); b < 6; b++ { // the client holds every older frame
					mustSection(t, d, ring.At(b), nil, m)
				}
				for range rapid.IntRange(1, 20).Draw(t, "asks") {
					g := rapid.IntRange(0, len(now.ids)-1).Draw(t, "group")
					base := tick.Tick(rapid.IntRange(0, 5).Draw(t, "base"))
					want := naiveBlock(m, now, ring.At(base), g)
					got := e.Group(g, base)
					if n := ring.Groups(); g < n && rapid.Bool().Draw(t, "run") {
						got = e.Run(g, 1, base)
						if end := rapid.IntRange(g+1, n).Draw(t, "end"); end > g+1 {
							if rest := e.Run(g+1, end-g-1, base); !bytes.Equal(e.Run(g, end-g, base), append(bytes.Clone(got), rest...)) {
								t.Fatal("a run is not its blocks in a row")
							}
						}
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("group %d against %d: %x, naive %x", g, base, got, want)
					}
					if len(got) > MaxGroupBytes(m) {
						t.Fatalf("%d bytes, bound %d", len(got), MaxGroupBytes(m))
					}
					var r bitio.Reader
					r.Reset(append(bytes.Clone(got), 0xAA, 0xBB))
					if err := d.Group(6, g, base, &r); err != nil || len(r.Rest()) != 2 {
						t.Fatalf("group %d against %d: %v, %d bytes left", g, base, err, len(r.Rest()))
					}
					if !d.At(6).GroupEqual(now, g) {
						t.Fatalf("group %d against %d decodes to something else", g, base)
					}
				}
			})
		})
	}
}

// mustSection gives the decoder a whole frame, coded by the twin.
func mustSection(t interface{ Fatal(...any) }, d *Decoder, f, base *Frame, m *schema.Model) {
	var src []byte
	for g := range f.ids {
		run := Run{First: g, Count: 1}
		if base != nil {
			run.Base = base.Tick
		}
		src = append(AppendRun(src, run, f.Tick, d.interval), naiveBlock(m, f, base, g)...)
	}
	if err := d.Section(f.Tick, src); err != nil {
		t.Fatal(err)
	}
}
