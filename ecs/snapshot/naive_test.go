package snapshot

import (
	"bytes"
	"math"
	mathbits "math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// naiveBlock is the slow honest twin of Encoder.Group: row by row through the frame's doors, bits
// by the letter of the format, no masks of whole groups, no memory of what was coded before. bases
// are the baselines, newest first; nil is none.
func naiveBlock(m *schema.Model, cur *Frame, g int, bases ...*Frame) []byte {
	w := new(bitio.Writer)
	w.Reset(nil)
	changed, spawns := naiveFlags(m, cur, g, bases...)
	if !changed {
		return []byte{0}
	}
	w.Bits(1, 1)
	w.Bits(map[bool]uint64{true: 1}[spawns], 1)
	flags, still := naiveStill(m, cur, g, bases...)
	for _, flag := range flags {
		w.Bits(flag, 1)
	}
	row := make([]int32, len(m.Coders()))
	for slot := g * GroupRows; slot < (g+1)*GroupRows; slot++ {
		id := cur.Row(slot, row)
		hope := naiveExpect(m, cur.Tick, slot, row, bases...)
		if (hope.id != 0 || spawns) && !still[slot] {
			naiveRow(w, m, id, row, hope)
		}
	}
	return w.Bytes()
}

// naiveStill is the bits for halves of the group with rows at rest, and the slots of those rows for
// which a bit says that they are as predicted.
func naiveStill(m *schema.Model, cur *Frame, g int, bases ...*Frame) (flags []uint64, still map[int]bool) {
	still = map[int]bool{}
	for half := range 2 {
		var rest []int
		flag := uint64(1)
		for slot := g*GroupRows + half*8; slot < g*GroupRows+half*8+8; slot++ {
			row := make([]int32, len(m.Coders()))
			id := cur.Row(slot, row)
			h := naiveExpect(m, cur.Tick, slot, row, bases...)
			exact := h.context == 1
			for f := range row {
				c := &m.Coders()[f]
				exact = exact && c.Context(h.signals[f]) == c.Context(schema.LevelExact)
			}
			if !exact {
				continue
			}
			if rest = append(rest, slot); id != h.id || !slices.Equal(row, h.row) {
				flag = 0
			}
		}
		if m.Codec() == schema.Range || len(rest) < m.RestRows() {
			continue
		}
		flags = append(flags, flag)
		for _, slot := range rest {
			still[slot] = flag == 1
		}
	}
	return flags, still
}

// framesAt are the frames of baselines.
func framesAt(ring *Ring, b Baselines) (frames []*Frame) {
	for _, t := range b[:b.count()] {
		frames = append(frames, ring.At(t))
	}
	return frames
}

// hope is what is expected of a row.
type hope struct {
	now     tick.Tick
	id      netid.ID // in the newest baseline
	row     []int32
	signals []uint8
	context int
}

// naiveExpect works out what baselines say of a row, with fractions as they stand in the format, and
// then corrects it by what the values now say of later ones.
func naiveExpect(m *schema.Model, now tick.Tick, slot int, values []int32, bases ...*Frame) hope {
	s := m.Schema()
	h := hope{now: now, row: make([]int32, len(s.Fields)), signals: make([]uint8, len(s.Fields))}
	var known []*Frame
	var rows [][]int32
	for i, f := range bases {
		if f == nil {
			break
		}
		row := make([]int32, len(s.Fields))
		id := f.Row(slot, row)
		if i == 0 {
			h.id = id
			copy(h.row, row)
		} else if id != h.id {
			break
		}
		known, rows = append(known, f), append(rows, row)
	}
	if h.id == 0 {
		return h
	}
	if len(known) < 2 {
		naiveCorrect(m, now, &h, values, known, rows)
		return h
	}
	size := func(x int64) int64 { return max(x, -x) }
	ahead, last := int64(now-known[0].Tick), int64(known[0].Tick-known[1].Tick)
	for f, field := range s.Fields {
		c := &m.Coders()[f]
		v, move := int64(rows[0][f]), int64(c.Delta(rows[0][f], rows[1][f]))
		way, wrong := move*ahead/last, move
		if len(known) == 3 {
			first, before := int64(known[1].Tick-known[2].Tick), int64(c.Delta(rows[1][f], rows[2][f]))
			if field.Predict != schema.Hold {
				wrong = move - before*last/first
			}
			if field.Predict == schema.Quadratic {
				way += (move*first - before*last) * ahead * (ahead + last) / (last * first * (last + first))
			}
		}
		if field.Predict == schema.Hold || field.Predict == schema.Best && (len(known) < 3 || size(wrong) >= size(move)) {
			way, wrong = 0, move
		}
		if field.Wrap == 0 {
			lo, hi := field.Range()
			h.row[f] = int32(min(max(v+way, int64(lo)), int64(hi)))
		} else {
			h.row[f] = int32(((v+way)%int64(field.Wrap) + int64(field.Wrap)) % int64(field.Wrap))
		}
		h.signals[f] = 1
		for n := size(wrong) * max(1, ahead/last); n > 0 && h.signals[f] < 15; n /= 2 {
			h.signals[f]++
		}
		if move < 0 {
			h.signals[f] += 16
		}
	}
	h.context = 1
	for i, f := range m.ContextFields() {
		if h.signals[f]&15 > 1 {
			h.context += 1 << i
		}
	}
	naiveCorrect(m, now, &h, values, known, rows)
	return h
}

// naiveCorrect corrects a row by the terms of its fields. rows are those of the known baselines.
func naiveCorrect(m *schema.Model, now tick.Tick, h *hope, values []int32, known []*Frame, rows [][]int32) {
	fields := m.Schema().Fields
	if m.Codec() == schema.Zstd {
		return
	}
	for f, field := range fields {
		sum := int64(0)
		for _, t := range m.Coders()[f].Terms() {
			x := naiveDiff(fields[t.Field], values[t.Field], rows[0][t.Field])
			if t.Trend {
				if x = 0; len(known) > 1 {
					x = naiveDiff(fields[t.Field], rows[0][t.Field], rows[1][t.Field]) *
						int64(now-known[0].Tick) / int64(known[0].Tick-known[1].Tick)
				}
			}
			sum += x * int64(t.Weight)
		}
		v := int64(h.row[f]) + int64(math.Floor(float64(sum)/1024+0.5))
		lo, hi := field.Range()
		if field.Wrap != 0 {
			wrap := int64(field.Wrap)
			v = (v%wrap + wrap) % wrap
		}
		h.row[f] = int32(min(max(v, int64(lo)), int64(hi)))
	}
}

// naiveRow writes one row.
func naiveRow(w *bitio.Writer, m *schema.Model, id netid.ID, row []int32, h hope) {
	s, spawn, was, old := m.Schema(), false, h.id, h.row
	table := m.Masks()[h.context].Table
	switch {
	case was == 0:
		if spawn = id != 0; spawn {
			w.Bits(1, 1)
		} else {
			w.Bits(0, 1)
		}
	case id == 0:
		table.Encode(w, schema.Gone)
	case id != was:
		table.Encode(w, schema.Replace)
		spawn = true
	default:
		mask := 0
		for f := range row {
			if row[f] != old[f] {
				mask |= 1 << f
			}
		}
		table.Encode(w, schema.Update+mask)
		for f := range row {
			if row[f] != old[f] {
				naiveChange(w, &m.Coders()[f], s.Fields[f], row[f], old[f], h.signals[f])
			}
		}
	}
	if !spawn {
		return
	}
	for _, part := range naiveNew(m, h.now, id, row) {
		w.Bits(part.code, part.bits)
	}
}

// naivePart is some bits of a new row: of a field, or of none.
type naivePart struct {
	field string
	code  uint64
	bits  uint
}

// naiveNew is a new row, behind what says that there is one: the shorter of its two forms.
func naiveNew(m *schema.Model, now tick.Tick, id netid.ID, row []int32) []naivePart {
	s, spawns := m.Schema(), m.Spawns()
	head := func(sym int) naivePart {
		code, n := spawns.Mask.Table.Code(sym)
		return naivePart{code: uint64(id.Generation()) | uint64(code)<<8, bits: 8 + uint(n)}
	}
	plain, coded := []naivePart{head(schema.Raw)}, []naivePart{{}}
	mask, kind := 0, uint8(0)
	for f, field := range s.Fields {
		lo, hi := field.Range()
		n := uint(0)
		for uint64(1)<<n <= uint64(int64(hi)-int64(lo)) {
			n++
		}
		plain = append(plain, naivePart{field.Name, uint64(int64(row[f]) - int64(lo)), n})
		from := min(max(0, lo), hi)
		if field.Spawn == schema.SpawnTick {
			from = int32(now % tick.Tick(field.Wrap))
		}
		if row[f] != from {
			var w bitio.Writer
			w.Reset(nil)
			naiveChange(&w, &spawns.Coders[f], field, row[f], from, kind)
			var r bitio.Reader
			n := uint(w.Len())
			r.Reset(w.Bytes())
			mask |= 1 << f
			coded = append(coded, naivePart{field.Name, r.Bits(n), n})
		}
		if field.Spawn == schema.SpawnKind {
			kind = uint8(row[f] & 15)
		}
	}
	coded[0] = head(schema.Update + mask)
	bits := func(parts []naivePart) (sum uint) {
		for _, p := range parts {
			sum += p.bits
		}
		return sum
	}
	if bits(coded) > bits(plain) {
		return plain
	}
	return coded
}

// naiveFlags tells whether a group differs from what is expected, and whether somebody is where
// nobody was.
func naiveFlags(m *schema.Model, cur *Frame, g int, bases ...*Frame) (changed, spawns bool) {
	row := make([]int32, len(m.Coders()))
	for slot := g * GroupRows; slot < (g+1)*GroupRows; slot++ {
		id := cur.Row(slot, row)
		h := naiveExpect(m, cur.Tick, slot, row, bases...)
		changed = changed || id != h.id || id != 0 && !slices.Equal(row, h.row)
		spawns = spawns || h.id == 0 && id != 0
	}
	return changed, spawns
}

// naiveDiff is the difference of two values in 64 bits.
func naiveDiff(f schema.Field, v, base int32) int64 {
	d := int64(v) - int64(base)
	if f.Wrap == 0 {
		return int64(int32(d))
	}
	for d > int64(f.Wrap-1)/2 {
		d -= int64(f.Wrap)
	}
	for d < -int64(f.Wrap/2) {
		d += int64(f.Wrap)
	}
	return d
}

// naiveBucket finds the bucket of a difference by halving it.
func naiveBucket(d int64) (octave int, negative, upper bool) {
	size := max(d, -d)
	for size>>octave > 1 {
		octave++
	}
	return octave, d < 0, octave > 0 && size>>(octave-1)&1 == 1
}

// naiveChange writes a change by the letter of the format: a symbol for octave, half and sign; the
// sign mirrored where the field was falling.
func naiveChange(w *bitio.Writer, c *schema.Coder, f schema.Field, v, base int32, signal uint8) {
	d := naiveDiff(f, v, base)
	octave, negative, upper := naiveBucket(d)
	size := uint64(max(d, -d))
	context := c.Context(signal)
	sign := 0
	if negative != (context&1 == 1) {
		sign = 1
	}
	switch table := c.Table(uint8(context / 2)); {
	case octave >= 12:
		table.Encode(w, 46+octave-12)
		w.Bits(map[bool]uint64{true: 1}[negative], 1)
		w.Bits(size-1<<octave, uint(octave))
	case octave == 0:
		table.Encode(w, sign)
	default:
		sym := 4*octave - 2 + sign
		if upper {
			sym += 2
		}
		table.Encode(w, sym)
		w.Bits(size&(1<<(octave-1)-1), uint(octave-1))
	}
}

func TestSharedEqualsNaive(t *testing.T) {
	for _, s := range []schema.Schema{playerSchema, edgeSchema} {
		for _, m := range []*schema.Model{schema.DefaultModel(s), learned(s), schema.DefaultModel(s).With(schema.Range), learned(s).With(schema.Range),
			corrected(s), corrected(s).With(schema.Range)} {
			t.Run(s.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { sharedEqualsNaive(t, m) })
			})
		}
	}
}

