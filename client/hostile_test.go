package client

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// The ways in which a fuzzer's bytes reach the client.
const (
	asDatagram = iota // as they are
	asPacket          // sealed with the session's keys
	asSections        // sealed, and behind the header of a good packet
	asWays
)

// FuzzReceive gives a joined client any bytes: as they are, sealed, and sealed behind a valid
// header. Nothing panics, everything is counted once, and the client plays on.
func FuzzReceive(f *testing.F) {
	rec := record(f, 16, full, 3*time.Second, link{delay: 10 * time.Millisecond})
	for _, fr := range rec.play[len(rec.play)-20:] {
		for _, data := range fr.heard {
			f.Add(data, uint8(asDatagram), uint8(0), uint16(0))
		}
	}
	for _, pkt := range rec.packets[len(rec.packets)-10:] {
		f.Add(pkt, uint8(asPacket), uint8(7), uint16(40))
		f.Add(pkt[packet.HeaderSize:], uint8(asSections), uint8(7), uint16(40))
	}
	f.Add([]byte{byte(packet.SectionSnapshot), 255, 255, 255, 255, 1, 0},
		uint8(asSections), uint8(0), uint16(0))
	f.Add([]byte{byte(packet.SectionClose), byte(packet.ReasonKicked)},
		uint8(asSections), uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, way, flip uint8, at uint16) {
		p := rec.player(t)
		p.skip(len(rec.play))
		p.attack(t, data, way, flip, at)
	})
}

