package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// The tests of this file have the numbers of the rows of threats that they are for. Each asserts
// the threat's counter, what the attacker is sent, which is nothing but where it says so, and that
// a client beside it loses nothing.

// silent fails if the client was sent anything.
func (c *testClient) silent() {
	c.host.t.Helper()
	if d := c.received(); d != nil {
		c.host.t.Fatalf("%d datagrams to %v, the first is %x", len(d), c.addr(), d[0])
	}
}

// requests returns connection requests with valid tokens, one for each user from first on.
func (l *testLobby) requests(first, n int, change func(*netcode.Mint)) (all [][]byte) {
	for i := range n {
		var out netcode.Outbox
		netcode.NewClient(l.mint(uint64(first+i), change), netcode.ClientConfig{}).Update(l.now, &out)
		_, d := out.At(0)
		all = append(all, bytes.Clone(d))
	}
	return all
}

// spoofers returns n addresses of different networks.
func (l *testLobby) spoofers(n int) (all []*testClient) {
	for i := range n {
		all = append(all, l.newClient(fmt.Sprintf("172.16.%d.9:999", i)))
	}
	return all
}

func forged(d []byte) []byte {
	d = bytes.Clone(d)
	d[300] ^= 1
	return d
}

// Forged requests beyond the budget are refused unopened. Sessions are served before them,
// whatever their order in a batch.
func TestThreat07RequestFlood(t *testing.T) {
	netcodeCfg := testNetcodeConfig()
	netcodeCfg.HandshakesPerSecond = 240
	l := newTestLobby(t, Config{Players: 3, Netcode: netcodeCfg})
	control, c := l.joinedClient(), l.joinedClient()
	control.checkUnharmed()
	c.receive()
	attackers := l.spoofers(40)
	request := forged(l.requests(900, 1, nil)[0])
	used, snapshots := control.commandCounts().Used, 0
	for range 120 {
		for _, a := range attackers {
			for range 10 {
				a.send(request)
			}
		}
		snapshots += control.play() // behind the flood
		l.tick()
	}
	a := l.tally()
	if opened := a.refused[netcode.DropReqToken]; opened < 100 || opened > 2*240+120 ||
		a.refused[netcode.DropReqBudget] == 0 || l.lobby.port.netcode.Pressure() == 0 {
		t.Errorf("%d opened in two seconds: %v", opened, a)
	}
	if n := control.commandCounts().Used - used; n != 120 || snapshots < 39 {
		t.Errorf("of 120 commands %d were used, %d snapshots", n, snapshots)
	}
	for _, a := range attackers {
		a.silent()
	}

	l.now += time.Second
	l.lobby.port.netcode.Update(l.now, l.unix(), &l.lobby.port.egress.outbox)
	for range 120 { // the budget recovers
		control.play()
		c.play()
		l.tick()
	}
	d := l.newClient("")
	response := d.respond()
	last := l.joinedClient() // now it is full
	d.send(response)         // before the goodbye that makes room, in one batch
	c.leave()
	l.tick()
	d.receive()
	if d.netcode.State() != netcode.Connected {
		t.Errorf("a handshake was served before a session: %v; %v", d.netcode.State(), l.tally())
	}
	last.checkUnharmed()
	control.receive()
	control.checkUnharmed()
}

// Under a lasting flood, hosts that answered a challenge lately are admitted, and other hosts are
// deferred.
func TestThreat08Deferred(t *testing.T) {
	netcodeCfg := testNetcodeConfig()
	netcodeCfg.HandshakesPerSecond = 240
	l := newTestLobby(t, Config{Netcode: netcodeCfg})
	control, known, stranger := l.joinedClient(), l.joinedClient(), l.newClient("172.30.0.1:5")
	known.leave()
	attackers := l.spoofers(40)
	request := forged(l.requests(900, 1, nil)[0])
	flood := func() {
		for _, a := range attackers {
			a.send(request)
		}
		control.play()
		l.tick()
	}
	for range 120 {
		flood()
	}
	used := control.commandCounts().Used
	known.beginConnect(nil)
	stranger.beginConnect(nil)
	ticks := 0
	for ; known.netcode.State() != netcode.Connected && ticks < 60; ticks++ {
		known.update()
		stranger.update()
		flood()
		known.receive()
		stranger.receive()
	}
	if known.netcode.State() != netcode.Connected || l.refused(netcode.DropReqDeferred) == 0 {
		t.Errorf("the known host is %v after %d ticks: %v", known.netcode.State(), ticks, l.tally())
	}
	if n := control.commandCounts().Used - used; n != uint64(ticks) {
		t.Errorf("of %d commands beside the flood %d were used", ticks, n)
	}
	for _, a := range attackers {
		a.silent()
	}
	control.checkUnharmed()
}

