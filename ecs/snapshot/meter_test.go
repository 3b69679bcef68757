package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// naiveMeter is the slow honest twin of Meter: it writes a section again, from the frames of both
// ends and by the letter of the format, and notes what for as it writes.
type naiveMeter struct {
	model *schema.Model
	w     bitio.Writer
	cells map[Cell]uint64

	shares map[Cell]float64 // bits of messages of a range coder
	worth  float64          // what is left of their bytes
}

func newNaiveMeter(m *schema.Model) *naiveMeter {
	n := &naiveMeter{model: m, cells: map[Cell]uint64{}, shares: map[Cell]float64{}}
	n.w.Reset(nil)
	return n
}

func (n *naiveMeter) note(field string, why Reason, k int) {
	if k > 0 {
		n.cells[Cell{n.model.Schema().Name, field, why, 0}] += uint64(k)
	}
}

func (n *naiveMeter) bits(field string, why Reason, v uint64, k uint) {
	n.w.Bits(v, k)
	n.note(field, why, int(k))
}

func (n *naiveMeter) symbol(why Reason, table *huffman.Table, sym int) {
	before := n.w.Len()
	table.Encode(&n.w, sym)
	n.note("", why, n.w.Len()-before)
}

func (n *naiveMeter) align() {
	n.note("", ReasonAlign, -n.w.Len()&7)
	n.w.Align()
}

func (n *naiveMeter) row(id netid.ID, row []int32, h hope) {
	s, table := n.model.Schema(), n.model.Masks()[h.context].Table
	why := ReasonSpawn
	switch {
	case h.id == 0 && id == 0:
		n.bits("", ReasonAbsent, 0, 1)
		return
	case h.id == 0:
		n.bits("", ReasonSpawn, 1, 1)
	case id == 0:
		n.symbol(ReasonGone, table, schema.Gone)
		return
	case id != h.id:
		why = ReasonReplace
		n.symbol(why, table, schema.Replace)
	default:
		mask := 0
		for f := range row {
			if row[f] != h.row[f] {
				mask |= 1 << f
			}
		}
		if mask == 0 {
			n.symbol(ReasonSame, table, schema.Update)
			return
		}
		n.symbol(ReasonMask, table, schema.Update+mask)
		for f := range row {
			if row[f] != h.row[f] {
				before, c := n.w.Len(), &n.model.Coders()[f]
				naiveChange(&n.w, c, s.Fields[f], row[f], h.row[f], h.signals[f])
				n.note(s.Fields[f].Name, ReasonUpdate, n.w.Len()-before)
			}
		}
		return
	}
	for _, part := range naiveNew(n.model, h.now, id, row) {
		n.bits(part.field, why, part.code, part.bits)
	}
}

// loose notes a row of a run of rows.
func (n *naiveMeter) loose(id netid.ID, row []int32, h hope) {
	if n.model.Codec() != schema.Range || h.id == 0 {
		n.row(id, row, h)
		return
	}
	var try bitio.Writer
	try.Reset(nil)
	if naiveLoose(&try, n.model, id, row, h, nil) == 0 {
		n.bits("", ReasonHead, 255, 9)
		n.row(id, row, h)
		return
	}
	n.worth += float64(naiveLoose(&n.w, n.model, id, row, h, n.share))
}

// share notes what a message of a range coder spends bits on.
func (n *naiveMeter) share(field string, why Reason, bits float64) {
	n.shares[Cell{n.model.Schema().Name, field, why, 0}] += bits
	n.worth -= bits
}

