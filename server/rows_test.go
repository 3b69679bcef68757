package server

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// Sections that do not exist, behind good ones or alone, are refused by name, and neither end loses its place: the events,
// commands and acks of the same guest go on as if nothing had been.
func TestRow19UnknownSectionsRefused(t *testing.T) {
	l := newLab(t, Config{})
	c := l.guest()
	l.tick()
	c.play()
	for id := range 256 {
		s := wire.Section(id)
		if s == wire.SectionEvents || s == wire.SectionNotes || s == wire.SectionFragment || s == wire.SectionCommands {
			continue
		}
		for _, front := range [][]byte{nil, {4, 1, 0, 9}, c.commands(1)} {
			before, asked := l.drops(), l.lobby.guests[0].acked
			c.send(c.pack(append(bytes.Clone(front), byte(id), 1, 2, 3)...))
			for _, d := range c.received() {
				if _, err := c.peer.Receive(l.now, d); err != nil {
					t.Fatal(err)
				}
			}
			l.tick()
			want := before
			want[wire.DropSection]++
			if got := l.drops(); got != want || l.lobby.guests[0].acked < asked {
				t.Fatalf("section %d behind %x: drops went from %v to %v", id, front, before, got)
			}
		}
	}
	for i, order := range [][]byte{{4, 1, 0, 9, 1, 1, 0, 0, 0, 7}, {4, 1, 0, 9, 4, 1, 0, 9}, append(c.commands(1), 4, 1, 0, 9)} {
		before := l.drops()[wire.DropSection]
		c.send(c.pack(order...))
		l.tick()
		if l.drops()[wire.DropSection] != before+1 {
			t.Errorf("%d: sections out of order: drops %v", i, l.drops())
		}
	}
	c.send(c.pack(5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7)) // a lobby takes no blobs
	l.tick()
	if l.drops()[wire.DropFragment] != 1 {
		t.Errorf("a fragment: drops %v", l.drops())
	}
	if err := c.peer.Queue([]byte{sim.AskResync}); err != nil {
		t.Fatal(err)
	}
	c.unharmed()
	if l.count(Resyncs) != 1 || c.peer.Queued() != 0 {
		t.Errorf("%d resyncs, %d events not acked", l.count(Resyncs), c.peer.Queued())
	}
}