// No unverified address is sent more than 0.31 of the bytes that came from it.
func TestThreat09Amplification(t *testing.T) {
	l := newTestLobby(t, Config{Players: 2})
	control, roamer := l.joinedClient(), l.newClient("")
	spoofed, denied, garbage, away := l.newClient(""), l.newClient(""), l.newClient(""), l.newClient("")
	check := func(c *testClient, sent int, most bool) {
		t.Helper()
		got := 0
		for _, d := range c.received() {
			got += len(d)
		}
		if ratio := float64(got) / float64(sent); ratio > .31 || most && ratio < .2 {
			t.Errorf("%v sent %d bytes and was sent %d: %.3f", c.addr(), sent, got, ratio)
		}
	}
	good := l.requests(500, 1, nil)[0]
	for range 50 {
		spoofed.send(good)
	}
	l.tick()
	check(spoofed, 50*len(good), true)

	roamer.start(l.mint(roamer.user, nil), netcode.ClientConfig{Roam: true, ProbeAfter: time.Millisecond})
	roamer.handshake()
	for range 30 {
		roamer.update()
		l.tick()
		roamer.receive()
	}
	home := roamer.conn
	probes := 0
	for range 60 { // probes from an address that does not answer
		l.tick()
		roamer.conn = home
		roamer.receive()
		roamer.sendSections()
		roamer.netcode.Update(l.now, &roamer.outbox)
		for i := range roamer.outbox.Len() {
			if _, d := roamer.outbox.At(i); netcode.KindOf(d) == netcode.KindPath {
				away.send(d)
				probes += len(d)
			}
		}
		roamer.outbox.Reset()
	}
	if probes < 192*5 {
		t.Fatalf("%d bytes of probes", probes)
	}
	check(away, probes, false)
	if s, _ := l.lobby.port.netcode.Session(int(roamer.state().session.client)); s.Address != home.LocalAddr() {
		t.Errorf("moved to %v unproved", s.Address)
	}

	sent := 0
	for _, d := range l.requests(600, 20, nil) {
		denied.send(d)
		sent += len(d)
	}
	l.tick()
	check(denied, sent, false)
	if l.refused(netcode.DropFull) != 20 {
		t.Errorf("%v", l.tally())
	}

	rng := rand.New(rand.NewPCG(1, 9))
	sent = 0
	for n := range 2000 {
		d := make([]byte, rng.IntN(1233))
		for i := range d {
			d[i] = byte(rng.Uint32())
		}
		if len(d) > 0 && rng.IntN(2) == 0 {
			d[0] = byte(rng.IntN(8)) | 0x10
		}
		garbage.send(d)
		if sent += len(d); n%200 == 0 {
			l.tick()
		}
	}
	l.tick()
	garbage.silent()
	control.receive()
	control.checkUnharmed()
}

// A full lobby denies clients with a valid token in 25 bytes, and answers no one else.
func TestThreat11Full(t *testing.T) {
	l := newTestLobby(t, Config{Players: 1})
	control, good, bad := l.joinedClient(), l.newClient(""), l.newClient("")
	r := l.requests(50, 1, nil)[0]
	control.play()
	good.send(r)
	bad.send(forged(r))
	l.tick()
	if d := good.received(); len(d) != 1 || len(d[0]) != 25 || netcode.KindOf(d[0]) != netcode.KindDenied {
		t.Errorf("%x", d)
	}
	bad.silent()
	if l.refused(netcode.DropFull) != 1 || l.refused(netcode.DropReqToken) != 1 {
		t.Errorf("%v", l.tally())
	}
	control.checkUnharmed()
}

// A second session of a connected client id is refused without an answer, and so is its token from
// another address.
func TestThreat12SameClientTwice(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, thief, thief2 := l.joinedClient(), l.newClient(""), l.newClient("")
	token := l.requests(int(control.user), 2, nil)
	for i, who := range []*testClient{thief, thief2} {
		control.play()
		who.send(token[0])
		l.tick()
		if who.silent(); l.refused(netcode.DropReqClient) != uint64(i+1) {
			t.Errorf("%v", l.tally())
		}
	}
	other := l.requests(77, 1, nil)[0] // recorded on its way and sent again from elsewhere
	thief.send(other)
	l.tick()
	if d := thief.received(); len(d) != 1 || len(d[0]) != 333 {
		t.Errorf("%d answers", len(d))
	}
	control.receive()
	control.play()
	thief2.send(other)
	l.tick()
	if thief2.silent(); l.refused(netcode.DropReqTokenUsed) != 1 {
		t.Errorf("%v", l.tally())
	}
	control.checkUnharmed()
	if l.count(metrics.Takeovers) != 0 {
		t.Error("taken over while it played")
	}
}

