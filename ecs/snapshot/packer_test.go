package snapshot

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// worstModel codes what TestWorstGroup sends in the longest codes there are: it is trained on
// everything else.
func worstModel(s schema.Schema) *schema.Model {
	counts := schema.NewCounts(s)
	for _, table := range append(counts.Masks, counts.Fields...) {
		for sym := range table {
			table[sym] = 1 << max(0, 36-3*sym)
		}
	}
	return schema.Train(s, counts)
}

// TestWorstGroupStaysInBound: 16 rows in which every one of 12 full-range fields jumps across the
// range, in a model that expects the opposite, come close to the bound, never beyond, and fit into
// one datagram.
func TestWorstGroupStaysInBound(t *testing.T) {
	s := schema.Schema{Name: "worst", Fields: make([]schema.Field, schema.MaxFields)}
	for i := range s.Fields {
		s.Fields[i].Name = string(rune('a' + i))
	}
	m := worstModel(s)
	w := newWorld(s, GroupRows, 1, 1, 0, 0)
	ring := NewRing(s, GroupRows, Window, 1)
	for now := tick.Tick(1); now <= 2; now++ {
		for _, row := range w.rows {
			for f := range row {
				row[f] = int32(now-1) * -1 << 31 // from 0 to the far end and no way is shorter
			}
		}
		w.capture(ring.Begin(now))
	}
	e, d, k := NewEncoder(m, GroupRows), NewDecoder(m, GroupRows, 1), NewTracker(GroupRows, 1)
	bound := MaxGroupBytes(m)
	var p Packer
	for now := tick.Tick(1); now <= 2; now++ {
		e.Begin(ring.At(now), ring)
		k.Advance(now)
		p.Begin(e, k, 0, 1)
		out, _, count, err := p.Next(nil, RunBytes)
		want := BudgetError{Group: 0, Budget: RunBytes, Want: RunBytes + bound}
		if e, _ := err.(*BudgetError); e == nil || *e != want || len(out) != 0 || count != 0 || p.Done() {
			t.Errorf("tick %d: a budget without room gives %d bytes, %d groups, %v", now, len(out), count, err)
		}
		out, first, count, err := p.Next(nil, RunBytes+bound)
		if err != nil || first != 0 || count != 1 || !p.Done() {
			t.Fatalf("tick %d: groups %d+%d", now, first, count)
		}
		if now == 2 && (len(out) < bound*9/10 || len(out) > 1100+RunBytes) {
			t.Errorf("the worst update takes %d bytes, bound %d", len(out), bound)
		}
		if err := d.Section(now, out); err != nil || !d.At(now).GroupEqual(ring.At(now), 0) {
			t.Fatalf("tick %d: %v, or not what was sent", now, err)
		}
		k.Acked(now, first, count)
	}
	if bound > 1120 {
		t.Errorf("bound %d", bound)
	}
}

// TestPackerFillsDatagrams: under any acknowledgements and budgets datagrams are within budget,
// full as far as whole groups allow, and together they are the frame.
func TestPackerFillsDatagrams(t *testing.T) {
	const slots, ticks = 500, 9
	m := schema.DefaultModel(playerSchema)
	ring := recorded(playerSchema, slots, ticks, newWorld(playerSchema, slots, 3, 0.9, 0.02, 0))
	now := ring.At(ticks)
	groups := ring.Groups()
	e := NewEncoder(m, slots)
	rapid.Check(t, func(t *rapid.T) {
		e.Begin(now, ring)
		k, d := NewTracker(groups*GroupRows, 1), NewDecoder(m, slots, 1)
		for at := tick.Tick(1); at < ticks; at++ {
			k.Advance(at)
			if rapid.Bool().Draw(t, "heard") {
				mustSection(t, d, ring.At(at), nil, m)
				first, count := 0, groups
				if rapid.Bool().Draw(t, "part") {
					first, count = rapid.IntRange(0, groups-1).Draw(t, "first"), rapid.IntRange(1, groups).Draw(t, "count")
				}
				k.Acked(at, first, count)
			}
		}
		k.Advance(ticks)
		first := rapid.IntRange(0, groups).Draw(t, "from")
		end := rapid.IntRange(first, groups+5).Draw(t, "end")
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "prefix")
		var p Packer
		p.Begin(e, k, first, end)
		next := first
		for !p.Done() {
			budget := rapid.IntRange(RunBytes+MaxGroupBytes(m), 1400).Draw(t, "budget")
			out, at, count, _ := p.Next(bytes.Clone(prefix), budget)
			payload := out[len(prefix):]
			if !bytes.HasPrefix(out, prefix) || len(payload) > budget || at != next || count <= 0 {
				t.Fatalf("groups %d+%d, want from %d; %d bytes, budget %d", at, count, next, len(payload), budget)
			}
			if next += count; !p.Done() {
				if left := budget - len(payload) - RunBytes; left >= len(e.Group(next, k.Runs(nil, next, next+1)[0].Baselines)) {
					t.Fatalf("%d bytes left, enough for group %d", left, next)
				}
			}
			if err := d.Section(ticks, payload); err != nil {
				t.Fatal(err)
			}
		}
		if next != min(end, groups) {
			t.Fatalf("packed up to group %d of %d", next, end)
		}
		for g := first; g < next; g++ {
			if !d.At(ticks).GroupEqual(now, g) {
				t.Fatalf("group %d is not what was sent", g)
			}
		}
	})
}

