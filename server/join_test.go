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
	"github.com/tickrate/tickrate/sim"
)

// silence plays until a number of sessions has timed out, while the given clients play on.
func (l *lab) silence(timedOut int, playing ...*caller) {
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

// A client that reconnects within the grace gets its old player with its score, and afterwards a
// new one.
func TestGrace(t *testing.T) {
	l := newLab(t, Config{})
	control, c := l.joined(), l.joined()
	c.plays(30)
	old := c.id()
	l.lobby.match.Vital(old).Kills = 7
	l.silence(1, control)
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
	c.move("10.9.0.1:5000")
	c.join()
	if c.id() != old || l.count(metrics.Reconnected) != 1 || l.count(metrics.Joined) != 3 || len(l.lobby.reconnectable) != 0 || l.lobby.match.Vital(old).Kills != 7 {
		t.Fatalf("%v, was %v; %d returned, %d joined, kills %d", c.id(), old, l.count(metrics.Reconnected), l.count(metrics.Joined), l.lobby.match.Vital(old).Kills)
	}
	if motion, _, _ = l.lobby.match.Self(old); motion.Pos != pos {
		t.Errorf("it went from %v to %v while nobody played it", pos, motion.Pos)
	}
	c.unharmed()
	l.tick()
	for _, slot := range l.lobby.live { // now, and not with its next commands
		l.lobby.tally(&l.lobby.conns[slot])
	}
	l.lobby.account.pending.Flush(&l.lobby.Stats)
	if used := control.inputs().Used + c.inputs().Used; l.count(metrics.InputsUsed) != used {
		t.Errorf("%d commands used, by the inboxes %d", l.count(metrics.InputsUsed), used)
	}

	control.hear()
	l.silence(2, control)
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
	c.unharmed()
	control.hear()
	control.unharmed()
}

// Players kept for a reconnect give way to new clients, the one away longest first. A player that
// was not needed is still there for its client.
func TestAbsentKeepNobodyOut(t *testing.T) {
	l := newLab(t, Config{Players: 3})
	control := l.joined()
	first := l.joined()
	first.say()
	control.plays(60)
	second := l.joined()
	second.say()
	l.silence(2, control)
	if len(l.lobby.reconnectable) != 2 || l.lobby.conns[l.lobby.reconnectable[0]].id != first.id() {
		t.Fatalf("away: %v", l.lobby.reconnectable)
	}
	third := l.joined()
	l.tick()
	if third.id().Index() != first.id().Index() || third.id() == first.id() || l.lobby.match.Vital(second.id()) == nil || l.lobby.match.Vital(first.id()) != nil {
		t.Errorf("%v came for %v, %v waits", third.id(), first.id(), second.id())
	}
	old := second.id()
	second.join()
	if second.id() != old || l.count(metrics.Reconnected) != 1 {
		t.Errorf("%v, was %v", second.id(), old)
	}
	first.ask(nil)
	if first.knock() || first.dial.State() != netcode.ConnectionDenied {
		t.Errorf("a fourth of three is %v", first.dial.State())
	}
	for _, c := range []*caller{control, second, third} {
		c.hear()
	}
	for range 60 {
		for _, c := range []*caller{control, second, third} {
			c.play()
		}
		l.tick()
	}
	for i, c := range []*caller{control, second, third} {
		if n := c.inputs(); n.Used < 59 {
			t.Errorf("%d: %+v", i, n)
		}
	}
}

// A client that joins while another leaves gets that slot, and players kept for a reconnect stay.
func TestLeaversGoBeforeTheAbsent(t *testing.T) {
	l := newLab(t, Config{Players: 2})
	absent := l.joined()
	absent.say()
	l.silence(1)
	leaver, c := l.joined(), l.caller("")
	response := c.respond()
	leaver.leave()
	c.send(response)
	l.ticks(2)
	c.hear()
	if c.id().Index() != leaver.id().Index() || l.lobby.match.Vital(absent.id()) == nil || len(l.lobby.reconnectable) != 1 {
		t.Errorf("%v came, %v left, %d away", c.id(), leaver.id(), len(l.lobby.reconnectable))
	}
}

// All sessions end and as many new clients join at once: each has a player within a few ticks.
func TestAbsentMakeRoomForMany(t *testing.T) {
	const players = 12
	l := newLab(t, Config{Players: players})
	for range players {
		l.joined().say()
	}
	l.silence(players)
	var fresh []*caller
	for range players {
		c := l.caller("")
		c.ask(nil)
		fresh = append(fresh, c)
	}
	for range 2 + 2*players {
		for _, c := range fresh {
			c.update()
			c.hear()
		}
		l.tick()
	}
	seen := map[int]bool{}
	for i, c := range fresh {
		c.hear()
		if c.welcome.Version == 0 || seen[c.id().Index()] {
			t.Errorf("%d has no player of its own: %+v", i, c.welcome)
		}
		seen[c.id().Index()] = true
	}
	if l.lobby.match.World.Len() != players || len(l.lobby.reconnectable) != 0 || len(l.lobby.join.arrivals) != 0 {
		t.Errorf("%d players, %d away, %d waiting", l.lobby.match.World.Len(), len(l.lobby.reconnectable), len(l.lobby.join.arrivals))
	}
}

// A fresh token of a client whose session has been silent for a second takes it over, from another
// address: the player goes on, the old session is no more.
func TestTakeover(t *testing.T) {
	l := newLab(t, Config{})
	control, c := l.joined(), l.joined()
	control.play()
	c.plays(10)
	old, was, sock := c.id(), c.dial, c.conn
	for range 70 {
		control.play()
		l.tick()
	}
	c.move("10.9.0.2:5000")
	c.ask(nil)
	for range 4 {
		c.update()
		control.play()
		l.tick()
		c.hear()
	}
	if c.id() != old || l.count(metrics.Reconnected) != 1 || l.count(metrics.Takeovers) != 1 || l.count(metrics.Joined) != 2 || l.count(metrics.TimedOut)+l.count(metrics.Left) != 0 {
		t.Fatalf("%v, was %v; %d returned, %d joined", c.id(), old, l.count(metrics.Reconnected), l.count(metrics.Joined))
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
	control.hear()
	c.unharmed()
	c.conn = sock
	if d := c.received(); d != nil || l.refused(netcode.DropUnknown) != before+1 {
		t.Errorf("%d datagrams to where the session was; %v", len(d), l.tally())
	}
	control.hear()
	control.unharmed()
}

// respond goes on until a caller's response is due, and returns it.
func (c *caller) respond() []byte {
	c.lab.t.Helper()
	c.ask(nil)
	c.update()
	c.lab.tick()
	for _, d := range c.received() {
		if _, err := c.dial.Receive(c.lab.now, labAddr, d, &c.post); err != nil {
			c.lab.t.Fatal(err)
		}
	}
	_, d := c.post.At(0)
	d = bytes.Clone(d)
	c.post.Reset()
	return d
}

// In one batch a connection says what it is dismissed for, and leaves, and another gets its slot at
// the gate: that one is not harmed by the dismissal.
func TestSlotUsedAgainInOneBatch(t *testing.T) {
	for _, dismissed := range []bool{true, false} {
		l := newLab(t, Config{Players: 2})
		a, b := l.caller(""), l.caller("")
		a.enter(nil)
		slot := l.lobby.conns[a.id().Index()].session.client
		response := b.respond()
		a.hear()
		r := l.good()
		if dismissed {
			r.Version++
		}
		a.queue(r.Append(nil))
		a.say()
		a.leave()
		b.send(response)
		l.tick()
		s, ok := l.lobby.netcode.Session(int(slot))
		if !ok || s.ClientID != b.user || l.count(metrics.Joined) != 2 {
			t.Fatalf("slot %d is %v's, %d joined: the case did not come about", slot, s.ClientID, l.count(metrics.Joined))
		}
		gone := l.count(metrics.Left)
		if dismissed {
			gone = l.count(metrics.Disconnected)
		}
		if gone != 1 || l.count(metrics.Left)+l.count(metrics.Disconnected) != 1 || a.received() != nil {
			t.Errorf("%d left, %d dismissed", l.count(metrics.Left), l.count(metrics.Disconnected))
		}
		b.hear()
		if b.dial.State() != netcode.Connected || b.id() == a.id() || l.lobby.slotOf[slot] != int32(b.id().Index()) {
			t.Fatalf("%v, %+v", b.dial.State(), b.welcome)
		}
		b.ready()
		b.unharmed()
		if l.lobby.match.World.Len() != 1 || len(l.lobby.live) != 1 {
			t.Errorf("%d players, %d guests", l.lobby.match.World.Len(), len(l.lobby.live))
		}
	}
}

// Clients that come and leave within one tick, with a player or before they have one, leave nothing
// behind.
func TestArrivalsThatLeaveInOneTick(t *testing.T) {
	for _, absent := range []bool{false, true} { // an absent player has the only place till the tick's end
		l := newLab(t, Config{Players: 1})
		if absent {
			l.joined().say()
			l.silence(1)
		}
		b := l.caller("")
		response := b.respond()
		joined, left := l.count(metrics.Joined), l.count(metrics.Left)
		b.send(response)
		for range netio.BatchSize { // the goodbye shall be in a later batch
			b.send([]byte{0x15})
		}
		b.dial.Disconnect(l.now, &b.post)
		b.mail()
		l.tick()
		if l.count(metrics.Joined)-joined != l.count(metrics.Left)-left || (l.count(metrics.Joined) == joined) != absent || len(l.lobby.join.arrivals) != 0 {
			t.Errorf("absent %v: %d joined, %d left, %d waiting", absent, l.count(metrics.Joined)-joined, l.count(metrics.Left)-left, len(l.lobby.join.arrivals))
		}
		l.ticks(2)
		if n := l.lobby.match.World.Len(); n != len(l.lobby.live) || l.lobby.netcode.Connected() != n {
			t.Errorf("absent %v: %d in the match, %d live, %d sessions", absent, n, len(l.lobby.live), l.lobby.netcode.Connected())
		}
		l.joined().unharmed()
	}
}

// A client leaves before it has a player, and its slot in netcode is reused at once: the new client
// gets one player.
func TestArrivalWhoseSlotIsUsedAgain(t *testing.T) {
	l := newLab(t, Config{Players: 2})
	l.joined().say()
	l.tick()
	l.joined().say()
	l.silence(2)
	b, c := l.caller(""), l.caller("")
	first, second := b.respond(), c.respond()
	b.send(first)
	for range netio.BatchSize {
		b.send([]byte{0x15})
	}
	b.dial.Disconnect(l.now, &b.post)
	b.mail()
	c.send(second)
	l.ticks(3)
	c.hear()
	if c.welcome.Version == 0 || l.count(metrics.Joined) != 3 || len(l.lobby.live) != 1 || len(l.lobby.join.arrivals) != 0 {
		t.Fatalf("%+v; %d joined, %d live, %d waiting", c.welcome, l.count(metrics.Joined), len(l.lobby.live), len(l.lobby.join.arrivals))
	}
	c.ready()
	c.unharmed()
}

// A client whose address changes keeps its session: the lobby goes on at the new address, nothing
// more goes to the old one, and no tick is lost to a client whose commands come as far ahead as the
// change takes.
func TestMoved(t *testing.T) {
	l := newLab(t, Config{})
	control, c := l.joined(), l.caller("")
	c.start(l.mint(c.user, nil), netcode.ClientConfig{Roam: true, ProbeAfter: 40 * time.Millisecond})
	c.knock()
	c.hear()
	c.ready()
	old := c.conn
	turn := func() int {
		n := len(c.hear())
		var cmds []sim.Command
		for i := range tick.Tick(16) {
			if at := l.lobby.match.Tick() + 1 + i; at > 8 {
				cmds = append(cmds, sim.Command{Tick: at, MoveMag: 255})
			}
		}
		c.say(section(cmds...)...)
		c.update()
		control.play()
		l.tick()
		return n
	}
	for range 60 {
		turn()
	}
	before, id := c.inputs(), c.id()
	for move := range 3 {
		c.move("10.9.1." + string(rune('1'+move)) + ":6000")
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
	after := c.inputs()
	if after.Missing != before.Missing || c.id() != id || l.count(metrics.Joined) != 2 || l.lobby.netcode.Counters().Migrations != 3 || l.count(metrics.Migrated) != 3 {
		t.Errorf("%d ticks lost; %v, was %v; %d moves", after.Missing-before.Missing, c.id(), id, l.lobby.netcode.Counters().Migrations)
	}
	control.hear()
	control.unharmed()
}

// A real client whose address changes plays on, with the same player, and decodes everything.
func TestMovedClientPlaysOn(t *testing.T) {
	b := newTable(t, 2, Config{})
	b.play(3)
	id, used := b.players[0].ID(), b.count(metrics.InputsUsed)
	var before []client.Stats
	for _, p := range b.players {
		before = append(before, p.Stats())
	}
	b.ends[0].move("10.9.2.1:6000")
	b.play(2)
	p, s := b.players[0], b.players[0].Stats()
	if state, _ := p.State(); state != client.Joined || p.ID() != id || s.Undecoded+s.Resyncs != 0 || b.lobby.netcode.Counters().Migrations != 1 {
		t.Errorf("%v, %v was %v; %+v", state, p.ID(), id, s)
	}
	// It is silent for 250 ms before it thinks of its address, and then two ticks away.
	if lost := 2*120 - int(b.count(metrics.InputsUsed)-used); lost > 15+8 {
		t.Errorf("%d ticks lost", lost)
	}
	if s := b.players[1].Stats(); s.Starved != before[1].Starved || s.Prediction.Mispredictions != 0 {
		t.Errorf("the other client: %+v", s)
	}
}

// A lobby of 4096 places gives the last of them as it gives the first.
func TestMostPlayers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 100 MB")
	}
	l := newLab(t, Config{Players: MaxPlayers})
	control := l.joined()
	for range MaxPlayers - 2 { // players without sessions: only the last place is left
		if l.lobby.match.Join() == 0 {
			t.Fatal("no place")
		}
	}
	control.plays(2)
	last := l.joined()
	control.plays(2)
	last.hear()
	last.say()
	control.plays(2)
	if last.id().Index() != MaxPlayers-1 || last.welcome.MaxPlayers != MaxPlayers {
		t.Fatalf("%v, %+v", last.id(), last.welcome)
	}
	full := l.caller("")
	full.ask(nil)
	for range 4 {
		full.update()
		control.play()
		last.play()
		l.tick()
		full.hear()
	}
	if full.welcome.Version != 0 || len(l.lobby.join.arrivals) != 1 {
		t.Errorf("one more came in: %+v", full.welcome)
	}
	for i, c := range []*caller{control, last} {
		if n := c.inputs(); n.Missing > 4 || c.state().repl.acks.newest+8 < l.lobby.match.Tick() {
			t.Errorf("%d: %+v, acked %d at %d", i, n, c.state().repl.acks.newest, l.lobby.match.Tick())
		}
	}
	last.leave()
	control.play()
	l.ticks(2)
	if full.hear(); full.id().Index() != MaxPlayers-1 {
		t.Errorf("%v after the last has left", full.id())
	}
}

// The accounts are looked at in every tick, and a fault in them is said.
func TestAudit(t *testing.T) {
	l := newLab(t, Config{})
	c := l.joined()
	c.plays(5)
	l.lobby.Stats.Count[metrics.Accepted].Inc()
	c.play()
	if err := l.lobby.Tick(l.now, l.unix(), l.conn); err != nil || l.count(metrics.UnbalancedTicks) != 1 {
		t.Errorf("%d ticks unbalanced, %v", l.count(metrics.UnbalancedTicks), err)
	}
}

// A tick of playing clients allocates nothing, with or without a rejected connection.
func TestSteadyTickAllocatesNothing(t *testing.T) {
	l := newLab(t, Config{})
	var callers []*caller
	for range 6 {
		callers = append(callers, l.joined())
	}
	stranger := l.caller("")
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
	if l.count(metrics.InputsMissing) > 6 || l.count(metrics.Snapshots) < 6*130 || l.refused(netcode.DropUnknown) != 400 {
		t.Errorf("%d inputs missing, %d snapshots; %v", l.count(metrics.InputsMissing), l.count(metrics.Snapshots), l.tally())
	}
}

// allocates counts what n ticks of the lobby allocate; what happens before each is not counted.
func (l *lab) allocates(n int, before func()) (allocs uint64) {
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
	l.balanced()
	return allocs
}

// Clients that wait for a player when the lobby closes are told of it.
func TestCloseTellsArrivals(t *testing.T) {
	l := newLab(t, Config{Players: 1})
	l.joined().say()
	l.silence(1) // an absent player has the only place till the tick's end
	b := l.caller("")
	b.send(b.respond())
	l.tick()
	if len(l.lobby.join.arrivals) != 1 || l.lobby.netcode.Connected() != 1 {
		t.Fatalf("%d wait", len(l.lobby.join.arrivals))
	}
	if err := l.lobby.Close(l.now, l.conn, packet.ReasonClosing); err != nil {
		t.Fatal(err)
	}
	if b.hear(); b.dial.State() != netcode.Disconnected || l.lobby.netcode.Connected() != 0 || len(l.lobby.join.arrivals) != 0 {
		t.Errorf("%v, %d sessions", b.dial.State(), l.lobby.netcode.Connected())
	}
}

// A lobby that closes says goodbye to a part of its connections at a time, each of them whole, so
// that no socket's buffer overflows.
func TestCloseInParts(t *testing.T) {
	l := newLab(t, Config{Players: 2*closeAtOnce + 1})
	var all []*caller
	for range 2*closeAtOnce + 1 {
		all = append(all, l.joined())
	}
	for parts := 1; ; parts++ {
		sent := l.count(metrics.Sent)
		more, err := l.lobby.join.closeSome(l.now, l.conn, packet.ReasonClosing)
		if n := l.count(metrics.Sent) - sent; err != nil || n == 0 || n > closeAtOnce*3*packet.CloseRepeats {
			t.Fatalf("part %d: %d datagrams, %v", parts, n, err)
		}
		told := 0
		for _, c := range all {
			if c.hear(); c.dial.State() == netcode.Disconnected {
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