// Sealed datagrams from unknown addresses, replayed good ones included, are dropped without an
// answer.
func TestThreat16UnknownSource(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, c, thief := l.joinedClient(), l.joinedClient(), l.newClient("")
	c.sendSections()
	l.tick()
	d := c.seal(c.packet(c.commands(1)...))
	before := c.commandCounts()
	for range 100 {
		thief.send(d)
	}
	control.receive()
	control.play()
	l.tick()
	if thief.silent(); l.refused(netcode.DropUnknown) != 100 ||
		c.commandCounts().Accepted != before.Accepted {
		t.Errorf("%v", l.tally())
	}
	c.send(d) // what an attacker has sent elsewhere is still good from here
	control.play()
	l.tick()
	if c.commandCounts().Stale != 1 {
		t.Errorf("%+v", c.commandCounts())
	}
	control.checkUnharmed()
}

// A standard client whose address changes reconnects with a fresh token and gets its player back.
// Replayed probes and echoes move no session.
func TestThreat17Rebinding(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, plain, roamer, thief := l.joinedClient(), l.joinedClient(), l.newClient(""), l.newClient("")
	roamer.start(l.mint(roamer.user, nil), netcode.ClientConfig{Roam: true, ProbeAfter: time.Millisecond})
	roamer.handshake()
	roamer.receive()
	roamer.ready()
	old := plain.id()
	control.receive()
	probes := 0
	for n := range 180 {
		control.play()
		roamer.play()
		roamer.netcode.Update(l.now, &roamer.outbox)
		for i := range roamer.outbox.Len() {
			_, d := roamer.outbox.At(i)
			d = bytes.Clone(d)
			if netcode.KindOf(d) == netcode.KindPath && n > 60 && probes%2 == 0 {
				thief.send(d) // first
				probes++
			} else if netcode.KindOf(d) == netcode.KindPath {
				probes++
			}
			roamer.send(d)
			thief.send(d) // and again
		}
		roamer.outbox.Reset()
		l.tick()
		for _, d := range thief.received() {
			if netcode.KindOf(d) != netcode.KindPath || len(d) > 60 {
				t.Fatalf("the thief was sent %x", d)
			}
			d[0] = d[0]&0xf0 | byte(netcode.KindPath)
			thief.send(d) // reflected
		}
	}
	if c := roamer.state(); c.session.addr != roamer.addr() || l.count(metrics.Migrated) != 0 ||
		probes < 10 || l.refused(netcode.DropReplay) < 10 {
		t.Errorf("moved to %v; %d probes; %v", c.session.addr, probes, l.tally())
	}
	l.awaitTimeouts(1, control)
	plain.rebind("10.9.3.1:7")
	plain.join()
	if plain.id() != old {
		t.Errorf("%v, was %v", plain.id(), old)
	}
	plain.checkUnharmed()
	control.receive()
	control.checkUnharmed()
}

// A client that sends more than twice its rate has the surplus refused. At ten times its rate for
// seconds it is kicked.
func TestThreat18AuthenticatedFlood(t *testing.T) {
	l := newTestLobby(t, Config{})
	control, c := l.joinedClient(), l.joinedClient()
	control.receive()
	used, snapshots := control.commandCounts().Used, 0
	ticks := 0
	for ; l.count(metrics.FloodKicked) == 0 && ticks < 60; ticks++ {
		for range 300 {
			c.sendSections(c.commands(1)...)
		}
		snapshots += control.play()
		l.tick()
	}
	a, k := l.tally(), l.count(metrics.FloodKicked)
	if k != 1 || ticks != 6000/300+1 || a.refused[netcode.DropRate] < 5000 {
		t.Errorf("%d kicked after %d ticks: %v", k, ticks, a)
	}
	if n := control.commandCounts().Used - used; n != uint64(ticks) {
		t.Errorf("of %d commands beside the flood %d were used, %d snapshots", ticks, n, snapshots)
	}
	if n := l.lobby.match.CommandBuffer(c.id()); n != nil {
		t.Errorf("still there")
	}
	c.receive()
	if why, closed := c.peer.Closed(); c.netcode.State() != netcode.Disconnected ||
		!closed || why != packet.ReasonKicked {
		t.Errorf("%v, was told %v", c.netcode.State(), why)
	}
	control.checkUnharmed()
}