func sharedEqualsNaive(t *rapid.T, m *schema.Model) {
	const now = 12
	s, slots := m.Schema(), rapid.IntRange(1, 70).Draw(t, "slots")
	w := newWorld(s, slots, rapid.Uint64().Draw(t, "seed"), rapid.Float64Range(0, 1).Draw(t, "share"),
		rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "churn"), rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "wild"))
	ring := recorded(s, slots, now, w)
	e := NewEncoder(m, slots)
	cur := ring.At(now)
	e.Begin(cur, ring)
	d := NewDecoder(m, slots, 1)
	for b := tick.Tick(1); b < now; b++ { // the client holds every older frame
		mustSection(t, d, ring.At(b), nil, m)
	}
	for range rapid.IntRange(1, 20).Draw(t, "asks") {
		g := rapid.IntRange(0, len(cur.ids)-1).Draw(t, "group")
		base := drawBases(t, now)
		want := naiveCoded(m, cur, g, framesAt(ring, base)...)
		got := e.Group(g, base)
		if n := ring.Groups(); g < n && rapid.Bool().Draw(t, "run") {
			got = e.Run(g, 1, base)
			if end := rapid.IntRange(g+1, n).Draw(t, "end"); end > g+1 {
				var blocks [][]byte
				for g := g; g < end; g++ {
					blocks = append(blocks, naiveCoded(m, cur, g, framesAt(ring, base)...))
				}
				if all := naiveJoin(m, base, blocks); !bytes.Equal(e.Run(g, end-g, base), all) {
					t.Fatalf("a run is not its blocks in a row, neighbours that are idle in one byte: %x, naive %x",
						e.Run(g, end-g, base), all)
				}
				got = e.Run(g, 1, base)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("group %d against %d: %x, naive %x", g, base, got, want)
		}
		if len(got) > MaxGroupBytes(m) {
			t.Fatalf("%d bytes, bound %d", len(got), MaxGroupBytes(m))
		}
		if rest, err := decodeBlock(d, now, Run{First: g, Count: 1, Baselines: base}, append(bytes.Clone(got), 0xAA, 0xBB)); err != nil || len(rest) != 2 {
			t.Fatalf("group %d against %d: %v, %d bytes left", g, base, err, len(rest))
		}
		if !d.At(now).GroupEqual(cur, g) {
			t.Fatalf("group %d against %d decodes to something else", g, base)
		}
	}
}

