package client

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// A meter has eight bits for each byte received, datagram by datagram: over good and bad links, with
// damaged datagrams, resyncs and a client with DecodeOwn.
func TestMeterAddsUp(t *testing.T) {
	seen := map[string]bool{}
	for i, path := range []link{
		{},
		{delay: 30 * time.Millisecond, jitter: 10 * time.Millisecond, loss: 0.1, dup: 0.1, swap: 0.1},
		{delay: 50 * time.Millisecond, jitter: 80 * time.Millisecond, loss: 0.4, dup: 0.3, swap: 0.2},
	} {
		l := newTestServer(t, testServerConfig{rules: sim.Rules{Rate: 60,
			RespawnMillis: 500, Game: damage(60)}, players: 40, seed: uint64(i), extras: 20})
		for k := range 3 {
			cfg := l.config()
			if k == 2 {
				cfg.Decode = DecodeOwn
			}
			s := l.addClient(cfg, path)
			s.brain = aimBot(s.client, s.brain)
			a, was, size := NewMeter(), uint64(0), uint64(0)
			s.client.Meter = a
			s.onDatagram = func(_ time.Duration, data []byte) { // runs before Receive: it checks the datagram before
				if a.Bytes != was+size || a.Bytes != s.client.Stats().BytesIn || a.Total() != 8*a.Bytes {
					t.Fatalf("path %d: %d bits in the account of %d bytes, %d of %d the last",
						i, a.Total(), a.Bytes, a.Bytes-was, size)
				}
				was, size = a.Bytes, uint64(len(data))
				if l.rng.IntN(50) == 0 {
					data[l.rng.IntN(len(data))] ^= 1 << l.rng.IntN(8)
				}
			}
			s.afterFrame = func(time.Duration, *testClient) {
				if s.client.peer != nil && l.rng.IntN(300) == 0 {
					_ = s.client.peer.QueueReliable([]byte{sim.AskResync})
				}
			}
		}
		l.run(8 * time.Second)
		for k, s := range l.clients {
			a := s.client.Meter
			for _, c := range a.Cells(nil) {
				seen[c.Component+" "+c.Reason] = true
			}
			if st := s.client.Stats(); st.Datagrams.Received != a.Datagrams || st.Snapshots < 30 {
				t.Errorf("path %d, client %d: %d datagrams of %d, %d snapshots",
					i, k, a.Datagrams, st.Datagrams.Received, st.Snapshots)
			}
		}
	}
	for _, want := range []string{"seal seal", "packet header", "reliable head",
		"reliable message", "snapshot head", "owner update",
		"owner mask", "owner spawn", "owner baseline", "owner align", "player update",
		"player mask", "player spawn", "player same",
		"player baseline", "player head", "player align", "session handshake",
		"refused undecoded", "refused drop_auth"} {
		if !seen[want] {
			t.Errorf("no datagram had a cell %q", want)
		}
	}
}