// section notes a section that d has taken.
func (n *naiveMeter) section(d *Decoder, t tick.Tick, src []byte) {
	row := make([]int32, len(n.model.Schema().Fields))
	frames := func(ages ...tick.Tick) (frames []*Frame) {
		back := tick.Tick(0)
		for _, age := range ages {
			if age == 0 {
				break
			}
			back += age
			frames = append(frames, d.At(t-back*d.interval))
		}
		return frames
	}
	for at := n.w.Len() / 8; at < len(src); at = n.w.Len() / 8 {
		if src[at] == 0xff && (at+1 == len(src) || src[at+1] == 0xff) {
			for range len(src) - at {
				n.bits("", ReasonFill, 0xff, 8)
			}
			return
		}
		take := func(why Reason) int {
			at++
			n.bits("", why, uint64(src[at-1]), 8)
			return int(src[at-1])
		}
		place := take(ReasonHead)
		first, count := place>>4, place&15+1
		if first == 15 {
			first = take(ReasonHead) << 8
			first |= take(ReasonHead)
		}
		if count == 16 {
			count = take(ReasonHead) + 1
		}
		head := take(ReasonBaseline)
		age := tick.Tick(head & 63)
		byRow, next, last := head&128 != 0, tick.Tick(0), tick.Tick(0)
		sets := head&64 != 0
		if sets {
			n.bits("", ReasonBaseline, uint64(src[at]), 8)
			next, last = tick.Tick(src[at]&15), tick.Tick(src[at]>>4)
			at++
		}
		bases := frames(age, next, last)
		if !byRow {
			for g := first; g < first+count; {
				if k := n.idle(src[n.w.Len()/8], len(bases) > 0); k > 0 {
					n.bits("", ReasonSame, uint64(src[n.w.Len()/8]), 8)
					g += k
					continue
				}
				n.block(d.At(t), g, bases)
				g++
			}
			continue
		}
		slot := first*16 - 1
		var r bitio.Reader
		for range count {
			r.Reset(src[at:])
			r.Skip(uint(n.w.Len() - 8*at))
			slot += 1 + n.gap(&r)
			if r.Bits(1) == 0 {
				n.bits("", ReasonBaseline, 0, 1)
			} else {
				age := r.Bits(6)
				n.bits("", ReasonBaseline, 1|age<<1, 7)
				if bases = frames(tick.Tick(age)); sets {
					older := r.Bits(1)
					n.bits("", ReasonBaseline, older, 1)
					if older != 0 {
						bases = frames(tick.Tick(age), next, last)
					}
				}
			}
			id := d.At(t).Row(slot, row)
			n.loose(id, row, naiveExpect(n.model, t, slot, row, bases...))
		}
		n.align()
	}
}

func (n *naiveMeter) gap(r *bitio.Reader) int {
	bit := func() uint64 { v := r.Bits(1); n.bits("", ReasonGap, v, 1); return v }
	if bit() == 0 {
		return 0
	}
	q := 0
	for ; q < 16 && bit() == 1; q++ {
	}
	k := uint(3)
	if q == 16 {
		k = 16
	}
	v := r.Bits(k)
	n.bits("", ReasonGap, v, k)
	if q == 16 {
		return int(v)
	}
	return 8*q + int(v) + 1
}

// idle is how many groups the first byte of a block says are idle.
func (n *naiveMeter) idle(b byte, based bool) int {
	switch codec := n.model.Codec(); {
	case codec == schema.Zstd || codec == schema.HuffmanZstd && !based:
		return 0
	case codec == schema.Range && based:
		if b < 64 {
			return int(b) + 1
		}
	case b&1 == 0:
		return int(b)/2 + 1
	}
	return 0
}

func (n *naiveMeter) block(cur *Frame, g int, bases []*Frame) {
	if n.model.Codec() == schema.Range && len(bases) > 0 {
		if message := naiveCoded(n.model, cur, g, bases...); message[0] != 255 {
			for _, b := range message {
				n.w.Bits(uint64(b), 8)
			}
			n.worth += 8 * float64(len(message))
			naiveRange(n.model, cur, g, n.share, bases...)
			return
		}
		n.bits("", ReasonHead, 255, 8)
	}
	changed, spawns := naiveFlags(n.model, cur, g, bases...)
	if !changed {
		n.bits("", ReasonSame, 0, 8)
		return
	}
	n.bits("", ReasonHead, 1, 1)
	n.bits("", ReasonHead, map[bool]uint64{true: 1}[spawns], 1)
	flags, still := naiveStill(n.model, cur, g, bases...)
	for _, flag := range flags {
		n.bits("", ReasonHead, flag, 1)
	}
	row := make([]int32, len(cur.fields))
	for slot := g * 16; slot < (g+1)*16; slot++ {
		id := cur.Row(slot, row)
		h := naiveExpect(n.model, cur.Tick, slot, row, bases...)
		if (h.id != 0 || spawns) && !still[slot] {
			n.row(id, row, h)
		}
	}
	n.align()
}