// controlAndClient returns a lobby with a client and a moving control client to compare it with.
func controlAndClient(t *testing.T, netcodeCfg netcode.ServerConfig) (l *testLobby, control, c *testClient) {
	l = newTestLobby(t, Config{Rules: sim.Rules{Seed: 11}, Netcode: netcodeCfg})
	control, c = l.joinedClient(), l.joinedClient()
	control.sendSections()
	c.sendSections()
	l.tick()
	return l, control, c
}

// Bursts of commands move a player no further than commands in time.
func TestThreat19CommandFlood(t *testing.T) {
	honest, hc, h := controlAndClient(t, withoutFloodLimit())
	hack, kc, k := controlAndClient(t, withoutFloodLimit())
	before := k.commandCounts()
	for range 120 {
		hc.play()
		h.play()
		kc.play()
		k.receive()
		next := hack.lobby.match.Tick() + 1
		for round := range 4 {
			var cmds []sim.Command
			for i := range tick.Tick(sim.MaxWindow) {
				cmds = append(cmds, sim.Command{Tick: next + i + tick.Tick(round)*31, Yaw: 100, MoveMag: 255})
			}
			k.sendSections(section(cmds...)...)
		}
		honest.tick()
		hack.tick()
	}
	a, _, _ := honest.lobby.match.Self(h.id())
	b, _, _ := hack.lobby.match.Self(k.id())
	got := k.commandCounts()
	if a != b || honest.lobby.match.Hash() != hack.lobby.match.Hash() {
		t.Errorf("the honest player is at %v, the other at %v", a.Pos, b.Pos)
	}
	if used := got.Used - before.Used; used != 120 || got.Future == 0 ||
		got.Duplicate == 0 || hack.count(metrics.InputsFuture) != got.Future ||
		hack.count(metrics.InputsDuplicate) < got.Duplicate || honest.count(metrics.InputsFuture) != 0 {
		t.Errorf("%d commands used in 120 ticks: %+v", used, got)
	}
	kc.receive()
	kc.checkUnharmed()
}

// Commands that arrive twice, late or out of order are used once each. Another command for a tick
// that has one, or that is over, is refused.
func TestThreat20DuplicateInputs(t *testing.T) {
	clean, ac, a := controlAndClient(t, withoutFloodLimit())
	noisy, bc, b := controlAndClient(t, withoutFloodLimit())
	rng := rand.New(rand.NewPCG(4, 4))
	wish := func(at tick.Tick) sim.Command {
		return sim.Command{Tick: at, Yaw: geom.Angle(at * 300), MoveMag: 255,
			Buttons: sim.Buttons(at>>4) & sim.Jump}
	}
	for range 120 {
		next := clean.lobby.match.Tick() + 1
		ac.play()
		a.receive()
		a.sendSections(section(wish(next))...)
		bc.play()
		b.receive()
		order := []tick.Tick{next, next, next + 1, next + 2, next - 1, next - 2}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, at := range order {
			b.sendSections(section(wish(at))...)
		}
		evil := wish(next)
		evil.MoveYaw, evil.Buttons = 128, sim.Fire
		b.sendSections(section(evil)...)
		evil.Tick = next - 1
		b.sendSections(section(evil)...)
		clean.tick()
		noisy.tick()
		if clean.lobby.match.Hash() != noisy.lobby.match.Hash() {
			t.Fatalf("tick %d: the worlds differ", next)
		}
	}
	if n := b.commandCounts(); n.Conflict != 120 || n.Stale < 3*115 ||
		n.Duplicate < 3*115 || n.Used != 120 || n.Missing != 0 ||
		noisy.count(metrics.InputsConflict) != 120 || noisy.count(metrics.InputsStale) != n.Stale ||
		clean.count(metrics.InputsConflict) != 0 {
		t.Errorf("%+v", n)
	}
	bc.checkUnharmed()
}

