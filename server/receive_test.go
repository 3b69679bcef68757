package server

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// Malformed datagrams and packets of every kind are counted once by reason, get no answer and
// change nothing.
func TestMalformedDatagrams(t *testing.T) {
	l := newTestLobby(t, Config{})
	control := l.joinedClient()
	control.checkUnharmed()
	raw := func(b ...byte) func(*testClient) []byte { return func(*testClient) []byte { return b } }
	// the first datagram of an attempt, changed
	request := func(f func(d []byte) []byte) func(*testClient) []byte {
		return func(c *testClient) []byte {
			c.beginConnect(nil)
			c.netcode.Update(l.now, &c.outbox)
			_, d := c.outbox.At(0)
			d = f(bytes.Clone(d))
			c.outbox.Reset()
			return d
		}
	}
	minted := func(f func(m *netcode.Mint)) func(*testClient) []byte {
		return func(c *testClient) []byte {
			c.beginConnect(f)
			c.netcode.Update(l.now, &c.outbox)
			_, d := c.outbox.At(0)
			d = bytes.Clone(d)
			c.outbox.Reset()
			return d
		}
	}
	// a good datagram, changed behind its seal
	sealed := func(f func(c *testClient, d []byte) []byte) func(*testClient) []byte {
		return func(c *testClient) []byte { return f(c, c.seal(c.packet(c.commands(1)...))) }
	}
	head := func(f func(h *packet.Header)) func(*testClient) []byte {
		return func(c *testClient) []byte {
			h, _, err := packet.ParseHeader(c.packet())
			if err != nil {
				t.Fatal(err)
			}
			f(&h)
			return c.seal(h.Append(nil))
		}
	}
	pkt := func(b ...byte) func(*testClient) []byte {
		return func(c *testClient) []byte { return c.seal(b) }
	}
	sections := func(b ...byte) func(*testClient) []byte {
		return func(c *testClient) []byte { return c.seal(c.packet(b...)) }
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	const unknown, connected = false, true
	for i, c := range []struct {
		name string
		from bool // unknown address or connection
		make func(c *testClient) []byte
		why  error
	}{
		{"nothing", unknown, raw(), netcode.DropSize},
		{"one zero", unknown, raw(0), netcode.DropReqSize},
		{"a kind of 8", unknown, raw(bytes.Repeat([]byte{0x18}, 40)...), netcode.DropType},
		{"a kind of 15", unknown, raw(bytes.Repeat([]byte{255}, 1200)...), netcode.DropType},
		{"a sequence of no bytes", unknown, raw(bytes.Repeat([]byte{0x05}, 40)...), netcode.DropSequence},
		{"a sequence of nine bytes", unknown, raw(bytes.Repeat([]byte{0x95}, 40)...), netcode.DropSequence},
		{"a denial", unknown, raw(append([]byte{0x11}, make([]byte, 17)...)...), netcode.DropType},
		{"a challenge", unknown, raw(append([]byte{0x12}, make([]byte, 325)...)...), netcode.DropType},
		{"a response", unknown, raw(append([]byte{0x13}, make([]byte, 325)...)...), netcode.DropUnknown},
		{"a keep-alive", unknown, raw(append([]byte{0x14}, make([]byte, 25)...)...), netcode.DropUnknown},
		{"a payload", unknown, raw(append([]byte{0x15}, make([]byte, 100)...)...), netcode.DropUnknown},
		{"a disconnect", unknown, raw(append([]byte{0x16}, make([]byte, 17)...)...), netcode.DropUnknown},
		{"a path", unknown, raw(append([]byte{0x17}, make([]byte, 100)...)...), netcode.DropUnknown},
		{"a request cut short", unknown, request(func(d []byte) []byte {
			return d[:1077]
		}), netcode.DropReqSize},
		{"a request with a byte more", unknown, request(func(d []byte) []byte {
			return append(d, 0)
		}), netcode.DropReqSize},
		{"a request of another version", unknown, request(func(d []byte) []byte {
			d[12]++
			return d
		}), netcode.DropReqVersion},
		{"a request of another game", unknown, request(func(d []byte) []byte {
			d[14]++
			return d
		}), netcode.DropReqProtocol},
		{"an expired token", unknown, minted(func(m *netcode.Mint) {
			m.Create, m.Expire = testUnix-50, testUnix-5
		}), netcode.DropReqExpired},
		{"a token changed to live longer", unknown, request(func(d []byte) []byte {
			d[22]++
			return d
		}), netcode.DropReqToken},
		{"a forged token", unknown, request(func(d []byte) []byte {
			d[500] ^= 1
			return d
		}), netcode.DropReqToken},
		{"a token for another server", unknown, minted(func(m *netcode.Mint) {
			m.Internal = []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:7913")}
		}), netcode.DropReqAddress},

		{"kind 9 of a connection", connected, raw(bytes.Repeat([]byte{0x19}, 40)...), netcode.DropType},
		{"a packet whose seal is broken", connected, sealed(func(_ *testClient, d []byte) []byte {
			d[len(d)-1] ^= 1
			return d
		}), netcode.DropAuth},
		{"a packet cut short", connected, sealed(func(_ *testClient, d []byte) []byte {
			return d[:len(d)-1]
		}), netcode.DropAuth},
		{"a packet shorter than its seal", connected, sealed(func(_ *testClient, d []byte) []byte {
			return d[:17]
		}), netcode.DropSize},
		{"a packet as a keep-alive", connected, sealed(func(_ *testClient, d []byte) []byte {
			d[0] ^= 1
			return d
		}), netcode.DropAuth},
		{"our own packet back", connected, func(c *testClient) []byte {
			l.ticks(7)
			for _, d := range c.received() {
				if netcode.KindOf(d) == netcode.KindPayload {
					return d
				}
			}
			return nil
		}, netcode.DropAuth},
		{"a good packet of another session", connected, func(*testClient) []byte {
			d := control.seal(control.packet())
			return d
		}, netcode.DropAuth},
		{"a packet of one byte", connected, pkt(1), packet.DropSize},
		{"a packet shorter than its header", connected, pkt(make([]byte, packet.HeaderSize-1)...),
			packet.DropSize},
		{"a sequence far ahead", connected, head(func(h *packet.Header) {
			h.Sequence += 20000
		}), packet.DropFuture},
		{"sequence 0", connected, head(func(h *packet.Header) { h.Sequence = 0 }), packet.DropStale},
		{"an ack of what was never sent", connected, head(func(h *packet.Header) {
			h.Ack = 9999
		}), packet.DropAck},
		{"ack bits of what was never sent", connected, head(func(h *packet.Header) {
			h.Ack, h.AckBits = 0, 1
		}), packet.DropAck},
		{"ack bits all ones", connected, head(func(h *packet.Header) {
			h.AckBits = ^uint64(0)
		}), packet.DropAck},
		{"section 0", connected, sections(0), packet.DropSection},
		{"section 9", connected, sections(9, 1, 2, 3), packet.DropSection},
		{"a client's snapshot", connected, sections(byte(packet.SectionSnapshot), 1, 0, 0, 0, 0),
			packet.DropSection},
		{"messages without a count", connected, sections(1), packet.DropMessage},
		{"no messages", connected, sections(1, 0), packet.DropMessage},
		{"a message that is cut short", connected, sections(1, 1, 0, 0, 9, 1), packet.DropMessage},
		{"a message far ahead", connected, sections(1, 1, 0, 1, 0, 7), packet.DropMessage},
		{"messages twice", connected, sections(1, 1, 1, 0, 0, 7, 1, 1, 2, 0, 0, 7), packet.DropSection},
		{"unreliable messages without a count", connected, sections(4), packet.DropUnreliable},
		{"a Close without a reason", connected, sections(6), packet.DropReason},
		{"a Close for reason 0", connected, sections(6, 0), packet.DropReason},
		{"a Close for reason 200", connected, sections(6, 200), packet.DropReason},
		{"commands without a head", connected, sections(2), packet.DropCommands},
		{"no commands", connected, sections(2, 0, 1, 0, 0, 0, 0), packet.DropCommands},
		{"33 commands", connected, sections(append([]byte{2, 33, 99, 0, 0, 0}, make([]byte, 900)...)...),
			packet.DropCommands},
		{"255 commands", connected, sections(append([]byte{2, 255, 0, 1, 0, 0}, make([]byte, 1000)...)...),
			packet.DropCommands},
		{"commands of tick 0", connected, sections(2, 1, 0, 0, 0, 0, 1), packet.DropCommands},
		{"commands that are cut short", connected, sections(2, 32, 99, 0, 0, 0, 0), packet.DropCommands},
		{"commands twice", connected, func(c *testClient) []byte {
			return sections(join(c.commands(1), c.commands(1))...)(c)
		}, packet.DropCommands},
		{"messages behind commands", connected, func(c *testClient) []byte {
			return sections(join(c.commands(1), []byte{1, 1, 1, 0, 0, 7})...)(c)
		}, packet.DropCommands},
		{"garbage behind commands", connected, func(c *testClient) []byte {
			return sections(join(c.commands(3), bytes.Repeat([]byte("x"), 900))...)(c)
		}, packet.DropCommands},
	} {
		who := l.newClient("")
		control.receive()
		if c.from == connected {
			who.join()
			who.sendSections()
			l.tick()
			if !who.state().session.ready {
				t.Fatalf("%d %s: not ready", i, c.name)
			}
		}
		datagram := c.make(who)
		who.received()
		want, joined := l.tally(), l.count(metrics.Joined)
		want.add(nil, 1)
		want.add(c.why, 1)
		control.play()
		who.send(datagram)
		l.tick()
		if got := l.tally(); got != want || l.count(metrics.Joined) != joined {
			t.Errorf("%d %s: %v\nwant %v", i, c.name, got, want)
		}
		if c.from == unknown {
			if answer := who.received(); answer != nil {
				t.Errorf("%d %s: answered with %x", i, c.name, answer)
			}
			continue
		}
		if l.lobby.match.Vital(who.id()) == nil || l.lobby.port.routes[who.state().session.client].slot < 0 {
			t.Errorf("%d %s: cost its sender the session", i, c.name)
		}
		who.leave()
		control.play()
		l.tick()
	}
	control.receive()
	control.checkUnharmed()
	if n := len(l.lobby.live); n != 1 {
		t.Errorf("%d connections are left, want one", n)
	}
}

// Datagrams that are longer than any valid one never reach netcode.
func TestDatagramTooLong(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, c := l.joinedClient(), l.newClient("")
	data := make([]byte, netio.MaxDatagram)
	for _, kind := range []byte{0x00, 0x13, 0x15, 0x17} {
		data[0] = kind
		c.send(data)
	}
	control.play()
	l.tick()
	a := l.tally()
	if a.refused[netcode.DropReqSize] != 1 || a.refused[netcode.DropUnknown] != 3 || c.received() != nil {
		t.Errorf("%v", a)
	}
	control.checkUnharmed()
}

// A repeated datagram is refused unopened. A repeated packet that is sealed anew counts as
// duplicate, and one behind the window as stale. Neither has a command used twice.
func TestReplayedPackets(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	c.sendSections()
	l.tick()
	pkt := c.packet(c.commands(1)...)
	old := c.seal(pkt)
	for range 3 {
		c.send(old)
	}
	c.send(c.seal(pkt))
	l.tick()
	if l.refused(netcode.DropReplay) != 2 || l.dropped(packet.DropDuplicate) != 1 {
		t.Errorf("%v", l.tally())
	}
	c.playTicks(70)
	c.send(c.seal(pkt))
	c.send(old)
	l.tick()
	if l.dropped(packet.DropStale) != 1 || l.dropped(packet.DropDuplicate) != 1 ||
		l.refused(netcode.DropReplay) != 3 {
		t.Errorf("%v", l.tally())
	}
	c.playTicks(1100)
	c.send(old)
	l.tick()
	if l.refused(netcode.DropTooOld) != 1 {
		t.Errorf("%v", l.tally())
	}
	if n := c.commandCounts(); n.Used != 1171 || n.Duplicate+n.Stale+n.Conflict != 0 {
		t.Errorf("commands: %+v", n)
	}
}

// A client that lost its baselines gets a snapshot without baselines. Repeated requests have the
// effect of one.
func TestResync(t *testing.T) {
	l := newTestLobby(t, Config{})
	c, other := l.joinedClient(), l.joinedClient()
	age := func() (owner byte, seen bool) {
		for _, s := range c.receive() {
			if s[5] == 1 {
				owner, seen = s[6], true
			}
		}
		return owner, seen
	}
	owner, seen := byte(0), false
	for range 60 {
		if o, ok := age(); ok {
			owner, seen = o, true
		}
		c.sendSections()
		other.play()
		l.tick()
	}
	if !seen || owner == 0 {
		t.Fatalf("after a second the owner row has age %d (seen %v)", owner, seen)
	}
	for range packet.MaxReliable {
		c.queueReliable([]byte{sim.AskResync})
	}
	age()
	c.sendSections()
	fresh := false
	for range 4 {
		l.tick()
		if o, ok := age(); ok {
			fresh = fresh || o == 0
			break
		}
	}
	if !fresh || l.count(metrics.Resyncs) != 1 {
		t.Errorf("a baseline is used still, or %d resyncs counted", l.count(metrics.Resyncs))
	}
	// of a newer client, perhaps
	for _, junk := range [][]byte{{0}, {sim.AskResync, 0}, bytes.Repeat([]byte{7}, 256)} {
		c.queueReliable(junk)
	}
	drops := l.tally()
	drops.add(nil, 1)
	c.sendSections()
	l.tick()
	if l.count(metrics.Resyncs) != 1 || l.tally() != drops {
		t.Errorf("%d resyncs, %v", l.count(metrics.Resyncs), l.tally())
	}
	other.receive()
	other.checkUnharmed()
}

// A client that requests a resync in every tick gets the first ones after 0.25, 0.5, 1, 2 and 4 s,
// because each costs a full snapshot.
func TestResyncsAreFew(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	for range 600 { // ten seconds
		c.receive()
		c.queueReliable([]byte{sim.AskResync})
		c.sendSections()
		l.tick()
	}
	if n := l.count(metrics.Resyncs); n < 4 || n > 6 {
		t.Errorf("%d fresh starts in ten seconds", n)
	}
}

// A requested hero is used at the next spawn. An id that the game lacks is ignored.
func TestRow54HeroOnRequest(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	c.sendSections()
	l.tick()
	before := l.count(metrics.MessagesUnknown)
	c.queueReliable(sim.AppendHero(nil, 9)) // a hero that this game has not
	c.queueReliable(sim.AppendHero(nil, sim.Robot))
	for range 20 {
		c.play()
		l.tick()
	}
	v := l.lobby.match.Vital(c.id())
	if v.RequestedHero != 1+sim.Robot || v.Hero != sim.Terraformer ||
		l.count(metrics.MessagesUnknown) != before+1 {
		t.Errorf("%+v, %d unknown events", *v, l.count(metrics.MessagesUnknown)-before)
	}
}
