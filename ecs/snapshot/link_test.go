package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// sentPart is what one datagram carried: groups of the snapshot of a tick.
type sentPart struct {
	at           tick.Tick
	first, count int
}

// linkProfile is a bad link: shares, and delays in send intervals.
type linkProfile struct {
	loss, dup, ackLoss float64
	delay, ackDelay    int // at most, drawn evenly: so datagrams overtake each other
}

// packet is a datagram or, with no payload, the acknowledgement of one.
type packet struct {
	due     int
	t       tick.Tick
	payload []byte
	part    sentPart
}

// lifeModel is a server, its clients and what must hold between them.
type lifeModel struct {
	rng      *rand.Rand
	schema   schema.Schema
	interval tick.Tick
	world    *world
	ring     *Ring
	encoder  *Encoder
	packer   Packer
	truth    map[tick.Tick]*Frame
	clients  []*lifeClient
	budget   int
	sections int // decoded
	deltas   int // of these, with a baseline
	stale    int
}

type lifeClient struct {
	profile  linkProfile
	phase    tick.Tick
	tracker  *Tracker
	decoder  *Decoder
	down, up []packet
	sight    *sight // nil: sees all
}

// sight is what a client may see, and gets of that.
type sight struct {
	sees, picks *someSlots
	mode        int // sightWhole to sightMixed
	cost        []uint16
	seen        map[tick.Tick][]uint64 // nil: everything
}

const (
	sightWhole = iota // everything, as Begin
	sightRows
	sightWeighed
	sightPart  // BeginPart
	sightMixed // one of them, by chance
)

// mayNotSeeAll lets the clients see parts of the world.
func (l *lifeModel) mayNotSeeAll(share, flips float64) {
	slots := l.world.slots()
	defer func() { l.clients[0].sight.sees.open, l.clients[2].sight.sees.open = slots*2/3, slots }()
	for i, c := range l.clients {
		c.sight = &sight{
			sees: newSomeSlots(l.rng, slots, share, flips), picks: newSomeSlots(l.rng, slots, 0.5, 0.3),
			mode: sightRows + i%4, cost: make([]uint16, (slots+63)/64*64), seen: map[tick.Tick][]uint64{},
		}
	}
}

// look begins a snapshot of what a client may see, and reports whether the packages must be about
// all groups.
func (l *lifeModel) look(c *lifeClient, t tick.Tick) (whole bool) {
	mode := sightWhole
	if c.sight != nil {
		if mode = c.sight.mode; mode == sightMixed {
			mode = l.rng.IntN(sightMixed)
		}
	}
	if mode == sightWhole {
		l.packer.Begin(l.encoder, c.tracker, 0, l.ring.Groups())
		return true
	}
	see := c.sight.sees.next()
	c.sight.seen[t] = see
	if mode == sightRows {
		l.packer.BeginRows(l.encoder, c.tracker, see)
		return false
	}
	if mode == sightPart {
		groups := l.ring.Groups()
		part := Part{Visible: see, Picked: c.sight.picks.next(), Spacing: 1 + l.rng.IntN(3)}
		part.First = l.rng.IntN(groups + 2)
		if part.End = part.First + l.rng.IntN(groups+2); setSize(see) == l.world.slots() && l.rng.IntN(2) == 0 {
			part.Visible = nil
		}
		l.packer.BeginPart(l.encoder, c.tracker, &part)
		return false
	}
	l.packer.Costs(l.encoder, c.tracker, see, c.sight.cost)
	l.packer.Select(c.sight.picks.next())
	return false
}

// maySee is what a client may know of a slot at tick t: who was there then, or nobody.
func (l *lifeModel) maySee(c *lifeClient, t tick.Tick, slot int, dst []int32) netid.ID {
	if c.sight != nil {
		if see := c.sight.seen[t]; see != nil && !has(see, slot) {
			clear(dst)
			return 0
		}
	}
	return l.truth[t].Row(slot, dst)
}

// knows reports whether what a client holds of a slot at tick t, if anything, is what it may know.
func (l *lifeModel) knows(c *lifeClient, t tick.Tick, slot int) bool {
	f := c.decoder.At(t)
	if f == nil || !f.HasRow(slot) {
		return true
	}
	got, want := make([]int32, len(l.schema.Fields)), make([]int32, len(l.schema.Fields))
	id, truth := f.Row(slot, got), l.maySee(c, t, slot, want)
	return id == truth && slices.Equal(got, want)
}

