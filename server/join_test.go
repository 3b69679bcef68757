package server

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
)

// awaitTimeouts runs until a number of sessions has timed out, while the given clients play on.
func (l *testLobby) awaitTimeouts(timedOut int, playing ...*testClient) {
	l.t.Helper()
	for range 15 * 60 {
		if l.count(metrics.TimedOut) == uint64(timedOut) {
			return
		}
		for _, c := range playing {
			c.play()
		}
		l.tick()
	}
	l.t.Fatalf("%d of %d timed out within 15 s", l.count(metrics.TimedOut), timedOut)
}

// A client that reconnects within ReconnectGrace gets its player back with its score. Later it
// gets a new player.
func TestReconnectGrace(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, c := l.joinedClient(), l.joinedClient()
	c.playTicks(30)
	old := c.id()
	l.lobby.match.Vital(old).Kills = 7
	l.awaitTimeouts(1, control)
	motion, _, _ := l.lobby.match.Self(old)
	pos := motion.Pos
	for range 20 * 60 {
		control.play()
		l.tick()
	}
	if l.lobby.match.Vital(old) == nil || len(l.lobby.live) != 1 || len(l.lobby.reconnectable) != 1 {
		t.Fatalf("after 20 s: %d live, %d away", len(l.lobby.live), len(l.lobby.reconnectable))
	}
	c.conn.Close()
	c.rebind("10.9.0.1:5000")
	c.join()
	if c.id() != old || l.count(metrics.Reconnected) != 1 || l.count(metrics.Joined) != 3 ||
		len(l.lobby.reconnectable) != 0 || l.lobby.match.Vital(old).Kills != 7 {
		t.Fatalf("%v, was %v; %d returned, %d joined, kills %d", c.id(), old,
			l.count(metrics.Reconnected), l.count(metrics.Joined), l.lobby.match.Vital(old).Kills)
	}
	if motion, _, _ = l.lobby.match.Self(old); motion.Pos != pos {
		t.Errorf("it went from %v to %v while nobody played it", pos, motion.Pos)
	}
	c.checkUnharmed()
	l.tick()
	for _, slot := range l.lobby.live { // now, and not with its next commands
		l.lobby.tally(&l.lobby.conns[slot])
	}
	l.lobby.account.pending.Flush(&l.lobby.Stats)
	if used := control.commandCounts().Used + c.commandCounts().Used; l.count(metrics.InputsUsed) != used {
		t.Errorf("%d commands used, by the inboxes %d", l.count(metrics.InputsUsed), used)
	}

	control.receive()
	l.awaitTimeouts(2, control)
	parted := l.now
	for l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick()+1)-parted < ReconnectGrace {
		control.play()
		if l.tick(); l.lobby.match.Vital(old) == nil {
			t.Fatalf("gone after %v", l.now-parted)
		}
	}
	control.play()
	l.tick()
	if l.lobby.match.Vital(old) != nil || len(l.lobby.reconnectable) != 0 {
		t.Errorf("still there after %v", l.now-parted)
	}
	c.join()
	if c.id() == old || l.count(metrics.Reconnected) != 1 {
		t.Errorf("%v again after %v", c.id(), l.now-parted)
	}
	c.checkUnharmed()
	control.receive()
	control.checkUnharmed()
}

// A client that is refused as it comes back loses nothing: its player stays until the grace ends, and no
// longer.
func TestRefusedReconnectKeepsThePlayer(t *testing.T) {
	l := newTestLobby(t, Config{Players: 3, Spectators: 1})
	control, c := l.joinedClient(), l.newClient("10.9.0.2:5000")
	c.connect(spectator)
	c.ready()
	c.playTicks(30)
	l.awaitTimeouts(1, control)
	l.lobby.SetLoadLevel(overload.NoSpectators)
	c.rebind("10.9.0.1:5000")
	c.beginConnect(spectator)
	c.handshake()
	for range 30 {
		control.play()
		l.tick()
	}
	if len(l.lobby.reconnectable) != 1 || l.lobby.match.World.Len() != 2 || len(l.lobby.live) != 1 {
		t.Errorf("%d kept, %d live, %d in the match", len(l.lobby.reconnectable), len(l.lobby.live),
			l.lobby.match.World.Len())
	}
	for range 31 * 60 {
		control.play()
		l.tick()
	}
	if n := l.lobby.match.World.Len(); n != 1 {
		t.Errorf("%d in the match after %v", n, ReconnectGrace)
	}
}