// TestBeginWithin: what is begun within bits is what Begin gives and takes no more; what is not
// begun takes more, or has a group without a baseline, and leaves the tracker as it was.
func TestBeginWithin(t *testing.T) {
	const slots, ticks = 500, 9
	m := schema.DefaultModel(playerSchema)
	ring := recorded(playerSchema, slots, ticks, newWorld(playerSchema, slots, 3, 0.9, 0.02, 0))
	groups := ring.Groups()
	e := NewEncoder(m, slots)
	begun, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		e.Begin(ring.At(ticks), ring)
		k := NewTracker(groups*GroupRows, 1)
		for at := tick.Tick(1); at < ticks; at++ {
			k.Advance(at)
			first, count := 0, groups
			if rapid.IntRange(0, 3).Draw(t, "part") == 0 {
				first, count = rapid.IntRange(0, groups-1).Draw(t, "first"), rapid.IntRange(1, groups).Draw(t, "count")
			}
			if rapid.IntRange(0, 3).Draw(t, "heard") > 0 {
				k.Acked(at, first, count)
			}
		}
		k.Advance(ticks)
		k.whole = false
		first := rapid.IntRange(0, groups-1).Draw(t, "from")
		end := rapid.IntRange(first, groups+5).Draw(t, "end")
		bits, based := 0, true
		for _, run := range k.Runs(nil, first, min(end, groups)) {
			based = based && run.Baselines[0] != 0
			bits += 8 * RunBytes
			for g := range run.Count {
				bits += 8 * len(e.Group(run.First+g, run.Baselines))
			}
		}
		most := max(0, bits+rapid.IntRange(-400, 400).Draw(t, "spare"))
		var p, twin Packer
		accounts := rapid.Bool().Draw(t, "accounts")
		if accounts {
			k.Reserve()
		}
		ok := p.BeginWithin(e, k, first, end, most)
		told := k.whole
		if accounts {
			told = !k.whole && slices.Equal(k.rows.maybeVisible, e.frame.occupied[:len(k.rows.maybeVisible)])
		}
		if ok != (based && bits <= most) || ok != told {
			t.Fatalf("%d bits of %d, all with baselines: %v; begun: %v, the tracker was told: %v", bits, most, based, ok, told)
		} else if !ok {
			refused++
			return
		}
		begun++
		twin.Begin(e, k, first, end)
		took := 0
		for packages := 0; !p.Done() || !twin.Done(); packages++ {
			budget := rapid.IntRange(RunBytes+MaxGroupBytes(m), 1400).Draw(t, "budget")
			out, from, count, _ := p.Next(nil, budget)
			want, wantFrom, wantCount, _ := twin.Next(nil, budget)
			if !bytes.Equal(out, want) || from != wantFrom || count != wantCount {
				t.Fatalf("%d bytes about groups %d+%d; Begin gives %d about %d+%d", len(out), from, count, len(want), wantFrom, wantCount)
			}
			if took += 8 * len(out); took > most+8*RunBytes*packages {
				t.Fatalf("%d bits in %d packages of %d", took, packages+1, most)
			}
		}
	})
	if begun == 0 || refused == 0 { // short tests draw 20
		t.Errorf("%d begun, %d not", begun, refused)
	}
}

// TestDocumentedLoopEnds: with any budget the loop of the package comment sends everything or gets
// an error that names the budget and one with which it sends everything.
func TestDocumentedLoopEnds(t *testing.T) {
	const slots, ticks = 40, 3
	m := schema.DefaultModel(playerSchema)
	ring := recorded(playerSchema, slots, ticks, newWorld(playerSchema, slots, 3, 0.9, 0.02, 0))
	e, groups := NewEncoder(m, slots), ring.Groups()
	e.Begin(ring.At(ticks), ring)
	want := RunBytes + MaxGroupBytes(m)
	for budget := -1; budget <= want; budget++ {
		for _, rows := range []bool{false, true} {
			k := NewTracker(slots, 1)
			k.Advance(ticks)
			var p Packer
			if p.Begin(e, k, 0, groups); rows {
				p.BeginRows(e, k, []uint64{1<<slots - 1})
			}
			next, err := 0, error(nil)
			for !p.Done() && err == nil {
				var out []byte
				var first, count int
				if out, first, count, err = p.Next(nil, budget); first != next || len(out) > max(budget, 0) ||
					(count == 0) != (err != nil) {
					t.Fatalf("budget %d, rows %v: %d bytes of groups %d+%d, want %d, %v", budget, rows, len(out),
						first, count, next, err)
				}
				next += count
			}
			if e, _ := err.(*BudgetError); err != nil && (budget == want || *e != BudgetError{next, budget, want}) ||
				err == nil && next != groups {
				t.Errorf("budget %d, rows %v: %d of %d groups, then %v", budget, rows, next, groups, err)
			}
		}
	}
}