// sealed returns a packet in a datagram that the client opens.
func (rec *recording) sealed(t testing.TB, pkt []byte) []byte {
	t.Helper()
	data, err := rec.server.netcode.Seal(rec.server.now, 0, pkt, nil)
	if len(pkt) < 1 || len(pkt) > netcode.MaxPayload {
		return pkt
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// attack gives the client data with one byte changed, and plays on for a second.
func (p *recordedClient) attack(t *testing.T, data []byte, way, flip uint8, at uint16) {
	c := p.driver.client
	now := p.recording.play[len(p.recording.play)-1].now
	data = slices.Clone(data)
	if len(data) > 0 {
		data[int(at)%len(data)] ^= flip
	}
	switch way % asWays {
	case asPacket:
		data = p.recording.sealed(t, data)
	case asSections:
		h := packet.Header{Sequence: 2000, SentAt: 1}
		data = p.recording.sealed(t, append(h.Append(nil), data...))
	}
	a, size := NewMeter(), uint64(len(data))
	c.Meter = a
	before := c.Stats()
	err := c.Receive(now, data)
	after := c.Stats()
	if a.Total() != 8*size {
		t.Fatalf("%v: %d bits in the account of %d bytes: %+v", err, a.Total(), size, a.Cells(nil))
	}
	if !accounted(&after) || after.Datagrams.Received != before.Datagrams.Received+1 {
		t.Fatalf("%v: %+v, then %+v", err, before, after)
	}
	if dropped := after.Datagrams.Dropped() + after.Packets.Dropped() -
		before.Datagrams.Dropped() - before.Packets.Dropped(); (err != nil) != (dropped == 1) || dropped > 1 {
		t.Fatalf("%v: %+v, then %+v", err, before, after)
	}
	for range 60 {
		now += 16 * time.Millisecond
		for range c.Advance(now) {
			c.Command(Intent{MoveMag: 255})
		}
		p.small(t, now)
		for slot := range 20 {
			c.Pose(slot)
		}
	}
	for _, ok := c.NextEvent(); ok; _, ok = c.NextEvent() {
	}
}

// small fails if the state of the client exceeds its bounds.
func (p *recordedClient) small(t *testing.T, now time.Duration) {
	t.Helper()
	out := p.driver.client.Outgoing(now)
	if out.Len() > 4 {
		t.Fatalf("%d datagrams to send", out.Len())
	}
	for i := range out.Len() {
		if _, data := out.At(i); len(data) > netcode.MaxDatagram {
			t.Fatalf("%d bytes to send", len(data))
		}
	}
}

// TestHostileBytes is a short form of the fuzz test: packets that are sealed well and damaged
// behind the header.
func TestHostileBytes(t *testing.T) {
	rec := record(t, 16, full, 2*time.Second, link{delay: 10 * time.Millisecond})
	rng := rand.New(rand.NewPCG(9, 9))
	p := rec.player(t)
	p.skip(len(rec.play))
	c := p.driver.client
	now := rec.play[len(rec.play)-1].now
	seq := uint16(1000)
	bodies := rec.packets[len(rec.packets)-30:]
	for n := range 20000 {
		seq++
		body := slices.Clone(bodies[rng.IntN(len(bodies))][packet.HeaderSize:])
		for range 1 + rng.IntN(3) {
			switch rng.IntN(4) {
			case 0:
				body[rng.IntN(len(body))] = byte(rng.Uint32())
			case 1:
				body = body[:1+rng.IntN(len(body))]
			case 2:
				body = append(body, byte(rng.Uint32()))
			case 3:
				if len(body) > 5 { // the tick
					binary.LittleEndian.PutUint32(body[1:], uint32(c.replica.tick)+uint32tick(rng))
				}
			}
		}
		if packet.SectionOf(body) == packet.SectionClose {
			continue
		}
		h := packet.Header{Sequence: seq, SentAt: uint16(n)}
		c.Receive(now, rec.sealed(t, append(h.Append(nil), body...)))
		if n%16 == 0 {
			now += 16 * time.Millisecond
			for range c.Advance(now) {
				c.Command(Intent{MoveMag: 255})
			}
			p.small(t, now)
			c.Pose(rng.IntN(20))
		}
	}
	st := c.Stats()
	if !accounted(&st) || st.Packets.Drops[packet.DropSnapshot] < 1000 || st.Packets.Received < 19000 {
		t.Errorf("%+v", st)
	}
	if state, _ := c.State(); state != Joined {
		t.Errorf("%v: %v", state, c.Err())
	}
}

// Damaged datagrams fail authentication, and no packet of them is parsed.
func TestDamagedDatagrams(t *testing.T) {
	rec := record(t, 16, full, 2*time.Second, link{delay: 10 * time.Millisecond})
	rng := rand.New(rand.NewPCG(9, 10))
	p := rec.player(t)
	p.skip(len(rec.play))
	c := p.driver.client
	now := rec.play[len(rec.play)-1].now
	before := c.Stats()
	for range 5000 {
		data := rec.sealed(t, rec.packets[rng.IntN(len(rec.packets))])
		switch rng.IntN(3) {
		case 0:
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		case 1:
			data = data[:rng.IntN(len(data))]
		case 2:
			data = append(data, byte(rng.Uint32()))
		}
		if err := c.Receive(now, data); err == nil {
			t.Fatalf("a damaged datagram was taken")
		}
	}
	st := c.Stats()
	if !accounted(&st) || st.Packets != before.Packets || st.Datagrams.Dropped() < 5000 ||
		st.Datagrams.Drops[netcode.DropAuth] < 3000 {
		t.Errorf("%+v", st)
	}
	if state, _ := c.State(); state != Joined || c.Outgoing(now).Len() > 2 {
		t.Errorf("%v: %v", state, c.Err())
	}
}

// TestFirstMessages: a server whose first message is no Welcome is left. Unknown messages after it
// are counted.
func TestFirstMessages(t *testing.T) {
	kill := sim.Event{Kind: sim.EventKill, Tick: 3, Actor: 1 << 8, Victim: 2 << 8}.Append(nil)
	for i, c := range []struct {
		greet  func(w *protocol.Welcome) [][]byte
		state  State
		reason packet.Reason
		drop   packet.Drop // counted once
		events uint64
	}{
		{func(w *protocol.Welcome) [][]byte {
			return [][]byte{kill, w.Append(nil)}
		}, Lost, 0, packet.DropMessage, 0},
		{func(w *protocol.Welcome) [][]byte {
			return [][]byte{{protocol.MessageWelcome}}
		}, Lost, 0, packet.DropMessage, 0},
		{func(w *protocol.Welcome) [][]byte {
			return [][]byte{w.Append(nil)[:protocol.MinWelcome]}
		}, Lost, 0, packet.DropMessage, 0},
		{func(w *protocol.Welcome) [][]byte {
			return [][]byte{append(w.Append(nil), 0)}
		}, Lost, 0, packet.DropMessage, 0},
		{func(w *protocol.Welcome) [][]byte {
			w.SendInterval = 0
			return [][]byte{w.Append(nil)}
		}, Lost, 0, packet.DropMessage, 0},
		{func(w *protocol.Welcome) [][]byte {
			return [][]byte{{protocol.MessageWelcome, protocol.Version + 1, 9, 9}, kill}
		}, Denied, packet.ReasonVersion, packet.DropVersion, 0},
		{func(w *protocol.Welcome) [][]byte {
			w.Schema++
			return [][]byte{w.Append(nil), kill}
		}, Denied, packet.ReasonSchema, packet.DropMessage, 0},
		{func(w *protocol.Welcome) [][]byte {
			first := w.Append(nil)
			w.NetID, w.MaxPlayers, w.TickRate = 7<<8, 999, 30
			return [][]byte{first, w.Append(nil), kill}
		}, Joined, 0, packet.DropMessage, 1},
		{func(w *protocol.Welcome) [][]byte {
			r := protocol.Ready{Version: protocol.Version}
			return [][]byte{w.Append(nil), r.Append(nil), kill}
		}, Joined, 0, packet.DropMessage, 1},
	} {
		l := newTestServer(t, testServerConfig{seed: 30})
		l.greet = c.greet
		s := l.addClient(l.config(), link{delay: 5 * time.Millisecond})
		l.run(time.Second)
		state, reason := s.client.State()
		if state != c.state || reason != c.reason || (s.client.Err() == nil) != (state == Joined) {
			t.Errorf("%d: %v %v %v, want %v %v", i, state, reason, s.client.Err(), c.state, c.reason)
		}
		st, want := s.client.Stats(), uint64(1)
		if c.drop == 0 {
			want = 0
		}
		if st.Packets.Dropped()-st.Packets.Drops[packet.DropClosed] != want ||
			st.Packets.Drops[c.drop] != want || st.Events != c.events {
			t.Errorf("%d: %d events, packets %+v", i, st.Events, st.Packets)
		}
		if state != Joined {
			l.over(t, s, i)
			continue
		}
		id := l.conns[0].id
		if got := s.client.Welcome(); s.client.ID() != id || got != l.welcomeAt(got.Tick) ||
			st.Snapshots < 15 {
			t.Errorf("%d: %+v, %d snapshots", i, got, st.Snapshots)
		}
	}
}

// welcomeAt returns the Welcome of the first client at a tick.
func (l *testServer) welcomeAt(tick uint32) protocol.Welcome {
	w := l.welcome(l.conns[0])
	w.Tick = tick
	return w
}

// TestNothingBeforeWelcome: before the Welcome, only reliable messages are accepted, not snapshots
// or unreliable messages.
func TestNothingBeforeWelcome(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 31})
	l.greet = func(*protocol.Welcome) [][]byte { return nil }
	s := l.addClient(l.config(), link{})
	l.run(500 * time.Millisecond)
	g := l.conns[0]
	kill := sim.Event{Kind: sim.EventKill, Tick: 3, Actor: 1 << 8, Victim: 2 << 8}
	pkt, _ := g.peer.Append(l.now, nil)
	if err := g.peer.QueueUnreliable(kill.Append(nil)); err != nil {
		t.Fatal(err)
	}
	l.send(g, g.peer.AppendUnreliable(pkt, 200))
	pkt, _ = g.peer.Append(l.now, nil)
	l.send(g, append(pkt, byte(packet.SectionSnapshot), 1, 0, 0, 0, 0))
	l.run(100 * time.Millisecond)
	st := s.client.Stats()
	if state, _ := s.client.State(); state != Connecting || st.Events != 0 ||
		st.Snapshots != 0 || st.Packets.Drops[packet.DropSection] != 1 || st.Packets.Dropped() != 1 {
		t.Errorf("%v, %+v", state, st)
	}
	w := l.welcome(g)
	if err := g.peer.QueueReliable(w.Append(nil)); err != nil {
		t.Fatal(err)
	}
	l.run(500 * time.Millisecond)
	if state, _ := s.client.State(); state != Joined || s.client.Stats().Snapshots == 0 {
		t.Errorf("%v after the Welcome, %+v", state, s.client.Stats())
	}
}