// Players kept for a reconnect give way to new clients, in the order in which they timed out. The
// others stay for their clients.
func TestReconnectableGiveWay(t *testing.T) {
	l := newTestLobby(t, Config{Players: 3})
	control := l.joinedClient()
	first := l.joinedClient()
	first.sendSections()
	control.playTicks(60)
	second := l.joinedClient()
	second.sendSections()
	l.awaitTimeouts(2, control)
	if len(l.lobby.reconnectable) != 2 || l.lobby.conns[l.lobby.reconnectable[0]].id != first.id() {
		t.Fatalf("away: %v", l.lobby.reconnectable)
	}
	third := l.joinedClient()
	l.tick()
	if third.id().Index() != first.id().Index() || third.id() == first.id() ||
		l.lobby.match.Vital(second.id()) == nil || l.lobby.match.Vital(first.id()) != nil {
		t.Errorf("%v came for %v, %v waits", third.id(), first.id(), second.id())
	}
	old := second.id()
	second.join()
	if second.id() != old || l.count(metrics.Reconnected) != 1 {
		t.Errorf("%v, was %v", second.id(), old)
	}
	first.beginConnect(nil)
	if first.handshake() || first.netcode.State() != netcode.ConnectionDenied {
		t.Errorf("a fourth of three is %v", first.netcode.State())
	}
	for _, c := range []*testClient{control, second, third} {
		c.receive()
	}
	for range 60 {
		for _, c := range []*testClient{control, second, third} {
			c.play()
		}
		l.tick()
	}
	for i, c := range []*testClient{control, second, third} {
		if n := c.commandCounts(); n.Used < 59 {
			t.Errorf("%d: %+v", i, n)
		}
	}
}

// A client that joins while another leaves gets that slot. Players kept for a reconnect stay.
func TestLeaversGoBeforeReconnectable(t *testing.T) {
	l := newTestLobby(t, Config{Players: 2})
	absent := l.joinedClient()
	absent.sendSections()
	l.awaitTimeouts(1)
	leaver, c := l.joinedClient(), l.newClient("")
	response := c.respond()
	leaver.leave()
	c.send(response)
	l.ticks(2)
	c.receive()
	if c.id().Index() != leaver.id().Index() || l.lobby.match.Vital(absent.id()) == nil ||
		len(l.lobby.reconnectable) != 1 {
		t.Errorf("%v came, %v left, %d away", c.id(), leaver.id(), len(l.lobby.reconnectable))
	}
}

// All sessions end and as many new clients join at once: each gets a player within a few ticks.
func TestReconnectableMakeRoomForMany(t *testing.T) {
	const players = 12
	l := newTestLobby(t, Config{Players: players})
	for range players {
		l.joinedClient().sendSections()
	}
	l.awaitTimeouts(players)
	var fresh []*testClient
	for range players {
		c := l.newClient("")
		c.beginConnect(nil)
		fresh = append(fresh, c)
	}
	for range 2 + 2*players {
		for _, c := range fresh {
			c.update()
			c.receive()
		}
		l.tick()
	}
	seen := map[int]bool{}
	for i, c := range fresh {
		c.receive()
		if c.welcome.Version == 0 || seen[c.id().Index()] {
			t.Errorf("%d has no player of its own: %+v", i, c.welcome)
		}
		seen[c.id().Index()] = true
	}
	if l.lobby.match.World.Len() != players || len(l.lobby.reconnectable) != 0 ||
		len(l.lobby.join.arrivals) != 0 {
		t.Errorf("%d players, %d away, %d waiting", l.lobby.match.World.Len(),
			len(l.lobby.reconnectable), len(l.lobby.join.arrivals))
	}
}