// same compares an account with the twin's and with the bytes.
func (n *naiveMeter) same(m *Meter, src []byte) error {
	if !bytes.Equal(n.w.Bytes(), src) {
		return fmt.Errorf("the twin wrote %x, not %x: the test is wrong", n.w.Bytes(), src)
	}
	if m.Total() != 8*uint64(len(src)) {
		return fmt.Errorf("%d bits in the account of %d bytes", m.Total(), len(src))
	}
	got := map[Cell]uint64{}
	for _, c := range m.Cells(nil) {
		bits := c.Bits
		c.Bits = 0
		got[c] += bits
	}
	if len(n.shares) > 0 {
		return n.near(got)
	}
	if diff := cmp.Diff(n.cells, got); diff != "" {
		return errors.New(diff)
	}
	return nil
}

// near compares an account with the twin's, whose parts can be fractions of bits, and leaves the
// differences in shares.
func (n *naiveMeter) near(got map[Cell]uint64) error {
	n.shares[Cell{n.model.Schema().Name, "", ReasonAlign, 0}] += n.worth
	for cell, bits := range n.cells {
		n.shares[cell] += float64(bits)
	}
	for cell, bits := range n.shares {
		n.shares[cell] = bits - float64(got[cell])
		delete(got, cell)
	}
	if len(got) > 0 {
		return fmt.Errorf("nobody sent %v", got)
	}
	return nil
}

// meteredModel is a lifeModel whose datagrams are accounted for at both ends and by the twin.
type meteredModel struct {
	*lifeModel
	t         *testing.T
	model     *schema.Model
	sent      map[*byte]*Meter
	sum       *Meter           // of all
	off       map[Cell]float64 // by how much the twin's fractions differ
	datagrams int
	bytes     uint64
}

// step is lifeModel.step, and now and then a client begins anew or a datagram is padded.
func (l *meteredModel) step(now int) {
	t := tick.Tick(now)
	l.world.step()
	f := l.ring.Begin(t)
	l.world.capture(f)
	l.truth[t] = cloneFrame(f, l.schema)
	l.encoder.Begin(f, l.ring)
	for _, c := range l.clients {
		c.up = arrived(c.up, now, func(p packet) {
			c.tracker.Acked(p.part.at, p.part.first, p.part.count)
		})
		if l.rng.IntN(200) == 0 {
			c.tracker.Forget()
		}
		if (t+c.phase)%l.interval == 0 {
			old := len(c.down)
			if err := l.send(c, now); err != nil {
				l.t.Fatal(err)
			}
			for i := old; i < len(c.down); i++ {
				l.explain(&c.down[i])
			}
		}
		c.down = arrived(c.down, now, func(p packet) { l.receive(c, p, now) })
	}
}

// explain accounts for a datagram on the server's side.
func (l *meteredModel) explain(p *packet) {
	if l.sent[&p.payload[0]] != nil { // a copy
		return
	}
	p.payload = append(bytes.Clone(p.payload), bytes.Repeat([]byte{Padding}, l.rng.IntN(4)*l.rng.IntN(8))...)
	m := NewMeter(l.schema)
	if err := l.encoder.Explain(m, l.interval, p.payload); err != nil {
		l.t.Fatalf("tick %d: explained by the server: %v", p.t, err)
	}
	l.sent[&p.payload[0]] = m
}

func (l *meteredModel) receive(c *lifeClient, p packet, now int) {
	stale := l.stale
	if err := l.lifeModel.receive(c, p, now); err != nil {
		l.t.Fatal(err)
	}
	if l.stale != stale {
		return
	}
	m, before := NewMeter(l.schema), l.sum.Total()
	if err := c.decoder.Explain(m, p.t, p.payload); err != nil {
		l.t.Fatalf("tick %d: explained by the client: %v", p.t, err)
	}
	if diff := cmp.Diff(l.sent[&p.payload[0]].Cells(nil), m.Cells(nil)); diff != "" {
		l.t.Fatalf("tick %d: server and client do not agree:\n%s", p.t, diff)
	}
	twin := newNaiveMeter(l.model)
	twin.section(c.decoder, p.t, p.payload)
	if err := twin.same(m, p.payload); err != nil {
		l.t.Fatalf("tick %d: %v", p.t, err)
	}
	for cell, bits := range twin.shares {
		l.off[cell] += bits
	}
	if err := c.decoder.Explain(l.sum, p.t, p.payload); err != nil || l.sum.Total()-before != 8*uint64(len(p.payload)) {
		l.t.Fatalf("tick %d: a second time: %v", p.t, err)
	}
	l.datagrams++
	l.bytes += uint64(len(p.payload))
}

