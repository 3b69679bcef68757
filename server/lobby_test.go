package server

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// An invalid configuration is refused with an error that names the field and what was expected.
func TestConfigIsChecked(t *testing.T) {
	for i, c := range []struct {
		cfg  Config
		want string // "" = no error
	}{
		0:  {Config{}, ""},
		1:  {Config{Rules: sim.Rules{Rate: 19}}, "tick rate 19 Hz: expected 20 to 144"},
		2:  {Config{Rules: sim.Rules{Rate: 145}}, "tick rate 145 Hz: expected 20 to 144"},
		3:  {Config{Players: -1}, "-1 players: expected 1 to 4096"},
		4:  {Config{Players: 4097}, "4097 players: expected 1 to 4096"},
		5:  {Config{SendInterval: -1}, "snapshot interval of -1 ticks: expected 1 to 20"},
		6:  {Config{SendInterval: 21}, "snapshot interval of 21 ticks: expected 1 to 20"},
		7:  {Config{SendInterval: 20, Rules: sim.Rules{Rate: 128}, Players: 1}, ""},
		8:  {Config{ArenaName: strings.Repeat("x", 64)}, ""},
		9:  {Config{ArenaName: strings.Repeat("x", 65)}, "expected 1 to 64 bytes of printable text"},
		10: {Config{ArenaName: "map\n"}, `arena name "map\n"`},
		11: {Config{Rules: sim.Rules{RespawnMillis: 249}}, "respawn after 249 ms: expected at least the"},
		12: {Config{Relevance: RelevanceGrid + 1}, "relevance 4: expected auto, off, all or grid"},
		13: {Config{ViewDistance: -1}, "view distance of -1 m: expected 0 to 8000"},
		14: {Config{ViewDistance: float32(math.NaN())}, "view distance of NaN m"},
		15: {Config{Hysteresis: 16}, "hysteresis of 16 snapshots: expected -1 to 15"},
		16: {Config{JoinBytes: 1199}, "1199 bytes of a join snapshot: expected 1200 to 1048576"},
		17: {Config{ChecksumEvery: -2}, "checksum every -2 snapshots: expected 1 to 65536, or -1 for none"},
		18: {Config{CellSize: 0.5}, "cells of 0.5 m: expected 1 to 2000"},
		19: {Config{Relevance: RelevanceGrid, ViewDistance: 30, Hysteresis: -1,
			JoinBytes: 1200, ChecksumEvery: -1, CellSize: 2}, ""},
	} {
		c.cfg.Arena, c.cfg.Netcode = ground(), testNetcodeConfig()
		if c.cfg.ArenaName == "" {
			c.cfg.ArenaName = "arena-16"
		}
		l, err := NewLobby(c.cfg)
		switch {
		case c.want == "" && (err != nil || l == nil):
			t.Errorf("%d: %v", i, err)
		case c.want != "" && (err == nil || l != nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
		if check := c.cfg.Check(); (check == nil) != (err == nil) {
			t.Errorf("%d: Check says %v, NewLobby %v", i, check, err)
		}
	}
	if _, err := NewLobby(Config{}); err == nil || err.Error() != "lobby without an arena" {
		t.Errorf("no arena: %v", err)
	}
	if _, err := NewLobby(Config{Arena: ground()}); err == nil ||
		!strings.Contains(err.Error(), `arena name ""`) {
		t.Errorf("no arena name: %v", err)
	}
	if l, err := NewLobby(Config{Arena: ground(), ArenaName: "arena-16"}); err == nil || l != nil {
		t.Errorf("a netcode server without a key: %v", err)
	}
}

func TestDefaults(t *testing.T) {
	for i, c := range []struct {
		rate     tick.Rate
		interval int
	}{{20, 1}, {30, 2}, {60, 3}, {64, 3}, {128, 6}} {
		cfg, err := Config{Rules: sim.Rules{Rate: c.rate}, Arena: ground(),
			ArenaName: "arena-16"}.withDefaults()
		if err != nil || cfg.SendInterval != c.interval || cfg.Players != 64 ||
			cfg.Netcode.Clients != 64 || cfg.Netcode.ProtocolID != protocol.ProtocolID ||
			cfg.Netcode.PacketsPerSecond != 2*int(c.rate) || cfg.Models.Public == nil {
			t.Errorf("%d: %+v, %v", i, cfg, err)
		}
	}
}

// Every counter and every reason has a unique name.
func TestCountNames(t *testing.T) {
	seen := map[string]bool{}
	name := func(s string) {
		if s == "" || seen[s] {
			t.Errorf("name %q is missing or used twice", s)
		}
		seen[s] = true
	}
	for c := range metrics.NumCounts {
		name(c.String())
	}
	for d := netcode.DropNone + 1; d < netcode.NumDrops; d++ {
		name(d.String())
	}
	for d := packet.DropNone + 1; d < packet.NumDrops; d++ {
		name(d.String())
	}
	for i, c := range map[string]metrics.Count{"rx_datagrams": metrics.Received,
		"amplification_blocked": metrics.AmplificationBlocked, "unbalanced_ticks": metrics.UnbalancedTicks,
		"snapshots_unacked": metrics.SnapshotsUnacked, "lag_switch_suspected": metrics.LagSwitchSuspected,
		"shots_clamped": metrics.ShotsClamped, "flood_kicked": metrics.FloodKicked} {
		if c.String() != i {
			t.Errorf("%s is called %s", i, c)
		}
	}
}

// A full server rejects clients with a reason. Once a player has left, the same token is accepted.
func TestFull(t *testing.T) {
	l := newTestLobby(t, Config{Players: 2})
	a, b := l.joinedClient(), l.joinedClient()
	c := l.newClient("")
	c.beginConnect(nil)
	if c.handshake() || c.netcode.State() != netcode.ConnectionDenied ||
		l.refused(netcode.DropFull) != 1 || l.count(metrics.Joined) != 2 {
		t.Fatalf("%v; %v, %d joined", c.netcode.State(), l.tally(), l.count(metrics.Joined))
	}
	b.leave()
	l.tick()
	c.join()
	if c.id() == b.id() || c.id().Index() != b.id().Index() || l.count(metrics.Left) != 1 {
		t.Fatalf("after a leave: %v; before it was %v", c.id(), b.id())
	}
	a.receive()
	a.checkUnharmed()
	c.checkUnharmed()
}

// The fields of the Welcome match the lobby.
func TestWelcome(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	want := protocol.Welcome{Version: protocol.Version, Schema: netstate.SchemaHash(),
		Model: netstate.Trained().Hash(), NetID: 0x001, TickRate: 60,
		SendInterval: 3, Tick: c.welcome.Tick, MaxPlayers: 8, ArenaHash: ground().Hash(),
		ArenaName: "arena-16"}
	if c.welcome != want || tick.Tick(c.welcome.Tick)+1 != l.lobby.match.Tick() {
		t.Errorf("%+v at tick %d, want %+v", c.welcome, l.lobby.match.Tick(), want)
	}
	c.checkUnharmed()
}

// The Welcome is sent again until it is acknowledged, and is the first message that a client
// receives.
func TestWelcomeUntilAcked(t *testing.T) {
	l := newTestLobby(t, Config{})
	control := l.joinedClient()
	c := l.newClient("")
	c.beginConnect(nil)
	c.handshake()
	c.received() // it came and was lost
	g := &l.lobby.conns[1]
	for i := range 3 {
		l.lobby.outbound.queueEvent(g,
			&sim.Event{Kind: sim.EventKill, Actor: control.id(), Victim: control.id(), Tick: tick.Tick(i)})
	}
	welcomes := 0
	for range 120 {
		control.play()
		l.tick()
		for _, d := range c.received() {
			pkt, err := c.netcode.Receive(l.now, testAddr, d, &c.outbox)
			if err != nil {
				t.Fatal(err)
			}
			if pkt != nil && packet.SectionOf(pkt[packet.HeaderSize:]) != packet.SectionReliable {
				t.Fatalf("before the Ready came %x", pkt)
			}
			if pkt != nil {
				welcomes++
			}
			if welcomes > 4 && len(c.messages) < 4 && pkt != nil {
				c.receivePacket(pkt)
			}
		}
	}
	if welcomes < 14 || welcomes > 18 || len(c.messages) != 4 || c.welcome.NetID != uint32(g.id) ||
		g.session.peer.ReliablePending() != 4 {
		t.Fatalf("%d packets in two seconds, each with half of the messages; heard %x, %d queued",
			welcomes, c.messages, g.session.peer.ReliablePending())
	}
	c.controlPackets = 0
	c.sendSections() // acks and no more: it is not ready
	for range 120 {
		control.play()
		l.tick()
		if s := c.receive(); s != nil {
			t.Fatalf("snapshots before the Ready: %x", s)
		}
	}
	if g.session.peer.ReliablePending() != 0 || len(c.messages) != 4 || c.controlPackets != 0 {
		t.Errorf("%d still queued, %d packets more", g.session.peer.ReliablePending(), c.controlPackets)
	}
	c.ready()
	c.sendSections()
	l.ticks(3)
	if n := len(c.receive()); n != 1 {
		t.Errorf("%d snapshots within the three ticks after the Ready", n)
	}
	c.checkUnharmed()
	control.checkUnharmed()
}

// A client that is not ready in time is dismissed. One that is ready at the last moment stays.
func TestReadyWithin(t *testing.T) {
	l := newTestLobby(t, Config{})
	late, just := l.newClient(""), l.newClient("")
	late.connect(nil)
	just.connect(nil)
	limit := int(readyWithin/time.Second) * 60
	began := l.lobby.conns[late.id().Index()].session.since
	for l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick()+1)-began < readyWithin {
		late.receive()
		just.receive()
		if l.lobby.match.Tick()%30 == 0 {
			late.sendSections()
			just.sendSections()
		}
		l.tick()
		if l.count(metrics.Disconnected) != 0 {
			t.Fatalf("sent away after %v of %d ticks", l.now-began, limit)
		}
	}
	just.ready()
	just.sendSections()
	l.tick()
	late.receive()
	why, closed := late.peer.Closed()
	if !closed || why != packet.ReasonTimeout || late.closes != packet.CloseRepeats ||
		late.netcode.State() != netcode.Disconnected || l.count(metrics.Disconnected) != 1 {
		t.Errorf("closed %v for %v, %d times; %v; %d dismissed", closed, why,
			late.closes, late.netcode.State(), l.count(metrics.Disconnected))
	}
	l.ticks(2)
	if l.lobby.match.Vital(late.id()) != nil || l.lobby.port.netcode.Connected() != 1 {
		t.Errorf("%d sessions", l.lobby.port.netcode.Connected())
	}
	just.checkUnharmed()
}

// Lost datagrams of the handshake do no harm: requests and responses are repeated, and one session
// results.
func TestHandshakeRepeated(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.newClient("")
	c.beginConnect(nil)
	c.netcode.Update(l.now, &c.outbox)
	_, d := c.outbox.At(0)
	request := bytes.Clone(d)
	for range 3 {
		c.send(request)
	}
	c.outbox.Reset()
	l.tick()
	challenges := c.received()
	if len(challenges) != 3 {
		t.Fatalf("%d challenges", len(challenges))
	}
	for _, d := range challenges[:2] {
		_, _ = c.netcode.Receive(l.now, testAddr, d, &c.outbox) // the second is not waited for
	}
	_, d = c.outbox.At(0)
	response := bytes.Clone(d)
	for range 3 {
		c.send(response)
	}
	c.send(request)
	c.outbox.Reset()
	l.tick()
	if l.count(metrics.Joined) != 1 || l.refused(netcode.DropRespConnected) != 2 ||
		l.refused(netcode.DropReqConnected) != 1 {
		t.Errorf("%d joined; %v", l.count(metrics.Joined), l.tally())
	}
	c.receive()
	c.ready()
	l.tick()
	c.checkUnharmed()
	c.send(request) // much later
	c.send(response)
	l.tick()
	if l.count(metrics.Joined) != 1 {
		t.Errorf("%d joined", l.count(metrics.Joined))
	}
	c.checkUnharmed()
}

// A new token of a client from the address of its session is ignored while the session is alive.
// After a second of silence it takes the session over and keeps the player.
func TestReconnectFromTheSameAddress(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	c.playTicks(5)
	old, dial, peer := c.id(), c.netcode, c.peer
	c.beginConnect(nil)
	if c.update(); l.count(metrics.Joined) != 1 {
		t.Fatal("joined twice")
	}
	l.ticks(55) // less than a second since it was heard
	if c.received(); l.refused(netcode.DropReqConnected) != 1 || l.lobby.port.netcode.PendingHandshakes() != 0 {
		t.Fatalf("let in beside itself: %v", l.tally())
	}
	l.ticks(6)
	c.beginConnect(nil)
	if !c.handshake() || l.count(metrics.Joined) != 1 || l.count(metrics.Reconnected) != 1 ||
		l.lobby.port.netcode.Counters().Takeovers != 1 {
		t.Fatalf("after a second: %v, %d joined, %d returned", c.netcode.State(),
			l.count(metrics.Joined), l.count(metrics.Reconnected))
	}
	l.tick()
	c.receive()
	if c.id() != old || len(l.lobby.live) != 1 || l.lobby.match.World.Len() != 1 {
		t.Errorf("%v, was %v; %d connections, %d players", c.id(), old, len(l.lobby.live),
			l.lobby.match.World.Len())
	}
	p, _ := peer.Append(l.now, nil)
	d, _ := dial.Seal(l.now, p, nil)
	c.send(d) // of the old session
	l.tick()
	if l.refused(netcode.DropAuth) != 1 {
		t.Errorf("%v", l.tally())
	}
	c.ready()
	c.checkUnharmed()
}

// Leaving and joining again makes another player. Commands of a session that the client has not
// confirmed are refused.
func TestLeaveAndJoinAtOnce(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	c.playTicks(3)
	old := c.id()
	c.leave()
	c.beginConnect(nil)
	c.update()
	l.tick()
	c.received() // the challenge comes with a tick; by then the old session is gone
	c.join()
	if c.id() == old || l.count(metrics.Left) != 1 || l.count(metrics.Joined) != 2 ||
		l.count(metrics.Reconnected) != 0 {
		t.Errorf("%v, was %v; %d left", c.id(), old, l.count(metrics.Left))
	}
	c.checkUnharmed()
	if l.lobby.match.World.Len() != 1 {
		t.Errorf("%d players", l.lobby.match.World.Len())
	}
}

// A session ends exactly after its token's timeout of silence. Any packet keeps it alive.
func TestRow28SilentPeerRemoved(t *testing.T) {
	for _, seconds := range []int32{1, 5, 10} {
		l := newTestLobby(t, Config{})
		silent, quiet := l.newClient(""), l.newClient("")
		for _, c := range []*testClient{silent, quiet} {
			c.connect(func(m *netcode.Mint) { m.TimeoutSeconds = seconds })
			c.ready()
		}
		silent.sendSections()
		quiet.sendSections()
		l.tick()
		heard := l.now
		for l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick()+1)-heard < time.Duration(seconds)*time.Second {
			if l.lobby.match.Tick()%30 == 0 {
				quiet.play()
			}
			l.tick()
			if l.count(metrics.TimedOut) != 0 {
				t.Fatalf("timeout %d s: gone after %v", seconds, l.now-heard)
			}
		}
		l.tick()
		if l.count(metrics.TimedOut) != 1 || len(l.lobby.live) != 1 ||
			l.lobby.match.Vital(silent.id()) == nil {
			t.Errorf("timeout %d s: %d timed out after %v", seconds, l.count(metrics.TimedOut), l.now-heard)
		}
		silent.sendSections()
		l.tick()
		if l.refused(netcode.DropUnknown) != 1 {
			t.Errorf("its late packet: %v", l.tally())
		}
		quiet.receive()
		quiet.checkUnharmed()
	}
}