// Commands that a client sent ahead are not played once another session has taken the player over.
func TestTakeoverDropsWaitingCommands(t *testing.T) {
	l := newTestLobby(t, Config{Rules: sim.Rules{Rate: 20}})
	c := l.joinedClient()
	c.playTicks(10)
	old, ahead := c.id(), l.lobby.match.Tick()+64
	c.sendSections(section(sim.Command{Tick: ahead, MoveMag: 255})...)
	l.ticks(30)
	used := l.lobby.match.CommandBuffer(old).Count.Used
	c.rebind("10.9.0.2:5000")
	c.beginConnect(nil)
	for range 40 {
		c.update()
		l.tick()
		c.receive()
	}
	inbox := l.lobby.match.CommandBuffer(c.id())
	if c.id() != old || l.count(metrics.Reconnected) != 1 || l.lobby.match.Tick() < ahead {
		t.Fatalf("%v, was %v; %d reconnected, tick %d of %d", c.id(), old, l.count(metrics.Reconnected),
			l.lobby.match.Tick(), ahead)
	}
	if inbox.Count.Used != used || inbox.Lead(l.lobby.match.Tick()) >= 0 {
		t.Errorf("%d commands used of %d, lead %d", inbox.Count.Used, used, inbox.Lead(l.lobby.match.Tick()))
	}
}