// Values out of range in a command are clamped and the tick is used. Angles and sizes are
// integers, so there is no NaN, and no speed above the maximum.
func TestThreat21BadValues(t *testing.T) {
	for i, c := range []struct {
		bad, good sim.Command
		mended    bool
	}{
		0: {sim.Command{Pitch: 0x4001}, sim.Command{Pitch: 0x4000}, true},
		1: {sim.Command{Pitch: 0x7fff}, sim.Command{Pitch: 0x4000}, true},
		2: {sim.Command{Pitch: 0x8000}, sim.Command{Pitch: 0xc000}, true},
		3: {sim.Command{Buttons: 0xfc00}, sim.Command{}, true},
		4: {sim.Command{Buttons: 0xfc00 | sim.Jump | sim.Sprint},
			sim.Command{Buttons: sim.Jump | sim.Sprint}, true},
		5: {sim.Command{Yaw: 0xffff, MoveYaw: 255, MoveMag: 255},
			sim.Command{Yaw: 0xffff, MoveYaw: 255, MoveMag: 255}, false},
		6: {sim.Command{Buttons: sim.Fire, View: tick.View{From: 1<<32 - 1, To: 254, Frac: 255}},
			sim.Command{Buttons: sim.Fire}, false},
		7: {sim.Command{Buttons: sim.Fire, View: tick.View{From: 1 << 31, To: 1<<31 + 255}},
			sim.Command{Buttons: sim.Fire, View: tick.View{From: 1 << 30, To: 1 << 30}}, false},
	} {
		one, ac, a := controlAndClient(t, testNetcodeConfig())
		two, bc, b := controlAndClient(t, testNetcodeConfig())
		for range 30 {
			ac.play()
			bc.play()
			a.receive()
			b.receive()
			c.bad.Tick, c.good.Tick = one.lobby.match.Tick()+1, one.lobby.match.Tick()+1
			a.sendSections(section(c.bad)...)
			b.sendSections(section(c.good)...)
			one.tick()
			two.tick()
			if one.lobby.match.Hash() != two.lobby.match.Hash() {
				t.Fatalf("%d: the worlds differ", i)
			}
		}
		if n := a.commandCounts(); n.Used != 30 || (n.Clamped == 30) != c.mended ||
			one.count(metrics.InputsClamped) != n.Clamped || one.dropped(packet.DropCommands) != 0 {
			t.Errorf("%d: %+v", i, n)
		}
		ac.checkUnharmed()
	}
}

// A client cannot assert its position or its hits: sections and messages that a client may not send
// are dropped or ignored, and counted.
func TestThreat22AssertedState(t *testing.T) {
	clean, ac, a := controlAndClient(t, testNetcodeConfig())
	l, control, c := controlAndClient(t, testNetcodeConfig())
	for n := range 60 {
		ac.play()
		a.play()
		clean.tick()
		control.play()
		c.receive()
		kill := sim.Event{Kind: sim.EventKill, Actor: c.id(), Victim: control.id(), Amount: 99}
		if n%2 == 0 {
			kill.Kind = sim.EventHit
		}
		c.queueReliable(kill.Append(nil))
		c.sendSections(c.commands(1)...)
		c.sendSections(append([]byte{byte(packet.SectionSnapshot)}, bytes.Repeat([]byte{1}, 60)...)...)
		l.tick()
		if clean.lobby.match.Hash() != l.lobby.match.Hash() {
			t.Fatal("the worlds differ")
		}
	}
	w := protocol.Welcome{Version: protocol.Version, NetID: uint32(control.id()),
		TickRate: 1, SendInterval: 1}
	r := l.goodReady()
	c.receive()
	c.queueReliable(w.Append(nil))
	c.queueReliable(r.Append(nil)) // a second Ready
	c.sendSections(c.commands(1)...)
	control.play()
	l.tick()
	if l.dropped(packet.DropSection) != 60 || l.count(metrics.MessagesUnknown) != 62 ||
		l.count(metrics.Hits)+l.count(metrics.Kills) != 0 {
		t.Errorf("%v; %d events unknown, %d hits", l.tally(), l.count(metrics.MessagesUnknown),
			l.count(metrics.Hits))
	}
	control.checkUnharmed()
}