// A closing lobby sends each client enough disconnects and admits no client.
func TestClose(t *testing.T) {
	l := newTestLobby(t, Config{})
	a, b, c := l.joinedClient(), l.joinedClient(), l.newClient("")
	a.sendSections()
	l.tick() // a is known to hear us, b is not
	c.beginConnect(nil)
	c.update()
	l.tick()
	if err := l.lobby.Close(l.now, l.conn, packet.ReasonClosing); err != nil {
		t.Fatal(err)
	}
	for i, who := range []*testClient{a, b} {
		who.receive()
		if why, closed := who.peer.Closed(); who.closes != packet.CloseRepeats ||
			!closed || why != packet.ReasonClosing || who.netcode.State() != netcode.Disconnected {
			t.Errorf("%d heard %d goodbyes, %v; %v", i, who.closes, why, who.netcode.State())
		}
	}
	c.receive() // the challenge, which it answers
	l.tick()
	c.receive()
	if c.netcode.State() != netcode.ConnectionDenied || l.refused(netcode.DropClosing) != 1 {
		t.Errorf("a closing lobby let somebody in: %v; %v", c.netcode.State(), l.tally())
	}
	if l.ticks(2); l.lobby.match.World.Len() != 0 || l.lobby.port.netcode.Connected() != 0 ||
		l.count(metrics.Disconnected) != 2 {
		t.Errorf("%d players, %d sessions", l.lobby.match.World.Len(), l.lobby.port.netcode.Connected())
	}
}

