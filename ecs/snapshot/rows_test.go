package snapshot

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// slowLedger is the honest twin of a tracker and a packer of rows: it remembers every word to a
// client by name and works out anew what there is to say.
type slowLedger struct {
	said  map[tick.Tick]map[int]bool // true: shown, false: said to be gone
	acked map[tick.Tick]map[int]bool
	sent  map[tick.Tick]bool
}

// statement is one row of a snapshot: shown, or said to be gone.
type statement struct {
	slot int
	show bool
	base Baselines
}

func newSlowLedger() *slowLedger {
	return &slowLedger{said: map[tick.Tick]map[int]bool{}, acked: map[tick.Tick]map[int]bool{}, sent: map[tick.Tick]bool{}}
}

// snapshot is what there is to say at tick now.
func (l *slowLedger) snapshot(now, interval tick.Tick, cur *Frame, see func(int) bool) (all []statement) {
	l.sent[now] = true
	for slot := range cur.Slots() {
		show := see(slot) && cur.ID(slot) != 0
		shown, goneAcked := tick.Tick(0), tick.Tick(0)
		for t, rows := range l.said {
			switch there, ok := rows[slot]; {
			case !ok:
			case there:
				shown = max(shown, t)
			case l.acked[t][slot]:
				goneAcked = max(goneAcked, t)
			}
		}
		if !show && shown <= goneAcked {
			continue
		}
		s := statement{slot: slot, show: show}
		for _, age := range []tick.Tick{48, 32, 24, 16, 14, 12, 10, 8, 6, 4, 3, 2, 1} {
			if t := now - age*interval; t < now && l.acked[t][slot] && l.said[t][slot] {
				s.base[0] = t
			}
		}
		if step := l.step(now, interval); step > 0 && s.base[0] != 0 && (now-s.base[0])/interval <= deepAge*step {
			holds := func(t tick.Tick) bool { return t < now && l.acked[t][slot] && l.said[t][slot] }
			if b := s.base[0]; holds(b-step*interval) && holds(b-2*step*interval) {
				s.base = Baselines{b, b - step*interval, b - 2*step*interval}
			}
		}
		all = append(all, s)
	}
	return all
}

// step is how many intervals lie between the two newest snapshots, if they are near.
func (l *slowLedger) step(now, interval tick.Tick) tick.Tick {
	var ages []tick.Tick
	for age := tick.Tick(1); age <= 8; age++ {
		if t := now - age*interval; t < now && l.sent[t] {
			ages = append(ages, age)
		}
	}
	if len(ages) < 2 || ages[1]-ages[0] > 4 {
		return 0
	}
	return ages[1] - ages[0]
}

// note remembers that rows of groups first to end-1 went out.
func (l *slowLedger) note(now tick.Tick, all []statement, first, end int) {
	if l.said[now] == nil {
		l.said[now] = map[int]bool{}
	}
	for _, s := range all {
		if g := s.slot / GroupRows; first <= g && g < end {
			l.said[now][s.slot] = s.show
		}
	}
}

func (l *slowLedger) ack(now, t, interval tick.Tick, first, count int) {
	if t+Window*interval <= now {
		return
	}
	if l.acked[t] == nil {
		l.acked[t] = map[int]bool{}
	}
	for slot := range l.said[t] {
		if g := slot / GroupRows; first <= g && g < first+count {
			l.acked[t][slot] = true
		}
	}
}

// naiveRows writes runs of rows by the letter of the format, as many groups as go into budget
// bytes, and returns the group behind the last one.
func naiveRows(m *schema.Model, ring *Ring, cur *Frame, interval tick.Tick, all []statement, budget int, named Baselines) (out []byte, next int) {
	for len(all) > 0 {
		first := all[0].slot / GroupRows
		var good []byte
		fits := 0
		for n := 1; n <= len(all) && n <= MaxRun; n++ {
			if n < len(all) && all[n].slot/GroupRows == all[n-1].slot/GroupRows {
				continue // no group is split
			}
			w := new(bitio.Writer)
			run := Run{First: first, Count: n, Baselines: headOf(named, all), Rows: true}
			w.Reset(AppendRun(nil, run, cur.Tick, interval))
			naiveRowsOf(w, m, ring, cur, interval, all[:n], run.Baselines)
			if len(out)+len(w.Bytes()) > budget {
				break
			}
			good, fits, next = w.Bytes(), n, all[n-1].slot/GroupRows+1
		}
		if fits == 0 {
			return out, next
		}
		out, all = append(out, good...), all[fits:]
	}
	return out, next
}