// On a clean link the client's meter equals meters that read the packets as the server sent them.
func TestMeterMatchesServer(t *testing.T) {
	l := newTestServer(t, testServerConfig{rules: sim.Rules{Rate: 60, RespawnMillis: 500, Game: damage(60)},
		players: 40, seed: 5, extras: 30})
	s := l.addClient(l.config(), link{})
	s.brain = aimBot(s.client, s.brain)
	a := NewMeter()
	s.client.Meter = a
	public, owner, parts := snapshot.NewMeter(netstate.Public),
		snapshot.NewMeter(netstate.Owner), packet.Meter{}
	packets := 0
	l.onPacket = func(pkt []byte) {
		rest, err := parts.Packet(pkt)
		if err != nil {
			t.Fatal(err)
		}
		packets++
		if len(rest) == 0 {
			return
		}
		h, rest, err := netstate.ParseHeader(rest[1:])
		if err == nil && h.Owner {
			rest, err = l.conns[0].owner.Explain(owner, rest)
		}
		if err == nil {
			err = l.encoder.Explain(public, l.interval, rest)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l.run(5 * time.Second)
	if packets < 100 {
		t.Fatalf("only %d packets", packets)
	}
	if parts != a.packet {
		t.Errorf("parts %v, the server says %v", a.packet, parts)
	}
	for i, m := range []*snapshot.Meter{public, owner} {
		if diff := cmp.Diff(m.Cells(nil), []*snapshot.Meter{a.public, a.owner}[i].Cells(nil)); diff != "" {
			t.Errorf("the ends do not agree:\n%s", diff)
		}
	}
	a.Reset()
	if a.Total() != 0 || a.Bytes != 0 || a.Datagrams != 0 {
		t.Error("Reset leaves something")
	}
}

// Padding behind a snapshot's rows is charged to no row.
func TestAccountOfPadding(t *testing.T) {
	rec := record(t, 16, full, 3*time.Second, link{delay: 10 * time.Millisecond})
	p, a := rec.player(t), NewMeter()
	p.skip(len(rec.play))
	p.driver.client.Meter = a
	h := packet.Header{Sequence: 2000, SentAt: 1}
	last := rec.packets[len(rec.packets)-1]
	pkt := append(h.Append(nil), last[packet.HeaderSize:]...)
	pkt = append(pkt, snapshot.Padding, snapshot.Padding, snapshot.Padding)
	data := rec.sealed(t, pkt)
	if err := p.driver.client.Receive(rec.play[len(rec.play)-1].now, data); err != nil {
		t.Fatal(err)
	}
	fill := uint64(0)
	for _, c := range a.Cells(nil) {
		if c.Reason == "fill" {
			fill += c.Bits
			if c.Component != "snapshot" {
				t.Errorf("padding of %s", c.Component)
			}
		}
	}
	if fill != 24 || a.Total() != 8*uint64(len(data)) {
		t.Errorf("%d bits of padding, %d in all, of %d bytes", fill, a.Total(), len(data))
	}
}

// If the client lacks the baseline of a snapshot, the owner's row and all that follows it count as
// undecoded.
func TestMeterOfNoBaseline(t *testing.T) {
	rec := record(t, 16, full, 3*time.Second, link{delay: 10 * time.Millisecond})
	p, a := rec.player(t), NewMeter()
	p.skip(len(rec.play))
	c := p.driver.client
	c.Meter = a
	h := packet.Header{Sequence: 2000, SentAt: 1}
	now := c.Newest() + 3
	age := byte(now/3 - 1) // in steps of 3 ticks: the baseline is of tick 3 to 5, before the client joined
	pkt := append(h.Append(nil), byte(packet.SectionSnapshot))
	pkt = append(netstate.Header{Tick: now, Owner: true}.Append(pkt), age, 0, 0, 0, 0, 0, 0)
	data := rec.sealed(t, pkt)
	if err := c.Receive(rec.play[len(rec.play)-1].now, data); err != nil || c.Stats().Undecoded != 1 {
		t.Fatalf("%v, %d undecoded", err, c.Stats().Undecoded)
	}
	if a.undecoded != 7 || a.head.tick != 4 || a.Total() != 8*uint64(len(data)) {
		t.Errorf("%d bytes undecoded, %d bits in all, of %d bytes", a.undecoded, a.Total(), len(data))
	}
}

// The meter of a client that plays allocates nothing and has eight bits for each byte.
func TestMeterAllocatesNothing(t *testing.T) {
	rec := record(t, 32, full, 6*time.Second, link{delay: 20 * time.Millisecond, loss: 0.02})
	p, a := rec.player(t), NewMeter()
	p.driver.client.Meter = a
	p.skip(warm)
	if n := alloctest.In(len(rec.play)-warm-10, func() { p.frame() }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	if a.Total() != 8*p.driver.client.Stats().BytesIn || a.public.Total() == 0 {
		t.Errorf("%d bits in the account of %d bytes", a.Total(), p.driver.client.Stats().BytesIn)
	}
}

// BenchmarkMeter plays BenchmarkTick's client that decodes all, with and without a meter.
func BenchmarkMeter(b *testing.B) {
	rec := record(b, 64, full, 12*time.Second, link{delay: 20 * time.Millisecond})
	for _, meter := range []*Meter{nil, NewMeter()} {
		b.Run(map[bool]string{true: "none", false: "every datagram"}[meter == nil], func(b *testing.B) {
			var p *recordedClient
			for range b.N {
				if p == nil || !p.frame() {
					b.StopTimer()
					p = rec.player(b)
					p.skip(warm)
					p.driver.client.Meter = meter
					b.StartTimer()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/tick")
		})
	}
}