// TestMeterAddsUp: thousands of datagrams over bad links, of blocks and of rows, with clients that
// begin anew. Of each the account is that of the twin on both ends, and its sum the bits of the
// datagram; and every reason occurs.
func TestMeterAddsUp(t *testing.T) {
	var seen tally
	datagrams := 0
	for i, c := range []struct {
		model    *schema.Model
		profile  linkProfile
		interval tick.Tick
		share    float64 // that clients see; 0: everything
	}{
		{schema.DefaultModel(playerSchema), linkProfile{0.05, 0.02, 0.05, 2, 2}, 3, 0},
		{learned(playerSchema), linkProfile{0.3, 0.1, 0.3, 4, 4}, 1, 0},
		{learned(edgeSchema), linkProfile{0.3, 0.3, 0.1, 12, 30}, 2, 0},
		{learned(playerSchema), linkProfile{0.5, 0.5, 0.5, 90, 90}, 1, 0},
		{learned(playerSchema), linkProfile{0.05, 0.02, 0.05, 2, 2}, 1, 0.1},
		{learned(playerSchema), linkProfile{0.3, 0.1, 0.3, 4, 4}, 2, 0.9},
		{learned(edgeSchema), linkProfile{0.3, 0.1, 0.3, 4, 4}, 1, 0.5},
		{learned(playerSchema).With(schema.Range), linkProfile{0.05, 0.02, 0.05, 2, 2}, 1, 0},
		{learned(edgeSchema).With(schema.Range), linkProfile{0.3, 0.1, 0.3, 4, 4}, 2, 0.9},
		{schema.DefaultModel(playerSchema).With(schema.Range), linkProfile{0.3, 0.1, 0.3, 4, 4}, 2, 0},
	} {
		s := c.model.Schema()
		for _, slots := range []int{40, 400} {
			l := &meteredModel{lifeModel: newLifeModelOf(c.model, uint64(i), slots, 3, c.interval, c.profile), t: t,
				model: c.model, sent: map[*byte]*Meter{}, sum: NewMeter(s), off: map[Cell]float64{}}
			l.world.wild = []float64{0.02, 0}[i%2]
			if c.share > 0 {
				l.mayNotSeeAll(c.share, 0.02)
			}
			for now := 1; now <= 12000/slots; now++ {
				l.step(now)
				if now == 100 {
					l.world.churn = 0 // groups at rest, too
					clear(l.world.alive[16:])
				}
			}
			for _, cell := range l.sum.Cells(nil) {
				seen[cell.Reason] += cell.Bits
				bits := cell.Bits
				cell.Bits = 0
				share := 0.04
				if slices.Contains([]Reason{ReasonHead, ReasonSame, ReasonAlign, ReasonGone}, cell.Reason) {
					// The first and the last of a message are rounded alike in all of them.
					share = 0.12
				}
				if off := l.off[cell]; math.Abs(off) > max(150, share*float64(bits)) {
					t.Errorf("case %d: %+v: %d bits, %+.0f by the twin", i, cell, bits, off)
				}
			}
			if l.sum.Total() != 8*l.bytes || l.datagrams == 0 {
				t.Errorf("case %d: %d bits in the account of %d datagrams, %d bytes", i, l.sum.Total(), l.datagrams, l.bytes)
			}
			datagrams += l.datagrams
		}
	}
	for r, n := range seen {
		if n == 0 {
			t.Errorf("no bits for reason %v: the test does not test it", Reason(r))
		}
	}
	if datagrams < 5000 {
		t.Errorf("only %d datagrams", datagrams)
	}
}

