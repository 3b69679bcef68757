package server

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// Ways in which the bytes of a fuzzer reach a lobby.
const (
	fromStranger = iota // as they are, from an address without session
	fromGuest           // as they are, from a connection's address
	asPackage           // sealed with a connection's key
	asSections          // likewise, behind a good header
	asToken             // as the private part of a request
	asEcho              // as a connection's path datagram
	modes
)

// scene returns a lobby with a control client and an attacker, just before the attack.
func scene(t testing.TB, mode uint8) (l *testLobby, control, who *testClient) {
	netcodeCfg := withoutFloodLimit()
	netcodeCfg.MaxTokens, netcodeCfg.MaxHandshakes = 64, 8 // small, as a fuzzer makes thousands
	l = newTestLobby(t, Config{Players: 3, Netcode: netcodeCfg})
	control, who = l.joinedClient(), l.newClient("")
	if mode%modes != fromStranger && mode%modes != asToken {
		who.join()
		who.sendSections()
	}
	control.play()
	l.tick()
	who.received()
	return l, control, who
}

// attackDatagram makes a datagram of the bytes of a fuzzer.
func (c *testClient) attackDatagram(mode uint8, src []byte) []byte {
	switch mode % modes {
	case asPackage:
		if len(src) > 0 {
			return c.seal(src)
		}
	case asSections:
		return c.seal(c.packet(src...))
	case asToken:
		d := c.host.requests(60, 1, nil)[0]
		copy(d[30:], src)
		return d
	case asEcho:
		return append([]byte{0x17, 9}, src...)
	}
	return src
}

// hashesAfter plays four ticks and returns the hashes of the world.
func hashesAfter(l *testLobby, control *testClient) (h [4]uint64) {
	for i := range h {
		control.play()
		l.tick()
		h[i] = l.lobby.match.Hash()
	}
	return h
}