func newLifeModel(s schema.Schema, seed uint64, slots, clients int, interval tick.Tick, p linkProfile) *lifeModel {
	return newLifeModelOf(schema.DefaultModel(s).With([]schema.Codec{schema.Huffman, schema.Range}[seed&1]), seed, slots, clients, interval, p)
}

func newLifeModelOf(m *schema.Model, seed uint64, slots, clients int, interval tick.Tick, p linkProfile) *lifeModel {
	s := m.Schema()
	l := &lifeModel{
		rng: rand.New(rand.NewPCG(seed, 2)), schema: s, interval: interval,
		world: newWorld(s, slots, seed, 0.6, 0.03, 0.02),
		ring:  NewRing(s, slots, Window*int(interval), 1), encoder: NewEncoder(m, slots),
		truth: map[tick.Tick]*Frame{}, budget: RunBytes + MaxGroupBytes(m),
	}
	for i := range clients {
		l.clients = append(l.clients, &lifeClient{
			profile: p, phase: tick.Tick(i) % interval,
			tracker: NewTracker(slots, interval), decoder: NewDecoder(m, slots, interval),
		})
	}
	return l
}

// step is one server tick and all that arrives during it.
func (l *lifeModel) step(now int) error {
	t := tick.Tick(now)
	l.world.step()
	f := l.ring.Begin(t)
	l.world.capture(f)
	l.truth[t] = cloneFrame(f, l.schema)
	delete(l.truth, t-8*Window)
	l.encoder.Begin(f, l.ring)
	for _, c := range l.clients {
		c.up = arrived(c.up, now, func(p packet) {
			c.tracker.Acked(p.part.at, p.part.first, p.part.count)
		})
		if (t+c.phase)%l.interval == 0 {
			if err := l.send(c, now); err != nil {
				return err
			}
		}
		var err error
		c.down = arrived(c.down, now, func(p packet) {
			if err == nil {
				err = l.receive(c, p, now)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lifeModel) send(c *lifeClient, now int) error {
	t := tick.Tick(now)
	c.tracker.Advance(t)
	whole := l.look(c, t)
	want := 0
	for !l.packer.Done() {
		payload, first, count, _ := l.packer.Next(nil, l.budget)
		if !whole && first > want {
			want = first
		}
		if len(payload) > l.budget || first != want || count == 0 {
			return fmt.Errorf("tick %d: %d of %d bytes, groups %d+%d, want from %d", t, len(payload), l.budget, first, count, want)
		}
		want += count
		for copies := 1; copies > 0; copies-- {
			if l.rng.Float64() >= c.profile.loss {
				due := now + l.rng.IntN(c.profile.delay*int(l.interval)+1)
				c.down = append(c.down, packet{due, t, payload, sentPart{t, first, count}})
			}
			if l.rng.Float64() < c.profile.dup {
				copies++
			}
		}
	}
	if whole && want != l.ring.Groups() {
		return fmt.Errorf("tick %d: %d groups packed, %d in use", t, want, l.ring.Groups())
	}
	return nil
}

// receive decodes and compares with the truth of the tick that the datagram names.
func (l *lifeModel) receive(c *lifeClient, p packet, now int) error {
	err := c.decoder.Section(p.t, p.payload)
	// Only a datagram that took longer than the window leaves room for may meet a frame or a
	// baseline replaced.
	if late := now - int(p.t); errors.Is(err, ErrStale) && late >= int(l.interval)*Window ||
		errors.Is(err, ErrNoBaseline) && late >= int(l.interval)*(Window-MaxAge) {
		l.stale++
		return nil
	}
	if err != nil {
		return fmt.Errorf("tick %d, received at %d: %w", p.t, now, err)
	}
	l.sections++
	if p.payload[3]&^byRows != 0 {
		l.deltas++
	}
	first, count := p.part.first, p.part.count
	for g := first; g < first+count; g++ {
		if f := c.decoder.At(p.t); c.sight == nil && (f == nil || !f.HasGroup(g)) {
			return fmt.Errorf("tick %d, group %d is not there", p.t, g)
		}
	}
	for slot := first * GroupRows; slot < (first+count)*GroupRows; slot++ {
		if !l.knows(c, p.t, slot) {
			return fmt.Errorf("tick %d, slot %d: the client's state is not the server's", p.t, slot)
		}
	}
	if l.rng.Float64() >= c.profile.ackLoss {
		c.up = append(c.up, packet{now + l.rng.IntN(c.profile.ackDelay*int(l.interval)+1), p.t, nil, p.part})
	}
	return nil
}

// arrived hands over what is due and returns the rest.
func arrived(queue []packet, now int, f func(packet)) []packet {
	rest := queue[:0]
	for _, p := range queue {
		if p.due <= now {
			f(p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// play runs a model for the ticks of case i and looks whether there was anything to test. run goes
// on from there, and returns the tick.
func (l *lifeModel) play(t *testing.T, i int, seed uint64, ticks int, profile linkProfile) (run func(n int) int) {
	t.Helper()
	now := 0
	run = func(n int) int {
		t.Helper()
		for range n {
			now++
			if err := l.step(now); err != nil {
				t.Fatalf("case %d, seed %d: %v", i, seed, err)
			}
		}
		return now
	}
	run(ticks)
	if l.sections == 0 || profile.loss < 0.5 && l.deltas*2 < l.sections {
		t.Errorf("case %d, seed %d: %d sections, %d deltas: the test tests nothing", i, seed, l.sections, l.deltas)
	}
	return run
}

// TestRow35ModelChecker runs random lives over random links. A client's state is the server's for
// every tick it decodes, a baseline that a client lacks is never named, and a link that recovers
// brings everybody up to date.
func TestRow35ModelChecker(t *testing.T) {
	for i, c := range []struct {
		profile  linkProfile
		interval tick.Tick
		ticks    int
	}{
		{linkProfile{0, 0, 0, 0, 0}, 1, 200},
		{linkProfile{0.05, 0.02, 0.05, 2, 2}, 3, 1200},
		{linkProfile{0.3, 0.1, 0.3, 4, 4}, 1, 600},
		{linkProfile{0.3, 0.3, 0.1, 12, 30}, 2, 900},
		// Beyond the window: baselines run out, frames come too late.
		{linkProfile{0.5, 0.5, 0.5, 90, 90}, 1, 700},
		{linkProfile{0.95, 0, 0.9, 3, 3}, 1, 700},
	} {
		for seed := range uint64(3) {
			l := newLifeModel(playerSchema, seed, 70, 3, c.interval, c.profile)
			if seed == 2 {
				l = newLifeModel(edgeSchema, seed, 40, 3, c.interval, c.profile)
			}
			run := l.play(t, i, seed, c.ticks, c.profile)
			for _, cl := range l.clients {
				cl.profile = linkProfile{}
			}
			now := run(100 * int(c.interval)) // what is late arrives, then every datagram does
			for n, cl := range l.clients {
				for g := range l.ring.Groups() {
					if newest := cl.decoder.Newest(g * GroupRows); newest+l.interval <= tick.Tick(now) {
						t.Errorf("case %d, seed %d: client %d is at tick %d of %d in group %d", i, seed, n, newest, now, g)
					}
					if base := cl.tracker.Baseline(g); base == 0 {
						t.Errorf("case %d, seed %d: client %d has no baseline for group %d on a clean link", i, seed, n, g)
					}
				}
			}
			if c.profile.delay > Window && l.stale == 0 && seed == 0 {
				t.Errorf("case %d: nothing came too late", i)
			}
		}
	}
}

// TestRowsModelChecker is the same for clients that may see parts of the world, are told parts of
// that, and now and then everything. What a client holds of a tick is what it might see then; on a
// link that recovered it shows at last what it may see, and nobody else.
func TestRowsModelChecker(t *testing.T) {
	for i, c := range []struct {
		profile      linkProfile
		interval     tick.Tick
		ticks        int
		share, flips float64
	}{
		{linkProfile{0, 0, 0, 0, 0}, 1, 200, 0.3, 0.05},
		{linkProfile{0.05, 0.02, 0.05, 2, 2}, 3, 900, 0.5, 0.01},
		{linkProfile{0.3, 0.1, 0.3, 4, 4}, 1, 500, 0.9, 0.002},
		{linkProfile{0.3, 0.3, 0.1, 12, 30}, 2, 600, 0.1, 0.2},
		{linkProfile{0.5, 0.5, 0.5, 90, 90}, 1, 500, 0.5, 0.05},
		{linkProfile{0.95, 0, 0.9, 3, 3}, 1, 500, 0.5, 0.05},
	} {
		for seed := range uint64(3) {
			l := newLifeModel(playerSchema, seed, 150, 3, c.interval, c.profile)
			if seed == 2 {
				l = newLifeModel(edgeSchema, seed, 100, 3, c.interval, c.profile)
			}
			l.mayNotSeeAll(c.share, c.flips)
			run := l.play(t, i, seed, c.ticks, c.profile)
			for n, cl := range l.clients {
				cl.profile = linkProfile{}
				cl.sight.sees.flips = 0
				if n == 2 {
					cl.sight.mode = sightRows + int(seed)%2
				}
				cl.sight.picks.slots = make([]bool, l.world.slots())
				for i := range cl.sight.picks.slots {
					cl.sight.picks.slots[i] = true
				}
				cl.sight.picks.flips = 0
			}
			now := run(100 * int(c.interval))
			for n, cl := range l.clients {
				newest := tick.Tick(now) - (tick.Tick(now)+cl.phase)%l.interval
				if err := l.shows(cl, newest); err != nil {
					t.Errorf("case %d, seed %d: client %d: %v", i, seed, n, err)
				}
			}
		}
	}
}

// hasVisible compares what a client shows at tick t, its newest, with what it may see.
func (l *lifeModel) shows(c *lifeClient, t tick.Tick) error {
	got, want := make([]int32, len(l.schema.Fields)), make([]int32, len(l.schema.Fields))
	for slot := range l.ring.Groups() * GroupRows {
		id := netid.ID(0)
		if f := c.decoder.Before(slot, t); f != nil {
			id = f.Row(slot, got)
		}
		if truth := l.maySee(c, t, slot, want); id != truth || id != 0 && !slices.Equal(got, want) {
			return fmt.Errorf("slot %d shows %v %v, not %v %v", slot, id, got, truth, want)
		}
	}
	return nil
}

// TestHiddenRowsAreNotInTheBytes: two worlds that differ in whatever a client may not see, in
// values, identities and whether anybody is there, give it the same bytes.
func TestHiddenRowsAreNotInTheBytes(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const slots = 150
		m := schema.DefaultModel(playerSchema)
		w := newWorld(playerSchema, slots, seed, 0.7, 0.02, 0.02)
		other := newWorld(playerSchema, slots, seed+100, 0.5, 0.2, 0.5)
		sees := newSomeSlots(rng, slots, []float64{0.1, 0.5, 0.95}[seed%3], 0.03)
		sees.open = int(seed%4) * 35
		picks := newSomeSlots(rng, slots, 0.5, 0.3)
		type side struct {
			ring *Ring
			e    *Encoder
			k    *Tracker
			p    Packer
			cost []uint16
		}
		var sides [2]side
		for i := range sides {
			sides[i] = side{ring: NewRing(playerSchema, slots, Window, 1), e: NewEncoder(m, slots),
				k: NewTracker(slots, 1), cost: make([]uint16, 192)}
		}
		hidden, size := 0, 0
		for now := tick.Tick(1); now <= 150; now++ {
			w.step()
			other.step()
			see, pick := sees.next(), picks.next()
			lost := rng.Float64() < 0.3
			ack := now - tick.Tick(rng.IntN(5))
			var sent [2][]byte
			var fixed [2]int
			for i := range sides {
				s := &sides[i]
				f := s.ring.Begin(now)
				for slot := range slots {
					from := w
					if i == 1 && !has(see, slot) {
						from = other
						hidden++
					}
					if from.alive[slot] {
						f.Set(slot, netid.Make(slot, from.gens[slot]), from.rows[slot])
					}
				}
				s.e.Begin(f, s.ring)
				s.k.Advance(now)
				if seed%2 == 0 {
					s.p.BeginRows(s.e, s.k, see)
				} else {
					_, fixed[i] = s.p.Costs(s.e, s.k, see, s.cost)
					s.p.Select(pick)
				}
				for !s.p.Done() {
					out, first, count, _ := s.p.Next(nil, 400)
					sent[i] = append(append(sent[i], out...), byte(first), byte(count))
				}
				if !lost {
					s.k.Acked(ack, 0, 10)
				}
			}
			if !bytes.Equal(sent[0], sent[1]) || fixed[0] != fixed[1] || !slices.Equal(sides[0].cost, sides[1].cost) {
				t.Fatalf("seed %d, tick %d: %d and %d bytes, or other bytes, for the same sight", seed, now, len(sent[0]), len(sent[1]))
			}
			size += len(sent[0])
		}
		if hidden == 0 || size == 0 {
			t.Errorf("seed %d: %d hidden, %d bytes: the test tests nothing", seed, hidden, size)
		}
	}
}