// headOf is what a run's header names: the first row's baselines, but some that have older ones if
// any of the snapshot have.
func headOf(named Baselines, rows []statement) Baselines {
	if named[1] == 0 || rows[0].base[1] != 0 {
		return rows[0].base
	}
	return named
}

func naiveRowsOf(w *bitio.Writer, m *schema.Model, ring *Ring, cur *Frame, interval tick.Tick, rows []statement, head Baselines) {
	prev, at := head, rows[0].slot/GroupRows*GroupRows
	row := make([]int32, len(m.Coders()))
	for _, s := range rows {
		switch gap := s.slot - at; {
		case gap == 0:
			w.Bits(0, 1)
		case gap <= 128:
			w.Bits(1, 1)
			for range (gap - 1) / 8 {
				w.Bits(1, 1)
			}
			w.Bits(0, 1)
			w.Bits(uint64(gap-1)%8, 3)
		default:
			w.Bits(1, 1)
			w.Bits(0xffff, 16)
			w.Bits(uint64(gap), 16)
		}
		at = s.slot + 1
		if s.base == prev {
			w.Bits(0, 1)
		} else {
			age := tick.Tick(0)
			if s.base[0] != 0 {
				age = (cur.Tick - s.base[0]) / interval
			}
			w.Bits(1, 1)
			w.Bits(uint64(age), 6)
			if head[1] != 0 {
				w.Bits(map[bool]uint64{true: 1}[s.base[1] != 0], 1)
			}
			prev = s.base
		}
		id := netid.ID(0)
		if s.show {
			id = cur.Row(s.slot, row)
		}
		naiveLoose(w, m, id, row, naiveExpect(m, cur.Tick, s.slot, row, framesAt(ring, s.base)...), nil)
	}
}

// someSlots is a random set of slots that changes a little from call to call.
type someSlots struct {
	rng   *rand.Rand
	slots []bool
	flips float64
	open  int // slots from 0 on that are all in it most of the time
	shut  bool
}

func newSomeSlots(rng *rand.Rand, slots int, share, flips float64) *someSlots {
	s := &someSlots{rng: rng, slots: make([]bool, slots), flips: flips}
	for i := range s.slots {
		s.slots[i] = rng.Float64() < share
	}
	return s
}

func (s *someSlots) next() (set []uint64) {
	set = make([]uint64, (len(s.slots)+63)/64)
	if s.flips > 0 && s.rng.IntN(20) == 0 {
		s.shut = !s.shut
	}
	for i := range s.slots {
		if s.rng.Float64() < s.flips {
			s.slots[i] = !s.slots[i]
		}
		if s.slots[i] || i < s.open && !s.shut {
			set[i>>6] |= 1 << (i & 63)
		}
	}
	return set
}

func has(set []uint64, i int) bool { return i>>6 < len(set) && set[i>>6]>>(i&63)&1 != 0 }

