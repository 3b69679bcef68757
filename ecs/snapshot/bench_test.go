package snapshot

import (
	"fmt"
	mathbits "math/bits"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

const (
	crowdSlots   = 1000
	crowdClients = 1000
	crowdTicks   = 24
	crowdBudget  = 1100
)

// crowd is a lobby of 1000 players, all visible to 1000 clients, at the end of some ticks of play,
// with a model that was trained on it.
type crowd struct {
	model    *schema.Model
	ring     *Ring
	now      *Frame
	encoder  *Encoder
	trackers []*Tracker
	packer   Packer
	out      []byte
}

// newCrowd deals a number of distinct baselines to the clients; lossy clients lack a datagram's
// worth of groups now and then.
func newCrowd(baselines int, lossy bool) *crowd {
	c := &crowd{ring: recorded(playerSchema, crowdSlots, crowdTicks, newWorld(playerSchema, crowdSlots, 1, 1, 0.001, 0))}
	c.now = c.ring.At(crowdTicks)
	counts := schema.NewCounts(playerSchema)
	training := NewEncoder(schema.DefaultModel(playerSchema), crowdSlots)
	training.Count(counts)
	training.Begin(c.now, c.ring)
	for _, age := range baselineAges[2:6] {
		training.whole(setOf(crowdTicks - tick.Tick(age)))
		training.whole(Baselines{crowdTicks - tick.Tick(age)})
	}
	c.model = schema.Train(playerSchema, counts)
	c.encoder = NewEncoder(c.model, crowdSlots)
	groups := c.ring.Groups()
	for i := range crowdClients {
		k := NewTracker(groups*GroupRows, 1)
		for t := tick.Tick(1); t <= crowdTicks; t++ {
			k.Advance(t)
		}
		base := crowdTicks - tick.Tick(baselineAges[i%baselines])
		if lossy && i%10 == 0 {
			lost := i / 10 % 4 * 15
			k.Acked(base, 0, lost)
			k.Acked(base, lost+15, groups)
			k.Acked(base-tick.Tick(baselineAges[1]), 0, groups)
		}
		k.Acked(base, 0, groups)
		k.Acked(base-1, 0, groups)
		k.Acked(base-2, 0, groups)
		c.trackers = append(c.trackers, k)
	}
	c.out = make([]byte, 0, 2048)
	return c
}

// setOf is a tick and the two before.
func setOf(t tick.Tick) Baselines { return Baselines{t, t - 1, t - 2} }

// heldBy finds the frames of baselines.
func heldBy(ring *Ring, b Baselines) (h baselineFrames) {
	for i, t := range b[:b.count()] {
		h.frames[i] = ring.At(t)
	}
	h.spacing = b.spacing(crowdTicks)
	return h
}

// shared is one snapshot for all clients, as a server sends it. It returns the bytes.
func (c *crowd) shared() (bytes int) {
	c.encoder.Begin(c.now, c.ring)
	for _, k := range c.trackers {
		c.packer.Begin(c.encoder, k, 0, c.ring.Groups())
		for !c.packer.Done() {
			out, _, _, _ := c.packer.Next(c.out[:0], crowdBudget)
			bytes += len(out)
		}
	}
	return bytes
}

// plainDeltas is the plain way to the same snapshots: what differs from a set of baselines is coded
// once a tick and kept, in memory that the next tick uses again. The codec is the Encoder's.
type plainDeltas struct {
	kept map[Baselines]*keptDeltas
	free []*keptDeltas
	runs []Run
}

// keptDeltas are the deltas of all groups or rows against a set of baselines, one after the other:
// that of i takes bits[i] bits from byte from[i] on.
type keptDeltas struct {
	buf  []byte
	from []int
	bits []int
}

// begin forgets the tick before.
func (p *plainDeltas) begin() {
	for _, d := range p.kept {
		p.free = append(p.free, d)
	}
	clear(p.kept)
}

// of finds the deltas against a set of baselines, or codes them.
func (p *plainDeltas) of(base Baselines, code func(Baselines, *keptDeltas)) *keptDeltas {
	d := p.kept[base]
	if d == nil {
		if d = new(keptDeltas); len(p.free) > 0 {
			d, p.free = p.free[len(p.free)-1], p.free[:len(p.free)-1]
		}
		d.buf, d.from, d.bits = d.buf[:0], d.from[:0], d.bits[:0]
		code(base, d)
		p.kept[base] = d
	}
	return d
}

// plain is shared by plain code, without the headers of runs.
func (c *crowd) plain(p *plainDeltas) (bytes int) {
	p.begin()
	for _, k := range c.trackers {
		out := c.out[:0]
		p.runs = k.Runs(p.runs[:0], 0, c.ring.Groups())
		for _, run := range p.runs {
			d := p.of(run.Baselines, c.codeGroups)
			for first, end := run.First, run.First+run.Count; first < end; {
				last := first
				for last < end && len(out)+d.from[last+1]-d.from[first] <= crowdBudget {
					last++
				}
				out = append(out, d.buf[d.from[first]:d.from[last]]...)
				if first = last; first < end {
					bytes += len(out)
					out = c.out[:0]
				}
			}
		}
		bytes += len(out)
	}
	return bytes
}

// codeGroups codes all groups, with one entry of from behind the last.
func (c *crowd) codeGroups(base Baselines, d *keptDeltas) {
	var room [11]fieldBlock
	var ctx contexts
	for g := range c.ring.Groups() {
		d.from = append(d.from, len(d.buf))
		x := rowGroup{index: g, ids: &c.now.ids[g], was: &empty, now: c.now.group(g), base: c.now.group(g), ctx: &unknown}
		if base[0] != 0 {
			h := heldBy(c.ring, base)
			if x.was = &h.frames[0].ids[g]; h.spacing.Single() {
				x.base = h.frames[0].group(g)
			} else {
				ctx, x.base, x.ctx = contexts{}, room[:], &ctx
				c.encoder.codec.predict(&h, g, x.base, x.ctx)
			}
		}
		d.buf = c.encoder.codec.putBlock(d.buf, &x)
	}
	d.from = append(d.from, len(d.buf))
}

// sameBut fails unless a rival sends as many bytes as the snapshots, but for the headers of runs and
// neighbours at rest that share a byte.
func sameBut(b *testing.B, rival, snapshots int) {
	if d := snapshots - rival; d < -snapshots/20 || d > snapshots/20 {
		b.Fatalf("rival: %d bytes, expected %d within 5 %%", rival, snapshots)
	}
}

// BenchmarkPair is the cost of one (entity, client) pair, everything included: coding, choosing
// baselines, packing.
func BenchmarkPair(b *testing.B) {
	for _, lossy := range []bool{false, true} {
		c := newCrowd(4, lossy)
		p := plainDeltas{kept: map[Baselines]*keptDeltas{}}
		sameBut(b, c.plain(&p), c.shared())
		for _, way := range []struct {
			name string
			send func() int
		}{{"plain", func() int { return c.plain(&p) }}, {"shared", c.shared}} {
			name := map[bool]string{false: "baselines=4/", true: "baselines=4+loss/"}[lossy] + way.name
			b.Run(name, func(b *testing.B) {
				bytes := 0
				for b.Loop() {
					bytes = way.send()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowdClients/crowdSlots, "ns/pair")
				b.ReportMetric(float64(bytes)/crowdClients, "B/client")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// sparse gives each client 64 random slots that it may see, and as many acknowledgements of rows as
// it had baselines.
func (c *crowd) sparse(relevant int, lossy bool) (sees [][]uint64) {
	rng := rand.New(rand.NewPCG(7, 7))
	for i, k := range c.trackers {
		see := make([]uint64, (crowdSlots+63)/64)
		for n := 0; n < relevant; {
			if slot := rng.IntN(crowdSlots); !has(see, slot) {
				see[slot>>6] |= 1 << (slot & 63)
				n++
			}
		}
		sees = append(sees, see)
		// As if every snapshot had been sent by rows, and these were the newest with acked rows.
		held := tick.Tick(0)
		for _, age := range baselineAges {
			if t := crowdTicks - tick.Tick(age); crowdTicks > t && k.bits(k.row(t))[0] != 0 {
				held = t
				break
			}
		}
		k.now = held - 3
		k.Reset()
		for t := held - 2; t <= crowdTicks; t++ {
			k.Advance(t)
			k.beginRows()
			here := make([]uint64, len(see))
			for w := range here {
				here[w] = see[w] & c.ring.At(t).occupied[w]
			}
			k.noteRows(0, c.ring.Groups(), here, make([]uint64, len(see)), here)
			if t <= held || lossy && t == held+1 && i%10 == 0 {
				k.Acked(t, 0, c.ring.Groups()>>(max(t, held)-held))
			}
		}
	}
	return sees
}

// ownerRows is one snapshot by rows for all clients.
func (c *crowd) rows(sees [][]uint64) (bytes int) {
	c.encoder.Begin(c.now, c.ring)
	for i, k := range c.trackers {
		c.packer.BeginRows(c.encoder, k, sees[i])
		for !c.packer.Done() {
			out, _, _, _ := c.packer.Next(c.out[:0], crowdBudget)
			bytes += len(out)
		}
	}
	return bytes
}

// weighed is the same where each client gets what costs least of what it sees, up to half of all.
func (c *crowd) weighed(sees [][]uint64, cost []uint16, half int) (bytes int) {
	c.encoder.Begin(c.now, c.ring)
	for i, k := range c.trackers {
		_, fixed := c.packer.Costs(c.encoder, k, sees[i], cost)
		left := half - fixed
		pick := [(crowdSlots + 63) / 64]uint64{}
		for slot, n := range cost {
			if n != 0 && left >= int(n) {
				left -= int(n)
				pick[slot>>6] |= 1 << (slot & 63)
			}
		}
		c.packer.Select(pick[:])
		for !c.packer.Done() {
			out, _, _, _ := c.packer.Next(c.out[:0], crowdBudget)
			bytes += len(out)
		}
	}
	return bytes
}

// plainRows is rows by plain code, without the headers of runs.
func (c *crowd) plainRows(p *plainDeltas, sees [][]uint64) (bytes int) {
	p.begin()
	var w bitio.Writer
	for i, k := range c.trackers {
		var base Baselines
		for t := tick.Tick(crowdTicks - 1); t > 0; t-- {
			if row := k.row(t); k.sent[row] == t && k.rows.hasAcked>>row&1 != 0 {
				base = setOf(t)
				break
			}
		}
		d := p.of(base, c.codeRows)
		w.Reset(c.out[:0])
		for word, see := range sees[i] {
			for ; see != 0; see &= see - 1 {
				slot := word*64 + mathbits.TrailingZeros64(see)
				w.AppendBits(d.buf, d.from[slot]*8, d.bits[slot])
			}
		}
		bytes += len(w.Bytes())
	}
	return bytes
}

// codeRows codes all rows, each behind its place in its group. A row that is not there has no bits.
func (c *crowd) codeRows(base Baselines, d *keptDeltas) {
	buf := make([]byte, c.encoder.codec.bound+8)
	var w bitio.Writer
	var room [11]fieldBlock
	var signals [schema.MaxFields]uint8
	var ctx contexts
	var ends [GroupRows]uint32
	h := heldBy(c.ring, base)
	w.Reset(d.buf)
	for slot := range c.ring.Groups() * GroupRows {
		g, r := slot/GroupRows, slot%GroupRows
		w.Align()
		at := w.Len()
		d.from = append(d.from, at/8)
		if id := c.now.ids[g][r]; id != 0 {
			w.Bits(uint64(r), 6)
			x := rowGroup{index: g, ids: &c.now.ids[g], was: &empty, now: c.now.group(g), base: room[:len(playerSchema.Fields)], ctx: &ctx}
			var masks [GroupRows]uint16
			if word, depth := c.encoder.codec.predictRow(&h, slot, room[:len(playerSchema.Fields)], &signals); depth > 0 {
				x.was = &h.frames[0].ids[g]
				ctx[r] = word
				if x.was[r] == id {
					masks[r] = rowMask(r, x.now, x.base)
				}
			}
			sink := bitSink{buf: buf, emptyBits: 1, ends: &ends}
			putRows[looseRows](&c.encoder.codec, &sink, &x, &masks, 1<<r)
			w.AppendBits(buf, 0, sink.pos*8+int(sink.n))
		}
		d.bits = append(d.bits, w.Len()-at)
	}
	d.buf = w.Bytes()
}

// BenchmarkRelevant is the cost of one (entity, client) pair where each client may see 64 random
// ones of 1000.
func BenchmarkRelevant(b *testing.B) {
	const relevant = 64
	for _, baselines := range []int{4} {
		c := newCrowd(baselines, false)
		sees := c.sparse(relevant, false)
		p := plainDeltas{kept: map[Baselines]*keptDeltas{}}
		sameBut(b, c.plainRows(&p, sees), c.rows(sees))
		for _, way := range []struct {
			name string
			send func() int
		}{
			{"plain", func() int { return c.plainRows(&p, sees) }},
			{"shared", func() int { return c.rows(sees) }},
		} {
			b.Run(fmt.Sprintf("baselines=%d/%s", baselines, way.name), func(b *testing.B) {
				bytes := 0
				for b.Loop() {
					bytes = way.send()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowdClients/relevant, "ns/pair")
				b.ReportMetric(float64(bytes)/crowdClients, "B/client")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkWithinLimit is BenchmarkRelevant with a limit of bytes that lets half of the rows through.
func BenchmarkWithinLimit(b *testing.B) {
	const relevant = 64
	c := newCrowd(4, false)
	sees, cost := c.sparse(relevant, false), make([]uint16, (crowdSlots+63)/64*64)
	bytes := 0
	for b.Loop() {
		bytes = c.weighed(sees, cost, relevant*16/2)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowdClients/relevant, "ns/pair")
	b.ReportMetric(float64(bytes)/crowdClients, "B/client")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkEntity is the cost of one distinct (entity, baseline), coded and decoded.
func BenchmarkEntity(b *testing.B) {
	c := newCrowd(1, false)
	const age = 4 // 200 ms at 20 Hz
	b.Run("capture", func(b *testing.B) {
		row := make([]int32, len(playerSchema.Fields))
		f := &newFrames(playerSchema, crowdSlots, 1)[0]
		for b.Loop() {
			f.Reset(1)
			for slot := range crowdSlots {
				if id := c.now.ID(slot); id != 0 {
					f.Set(slot, id, row)
				}
			}
		}
		perEntity(b, 0)
	})
	for i, name := range []string{"delta", "deep", "spawn", "range"} {
		base := []Baselines{{crowdTicks - age}, setOf(crowdTicks - age), {}, setOf(crowdTicks - age)}[i]
		if name == "range" {
			c.model = c.model.With(schema.Range)
			c.encoder = NewEncoder(c.model, crowdSlots)
		}
		groups := c.ring.Groups()
		b.Run("encode/"+name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				c.encoder.Begin(c.now, c.ring)
				n = len(c.encoder.Run(0, groups, base))
			}
			perEntity(b, n)
		})
		b.Run("decode/"+name, func(b *testing.B) {
			d := NewDecoder(c.model, crowdSlots, 1)
			c.encoder.Begin(c.now, c.ring)
			for _, f := range framesAt(c.ring, base) {
				mustSection(b, d, f, nil, c.model)
			}
			src := append(AppendRun(nil, Run{First: 0, Count: groups, Baselines: base}, crowdTicks, 1), c.encoder.Run(0, groups, base)...)
			for b.Loop() {
				d.slot(crowdTicks).Tick = 0 // forget it, or it would be read and not kept
				if err := d.Section(crowdTicks, src); err != nil {
					b.Fatal(err)
				}
			}
			perEntity(b, len(src))
		})
	}
}

// primed is a model with dictionaries that were trained on the crowd.
func (c *crowd) primed(codec schema.Codec) *schema.Model {
	samples := NewBlockSamples(playerSchema)
	training := NewEncoder(c.model, crowdSlots)
	training.Sample(samples)
	for now := tick.Tick(12); now <= crowdTicks; now++ {
		training.Begin(c.ring.At(now), c.ring)
		for _, age := range baselineAges[2:6] {
			training.whole(setOf(now - tick.Tick(age)))
		}
	}
	d, err := samples.Train(2 << 10)
	if err != nil {
		panic(err)
	}
	return c.model.WithDictionaries(d).With(codec)
}

func perEntity(b *testing.B, bytes int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowdSlots, "ns/entity")
	b.ReportMetric(float64(bytes)*8/crowdSlots, "bits/entity")
	b.ReportMetric(0, "ns/op")
}

func TestSnapshotPathDoesNotAllocate(t *testing.T) {
	for codec := range schema.Codecs {
		t.Run(codec.String(), func(t *testing.T) { doesNotAllocate(t, codec, nil) })
		t.Run(codec.String()+"/rows", func(t *testing.T) {
			doesNotAllocate(t, codec, make([]uint64, crowdSlots/64+1))
		})
	}
}

// doesNotAllocate codes and decodes snapshots of whole groups or, if there is room for a set of
// visible rows, of single rows: each client lacks other rows in each tick.
func doesNotAllocate(t *testing.T, codec schema.Codec, see []uint64) {
	c := newCrowd(8, true)
	c.model = c.primed(codec)
	c.encoder = NewEncoder(c.model, crowdSlots)
	c.trackers = c.trackers[:64]
	w := newWorld(playerSchema, crowdSlots, 2, 1, 0.01, 0.01)
	row := make([]int32, len(playerSchema.Fields))
	out := NewOwnerWriter(schema.DefaultModel(ownerSchema), 1)
	in := NewOwnerReader(schema.DefaultModel(ownerSchema), 1)
	own, ownRow := make([]byte, 0, 256), make([]int32, len(ownerSchema.Fields))
	d := NewDecoder(c.model, crowdSlots, 1)
	now := tick.Tick(crowdTicks)
	var failed error
	step := func() {
		now++
		w.step()
		f := c.ring.Begin(now)
		w.capture(f)
		c.encoder.Begin(f, c.ring)
		for i, k := range c.trackers {
			k.Advance(now)
			if see == nil {
				c.packer.Begin(c.encoder, k, 0, c.ring.Groups())
			} else {
				for n := range see {
					see[n] = ^(0x0421_0842_1084_2108 << ((int(now)/9 + i) % 5))
				}
				c.packer.BeginRows(c.encoder, k, see)
			}
			for !c.packer.Done() {
				datagram, first, count, _ := c.packer.Next(c.out[:0], crowdBudget)
				if i == 0 {
					if err := d.Section(now, datagram); err != nil {
						failed = err
					}
				}
				if i == 0 || (int(now)+i)%5 != 0 {
					k.Acked(now, first, count)
				}
			}
		}
		f.Row(3, row)
		ownRow[0]++
		if _, _, err := in.Parse(now, out.Append(own, now, ownRow)); err != nil {
			failed = err
		}
		out.Acked(now)
	}
	c.trackers[0] = NewTracker(crowdSlots, 1) // the decoder's: it starts with nothing
	for range 100 {
		step()
	}
	if n := alloctest.In(50, step); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if failed != nil {
		t.Error(failed)
	}
}