// A fresh token of a client whose session was silent for a second takes the session over, from
// another address. The player stays, and the old session is gone.
func TestTakeover(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, c := l.joinedClient(), l.joinedClient()
	control.play()
	c.playTicks(10)
	old, was, sock := c.id(), c.netcode, c.conn
	for range 70 {
		control.play()
		l.tick()
	}
	c.rebind("10.9.0.2:5000")
	c.beginConnect(nil)
	for range 4 {
		c.update()
		control.play()
		l.tick()
		c.receive()
	}
	if c.id() != old || l.count(metrics.Reconnected) != 1 || l.count(metrics.Takeovers) != 1 ||
		l.count(metrics.Joined) != 2 || l.count(metrics.TimedOut)+l.count(metrics.Left) != 0 {
		t.Fatalf("%v, was %v; %d returned, %d joined", c.id(), old,
			l.count(metrics.Reconnected), l.count(metrics.Joined))
	}
	now := c.conn
	c.conn = sock
	c.received()
	p, err := was.Seal(l.now, make([]byte, packet.HeaderSize), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.send(p)
	c.conn = now
	c.ready()
	before := l.refused(netcode.DropUnknown)
	control.receive()
	c.checkUnharmed()
	c.conn = sock
	if d := c.received(); d != nil || l.refused(netcode.DropUnknown) != before+1 {
		t.Errorf("%d datagrams to where the session was; %v", len(d), l.tally())
	}
	control.receive()
	control.checkUnharmed()
}

// respond plays the handshake up to the response and returns that datagram.
func (c *testClient) respond() []byte {
	c.host.t.Helper()
	c.beginConnect(nil)
	c.update()
	c.host.tick()
	for _, d := range c.received() {
		if _, err := c.netcode.Receive(c.host.now, testAddr, d, &c.outbox); err != nil {
			c.host.t.Fatal(err)
		}
	}
	_, d := c.outbox.At(0)
	d = bytes.Clone(d)
	c.outbox.Reset()
	return d
}

// In one batch, a connection sends an error that ends its session, its client disconnects, and
// another client gets its netcode slot: the new client is not affected.
func TestSlotUsedAgainInOneBatch(t *testing.T) {
	for _, dismissed := range []bool{true, false} {
		l := newTestLobby(t, Config{Players: 2})
		a, b := l.newClient(""), l.newClient("")
		a.connect(nil)
		slot := l.lobby.conns[a.id().Index()].session.client
		response := b.respond()
		a.receive()
		r := l.goodReady()
		if dismissed {
			r.Version++
		}
		a.queueReliable(r.Append(nil))
		a.sendSections()
		a.leave()
		b.send(response)
		l.tick()
		s, ok := l.lobby.port.netcode.Session(int(slot))
		if !ok || s.ClientID != b.user || l.count(metrics.Joined) != 2 {
			t.Fatalf("slot %d is %v's, %d joined: the case did not come about",
				slot, s.ClientID, l.count(metrics.Joined))
		}
		gone := l.count(metrics.Left)
		if dismissed {
			gone = l.count(metrics.Disconnected)
		}
		if gone != 1 || l.count(metrics.Left)+l.count(metrics.Disconnected) != 1 || a.received() != nil {
			t.Errorf("%d left, %d dismissed", l.count(metrics.Left), l.count(metrics.Disconnected))
		}
		b.receive()
		if b.netcode.State() != netcode.Connected || b.id() == a.id() ||
			l.lobby.port.routes[slot].slot != int32(b.id().Index()) {
			t.Fatalf("%v, %+v", b.netcode.State(), b.welcome)
		}
		b.ready()
		b.checkUnharmed()
		if l.lobby.match.World.Len() != 1 || len(l.lobby.live) != 1 {
			t.Errorf("%d players, %d connections", l.lobby.match.World.Len(), len(l.lobby.live))
		}
	}
}

// Clients that join and leave within one tick, with or without a player, leave no state behind.
func TestArrivalsThatLeaveInOneTick(t *testing.T) {
	for _, absent := range []bool{false, true} { // an absent player has the only place till the tick's end
		l := newTestLobby(t, Config{Players: 1})
		if absent {
			l.joinedClient().sendSections()
			l.awaitTimeouts(1)
		}
		b := l.newClient("")
		response := b.respond()
		joined, left := l.count(metrics.Joined), l.count(metrics.Left)
		b.send(response)
		for range netio.BatchSize { // the goodbye shall be in a later batch
			b.send([]byte{0x15})
		}
		b.netcode.Disconnect(l.now, &b.outbox)
		b.flushOutbox()
		l.tick()
		if l.count(metrics.Joined)-joined != l.count(metrics.Left)-left ||
			(l.count(metrics.Joined) == joined) != absent || len(l.lobby.join.arrivals) != 0 {
			t.Errorf("absent %v: %d joined, %d left, %d waiting", absent,
				l.count(metrics.Joined)-joined, l.count(metrics.Left)-left, len(l.lobby.join.arrivals))
		}
		l.ticks(2)
		if n := l.lobby.match.World.Len(); n != len(l.lobby.live) || l.lobby.port.netcode.Connected() != n {
			t.Errorf("absent %v: %d in the match, %d live, %d sessions", absent,
				n, len(l.lobby.live), l.lobby.port.netcode.Connected())
		}
		l.joinedClient().checkUnharmed()
	}
}

// A client leaves before it has a player, and its slot in netcode is reused at once: the new client
// gets one player.
func TestArrivalWhoseSlotIsUsedAgain(t *testing.T) {
	l := newTestLobby(t, Config{Players: 2})
	l.joinedClient().sendSections()
	l.tick()
	l.joinedClient().sendSections()
	l.awaitTimeouts(2)
	b, c := l.newClient(""), l.newClient("")
	first, second := b.respond(), c.respond()
	b.send(first)
	for range netio.BatchSize {
		b.send([]byte{0x15})
	}
	b.netcode.Disconnect(l.now, &b.outbox)
	b.flushOutbox()
	c.send(second)
	l.ticks(3)
	c.receive()
	if c.welcome.Version == 0 || l.count(metrics.Joined) != 3 || len(l.lobby.live) != 1 ||
		len(l.lobby.join.arrivals) != 0 {
		t.Fatalf("%+v; %d joined, %d live, %d waiting", c.welcome, l.count(metrics.Joined),
			len(l.lobby.live), len(l.lobby.join.arrivals))
	}
	c.ready()
	c.checkUnharmed()
}

// A client whose address changes keeps its session: the lobby sends to the new address only, and a
// client whose commands lead by the duration of the change loses no tick.
func TestAddressChange(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, c := l.joinedClient(), l.newClient("")
	c.start(l.mint(c.user, nil), netcode.ClientConfig{Roam: true, ProbeAfter: 40 * time.Millisecond})
	c.handshake()
	c.receive()
	c.ready()
	old := c.conn
	turn := func() int {
		n := len(c.receive())
		var cmds []sim.Command
		for i := range tick.Tick(16) {
			if at := l.lobby.match.Tick() + 1 + i; at > 8 {
				cmds = append(cmds, sim.Command{Tick: at, MoveMag: 255})
			}
		}
		c.sendSections(section(cmds...)...)
		c.update()
		control.play()
		l.tick()
		return n
	}
	for range 60 {
		turn()
	}
	before, id := c.commandCounts(), c.id()
	for move := range 3 {
		c.rebind("10.9.1." + string(rune('1'+move)) + ":6000")
		for ticks := 0; c.state().session.addr != c.addr(); ticks++ {
			if turn(); ticks > 12 {
				t.Fatalf("%d: still at %v after %d ticks: %v", move, c.state().session.addr, ticks, l.tally())
			}
		}
		now := c.conn
		c.conn = old
		c.received()
		c.conn, old = now, now
		snapshots := 0
		for range 60 {
			snapshots += turn()
		}
		if snapshots < 19 {
			t.Errorf("%d: %d snapshots in a second at the new address", move, snapshots)
		}
	}
	after := c.commandCounts()
	if after.Missing != before.Missing || c.id() != id || l.count(metrics.Joined) != 2 ||
		l.lobby.port.netcode.Counters().Migrations != 3 || l.count(metrics.Migrated) != 3 {
		t.Errorf("%d ticks lost; %v, was %v; %d moves", after.Missing-before.Missing,
			c.id(), id, l.lobby.port.netcode.Counters().Migrations)
	}
	control.receive()
	control.checkUnharmed()
}

// A real client whose address changes plays on, with the same player, and decodes everything.
func TestAddressChangeOfARealClient(t *testing.T) {
	b := newClientLobby(t, 2, Config{})
	b.play(3)
	id, used := b.players[0].ID(), b.count(metrics.InputsUsed)
	var before []client.Stats
	for _, p := range b.players {
		before = append(before, p.Stats())
	}
	b.endpoints[0].rebind("10.9.2.1:6000")
	b.play(2)
	p, s := b.players[0], b.players[0].Stats()
	if state, _ := p.State(); state != client.Joined || p.ID() != id ||
		s.Undecoded+s.Resyncs != 0 || b.lobby.port.netcode.Counters().Migrations != 1 {
		t.Errorf("%v, %v was %v; %+v", state, p.ID(), id, s)
	}
	// It is silent for 250 ms before it thinks of its address, and then two ticks away.
	if lost := 2*120 - int(b.count(metrics.InputsUsed)-used); lost > 15+8 {
		t.Errorf("%d ticks lost", lost)
	}
	other := b.players[1].Stats()
	if other.InputsMissing != before[1].InputsMissing || other.Prediction.Mispredictions != 0 {
		t.Errorf("the other client: %+v", other)
	}
}

// The last slots of a lobby of 4096 work like the first.
func TestMostPlayers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 100 MB")
	}
	l := newTestLobby(t, Config{Players: MaxPlayers})
	control := l.joinedClient()
	for range MaxPlayers - 2 { // players without sessions: only the last place is left
		if l.lobby.match.Join() == 0 {
			t.Fatal("no place")
		}
	}
	control.playTicks(2)
	last := l.joinedClient()
	control.playTicks(2)
	last.receive()
	last.sendSections()
	control.playTicks(2)
	if last.id().Index() != MaxPlayers-1 || last.welcome.MaxPlayers != MaxPlayers {
		t.Fatalf("%v, %+v", last.id(), last.welcome)
	}
	full := l.newClient("")
	full.beginConnect(nil)
	for range 4 {
		full.update()
		control.play()
		last.play()
		l.tick()
		full.receive()
	}
	if full.welcome.Version != 0 || len(l.lobby.join.arrivals) != 1 {
		t.Errorf("one more came in: %+v", full.welcome)
	}
	for i, c := range []*testClient{control, last} {
		if n := c.commandCounts(); n.Missing > 4 || c.state().repl.acks.newest+8 < l.lobby.match.Tick() {
			t.Errorf("%d: %+v, acked %d at %d", i, n, c.state().repl.acks.newest, l.lobby.match.Tick())
		}
	}
	last.leave()
	control.play()
	l.ticks(2)
	if full.receive(); full.id().Index() != MaxPlayers-1 {
		t.Errorf("%v after the last has left", full.id())
	}
}

