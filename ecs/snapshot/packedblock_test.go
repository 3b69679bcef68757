package snapshot

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// primed is a trained model with trained dictionaries, for a codec that packs.
func primed(t testing.TB, s schema.Schema, codec schema.Codec) *schema.Model {
	m := learned(s)
	ring := recorded(s, 200, 40, newWorld(s, 200, 5, 0.8, 0.01, 0.01))
	e, samples := NewEncoder(m, 200), NewBlockSamples(s)
	e.Sample(samples)
	for now := tick.Tick(8); now <= 40; now++ {
		e.Begin(ring.At(now), ring)
		e.whole(Baselines{now - 2, now - 3, now - 4})
		e.whole(Baselines{now - 3})
	}
	d, err := samples.Train(1 << 10)
	if err != nil {
		t.Fatal(err)
	}
	return m.WithDictionaries(d).With(codec)
}

// Every frame comes back whole against every kind of baseline, through births, deaths and reused
// slots, with dictionaries and without; and the meter's account is every bit.
func TestPackedBlocksComeBack(t *testing.T) {
	const slots = 100
	for i, s := range []schema.Schema{playerSchema, edgeSchema} {
		plain := schema.DefaultModel(s).With(schema.Zstd)
		for _, m := range []*schema.Model{plain, primed(t, s, schema.Zstd), primed(t, s, schema.HuffmanZstd)} {
			ring := recorded(s, slots, 60, newWorld(s, slots, 9+uint64(i), 0.7, 0.03, 0.02))
			e, d, meter, bytes := NewEncoder(m, slots), NewDecoder(m, slots, 1), NewMeter(s), 0
			for now := tick.Tick(1); now <= 60; now++ {
				base := Baselines{}
				for k := range min(int(now)-1, int(now)%4) {
					base[k] = now - 1 - tick.Tick(k)
				}
				e.Begin(ring.At(now), ring)
				run := Run{Count: ring.Groups(), Baselines: base}
				src := append(AppendRun(nil, run, now, 1), e.Run(0, run.Count, base)...)
				bytes += len(src)
				if err := d.Section(now, src); err != nil {
					t.Fatalf("%v, tick %d against %d: %v", m.Codec(), now, base, err)
				}
				if err := d.Explain(meter, now, src); err != nil || meter.Total() != uint64(8*bytes) {
					t.Fatalf("%v, tick %d: %d bits explained of %d, %v", m.Codec(), now, meter.Total(),
						8*bytes, err)
				}
				for g := range ring.Groups() {
					if !d.At(now).GroupEqual(ring.At(now), g) {
						t.Fatalf("%v, tick %d against %d: group %d differs", m.Codec(), now, base, g)
					}
				}
			}
			t.Logf("%s, %v: %d bytes", s.Name, m.Codec(), bytes)
		}
	}
}

// FullBlocksFit stops to code past the limit, asks no more for a while once blocks do not fit, and
// says at the limit itself that they fit. Blocks that it coded are those of Run.
func TestFullBlocksFitStopsAtTheLimit(t *testing.T) {
	const slots = 20 * GroupRows
	m := primed(t, playerSchema, schema.HuffmanZstd)
	w := newWorld(playerSchema, slots, 9, 0.9, 0, 0)
	ring, now := recorded(playerSchema, slots, 20, w), tick.Tick(20)
	e := NewEncoder(m, slots)
	e.Begin(ring.At(now), ring)
	size := len(e.Run(0, 20, Baselines{}))
	coded := func() (n int) {
		for _, c := range e.caches[:e.used] {
			for _, made := range c.made {
				if made {
					n++
				}
			}
		}
		return n
	}
	for i, c := range []struct {
		tick tick.Tick
		most int
		want bool
		made int // groups, at most
	}{
		{20, size, true, 20}, {20, size - 1, false, 20},
		{21, size / 2, false, 0}, {21, 2 * size, true, 20}, // a higher limit is another question
		{22, size / 4, false, 7}, {23, size / 4, false, 0},
		{22 + fullBlocksRetry, size / 4, false, 7},
		{23 + fullBlocksRetry, 2 * size, true, 20}, {24 + fullBlocksRetry, 2 * size, true, 20},
	} {
		for ; now < c.tick; now++ {
			w.step()
			w.capture(ring.Begin(now + 1))
		}
		e.Begin(ring.At(c.tick), ring)
		got := e.FullBlocksFit(c.most)
		if n := coded(); got != c.want || n > c.made || got && n != 20 {
			t.Errorf("%d: %d bytes at tick %d fit: %v; %d groups coded", i, c.most, c.tick, got, n)
		}
		want := NewEncoder(m, slots)
		want.Begin(ring.At(c.tick), ring)
		if !bytes.Equal(e.Run(0, 20, Baselines{}), want.Run(0, 20, Baselines{})) {
			t.Errorf("%d: other blocks", i)
		}
	}
	e = NewEncoder(learned(playerSchema), slots)
	if e.Begin(ring.At(now), ring); e.FullBlocksFit(1<<20) || coded() != 0 {
		t.Error("a codec that packs no blocks")
	}
}

// The hash of a model names codec and dictionaries, and a model without a packing codec ignores
// them.
func TestHashNamesDictionaries(t *testing.T) {
	m := primed(t, playerSchema, schema.Huffman)
	plain := learned(playerSchema)
	if m.Hash() != plain.Hash() || m.With(schema.Range).Hash() != plain.With(schema.Range).Hash() {
		t.Error("dictionaries change the hash of a codec that does not use them")
	}
	seen := map[uint64]string{}
	for _, x := range []*schema.Model{plain, m} {
		for _, c := range []schema.Codec{schema.Zstd, schema.HuffmanZstd} {
			h, name := x.With(c).Hash(), fmt.Sprint(c, x.Dictionaries() != nil)
			if seen[h] != "" {
				t.Errorf("%s has the hash of %s", name, seen[h])
			}
			seen[h] = name
		}
	}
}