// Arbitrary bytes, raw or sealed with a good key, from any address, count in exactly one counter.
// An unverified address is sent at most 0.31 of its bytes, a refused datagram does not change the
// world, and a control client loses no command.
func FuzzLobbyDatagram(f *testing.F) {
	f.Add(uint8(fromStranger), []byte{})
	f.Add(uint8(fromStranger), []byte{0})
	f.Add(uint8(fromStranger), append([]byte("\x00NETCODE 1.02\x00"), make([]byte, 1064)...))
	f.Add(uint8(fromGuest), bytes.Repeat([]byte{0x15}, 60))
	f.Add(uint8(fromGuest), bytes.Repeat([]byte{0x13}, 326))
	f.Add(uint8(fromGuest), bytes.Repeat([]byte{0x16}, 18))
	f.Add(uint8(asPackage), []byte{7})
	f.Add(uint8(asPackage), (&packet.Header{Sequence: 9, Ack: 1}).Append(nil))
	f.Add(uint8(asPackage), (&packet.Header{Sequence: 16383, AckBits: 1}).Append(nil))
	f.Add(uint8(asSections), []byte{1, 1, 0, 0, 0, sim.AskResync})
	f.Add(uint8(asSections), []byte{1, 2, 1, 0, 0, sim.AskResync, 2, 0, 0, 9, 2, 1, 90, 0, 0, 0, 1})
	f.Add(uint8(asSections), append([]byte{1, 1, 1, 0, 3}, sim.AppendSnapshotRate(nil, 8, 16)...))
	f.Add(uint8(asSections),
		append([]byte{1, 1, 1, 0, protocol.ReadySize - 1}, (&protocol.Ready{Version: 9}).Append(nil)...))
	f.Add(uint8(asSections), []byte{1, 1, 1, 0, 0, 9, 4, 2, 0, 9, 1, 8, 8, 5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7})
	f.Add(uint8(asSections), []byte{6, 7})
	f.Add(uint8(asSections), []byte{6, 7, 2, 1, 9, 0, 0, 0, 1})
	f.Add(uint8(asSections),
		sim.AppendCommands([]byte{2}, []sim.Command{{Tick: 9, Buttons: 0xffff}, {Tick: 10, Pitch: 0x7fff}}))
	f.Add(uint8(asSections), append(sim.AppendCommands([]byte{2}, []sim.Command{{Tick: 9, MoveMag: 255}}), 1))
	f.Add(uint8(asToken), []byte{1})
	f.Add(uint8(asToken), bytes.Repeat([]byte{255}, 1048))
	f.Add(uint8(asEcho), bytes.Repeat([]byte{4}, 60))
	var clean [modes]*[4]uint64
	f.Fuzz(func(t *testing.T, mode uint8, src []byte) {
		mode %= modes
		src = src[:min(len(src), packet.MaxSectionBytes-protocol.ReadySize-10)]
		if clean[mode] == nil {
			l, control, _ := scene(t, mode)
			h := hashesAfter(l, control)
			clean[mode] = &h
		}
		l, control, who := scene(t, mode)
		datagram := who.attackDatagram(mode, src)
		before, used := l.tally(), control.commandCounts().Used
		control.play()
		who.send(datagram)
		l.tick()
		h := [4]uint64{l.lobby.match.Hash()}
		refused, moved := false, l.tally().accepted-before.accepted-1
		for i, n := range l.tally().refused {
			moved += n - before.refused[i]
			refused = refused || n > before.refused[i]
		}
		for i, n := range l.tally().drops {
			moved += n - before.drops[i]
			refused = refused || n > before.drops[i]
		}
		if moved != 1 {
			t.Fatalf("%d counters moved: %v, was %v", moved, l.tally(), before)
		}
		if answered := 0; mode == fromStranger || mode == asToken {
			for _, d := range who.received() {
				answered += len(d)
			}
			if answered*100 > len(datagram)*31 {
				t.Fatalf("%d bytes were answered with %d", len(datagram), answered)
			}
		}
		for i := range 3 {
			control.play()
			l.tick()
			h[i+1] = l.lobby.match.Hash()
		}
		// an event or a goodbye before what was wrong
		left := l.count(metrics.Left)+l.count(metrics.Disconnected) > 0
		if refused && !left && h != *clean[mode] {
			t.Fatalf("a refused datagram changed the world: %v", l.tally())
		}
		if n := control.commandCounts(); n.Used-used != 4 || n.Missing != 0 {
			t.Fatalf("of 4 commands of the client beside it %d were used", n.Used-used)
		}
	})
}

// hostile makes the datagrams of attackers from a seed.
type hostile struct {
	*testLobby
	rng       *rand.Rand
	control   *testClient
	attackers []*testClient
	stranger  *testClient
	tokens    [][]byte
	made      int
}

func newHostile(t *testing.T, seed uint64) *hostile {
	h := &hostile{testLobby: newTestLobby(t, Config{Players: 8, Netcode: withoutFloodLimit()}),
		rng: rand.New(rand.NewPCG(seed, 6))}
	h.control, h.stranger = h.joinedClient(), h.newClient("")
	for range 4 {
		h.attackers = append(h.attackers, h.joinedClient())
	}
	return h
}

// alive gives an attacker a new session if it has lost its session or nearly used it up.
func (h *hostile) alive(c *testClient) {
	g := c.state()
	if slot := h.lobby.port.routes[g.session.client].slot; g.id == c.id() && slot == int32(g.id.Index()) &&
		h.rng.IntN(400) != 0 {
		return
	}
	c.leave()
	h.tick()
	c.received()
	c.join()
	c.sendSections()
	h.tick()
}