// A section that is no section, cut short or with any bit turned, adds to the account all of its
// bits or none, and what the decoder takes, the meter does.
func TestMeterOnDamage(t *testing.T) {
	m := schema.DefaultModel(playerSchema)
	rng := rand.New(rand.NewPCG(1, 9))
	w := newWorld(playerSchema, 60, 4, 0.7, 0.05, 0.05)
	ring := recorded(playerSchema, 60, 6, w)
	d, e, k := NewDecoder(m, 60, 1), NewEncoder(m, 60), NewTracker(64, 1)
	for b := tick.Tick(1); b < 6; b++ {
		mustSection(t, d, ring.At(b), nil, m)
	}
	e.Begin(ring.At(6), ring)
	k.Advance(5)
	k.Acked(5, 0, 4)
	var p Packer
	taken, refused := 0, 0
	k.Advance(6)
	for _, rows := range []bool{false, true} {
		if p.Begin(e, k, 0, 4); rows {
			p.BeginRows(e, k, []uint64{0x0f0ff00f1fff7bf1})
		}
		good, _, _, _ := p.Next(nil, 2000)
		for range 2500 {
			src := bytes.Clone(good[:len(good)-rng.IntN(2)*rng.IntN(len(good))])
			for range rng.IntN(3) {
				if bit := rng.IntN(8*len(src) + 1); bit < 8*len(src) {
					src[bit/8] ^= 1 << (bit % 8)
				}
			}
			fresh := NewDecoder(m, 60, 1)
			*fresh.frames[5] = *d.frames[5]
			meter := NewMeter(playerSchema)
			err, said := fresh.Section(6, src), error(nil)
			if said = fresh.Explain(meter, 6, src); err == nil && said != nil {
				t.Fatalf("%x is taken but not explained: %v", src, said)
			}
			want := 8 * uint64(len(src))
			if said != nil {
				want = 0
				refused++
			} else {
				taken++
			}
			if meter.Total() != want {
				t.Fatalf("%x: %d bits, want %d (%v)", src, meter.Total(), want, said)
			}
		}
	}
	if taken < 500 || refused < 500 {
		t.Errorf("%d taken, %d refused: the test tests little", taken, refused)
	}
}

// Owner's rows add up as well, at both ends, over a link that loses a third each way.
func TestMeterOwnerRows(t *testing.T) {
	m := schema.DefaultModel(ownerSchema)
	rng := rand.New(rand.NewPCG(3, 5))
	out, in := NewOwnerWriter(m, 3), NewOwnerReader(m, 3)
	row := make([]int32, len(ownerSchema.Fields))
	sum, bits := NewMeter(ownerSchema), uint64(0)
	for step := range 3000 {
		now := 7 + 3*tick.Tick(step)
		for f, field := range ownerSchema.Fields {
			if rng.IntN(4) == 0 {
				row[f] = field.Clamp(row[f] + rng.Int32N(9) - 4)
			}
		}
		if rng.IntN(300) == 0 {
			out.Reset()
		}
		src := append(out.Append(nil, now, row), 9, 9, 9)
		sent, got := NewMeter(ownerSchema), NewMeter(ownerSchema)
		if rest, err := out.Explain(sent, src); err != nil || len(rest) != 3 {
			t.Fatalf("%v, %d bytes left", err, len(rest))
		}
		if rng.IntN(3) == 0 {
			continue
		}
		var base []int32
		if age := tick.Tick(src[0]); age != 0 {
			_, held, _ := in.got.at(now - 3*age)
			base = slices.Clone(held)
		}
		if _, _, err := in.Parse(now, src); err != nil {
			t.Fatal(err)
		}
		if rest, err := in.Explain(got, now, src); err != nil || len(rest) != 3 {
			t.Fatalf("%v, %d bytes left", err, len(rest))
		}
		_, _ = in.Explain(sum, now, src)
		twin := newNaiveMeter(m)
		twin.owner(src[0], base, row)
		if err := twin.same(got, src[:len(src)-3]); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent.Cells(nil), got.Cells(nil)); diff != "" {
			t.Fatalf("the ends do not agree:\n%s", diff)
		}
		bits += 8 * uint64(len(src)-3)
		if rng.IntN(3) > 0 {
			out.Acked(now)
		}
	}
	if sum.Total() != bits || sum.Bits(0, ReasonUpdate) == 0 || sum.Bits(0, ReasonSpawn) == 0 || sum.Bits(-1, ReasonSame) == 0 {
		t.Errorf("%d bits in all, want %d: %v", sum.Total(), bits, sum.Cells(nil))
	}
	for i, src := range [][]byte{nil, {Window}, {1}, {0, 1}} {
		before := sum.Total()
		if _, err := in.Explain(sum, 7+3*2999, src); err == nil || sum.Total() != before {
			t.Errorf("%d: %v, %d bits added", i, err, sum.Total()-before)
		}
	}
}