// naiveJoin is the blocks of a run, where idle neighbours share a byte.
func naiveJoin(m *schema.Model, base Baselines, blocks [][]byte) (out []byte) {
	step, most := byte(2), 128
	switch {
	case m.Codec() == schema.Range && base[0] != 0:
		step, most = 1, 64
	case m.Codec() == schema.Zstd || m.Codec() == schema.HuffmanZstd && base[0] == 0:
		most = 1
	}
	idle := 0
	for _, b := range blocks {
		switch {
		case len(b) > 1 || b[0] != 0:
			out, idle = append(out, b...), 0
		case idle > 0 && idle < most:
			out[len(out)-1] += step
			idle++
		default:
			out, idle = append(out, 0), 1
		}
	}
	return out
}

// drawBases are none to three ticks before now.
func drawBases(t *rapid.T, now tick.Tick) (b Baselines) {
	at := now
	for i := range b {
		if at = tick.Tick(rapid.IntRange(0, int(at)-1).Draw(t, "base")); at == 0 {
			return b
		}
		b[i] = at
	}
	return b
}

// mustSection gives the decoder a whole frame, coded by the twin.
func mustSection(t interface{ Fatal(...any) }, d *Decoder, f, base *Frame, m *schema.Model) {
	var src []byte
	for g := range f.ids {
		run := Run{First: g, Count: 1}
		if base != nil {
			run.Baselines[0] = base.Tick
		}
		src = append(AppendRun(src, run, f.Tick, d.interval), naiveCoded(m, f, g, base)...)
	}
	if err := d.Section(f.Tick, src); err != nil {
		t.Fatal(err)
	}
}