// TestRowsEqualNaive: what a client that sees and gets only some rows is sent is what the twin
// writes, byte by byte, over any acknowledgements.
func TestRowsEqualNaive(t *testing.T) {
	for i, s := range []schema.Schema{playerSchema, edgeSchema, playerSchema, edgeSchema} {
		m := learned(s)
		if i >= 2 {
			m = m.With(schema.Range)
		}
		rapid.Check(t, func(t *rapid.T) {
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			slots := rapid.SampledFrom([]int{5, 70, 200, 600}).Draw(t, "slots")
			interval := tick.Tick(rapid.IntRange(1, 3).Draw(t, "interval"))
			share := rapid.SampledFrom([]float64{0.01, 0.1, 0.5, 0.9}).Draw(t, "share")
			loss := rapid.SampledFrom([]float64{0, 0.2, 0.8}).Draw(t, "loss")
			w := newWorld(s, slots, rng.Uint64(), 0.7, 0.02, 0.02)
			ring := NewRing(s, slots, Window*int(interval), 1)
			groups := (slots + GroupRows - 1) / GroupRows
			e, k, twin, d := NewEncoder(m, slots), NewTracker(groups*GroupRows, interval), newSlowLedger(), NewDecoder(m, slots, interval)
			sees := newSomeSlots(rng, slots, share, rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "flips"))
			picks := newSomeSlots(rng, slots, 0.6, 0.5)
			cost, budget := make([]uint16, (slots+63)/64*64), RunBytes+MaxGroupBytes(m)
			var p Packer
			now := tick.Tick(rapid.IntRange(0, 2).Draw(t, "phase"))
			var acks []sentPart
			for range rapid.IntRange(1, 60).Draw(t, "snapshots") {
				for range interval {
					now++
					w.step()
					w.capture(ring.Begin(now))
				}
				cur := ring.At(now)
				e.Begin(cur, ring)
				k.Advance(now)
				see, pick := sees.next(), picks.next()
				all := twin.snapshot(now, interval, cur, func(slot int) bool { return has(see, slot) })
				var named Baselines
				for _, s := range all {
					if s.base[1] != 0 && s.base[0] > named[0] {
						named = s.base
					}
				}
				_, fixed := p.Costs(e, k, see, cost)
				bound := e.MaxBits(setSize(see))
				for _, n := range cost {
					bound -= int(n)
				}
				if fixed > bound {
					t.Fatalf("tick %d: %d bits more than could be", now, fixed-bound)
				}
				if rng.IntN(3) > 0 {
					p.Select(pick)
					kept := all[:0]
					for _, s := range all {
						if !s.show || has(pick, s.slot) {
							kept = append(kept, s)
						}
					}
					all = kept
				}
				most, size, packages := fixed, 0, 0
				for _, s := range all {
					if s.show {
						most += int(cost[s.slot])
					}
				}
				rest := all
				for !p.Done() {
					want, next := naiveRows(m, ring, cur, interval, rest, budget, named)
					got, first, count, _ := p.Next(nil, budget)
					if !bytes.Equal(got, want) || first+count != next || count == 0 {
						t.Fatalf("tick %d: groups %d+%d: %x, naive up to %d: %x", now, first, count, got, next, want)
					}
					for len(rest) > 0 && rest[0].slot < next*GroupRows {
						rest = rest[1:]
					}
					twin.note(now, all, first, next)
					size += len(got) * 8
					packages++
					if rng.Float64() >= loss {
						if err := d.Section(now, got); err != nil {
							t.Fatalf("tick %d: %v", now, err)
						}
						acks = append(acks, sentPart{now, first, count})
					}
				}
				if len(rest) != 0 {
					t.Fatalf("tick %d: done, but %v is left", now, rest)
				}
				if most += max(packages-1, 0) * PacketOverheadBits; size > most {
					t.Fatalf("tick %d: %d bits, weighed as at most %d", now, size, most)
				}
				if n := setSize(p.SentRows(nil)); n != len(all) {
					t.Fatalf("tick %d: %d rows said, want %d", now, n, len(all))
				}
				for i := 0; i < len(acks); {
					if rng.IntN(3) == 0 {
						a := acks[i]
						k.Acked(a.at, a.first, a.count)
						twin.ack(now, a.at, interval, a.first, a.count)
						acks = append(acks[:i], acks[i+1:]...)
						continue
					}
					i++
				}
			}
		})
	}
}