// labElsewhere is an address without a client.
var labElsewhere = netip.MustParseAddrPort("10.0.9.9:999")

// TestChallengeFlood: a flood of valid path challenges makes a client queue at most maxOut
// answers, whether or not its owner sends them.
func TestChallengeFlood(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 32})
	cfg := l.config()
	cfg.Token = l.token(timeout(-1))
	s := l.addClient(cfg, link{})
	l.run(2 * time.Second)
	floods := l.challenges(s, 1000)
	out := &s.client.out
	for i, data := range floods {
		if err := s.client.Receive(l.now, data); err != nil {
			t.Fatalf("challenge %d: %v", i, err)
		}
		if out.Len() > maxOut {
			t.Fatalf("%d datagrams wait", out.Len())
		}
	}
	st := s.client.Stats()
	if n := st.Datagrams.Accepted[netcode.KindPath]; n < 1000 || st.Datagrams.Sent[netcode.KindPath] < 1000 {
		t.Errorf("%d challenges heard, %+v", n, st.Datagrams)
	}
	for i := range 3 {
		if n := s.client.Outgoing(l.now).Len(); n > maxOut+2 || i > 0 && n > 2 {
			t.Errorf("%d datagrams to send", n)
		}
	}
	if state, _ := s.client.State(); state != Joined {
		t.Errorf("%v: %v", state, s.client.Err())
	}
}