// naiveCoded is naiveBlock for any codec.
func naiveCoded(m *schema.Model, cur *Frame, g int, bases ...*Frame) []byte {
	block := naiveBlock(m, cur, g, bases...)
	if spawn := len(bases) == 0 || bases[0] == nil; m.Codec() == schema.Zstd || m.Codec() == schema.HuffmanZstd && spawn {
		return append([]byte{packedEscape}, block...) // what zstd makes of it is the other tests' matter
	}
	if m.Codec() != schema.Range || len(bases) == 0 || bases[0] == nil {
		return block
	}
	if message := naiveRange(m, cur, g, nil, bases...); len(message) < MaxGroupBytes(m) {
		return message
	}
	return append([]byte{255}, block...)
}

// weighed is an encoder that knows what its decisions are worth.
type weighed struct {
	rangecoder.Encoder
	bits float64
	note func(field string, why Reason, bits float64)
}

func (e *weighed) Bit(bit bool, p uint32) {
	likely := float64(p) / rangecoder.One
	if bit {
		likely = 1 - likely
	}
	e.bits -= math.Log2(likely)
	e.Encoder.Bit(bit, p)
}

// tell says what the decisions since the last one told were for.
func (e *weighed) tell(field string, why Reason) {
	if e.note != nil {
		e.note(field, why, e.bits)
	}
	e.bits = 0
}