// clientLobby is a lobby with real clients.
type clientLobby struct {
	*testLobby
	players    []*client.Client
	endpoints  []*testClient
	dropUplink bool // nothing that the clients send arrives
	brain      func(n int) client.Intent
}

func newClientLobby(t testing.TB, players int, cfg Config) *clientLobby {
	b := &clientLobby{testLobby: newTestLobby(t, cfg)}
	b.brain = func(n int) client.Intent {
		return client.Intent{MoveMag: 255, MoveYaw: uint8(n * 60),
			Buttons: sim.Buttons(b.lobby.match.Tick() >> 5)}
	}
	for range players {
		b.addClient(client.Config{}, nil)
	}
	return b
}

// addClient adds a real client at a new address.
func (b *clientLobby) addClient(cfg client.Config, change func(*netcode.Mint)) *client.Client {
	b.t.Helper()
	if change == nil {
		change = func(m *netcode.Mint) { m.TimeoutSeconds = 10 }
	}
	end := b.newClient("")
	cfg.Token, cfg.Rules, cfg.Arena = b.mint(end.user, change), b.lobby.cfg.Rules, onGround
	p, err := client.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.players, b.endpoints = append(b.players, p), append(b.endpoints, end)
	return p
}

func onGround(string, [32]byte) (*arena.Arena, error) { return ground(), nil }