// views returns how far behind its tick each shot of a client was judged, in 1/256 tick, and the
// number of clamped shots. The client announces a view delay of back ticks; with lies it claims
// other views.
func views(t *testing.T, back tick.Tick, lies bool) (at []int64, clamped uint64) {
	l, control, c := controlAndClient(t, testNetcodeConfig())
	last, rng := int64(0), rand.New(rand.NewPCG(23, uint64(back)))
	var pledges lagcomp.ViewDelayTrack
	var told []tick.Tick
	for range 150 {
		control.play()
		for _, s := range c.receive() {
			if h, _, err := netstate.ParseHeader(s[1:]); err == nil {
				told = append(told, h.Tick)
			}
		}
		next := l.lobby.match.Tick() + 1
		delay := uint8(min(2*back, 255))
		pledges.Announce(next, delay, next)
		line, _, _ := pledges.InstantAt(next, 1<<20)
		cmd := sim.Command{Tick: next, Buttons: sim.Fire, View: tick.View{From: 1, To: 1}}
		for i := len(told) - 1; i > 0; i-- {
			if int64(told[i-1])<<8 <= line && line < int64(told[i])<<8 {
				cmd.View = lagcomp.ViewBetween(told[i-1], told[i], line)
				break
			}
		}
		if lies {
			cmd.View.From = tick.Tick(rng.Uint32N(uint32(next) + 2))
			cmd.View.To = cmd.View.From + tick.Tick(rng.Uint32N(20))
			cmd.View.Frac = uint8(rng.Uint32())
		}
		c.sendSections(sim.AppendArrivals(section(cmd), delay, nil)...)
		l.tick()
		for _, s := range l.lobby.match.Outcome().Shots {
			i := lagcomp.Instant(s.View)
			if !s.View.Valid() && c.state().repl.acks.newest > 6 {
				t.Fatalf("back %d: view %+v", back, s.View)
			}
			if i < last-256 {
				t.Errorf("back %d: a picture runs backwards, from %d to %d", back, last, i)
			}
			last = i
			at = append(at, int64(next)<<8-i)
		}
	}
	control.receive()
	control.checkUnharmed()
	return at, l.count(metrics.ShotsClamped)
}

// Shots rewind by the announced view delay: other claims are counted and have no effect. An
// announced delay beyond what a client can have seen is clamped to that.
func TestThreat23Backtrack(t *testing.T) {
	honest, none := views(t, 6, false)
	liar, all := views(t, 6, true)
	some, n1 := views(t, 40, false)
	more, n2 := views(t, 127, false)
	if len(honest) < 10 || none > 4 || all < uint64(len(liar))-4 ||
		n1 < uint64(len(some))-4 || n2 < uint64(len(more))-4 {
		t.Errorf("of %d, %d, %d, %d shots %d, %d, %d, %d clamped", len(honest),
			len(liar), len(some), len(more), none, all, n1, n2)
	}
	for i := range honest[4:] { // rounded down to the 1/256 of three ticks
		if d := honest[4+i] - liar[4+i]; d < 0 || d > 3 {
			t.Errorf("shot %d looks back by %d/256 ticks, that of a liar by %d", 4+i, honest[4+i], liar[4+i])
		}
	}
	if !slices.Equal(some, more) {
		t.Errorf("to claim more gains something: %v, then %v", some, more)
	}
	// RTT of a tick or so, two intervals of three ticks, six ticks of buffering; and the cap of a
	// quarter of a second.
	for i, b := range some[2:] {
		if b > 15<<8 {
			t.Errorf("shot %d looks back by %d/256 ticks", i+2, b)
		}
	}
}

// A client that is silent and then sends a burst has its last input repeated for three ticks, then
// stands. The burst is late and dropped, and for ten acks its shots are not rewound.
func TestThreat24LagSwitch(t *testing.T) {
	l, control, c := controlAndClient(t, testNetcodeConfig())
	for range 60 {
		c.play()
		control.play()
		l.tick()
	}
	id, inputs := c.id(), c.commandCounts()
	var held [][]byte
	var from [2]geom.Vec3
	for n := range 20 { // a third of a second
		held = append(held, c.packet(section(sim.Command{Tick: l.lobby.match.Tick() + 1, MoveMag: 255})...))
		control.play()
		l.tick()
		motion, _, _ := l.lobby.match.Self(id)
		if n >= 18 {
			from[n-18] = motion.Pos
		}
	}
	if d := geom.Vec3.Sub(from[1], from[0]); d.Len() > .01 {
		t.Errorf("it moves by %v m a tick after 18 ticks of silence", d.Len())
	}
	if n := c.commandCounts(); n.Missing-inputs.Missing != 20 || l.count(metrics.LagSwitchSuspected) != 1 {
		t.Errorf("%+v, was %+v; %d suspected", n, inputs, l.count(metrics.LagSwitchSuspected))
	}
	for _, p := range held {
		c.send(c.seal(p))
	}
	shot := 0
	for range 80 {
		c.receive()
		next := l.lobby.match.Tick() + 1
		c.sendSections(section(sim.Command{Tick: next, Buttons: sim.Fire,
			View: tick.View{From: next - 8, To: next - 8}})...)
		control.play()
		mute, newest := c.state().rewind.lagSwitch.suspected, c.state().repl.pacing.sent
		l.tick()
		for _, s := range l.lobby.match.Outcome().Shots {
			if s.Shooter != uint32(id) {
				continue
			}
			shot++
			if (mute || c.state().rewind.lagSwitch.suspected) && s.View.From < newest {
				t.Errorf("looks at %d while the newest is %d", s.View.From, newest)
			}
			if back := next - s.View.From; !mute &&
				l.lobby.Stats.Count[metrics.LagSwitchSuspected].Load() != 1 {
				t.Errorf("looks back by %d", back)
			}
		}
	}
	if n := c.commandCounts(); n.Stale-inputs.Stale != 20 || shot < 5 ||
		c.state().rewind.lagSwitch.suspected || l.count(metrics.LagSwitchSuspected) != 1 {
		t.Errorf("%+v; %d shots, still mute %v, %d suspected", n, shot,
			c.state().rewind.lagSwitch.suspected, l.count(metrics.LagSwitchSuspected))
	}
	control.checkUnharmed()
}