// even codes the lowest n bits of v, each as likely as not.
func (e *weighed) even(v uint32, n uint) {
	for e.bits += float64(n); n > 16; v, n = v>>16, n-16 {
		e.Bits(v&0xffff, 16)
	}
	e.Bits(v, n)
}

// naiveRange is the twin of a message of schema.Range. note, if there is one, is told what it
// spends its bits on.
func naiveRange(m *schema.Model, cur *Frame, g int, note func(string, Reason, float64), bases ...*Frame) []byte {
	e := weighed{note: note}
	d := m.Decisions()
	if changed, _ := naiveFlags(m, cur, g, bases...); !changed {
		e.bits = 8
		e.tell("", ReasonSame)
		return []byte{0}
	}
	e.Reset(nil)
	e.Bit(false, 65280)
	e.Bit(true, 16512)
	e.tell("", ReasonHead)
	for slot := g * GroupRows; slot < (g+1)*GroupRows; slot++ {
		row := make([]int32, len(m.Coders()))
		id := cur.Row(slot, row)
		h := naiveExpect(m, cur.Tick, slot, row, bases...)
		switch {
		case h.id != 0:
			naiveKnown(&e, m, id, row, h)
		case id == 0:
			e.Bit(false, d.Spawn)
			e.tell("", ReasonAbsent)
		default:
			e.Bit(true, d.Spawn)
			naiveSpawn(&e, m, cur.Tick, id, row, ReasonSpawn)
		}
	}
	return e.FinishEmbedded()
}

// naiveKnown codes a slot that the newest baseline has a row in.
func naiveKnown(e *weighed, m *schema.Model, id netid.ID, row []int32, h hope) {
	if e.Bit(id != h.id, m.Decisions().Leave); id == h.id {
		naiveDecisions(e, m, row, h)
		return
	}
	if e.Bit(id != 0, 1<<15); id != 0 {
		naiveSpawn(e, m, h.now, id, row, ReasonReplace)
	} else {
		e.tell("", ReasonGone)
	}
}