// body returns a sequence of sections, most of them valid.
func (h *hostile) body(c *testClient) (b []byte) {
	next := h.lobby.match.Tick() + 1
	if h.rng.IntN(8) == 0 {
		b = append(b, 1, 1, byte(h.rng.IntN(6)), 0, 0, byte(sim.AskResync+byte(h.rng.IntN(2))))
	}
	if h.rng.IntN(8) == 0 {
		b = append(b, 4, 1, 0, 9)
	}
	if h.rng.IntN(16) == 0 {
		b = append(b, 5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7)
	}
	if h.rng.IntN(500) == 0 {
		b = append(b, 6, byte(h.rng.IntN(14)))
	}
	if h.rng.IntN(4) != 0 {
		var cmds []sim.Command
		at := next + tick.Tick(h.rng.IntN(8)) + 40
		for i := range tick.Tick(1 + h.rng.IntN(sim.MaxWindow)) {
			cmds = append(cmds, sim.Command{Tick: at - 40 + i, Yaw: geom.Angle(h.rng.Uint32()),
				Pitch: geom.Angle(h.rng.Uint32()), MoveYaw: uint8(h.rng.Uint32()),
				MoveMag: uint8(h.rng.Uint32()), Buttons: sim.Buttons(h.rng.Uint32()),
				View: tick.View{From: next - tick.Tick(h.rng.IntN(9)), To: next}})
			cmds[i].View.To = cmds[i].View.From + tick.Tick(h.rng.IntN(256))
		}
		b = append(b, section(cmds...)...)
	}
	return b
}

// damage changes up to three bytes of b, from index at on.
func (h *hostile) damage(b []byte, at int) []byte {
	for range h.rng.IntN(4) {
		if len(b) <= at {
			return b
		}
		switch h.rng.IntN(4) {
		case 0:
			b[at+h.rng.IntN(len(b)-at)] = byte(h.rng.Uint32())
		case 1:
			b[at+h.rng.IntN(len(b)-at)] ^= 1 << h.rng.IntN(8)
		case 2:
			b = b[:at+h.rng.IntN(len(b)-at)]
		case 3:
			b = append(b, byte(h.rng.Uint32()))
		}
	}
	return b
}

// fire sends one hostile datagram.
func (h *hostile) fire() {
	c := h.attackers[h.made%len(h.attackers)]
	if h.made%20_000 == 0 { // before those there are expire
		h.tokens = h.requests(5000, 20, nil)
	}
	h.made++
	h.alive(c)
	switch k := h.rng.IntN(16); {
	case k < 8: // a packet whose sections are damaged
		c.send(c.seal(h.short(h.damage(c.packet(h.body(c)...), packet.HeaderSize))))
	case k < 10: // a packet that is damaged anywhere
		c.send(c.seal(h.short(h.damage(c.packet(h.body(c)...), 0))))
	case k < 11: // a good one with a random header
		p := c.packet(h.body(c)...)
		for i := range packet.HeaderSize {
			if h.rng.IntN(3) == 0 {
				p[i] = byte(h.rng.Uint32())
			}
		}
		c.send(c.seal(h.short(p)))
	case k < 13: // a sealed datagram that is damaged
		c.send(h.damage(c.seal(c.packet(h.body(c)...)), 0))
	case k < 14: // another client's
		h.stranger.send(c.seal(c.packet()))
	case k < 15: // a request
		d := bytes.Clone(h.tokens[h.rng.IntN(len(h.tokens))])
		h.stranger.send(h.damage(d, 0))
	default:
		d := make([]byte, h.rng.IntN(600))
		for i := 0; i+8 <= len(d); i += 8 {
			binary.LittleEndian.PutUint64(d[i:], h.rng.Uint64())
		}
		h.stranger.send(d)
	}
}

// short cuts a packet to a length that can be sealed.
func (h *hostile) short(p []byte) []byte {
	if len(p) == 0 {
		return []byte{0}
	}
	return p[:min(len(p), packet.MaxPacketSize)]
}

// sendHostile sends n hostile datagrams and plays a tick, in which the command of the control
// client must be used.
func (h *hostile) sendHostile(n int) {
	h.t.Helper()
	for range n {
		h.fire()
	}
	used := h.control.commandCounts().Used
	h.control.play()
	h.tick()
	if h.control.commandCounts().Used != used+1 {
		h.t.Fatalf("the control client's command was not used after %d datagrams", h.made)
	}
	for _, c := range h.attackers {
		h.receiveIgnoringErrors(c)
	}
	h.stranger.received()
	if sent := h.stranger.conn.Stats().BytesOut; uint64(h.stranger.bytes)*100 > sent*31 {
		h.t.Fatalf("the stranger sent %d bytes and was sent %d", sent, h.stranger.bytes)
	}
	h.bounded()
}