// The balance of the counters is checked in every tick, and an error in it is counted.
func TestBalanceIsChecked(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	c.playTicks(5)
	l.lobby.Stats.Count[metrics.Accepted].Inc()
	c.play()
	if err := l.lobby.Tick(l.now, l.unix(), l.conn); err != nil || l.count(metrics.UnbalancedTicks) != 1 {
		t.Errorf("%d ticks unbalanced, %v", l.count(metrics.UnbalancedTicks), err)
	}
}

// A tick of playing clients allocates nothing, with or without a rejected connection.
func TestSteadyTickAllocatesNothing(t *testing.T) {
	l := newTestLobby(t, Config{})
	var callers []*testClient
	for range 6 {
		callers = append(callers, l.joinedClient())
	}
	stranger := l.newClient("")
	least := ^uint64(0)
	for range 4 { // now and then the runtime allocates something itself, but not in each round
		least = min(least, l.allocates(100, func() {
			for _, c := range callers {
				c.play()
			}
			stranger.send(bytes.Repeat([]byte{0x15}, 30))
			request := make([]byte, 1078)
			copy(request[1:], "NETCODE 1.02\x00")
			stranger.send(request)
		}))
	}
	if least != 0 {
		t.Errorf("%d allocations in 100 ticks", least)
	}
	if l.count(metrics.InputsMissing) > 6 || l.count(metrics.Snapshots) < 6*130 ||
		l.refused(netcode.DropUnknown) != 400 {
		t.Errorf("%d inputs missing, %d snapshots; %v", l.count(metrics.InputsMissing),
			l.count(metrics.Snapshots), l.tally())
	}
}