// packedStart returns a function that makes the decoder of hostileWith, and the datagram for
// tick 6. What takes long is done once.
func packedStart(t testing.TB, m *schema.Model) (start func() *Decoder, good []byte) {
	_, good, _ = hostileWith(t, m)
	ring := recorded(playerSchema, 48, 6, newWorld(playerSchema, 48, 9, 0.7, 0.1, 0.1))
	e, sections := NewEncoder(m, 48), map[tick.Tick][]byte{}
	for at := tick.Tick(3); at <= 5; at++ {
		e.Begin(ring.At(at), ring)
		sections[at] = append(AppendRun(nil, Run{Count: 3}, at, 1), e.Run(0, 3, Baselines{})...)
	}
	return func() *Decoder {
		d := NewDecoder(m, 48, 1)
		for at := tick.Tick(3); at <= 5; at++ {
			if err := d.Section(at, sections[at]); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}, good
}

// Blocks that are cut, turned or no zstd are refused or harmless; a bomb is refused.
func TestBadPackedBlocksLeaveNoTrace(t *testing.T) {
	m := primed(t, playerSchema, schema.Zstd)
	start, good := packedStart(t, m)
	d := start()
	before := d.fingerprint()
	for n := 1; n < len(good); n++ {
		if err := d.Section(6, good[:n]); err != nil && d.fingerprint() != before {
			t.Fatalf("%d of %d bytes: %v, and it left a trace", n, len(good), err)
		} else if err == nil {
			d = start() // the first run is a section of its own
		}
	}
	for bit := range 8 * len(good) {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		if err := d.Section(6, bad); err != nil && d.fingerprint() != before {
			t.Fatalf("bit %d: %v, and it left a trace", bit, err)
		} else if err == nil {
			d.checkSane(t)
			d = start()
		}
	}
	zeros := append([]byte{1, 2, 3, 4, 5, 6, 7, 8}, make([]byte, dict.MaxBlock-8)...)
	zeros, ok := m.Dictionaries().Spawn.NewPacker().Append(nil, zeros)
	if !ok || len(zeros) >= packedLong {
		t.Fatalf("no bomb: %d bytes", len(zeros))
	}
	for i, block := range [][]byte{
		{}, {1, 0}, {3, 1, 2}, {packedLong}, {packedLong, 0}, {packedColumns}, {packedColumns, 1}, {packedEscape},
		append([]byte{byte(len(zeros))}, zeros...),
	} {
		err := d.Section(6, append([]byte{0, 0, 0, 0}, block...))
		if err == nil || d.fingerprint() != before {
			t.Errorf("block %d: %v, want an error and no trace", i, err)
		}
	}
	if err := d.Section(6, good); err != nil {
		t.Fatal(err)
	}
}

// FuzzPacked is FuzzSection for blocks that zstd packs.
func FuzzPacked(f *testing.F) {
	m := primed(f, playerSchema, schema.Zstd)
	start, good := packedStart(f, m)
	f.Add(good)
	f.Add([]byte{0, 0, 0, 1, packedEscape, 1, 2, 3})
	f.Add([]byte{0, 0, 0, 0, 5, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, src []byte) {
		d := start()
		before := d.fingerprint()
		err := d.Section(6, src)
		if err != nil && d.fingerprint() != before {
			t.Fatalf("refused with %v, but it left a trace", err)
		}
		d.checkMeter(t, 6, src, err)
		d.checkSane(t)
	})
}

// FuzzColumns reads columns that a zstd block may hold, which FuzzPacked seldom reaches.
func FuzzColumns(f *testing.F) {
	m := learned(playerSchema).With(schema.Zstd)
	c := newCodec(m)
	ring := recorded(playerSchema, 48, 6, newWorld(playerSchema, 48, 9, 0.7, 0.1, 0.1))
	group := func(base bool) rowGroup {
		var values [schema.MaxFields]fieldBlock
		g := rowGroup{index: 1, ids: &idBlock{}, was: &empty, now: values[:len(playerSchema.Fields)]}
		if base {
			g.was = &ring.At(5).ids[1]
			copy(g.now, ring.At(5).group(1))
		}
		return g
	}
	for _, base := range []bool{false, true} {
		now, before := ring.At(6), ring.At(5)
		g := rowGroup{index: 1, ids: &now.ids[1], was: &empty, now: now.group(1), base: before.group(1)}
		if base {
			g.was = &ring.At(5).ids[1]
		}
		columns, _ := appendColumns(nil, c.coders, c.packed.fields, &g)
		f.Add(columns, base)
	}
	f.Fuzz(func(t *testing.T, src []byte, base bool) {
		g := group(base)
		x := byteSource{src: src}
		takeColumns[unmetered](&c, &x, &g)
		if x.bad || x.off != len(src) {
			return
		}
		for r, id := range g.ids {
			for i, f := range playerSchema.Fields {
				if lo, hi := f.Range(); id != 0 && (g.now[i][r] < lo || g.now[i][r] > hi) {
					t.Fatalf("field %s holds %d", f.Name, g.now[i][r])
				}
			}
			if id != 0 && id.Index() != GroupRows+r {
				t.Fatalf("%v in row %d", id, r)
			}
		}
	})
}