// receiveIgnoringErrors receives what has arrived and ignores errors.
func (h *hostile) receiveIgnoringErrors(c *testClient) {
	for _, d := range c.received() {
		if pkt, err := c.netcode.Receive(h.now, testAddr, d, &c.outbox); err == nil &&
			pkt != nil && c.peer != nil {
			if rest, err := c.peer.Receive(h.now, pkt); err == nil {
				_, _ = c.peer.Sections(rest)
				for _, ok := c.peer.NextReliable(); ok; _, ok = c.peer.NextReliable() {
				}
			}
		}
	}
	c.outbox.Reset()
}

// bounded checks that sessions, connections, players and lists agree and stay within their bounds.
func (h *hostile) bounded() {
	h.t.Helper()
	l := h.lobby
	seated := 0
	for client, r := range l.port.routes {
		slot := r.slot
		if slot < 0 {
			continue
		}
		seated++
		c := &l.conns[slot]
		s, ok := l.port.netcode.Session(client)
		if !ok || s.Token != c.session.token || s.Address != c.session.addr ||
			s.ClientID != c.roster.user || int(c.session.client) != client || c.id.Index() != int(slot) {
			h.t.Fatalf("client %d and slot %d do not agree: %+v", client, slot, s)
		}
		if c.session.peer.ReliablePending() > packet.MaxReliable || l.match.CommandBuffer(c.id) == nil {
			h.t.Fatalf("%d events, inbox %v", c.session.peer.ReliablePending(), l.match.CommandBuffer(c.id))
		}
	}
	if n := l.match.World.Len(); seated != len(l.live) ||
		seated+len(l.join.arrivals) != l.port.netcode.Connected() ||
		n < seated+len(l.reconnectable) || n > l.cfg.Players {
		h.t.Fatalf("%d seated, %d live, %d away, %d waiting, %d sessions, %d players",
			seated, len(l.live), len(l.reconnectable), len(l.join.arrivals), l.port.netcode.Connected(), n)
	}
	if got := h.count(metrics.Joined) - h.count(metrics.Left) - h.count(metrics.TimedOut) -
		h.count(metrics.Disconnected); got != uint64(seated) {
		h.t.Fatalf("by the counters %d play, %d do", got, seated)
	}
}

// TestHostilePackets is a short form of the fuzz test: good datagrams with random damage, before
// and after they are sealed.
func TestHostilePackets(t *testing.T) {
	h := newHostile(t, 9)
	for range 400 {
		h.sendHostile(16)
	}
	a := h.tally()
	for i, why := range []error{packet.DropSize, packet.DropFuture, packet.DropStale,
		packet.DropAck, packet.DropSection, packet.DropMessage, packet.DropUnreliable,
		packet.DropFragment, packet.DropReason, packet.DropCommands, netcode.DropSize,
		netcode.DropType, netcode.DropReqSize, netcode.DropReqToken,
		netcode.DropUnknown, netcode.DropAuth} {
		var one tally
		one.add(why, 1)
		for k := range one.drops {
			if one.drops[k] > 0 && a.drops[k] == 0 {
				t.Errorf("%d: %v never came about", i, why)
			}
		}
		for k := range one.refused {
			if one.refused[k] > 0 && a.refused[k] == 0 {
				t.Errorf("%d: %v never came about", i, why)
			}
		}
	}
	h.control.receive()
	h.control.checkUnharmed()
}

// TestBlastLobby sends TICKRATE_BLAST hostile datagrams to a lobby, 20,000 by default. Each batch
// has its own seed.
func TestBlastLobby(t *testing.T) {
	alone(t)
	n := fullOrShort(20_000, 5_000)
	if s := os.Getenv("TICKRATE_BLAST"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("TICKRATE_BLAST=%q: expected a number of datagrams", s)
		}
	}
	const each = 1_000_000 // then another lobby, of another seed
	for seed := uint64(1); n > 0; seed++ {
		h := newHostile(t, 100+seed)
		for sent := 0; sent < min(n, each); sent += 32 {
			h.sendHostile(32)
		}
		h.control.receive()
		h.control.checkUnharmed()
		t.Logf("seed %d: %v", seed, h.tally())
		n -= each
	}
}