// TestBeginRowsWithin: whatever is seen and acked, and whether it goes row by row or as blocks, it
// takes no more than was said before; and where no group is seen whole that is what Weigh says.
func TestBeginRowsWithin(t *testing.T) {
	m := learned(playerSchema)
	blocks, within := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		slots := rapid.SampledFrom([]int{5, 70, 200, 600}).Draw(t, "slots")
		loss := rapid.SampledFrom([]float64{0, 0.2, 0.8}).Draw(t, "loss")
		w := newWorld(playerSchema, slots, rng.Uint64(), 0.7, 0.02, 0.02)
		ring := NewRing(playerSchema, slots, Window, 1)
		groups := (slots + GroupRows - 1) / GroupRows
		e, k, d := NewEncoder(m, slots), NewTracker(groups*GroupRows, 1), NewDecoder(m, slots, 1)
		sees := newSomeSlots(rng, slots, rapid.SampledFrom([]float64{0.05, 0.5, 0.95}).Draw(t, "share"), rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "flips"))
		sees.open = rapid.IntRange(0, slots).Draw(t, "open")
		cost, budget := make([]uint16, (slots+63)/64*64), RunBytes+MaxGroupBytes(m)
		var p Packer
		for now := tick.Tick(1); now < 40; now++ {
			w.step()
			w.capture(ring.Begin(now))
			e.Begin(ring.At(now), ring)
			k.Advance(now)
			see := sees.next()
			bound, runs := 0, 0
			for range 2 { // the first time orders the blocks, so neighbours that are idle share bytes
				p.BeginRows(e, k, see)
				bound, runs = p.mostBits(), len(p.runs)
			}
			blocks += runs
			_, weighed := p.Costs(e, k, see, cost)
			for _, n := range cost {
				weighed += int(n)
			}
			if !anyWhole(see) && bound != weighed {
				t.Fatalf("tick %d: at most %d bits, weighed as %d", now, bound, weighed)
			}
			most := bound + rng.IntN(5) - 2
			if ok := p.BeginRowsWithin(e, k, see, most); ok != (bound <= most) {
				t.Fatalf("tick %d: %d bits within %d: %v", now, bound, most, ok)
			} else if ok {
				within++
			}
			size, packages := 0, 0
			for ; !p.Done(); packages++ {
				got, first, count, _ := p.Next(nil, budget+rng.IntN(300))
				size += len(got) * 8
				if rng.Float64() >= loss {
					if err := d.Section(now, got); err != nil {
						t.Fatalf("tick %d: %v", now, err)
					}
					k.Acked(now, first, count)
				}
			}
			if most := bound + max(packages-1, 0)*PacketOverheadBits; size > most {
				t.Fatalf("tick %d: %d bits, of at most %d", now, size, most)
			}
		}
	})
	if blocks == 0 || within == 0 {
		t.Errorf("%d runs of blocks, %d times within", blocks, within)
	}
}

func setSize(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// TestRowsAfterForgetting: a client that asked to begin anew is still told of empty slots where it
// may show a player that it must not see any more; a new client in the same memory is not.
func TestRowsAfterForgetting(t *testing.T) {
	m := schema.DefaultModel(playerSchema)
	for _, c := range []struct {
		name   string
		forget func(*Tracker)
		rows   int
	}{
		{"nothing", func(*Tracker) {}, 1},
		{"Forget", (*Tracker).Forget, 1},
		{"Reset", (*Tracker).Reset, 0},
	} {
		w := newWorld(playerSchema, 64, 5, 1, 0, 0)
		ring, e, k := NewRing(playerSchema, 64, Window, 1), NewEncoder(m, 64), NewTracker(64, 1)
		var p Packer
		pack := func(now tick.Tick, see uint64) (rows, bytes, count int) {
			w.capture(ring.Begin(now))
			e.Begin(ring.At(now), ring)
			k.Advance(now)
			p.BeginRows(e, k, []uint64{see})
			out, _, count, _ := p.Next(nil, 2000)
			return setSize(p.SentRows(nil)), len(out), count
		}
		if rows, _, _ := pack(1, 1<<5); rows != 1 {
			t.Fatalf("%s: %d rows, want the one that is seen", c.name, rows)
		}
		k.Acked(1, 0, 4)
		c.forget(k)
		for now := tick.Tick(2); now < 5; now++ { // as often as nothing is acked
			if rows, bytes, _ := pack(now, 0); rows != c.rows || bytes > RunBytes+3 {
				t.Errorf("%s: tick %d: %d rows in %d bytes, want %d", c.name, now, rows, bytes, c.rows)
			}
		}
		k.Acked(3, 0, 4)
		if rows, bytes, count := pack(5, 0); rows != 0 || bytes != 0 || count != 0 || !p.Done() {
			t.Errorf("%s: %d rows in %d bytes after the client knows", c.name, rows, bytes)
		}
	}
}

// TestIdleRowsCostNextToNothing: a tenth of a byte.
func TestIdleRowsCostNextToNothing(t *testing.T) {
	const slots = 1024
	m := schema.DefaultModel(playerSchema)
	w := newWorld(playerSchema, slots, 5, 1, 0, 0)
	ring, e, k := NewRing(playerSchema, slots, Window, 1), NewEncoder(m, slots), NewTracker(slots, 1)
	var p Packer
	for now := tick.Tick(1); now <= 2; now++ {
		w.capture(ring.Begin(now))
		e.Begin(ring.At(now), ring)
		k.Advance(now)
		p.Begin(e, k, 0, ring.Groups())
		out, first, count, _ := p.Next(nil, 1<<20)
		k.Acked(now, first, count)
		if now == 2 && len(out)*10 > slots {
			t.Errorf("%d idle rows take %d bytes", slots, len(out))
		}
	}
}