func (b *clientLobby) play(seconds int) {
	b.t.Helper()
	for range seconds * int(b.lobby.cfg.Rules.Rate) {
		b.tickAll()
	}
}

// tickAll runs a tick of the lobby and of all clients.
func (b *clientLobby) tickAll() {
	b.t.Helper()
	b.tick()
	b.exchange()
}

// exchange lets all clients receive, advance and send, once between two ticks.
func (b *clientLobby) exchange() {
	b.t.Helper()
	for n, p := range b.players {
		for _, d := range b.endpoints[n].received() {
			// what follows the end
			if err := p.Receive(b.now, d); err != nil && err != packet.DropClosed &&
				err != netcode.DropState {
				b.t.Fatalf("client %d: %v", n, err)
			}
		}
		for due := p.Advance(b.now); due > 0; due-- {
			p.Command(b.brain(n))
		}
		out := p.Outgoing(b.now)
		for i := range out.Len() {
			if _, d := out.At(i); !b.dropUplink {
				b.endpoints[n].send(d)
			}
		}
	}
}

// Real clients play three seconds at every tick rate: after the join no command is missed and
// nothing is mispredicted.
func TestRates(t *testing.T) {
	for i, c := range []struct {
		rate     tick.Rate
		interval int
	}{{20, 0}, {60, 0}, {128, 0}, {60, 1}, {128, 20}} {
		b := newClientLobby(t, 4, Config{Rules: sim.Rules{Rate: c.rate, Seed: 5}, SendInterval: c.interval})
		b.play(2)
		used, missing := b.count(metrics.InputsUsed), b.count(metrics.InputsMissing)
		b.play(3)
		want := uint64(3*4*int(c.rate)) - 4
		if got := b.count(metrics.InputsUsed) - used; got < want ||
			b.count(metrics.InputsMissing) != missing {
			t.Errorf("%d: %d Hz: %d commands used of %d, %d missing", i, c.rate,
				got, want, b.count(metrics.InputsMissing)-missing)
		}
		for n, p := range b.players {
			s := p.Stats()
			if state, _ := p.State(); state != client.Joined ||
				s.Prediction.Mispredictions != 0 || s.Undecoded != 0 || s.Prediction.Rows == 0 {
				t.Errorf("%d: %d Hz, client %d is %v: %+v", i, c.rate, n, state, s)
			}
		}
	}
}