func (n *naiveMeter) owner(age byte, base, row []int32) {
	fields, coders := n.model.Schema().Fields, n.model.Coders()
	n.bits("", ReasonBaseline, uint64(age), 8)
	for f := range row {
		if base == nil {
			v, k := coders[f].Raw(row[f])
			n.bits(fields[f].Name, ReasonSpawn, v, k)
		}
	}
	for _, part := range n.model.Masks() {
		mask := 0
		for i := range part.Fields {
			if base != nil && row[part.First+i] != base[part.First+i] {
				mask |= 1 << i
			}
		}
		switch {
		case base == nil:
			continue
		case mask == 0:
			n.symbol(ReasonSame, part.Table, 0)
		default:
			n.symbol(ReasonMask, part.Table, mask)
		}
		for i := range part.Fields {
			if f := part.First + i; mask>>i&1 != 0 {
				v, k := coders[f].Bits(row[f], base[f], 0)
				n.bits(fields[f].Name, ReasonUpdate, v, k)
			}
		}
	}
	n.align()
}

func TestMeterAllocatesNothing(t *testing.T) {
	m := schema.DefaultModel(playerSchema)
	ring := recorded(playerSchema, 200, 6, newWorld(playerSchema, 200, 4, 0.7, 0.05, 0.05))
	d, e, k, meter := NewDecoder(m, 200, 1), NewEncoder(m, 200), NewTracker(200, 1), NewMeter(playerSchema)
	e.Begin(ring.At(6), ring)
	k.Advance(6)
	var p Packer
	p.Begin(e, k, 0, 13)
	src, _, _, _ := p.Next(nil, 1<<16)
	if err := d.Section(6, src); err != nil {
		t.Fatal(err)
	}
	calls := uint64(0)
	if n := alloctest.In(100, func() {
		if calls++; d.Explain(meter, 6, src) != nil || e.Explain(meter, 1, src) != nil {
			t.Fatal("not explained")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	heads, row := uint64(0), make([]int32, len(playerSchema.Fields))
	for slot := range ring.At(6).Slots() {
		if id := ring.At(6).Row(slot, row); id != 0 {
			heads += 1 + uint64(naiveNew(m, 6, id, row)[0].bits)
		}
	}
	if len(meter.Cells(nil)) < 11 || meter.Bits(-1, ReasonSpawn) != 2*calls*heads {
		t.Errorf("%v", meter.Cells(nil))
	}
	if meter.Reset(); meter.Total() != 0 || meter.Cells(nil) != nil {
		t.Error("Reset leaves something")
	}
}

func TestReasonNames(t *testing.T) {
	seen := map[string]bool{}
	for r := range NumReasons {
		if name := r.String(); name == "" || name == "invalid" || seen[name] {
			t.Errorf("reason %d is called %q", r, name)
		} else {
			seen[name] = true
		}
	}
	if NumReasons.String() != "invalid" {
		t.Error("a reason too many has a name")
	}
}

// What it costs to account for a datagram, beside what it costs to decode it.
func BenchmarkMeter(b *testing.B) {
	m := schema.DefaultModel(playerSchema)
	ring := recorded(playerSchema, 256, 6, newWorld(playerSchema, 256, 4, 1, 0.001, 0.001))
	e, meter := NewEncoder(m, 256), NewMeter(playerSchema)
	e.Begin(ring.At(6), ring)
	d := NewDecoder(m, 256, 1)
	mustSection(b, d, ring.At(5), nil, m)
	var src []byte
	for g := range 16 {
		src = append(AppendRun(src, Run{First: g, Count: 1, Baselines: Baselines{5}}, 6, 1), e.Group(g, Baselines{5})...)
	}
	b.Run("decode", func(b *testing.B) {
		for range b.N {
			if err := d.Section(6, src); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/row")
	})
	b.Run("explain", func(b *testing.B) {
		for range b.N {
			if err := d.Explain(meter, 6, src); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/row")
	})
}