// challenges returns n path challenges that the client will answer. They come from a client whose
// probes all reach a server with a fast clock, so that it answers all of them.
func (l *testServer) challenges(s *testClient, n int) (all [][]byte) {
	l.now += 200 * time.Millisecond
	server := l.now
	for len(all) < n {
		l.now += 100 * time.Millisecond
		out := s.client.Outgoing(l.now)
		for i := range out.Len() {
			_, data := out.At(i)
			if netcode.KindOf(data) != netcode.KindPath {
				continue
			}
			server += 300 * time.Millisecond
			var post netcode.Outbox
			if _, err := l.netcode.Receive(server, l.unix(), labElsewhere, data, &post); err != nil {
				l.t.Fatalf("a probe after %d challenges: %v", len(all), err)
			}
			to, challenge := post.At(0)
			if to != labElsewhere || netcode.KindOf(challenge) != netcode.KindPath {
				l.t.Fatalf("kind %d to %v", netcode.KindOf(challenge), to)
			}
			all = append(all, slices.Clone(challenge))
		}
	}
	return all
}

// TestManyEvents: a server may queue any number of messages, and fill every packet with them.
func TestManyEvents(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 33})
	s := l.addClient(l.config(), link{})
	l.run(time.Second)
	g := l.conns[0]
	kill := sim.Event{Kind: sim.EventKill, Tick: 3, Actor: 1 << 8, Victim: 2 << 8}.Append(nil)
	queued := uint64(0)
	for range 100 {
		for g.peer.QueueReliable(kill) == nil {
			queued++
		}
		pkt, _ := g.peer.Append(l.now, nil)
		l.send(g, g.peer.AppendReliable(pkt, packet.MaxSectionBytes))
		l.run(60 * time.Millisecond)
	}
	st := s.client.Stats()
	if queued < 10*packet.MaxReliable || st.Events < queued-packet.MaxReliable ||
		st.Overrun != st.Events-maxEvents || st.Packets.Dropped() != 0 {
		t.Errorf("%d events queued, %+v", queued, st)
	}
}

// uint32tick returns a small step or a random one.
func uint32tick(rng *rand.Rand) uint32 {
	if rng.IntN(4) == 0 {
		return rng.Uint32()
	}
	return uint32(rng.IntN(8))
}