func naiveSpawn(e *weighed, m *schema.Model, now tick.Tick, id netid.ID, row []int32, why Reason) {
	for i, part := range naiveNew(m, now, id, row) {
		if i == 0 {
			e.even(uint32(part.code&255), 8)
			part.code, part.bits = part.code>>8, part.bits-8
		}
		for ; part.bits > 0; part.bits-- {
			e.Bit(part.code&1 == 1, 1<<15)
			part.code >>= 1
		}
		e.tell(part.field, why)
	}
}

// naiveLoose writes a loose row behind the bit about its baseline. For a range-coded row it returns
// the number of bits, and calls note, if not nil, with the purpose of each share of them.
func naiveLoose(w *bitio.Writer, m *schema.Model, id netid.ID, row []int32, h hope, note func(string, Reason, float64)) (ranged int) {
	if m.Codec() != schema.Range || h.id == 0 {
		naiveRow(w, m, id, row, h)
		return 0
	}
	e := weighed{note: note}
	e.Reset(nil)
	e.Bit(false, 65280)
	naiveKnown(&e, m, id, row, h)
	message, n := e.FinishBits()
	if n > m.MaxRowBits() {
		w.Bits(255, 9)
		naiveRow(w, m, id, row, h)
		return 0
	}
	for i := range n {
		w.Bits(uint64(message[i/8]>>(7-i%8)&1), 1)
	}
	return n
}

func naiveDecisions(e *weighed, m *schema.Model, row []int32, h hope) {
	fields := m.Schema().Fields
	states := map[int]int{} // of features
	for f := range row {
		switch level := h.signals[f] & 15; {
		case !m.Coders()[f].UsesSignal() || level == 0:
		case level == 1:
			states[12+f] = 1
		default:
			states[12+f] = min(int(level+4)/3, 5)
		}
	}
	mask, why := e.bits, ReasonSame
	for f := range row {
		signal := h.signals[f]
		if !m.Coders()[f].UsesSignal() {
			signal = 0
		}
		var x schema.RowFeatures
		for of, state := range states {
			x[of] = uint8(state)
		}
		p := m.Decisions().Fields[f].Nodes(signal, &x)
		e.bits = 0
		e.Bit(row[f] != h.row[f], uint32(p[0]))
		if mask += e.bits; row[f] == h.row[f] {
			continue
		}
		why, e.bits = ReasonMask, 0
		d := naiveDiff(fields[f], row[f], h.row[f])
		octave, negative, upper := naiveBucket(d)
		states[f] = min((octave+1)/2+1, 5)
		for above := 1; above < 16; {
			bit := min(octave, 12) >> (3 - (mathbits.Len(uint(above)) - 1)) & 1
			e.Bit(bit == 1, uint32(p[above]))
			above = above*2 + bit
		}
		size := uint32(max(d, -d))
		if octave >= 12 {
			shares := func(from int) (sum float64) { // of octaves in the table
				for sym := 46 + from - 12; sym < m.Coders()[f].Table(0).Symbols(); sym++ {
					_, n := m.Coders()[f].Table(0).Code(sym)
					sum += math.Pow(2, -float64(n))
				}
				return sum
			}
			for o := 12; o <= octave && shares(o+1) > 0; o++ {
				no := 65536 * (shares(o) - shares(o+1)) / shares(o)
				e.Bit(octave > o, uint32(min(max(no, 1), 65535)))
			}
			e.even((size-1<<octave)<<1|map[bool]uint32{true: 1}[negative], uint(octave+1))
		} else {
			e.Bit(negative != (signal >= 16), uint32(p[16+octave]))
			if octave > 0 {
				e.Bit(upper, uint32(p[27+octave]))
				e.even(size&(1<<(octave-1)-1), uint(octave-1))
			}
		}
		e.tell(fields[f].Name, ReasonUpdate)
	}
	e.bits = mask
	e.tell("", why)
}