// Shots of a client without an acknowledged snapshot hit nothing.
func TestThreat25Unseen(t *testing.T) {
	for _, acks := range []bool{false, true} {
		l, control, c := controlAndClient(t, testNetcodeConfig())
		pkt := func(sections []byte) []byte { // of a header that acks nothing
			p := c.packet(sections...)
			if !acks {
				h, rest, err := packet.ParseHeader(p)
				if err != nil {
					t.Fatal(err)
				}
				h.Ack, h.AckBits = 0, 0
				p = append(h.Append(nil), rest...)
			}
			return p
		}
		c.state().repl.acks.newest = 0
		shots, blind := 0, 0
		for range 60 {
			next := l.lobby.match.Tick() + 1
			c.receive()
			c.send(
				c.seal(pkt(section(sim.Command{Tick: next, Buttons: sim.Fire,
					View: tick.View{From: next - 4, To: next - 4}}))))
			control.play()
			l.tick()
			for _, s := range l.lobby.match.Outcome().Shots {
				if shots++; (s.View == tick.View{}) {
					blind++
				}
			}
		}
		if shots < 5 || !acks && (blind != shots || l.count(metrics.ShotsClamped) != uint64(shots)) ||
			acks && blind > 1 {
			t.Errorf("acks %v: %d of %d shots look at nothing, %d clamped", acks,
				blind, shots, l.count(metrics.ShotsClamped))
		}
		control.checkUnharmed()
	}
}

// An ack of what was never sent is refused with its packet; baselines stay what they were.
func TestThreat28ForgedAcks(t *testing.T) {
	l, control, c := controlAndClient(t, testNetcodeConfig())
	for range 60 {
		c.play()
		control.play()
		l.tick()
	}
	acked, drops := c.state().repl.acks.newest, 0
	for i, change := range []func(h *packet.Header){
		func(h *packet.Header) { h.Ack += 200 },
		func(h *packet.Header) { h.Ack += 30000 },
		func(h *packet.Header) { h.Ack += 0x8000 },
		func(h *packet.Header) { h.Ack, h.AckBits = 3, ^uint64(0) },
		func(h *packet.Header) { h.Ack, h.AckBits = 0, 1 },
	} {
		p := c.packet(c.commands(1)...)
		h, rest, err := packet.ParseHeader(p)
		if err != nil {
			t.Fatal(err)
		}
		change(&h)
		before := c.commandCounts().Accepted
		c.send(c.seal(append(h.Append(nil), rest...)))
		control.play()
		l.tick()
		drops++
		if n := l.dropped(packet.DropAck); n != uint64(drops) ||
			c.state().repl.acks.newest != acked || c.commandCounts().Accepted != before {
			t.Errorf("%d: %v", i, l.tally())
		}
		c.received()
	}
	c.checkUnharmed()
	control.receive()
	control.checkUnharmed()
}