// Clients whose uplink is dead for five seconds get probes only. Once they are heard again they
// decode everything: baselines count send intervals, also those in which nothing was sent.
func TestAckStall(t *testing.T) {
	b := newClientLobby(t, 3, Config{})
	b.play(2)
	sent := b.count(metrics.Sent)
	b.dropUplink = true
	b.play(5)
	if n := b.count(metrics.Sent) - sent; n > 3*(2*20+4*5+20) {
		t.Errorf("%d datagrams to three who are not heard", n)
	}
	b.dropUplink = false
	sent = b.count(metrics.Sent)
	b.play(2)
	if n := b.count(metrics.Sent) - sent; n < 3*35 {
		t.Errorf("only %d datagrams once they are heard again", n)
	}
	for n, p := range b.players {
		s := p.Stats()
		if state, _ := p.State(); state != client.Joined || s.Undecoded != 0 || s.Resyncs != 0 {
			t.Errorf("client %d is %v: %+v", n, state, s)
		}
	}
}

// Models that no client accepts are refused when the lobby is made, not when the first client asks.
func TestModelsTooLargeAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var samples [][]byte
	for range 400 {
		s := bytes.Repeat([]byte("a row of a block, "), 4)
		for range 128 {
			s = append(s, byte(random.Uint32()))
		}
		samples = append(samples, s)
	}
	large := dict.TrainBlocks(samples, 16<<10-2000)
	d, err := schema.NewDictionaries(large, large)
	if err != nil || len(large) < 10<<10 {
		t.Fatalf("a dictionary of %d bytes: %v", len(large), err)
	}
	m := netstate.Trained().WithDictionaries(netstate.Dictionaries{Public: d, Objects: d})
	for codec, want := range map[schema.Codec]string{schema.Huffman: "",
		schema.HuffmanZstd: "expected at most 65536, as clients accept no more"} {
		cfg := Config{Arena: ground(), ArenaName: "arena-16", Netcode: testNetcodeConfig(), Models: m, Codec: codec}
		if _, err := NewLobby(cfg); want == "" && err != nil || want != "" && (err == nil ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %q", codec, err, want)
		}
	}
}