// The schema goes by hash: a wrong one is refused with its reason before there is a session, a right one costs no byte of any
// package. Should a Hello be lost, it is said again.
func TestRow22SchemaByHash(t *testing.T) {
	l := newLab(t, Config{})
	for i, c := range []struct {
		schema, model uint64
		want          wire.Reason
	}{{1, 0, wire.ReasonSchema}, {0, 1, wire.ReasonModel}, {1, 1, wire.ReasonSchema}} {
		who := l.caller("")
		h := who.hello()
		h.Schema, h.Model = h.Schema^c.schema, h.Model^c.model
		who.send(h.Append(nil))
		l.tick()
		if d, err := wire.ParseDeny(who.kind(wire.KindDeny)); err != nil || d.Reason != c.want {
			t.Errorf("%d: %+v, %v, want %v", i, d, err, c.want)
		}
	}
	hash := ghost.SchemaHash()
	c := l.guest()
	for range 120 {
		for _, d := range c.received() {
			rest, err := c.peer.Receive(l.now, d)
			if err == nil {
				rest, err = c.peer.Sections(rest)
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := wire.SectionOf(rest); s != wire.SectionSnapshot || bytes.Contains(d, []byte{byte(hash), byte(hash >> 8), byte(hash >> 16), byte(hash >> 24)}) {
				t.Fatalf("section %d, or the schema's hash, in %x", s, d)
			}
		}
		c.send(c.pack(c.commands(1)...))
		l.tick()
	}
}

// link loses and delays what passes between a table's clients and its lobby.
type link struct {
	rng  *rand.Rand
	loss float64
}

func (k *link) lost() bool { return k.rng.Float64() < k.loss }

// At 20 % loss each way every client comes in within three seconds, and one whose hashes do not match hears why.
func TestRow27HandshakeAtLossAndMismatch(t *testing.T) {
	const clients = 60
	b := newTable(t, clients, Config{Players: clients})
	k := link{rand.New(rand.NewPCG(1, 1)), .2}
	for range 3 * 60 {
		b.lossy(&k)
	}
	for n, p := range b.players {
		if state, why := p.State(); state != client.Joined {
			t.Errorf("client %d is %v (%v)", n, state, why)
		}
	}
	if b.count(Joined) != clients {
		t.Errorf("%d joined", b.count(Joined))
	}
	odd := b.caller("")
	h := odd.hello()
	h.Version++
	for range 20 {
		if !k.lost() {
			odd.send(h.Append(nil))
		}
		b.lossy(&k)
	}
	d, err := wire.ParseDeny(odd.received()[0])
	if err != nil || d.Reason != wire.ReasonVersion || b.count(Joined) != clients {
		t.Errorf("another version: %+v, %v", d, err)
	}
}

// lossy is one tick of play over a link.
func (b *table) lossy(k *link) {
	b.tick()
	for n, p := range b.players {
		for _, d := range b.ends[n].received() {
			if !k.lost() { // a package may overtake an Accept that was lost, and a repeated Accept comes too late
				if err := p.Receive(b.now, d); err != nil && err != wire.DropState && err != wire.DropKind {
					b.t.Fatalf("client %d: %v", n, err)
				}
			}
		}
		for due := p.Advance(b.now); due > 0; due-- {
			p.Command(b.think(n))
		}
		var buf [netio.MaxDatagram]byte
		if out, ok := p.Append(b.now, buf[:0]); ok && !k.lost() {
			b.ends[n].send(out)
		}
	}
}

// paced adds a client that asks for a pace.
func paced(t *testing.T, b *table, every, kbps int) *client.Client {
	p, err := client.New(client.Config{Nonce: uint64(1000 + len(b.players)), Rules: b.lobby.cfg.Rules, Every: every, Kbps: kbps,
		Arena: func(string, [32]byte) (*arena.Arena, error) { return ground(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	b.players, b.ends = append(b.players, p), append(b.ends, b.caller(""))
	return p
}

// A byte rate holds to 2 % and is used, for the lobby's cap and a client's own lower wish, while many play; the client still
// decodes everything, without beginning anew and without mispredicting, and nothing is dropped uncounted.
func TestRow26ByteRateHolds(t *testing.T) {
	for i, c := range []struct{ lobby, wish, cap int }{
		0: {0, 0, 0},
		1: {48, 1000, 48},
		2: {200, 30, 30},
		3: {16, 0, 16},
	} {
		b := newTable(t, 60, Config{Players: 64, Kbps: c.lobby, Rules: sim.Rules{Seed: 3}})
		b.turning(uint64(i))
		p := paced(t, b, 0, c.wish)
		b.play(2)
		const seconds = 10
		before, s0 := p.Stats(), b.counted()
		b.play(seconds)
		after, s1 := p.Stats(), b.counted()
		kbps := float64(after.BytesIn-before.BytesIn) * 8 / 1000 / seconds
		t.Logf("%d: %.1f kbit/s of %d, %d snapshots, age %v, throttled %d", i, kbps, c.cap, after.Snapshots-before.Snapshots, after.SnapshotAge, s1[1]-s0[1])
		if c.cap == 0 {
			if s1[1] != 0 || after.Snapshots-before.Snapshots != seconds*20 || kbps < 70 {
				t.Errorf("%d: without a cap %d throttled, %d snapshots, %.1f kbit/s", i, s1[1], after.Snapshots-before.Snapshots, kbps)
			}
		} else if kbps > float64(c.cap)*1.02 || kbps < float64(c.cap)*.9 {
			t.Errorf("%d: %.1f kbit/s, the cap is %d", i, kbps, c.cap)
		}
		if state, _ := p.State(); state != client.Joined || after.Undecoded != 0 || after.Resyncs != 0 || after.Prediction.Mispredictions != 0 {
			t.Errorf("%d: %v, %+v", i, state, after)
		}
		due := uint64(seconds * 20 * len(b.players))
		if got := s1[0] + s1[1] + s1[2] - s0[0] - s0[1] - s0[2]; got != due {
			t.Errorf("%d: %d snapshots sent, throttled or choked of %d due", i, got, due)
		}
	}
}

// turning makes all run and look about, which is the most that there is to tell.
func (b *table) turning(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	b.think = func(int) client.Intent {
		return client.Intent{MoveMag: 255, Yaw: geom.Angle(rng.Uint32()), Pitch: geom.Angle(rng.IntN(8000)), Buttons: sim.Buttons(rng.IntN(4))}
	}
}

// counted is snapshots sent, throttled and choked.
func (b *table) counted() [3]uint64 {
	return [3]uint64{b.count(Snapshots), b.count(Throttled), b.count(Choked)}
}

// A guest whose bucket is empty for seconds hears from us four times a second all the same, with its events and acks.
func TestRow26ThrottledGuestHearsAcks(t *testing.T) {
	b := newTable(t, 60, Config{Players: 64, Kbps: 16})
	b.turning(4)
	c := b.guest()
	longest, quiet, words := 0, 0, 0
	for range 6 {
		for range 60 {
			b.turn()
			quiet++
			for _, d := range c.received() {
				rest, err := c.peer.Receive(b.now, d)
				if err == nil {
					rest, err = c.peer.Sections(rest)
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(rest) == 0 {
					words++
				}
				longest, quiet = max(longest, quiet), 0
			}
			c.send(c.pack(c.commands(1)...))
		}
	}
	if longest > 60/wordsPerSecond+3 || words == 0 {
		t.Errorf("%d ticks without a word, %d words", longest, words)
	}
}

// Who gets fewer snapshots looks further back, and its shots are judged there: no view is clamped.
func TestRow26PacedViewsAreBelieved(t *testing.T) {
	for _, every := range []int{1, 2, 4} {
		b := newTable(t, 0, Config{Players: 16, Rules: sim.Rules{RewindMillis: 1000}})
		for range 4 {
			paced(t, b, every, 0)
		}
		b.think = func(n int) client.Intent { return client.Intent{Yaw: geom.Angle(n << 14), Buttons: sim.Fire} }
		b.play(3)
		shots, clamped := b.count(Shots), b.count(Clamped)
		b.play(3)
		if shots, clamped = b.count(Shots)-shots, b.count(Clamped)-clamped; shots < 40 || clamped != 0 {
			t.Errorf("every %d: %d of %d views clamped", every, clamped, shots)
		}
	}
}

// Each client gets its snapshots at the interval it asked for, evenly, beside others with another.
func TestRow26IntervalsHonoured(t *testing.T) {
	b := newTable(t, 0, Config{Players: 16})
	asks := []int{0, 1, 2, 3, 4, 6, 8}
	for _, every := range asks {
		paced(t, b, every, 0)
	}
	b.play(4)
	var before []client.Stats
	for _, p := range b.players {
		before = append(before, p.Stats())
	}
	b.play(12)
	for n, p := range b.players {
		s, want := p.Stats(), uint64(12*20/max(1, asks[n]))
		got := s.Snapshots - before[n].Snapshots
		if got+1 < want || got > want+1 || s.Undecoded != 0 || s.Resyncs != 0 || s.Prediction.Mispredictions != 0 || s.RenderStalls > before[n].RenderStalls {
			t.Errorf("every %d: %d snapshots of %d, %+v", asks[n], got, want, s)
		}
		if g := &b.lobby.guests[p.ID().Index()]; int(g.paced) != 3*max(1, asks[n]) || !snapshot.AgeInUse(max(1, asks[n])) {
			t.Errorf("every %d: paced at %d ticks", asks[n], g.paced)
		}
	}
	c := b.guest()
	for i, bad := range [][]byte{sim.AppendPace(nil, 0, 0), sim.AppendPace(nil, 5, 0), sim.AppendPace(nil, 9, 0), sim.AppendPace(nil, 2, 15), {sim.AskPace}} {
		if err := c.peer.Queue(bad); err != nil {
			t.Fatal(err)
		}
		c.send(c.pack())
		b.tick()
		if g := &b.lobby.guests[c.id().Index()]; g.every != 1 || !g.bucket.Ready(0) {
			t.Errorf("%d: a pace of %x was taken", i, bad)
		}
	}
	for i, cfg := range []client.Config{{Every: 5}, {Every: 9}, {Every: 257}, {Every: -1}, {Kbps: 15}, {Kbps: 65536 + 16}} {
		cfg.Nonce, cfg.Arena = 1, func(string, [32]byte) (*arena.Arena, error) { return ground(), nil }
		if _, err := client.New(cfg); err != client.ErrPace {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// Ten seconds in which neither end hears the other cost what happened in them: the sessions, longer-lived here than that,
// go on within a second, with every snapshot decoded.
func TestRow28RecoveryAfterTenSeconds(t *testing.T) {
	b := newTable(t, 0, Config{Silence: 15 * time.Second})
	for n := range 4 {
		p, err := client.New(client.Config{Nonce: uint64(n + 1), Timeout: 15 * time.Second,
			Arena: func(string, [32]byte) (*arena.Arena, error) { return ground(), nil }})
		if err != nil {
			t.Fatal(err)
		}
		b.players, b.ends = append(b.players, p), append(b.ends, b.caller(""))
	}
	k := link{rng: rand.New(rand.NewPCG(2, 2))}
	run := func(seconds int) {
		for range seconds * 60 {
			b.lossy(&k)
		}
	}
	run(3)
	k.loss = 1
	sent, s0 := b.count(Sent), b.counted()
	run(10)
	if s1 := b.counted(); s1[0]+s1[2] != s0[0]+s0[2]+4*10*20 || s1[1] != s0[1] {
		t.Errorf("snapshots sent, throttled and choked went from %v to %v", s0, s1)
	}
	if n := b.count(Sent) - sent; n > 4*(2*20+8*4+4) {
		t.Errorf("%d datagrams into ten seconds of silence", n)
	}
	k.loss = 0
	run(1)
	var before []client.Stats
	for _, p := range b.players {
		before = append(before, p.Stats())
	}
	run(2)
	for n, p := range b.players {
		s := p.Stats()
		if state, _ := p.State(); state != client.Joined || s.Undecoded != 0 || s.Snapshots-before[n].Snapshots < 38 || s.Starved > before[n].Starved {
			t.Errorf("client %d is %v: %+v", n, state, s)
		}
	}
	if b.count(TimedOut) != 0 || b.count(Joined) != 4 {
		t.Errorf("%d timed out, %d joined", b.count(TimedOut), b.count(Joined))
	}
}

// A tick in which most guests wait for their buckets allocates nothing.
func TestThrottledTickAllocatesNothing(t *testing.T) {
	b := newTable(t, 40, Config{Players: 64, Kbps: 16})
	b.turning(1)
	b.play(5)
	before := b.counted()
	if n := testing.AllocsPerRun(120, func() {
		b.now = b.lobby.cfg.Rules.Rate.At(b.lobby.match.Tick() + 1)
		if err := b.lobby.Tick(b.now, 0, b.conn); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if after := b.counted(); after[0] == before[0] || after[1] == before[1] {
		t.Errorf("%v snapshots sent, throttled and choked, was %v", after, before)
	}
}