// allocates counts the allocations of n ticks, without those of before.
func (l *testLobby) allocates(n int, before func()) (allocs uint64) {
	l.t.Helper()
	var a, b runtime.MemStats
	for range n {
		before()
		l.now = l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick() + 1)
		runtime.ReadMemStats(&a)
		err := l.lobby.Tick(l.now, l.unix(), l.conn)
		runtime.ReadMemStats(&b)
		if err != nil {
			l.t.Fatal(err)
		}
		allocs += b.Mallocs - a.Mallocs
	}
	l.checkBalance()
	return allocs
}

// Clients that wait for a player when the lobby closes are told of it.
func TestCloseTellsArrivals(t *testing.T) {
	l := newTestLobby(t, Config{Players: 1})
	l.joinedClient().sendSections()
	l.awaitTimeouts(1) // an absent player has the only place till the tick's end
	b := l.newClient("")
	b.send(b.respond())
	l.tick()
	if len(l.lobby.join.arrivals) != 1 || l.lobby.port.netcode.Connected() != 1 {
		t.Fatalf("%d wait", len(l.lobby.join.arrivals))
	}
	if err := l.lobby.Close(l.now, l.conn, packet.ReasonClosing); err != nil {
		t.Fatal(err)
	}
	if b.receive(); b.netcode.State() != netcode.Disconnected ||
		l.lobby.port.netcode.Connected() != 0 || len(l.lobby.join.arrivals) != 0 {
		t.Errorf("%v, %d sessions", b.netcode.State(), l.lobby.port.netcode.Connected())
	}
}

// A lobby that closes says goodbye to some connections at a time, so that no socket buffer
// overflows, and each of them gets all of its packets at once.
func TestCloseInParts(t *testing.T) {
	l := newTestLobby(t, Config{Players: 2*closeAtOnce + 1})
	var all []*testClient
	for range 2*closeAtOnce + 1 {
		all = append(all, l.joinedClient())
	}
	for parts := 1; ; parts++ {
		sent := l.count(metrics.Sent)
		more, err := l.lobby.join.closeSome(l.now, l.conn, packet.ReasonClosing)
		if n := l.count(metrics.Sent) - sent; err != nil || n == 0 || n > closeAtOnce*3*packet.CloseRepeats {
			t.Fatalf("part %d: %d datagrams, %v", parts, n, err)
		}
		told := 0
		for _, c := range all {
			if c.receive(); c.netcode.State() == netcode.Disconnected {
				told++
			}
		}
		if want := min(parts*closeAtOnce, len(all)); told != want || more != (parts < 3) {
			t.Fatalf("part %d: %d told, want %d; more %v", parts, told, want, more)
		}
		if !more {
			break
		}
	}
}