// A client that acknowledges no snapshot gets full ones, but only four times a second, so that
// withholding acks gains no bytes.
func TestThreat29AckWithholding(t *testing.T) {
	sent := func(acks int) (bytes, snapshots int, l *testLobby) { // 0 none, 1 of the Welcome alone, 2 all
		l, control, c := controlAndClient(t, testNetcodeConfig())
		for range 40 {
			l.lobby.match.Join() // bodies to be told of
		}
		welcomed := uint16(0)
		for n := range 6 * 60 {
			snapshots += len(c.receive())
			control.play()
			p := c.packet(c.commands(1)...)
			h, rest, err := packet.ParseHeader(p)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				welcomed = h.Ack
			}
			switch acks {
			case 0:
				h.Ack, h.AckBits = 0, 0
			case 1:
				h.Ack, h.AckBits = welcomed, 0
			}
			c.send(c.seal(append(h.Append(nil), rest...)))
			l.tick()
		}
		control.receive()
		control.checkUnharmed()
		return c.bytes, snapshots, l
	}
	honest, all, l := sent(2)
	if l.count(metrics.SnapshotsUnacked) != 0 || all < 119 {
		t.Errorf("an honest client: %d starved, %d snapshots", l.count(metrics.SnapshotsUnacked), all)
	}
	for acks := range 2 {
		got, n, l := sent(acks)
		if n > unackedLimit+8+5*4+2 || l.count(metrics.SnapshotsAckStalled)+
			l.count(metrics.SnapshotsUnacked) == 0 {
			t.Errorf("acks %d: %d snapshots of %d, %d bytes of %d; %d stalled, %d starved", acks,
				n, all, got, honest, l.count(metrics.SnapshotsAckStalled), l.count(metrics.SnapshotsUnacked))
		}
	}

	// Packets without snapshots acknowledged, and those with them not, do not start a stall; a
	// fresh start is asked for always.
	l, control, c := controlAndClient(t, testNetcodeConfig())
	snapshots := 0
	for range 6 * 60 {
		snapshots += len(c.receive())
		c.state().repl.dropBaselines()
		// as if no ack named a snapshot
		c.state().repl.acks.unacked = max(c.state().repl.acks.unacked, snapshots)
		c.sendSections(c.commands(1)...)
		control.play()
		l.tick()
	}
	if snapshots > unackedLimit+6*4+2 || l.count(metrics.SnapshotsUnacked) < 60 ||
		l.count(metrics.SnapshotsAckStalled) != 0 {
		t.Errorf("%d snapshots, %d starved, %d stalled", snapshots,
			l.count(metrics.SnapshotsUnacked), l.count(metrics.SnapshotsAckStalled))
	}
	control.checkUnharmed()
}

// Clients may not send fragments: nothing of them is kept.
func TestThreat30Fragments(t *testing.T) {
	l, control, c := controlAndClient(t, withoutFloodLimit())
	n := 0
	for size := uint32(1); size != 0; size <<= 1 {
		c.receive()
		c.sendSections(append([]byte{byte(packet.SectionFragment), 0, 0, 0,
			byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)}, make([]byte, 512)...)...)
		control.play()
		l.tick()
		if n++; l.dropped(packet.DropFragment) != uint64(n) {
			t.Errorf("size %d: %v", size, l.tally())
		}
	}
	if a := alloctest.In(20, func() {
		if rest, err := c.state().session.peer.Sections([]byte{byte(packet.SectionFragment),
			0, 0, 0, 0, 4, 0, 0, 1, 2, 3}); err == nil || rest != nil {
			t.Fatal("a fragment was taken")
		}
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
	c.receive()
	c.checkUnharmed()
	control.receive()
	control.checkUnharmed()
}

// A window of commands that is truncated at any byte, or that claims more commands than it has,
// has no effect.
func TestThreat31OverRead(t *testing.T) {
	l, control, c := controlAndClient(t, withoutFloodLimit())
	var cmds []sim.Command
	for i := range tick.Tick(16) {
		cmds = append(cmds, sim.Command{Tick: 1000 + i, Yaw: geom.Angle(i * 77),
			Buttons: sim.Fire, View: tick.View{From: 9, To: 10}})
	}
	whole := section(cmds...)
	before := c.commandCounts()
	for n := 1; n < len(whole); n++ {
		c.receive()
		c.sendSections(whole[:n]...)
		if n%8 == 0 {
			control.play()
			l.tick()
		}
	}
	for count := 17; count < 256; count += 7 {
		more := bytes.Clone(whole)
		more[1] = byte(count)
		c.sendSections(more...)
	}
	control.play()
	l.tick()
	after := c.commandCounts()
	after.Missing, after.Used = before.Missing, before.Used
	if want := uint64(len(whole)-1) + 35; l.dropped(packet.DropCommands) != want || after != before {
		t.Errorf("%d dropped of %d; %+v, was %+v", l.dropped(packet.DropCommands), want, after, before)
	}
	control.checkUnharmed()
}
