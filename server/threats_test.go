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

// silent fails if anything was sent to the caller.
func (c *caller) silent() {
	c.lab.t.Helper()
	if d := c.received(); d != nil {
		c.lab.t.Fatalf("%d datagrams to %v, the first is %x", len(d), c.addr(), d[0])
	}
}

// requests are first datagrams of attempts with good tokens, one for each user from first on.
func (l *lab) requests(first, n int, change func(*netcode.Mint)) (all [][]byte) {
	for i := range n {
		var out netcode.Outbox
		netcode.NewClient(l.mint(uint64(first+i), change), netcode.ClientConfig{}).Update(l.now, &out)
		_, d := out.At(0)
		all = append(all, bytes.Clone(d))
	}
	return all
}

// spoofers are n addresses of as many networks.
func (l *lab) spoofers(n int) (all []*caller) {
	for i := range n {
		all = append(all, l.caller(fmt.Sprintf("172.16.%d.9:999", i)))
	}
	return all
}

func forged(d []byte) []byte {
	d = bytes.Clone(d)
	d[300] ^= 1
	return d
}

// Forged requests beyond the budget are refused unopened; whatever stands in a batch, sessions are
// served before them.
func TestThreat07RequestFlood(t *testing.T) {
	gate := labGate()
	gate.HandshakesPerSecond = 240
	l := newLab(t, Config{Players: 3, Netcode: gate})
	control, c := l.joined(), l.joined()
	control.unharmed()
	c.hear()
	attackers := l.spoofers(40)
	request := forged(l.requests(900, 1, nil)[0])
	used, snapshots := control.inputs().Used, 0
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
	if opened := a.refused[netcode.DropReqToken]; opened < 100 || opened > 2*240+120 || a.refused[netcode.DropReqBudget] == 0 || l.lobby.netcode.Pressure() == 0 {
		t.Errorf("%d opened in two seconds: %v", opened, a)
	}
	if n := control.inputs().Used - used; n != 120 || snapshots < 39 {
		t.Errorf("of 120 commands %d were used, %d snapshots", n, snapshots)
	}
	for _, a := range attackers {
		a.silent()
	}

	l.now += time.Second
	l.lobby.netcode.Update(l.now, l.unix(), &l.lobby.egress.outbox)
	for range 120 { // the budget recovers
		control.play()
		c.play()
		l.tick()
	}
	d := l.caller("")
	response := d.respond()
	last := l.joined() // now it is full
	d.send(response)   // before the goodbye that makes room, in one batch
	c.leave()
	l.tick()
	d.hear()
	if d.dial.State() != netcode.Connected {
		t.Errorf("a handshake was served before a session: %v; %v", d.dial.State(), l.tally())
	}
	last.unharmed()
	control.hear()
	control.unharmed()
}

// Under a flood that lasts, hosts that answered a challenge lately come in, strangers are put off.
func TestThreat08Deferred(t *testing.T) {
	gate := labGate()
	gate.HandshakesPerSecond = 240
	l := newLab(t, Config{Netcode: gate})
	control, known, stranger := l.joined(), l.joined(), l.caller("172.30.0.1:5")
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
	used := control.inputs().Used
	known.ask(nil)
	stranger.ask(nil)
	ticks := 0
	for ; known.dial.State() != netcode.Connected && ticks < 60; ticks++ {
		known.update()
		stranger.update()
		flood()
		known.hear()
		stranger.hear()
	}
	if known.dial.State() != netcode.Connected || l.refused(netcode.DropReqDeferred) == 0 {
		t.Errorf("the known host is %v after %d ticks: %v", known.dial.State(), ticks, l.tally())
	}
	if n := control.inputs().Used - used; n != uint64(ticks) {
		t.Errorf("of %d commands beside the flood %d were used", ticks, n)
	}
	for _, a := range attackers {
		a.silent()
	}
	control.unharmed()
}

// No address that has not proved itself is sent more than 0.31 of what came from it, whatever it
// sends.
func TestThreat09Amplification(t *testing.T) {
	l := newLab(t, Config{Players: 2})
	control, roamer := l.joined(), l.caller("")
	spoofed, denied, garbage, away := l.caller(""), l.caller(""), l.caller(""), l.caller("")
	check := func(c *caller, sent int, most bool) {
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
	roamer.knock()
	for range 30 {
		roamer.update()
		l.tick()
		roamer.hear()
	}
	home := roamer.conn
	probes := 0
	for range 60 { // probes from an address that does not answer
		l.tick()
		roamer.conn = home
		roamer.hear()
		roamer.say()
		roamer.dial.Update(l.now, &roamer.post)
		for i := range roamer.post.Len() {
			if _, d := roamer.post.At(i); netcode.KindOf(d) == netcode.KindPath {
				away.send(d)
				probes += len(d)
			}
		}
		roamer.post.Reset()
	}
	if probes < 192*5 {
		t.Fatalf("%d bytes of probes", probes)
	}
	check(away, probes, false)
	if s, _ := l.lobby.netcode.Session(int(roamer.state().session.client)); s.Address != home.LocalAddr() {
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
	control.hear()
	control.unharmed()
}

// A full lobby denies clients with a good token, in 25 bytes, and answers no others.
func TestThreat11Full(t *testing.T) {
	l := newLab(t, Config{Players: 1})
	control, good, bad := l.joined(), l.caller(""), l.caller("")
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
	control.unharmed()
}

// A second session of a client id that is connected and heard is refused in silence; a token from
// another address too.
func TestThreat12SameClientTwice(t *testing.T) {
	l := newLab(t, Config{})
	control, thief, thief2 := l.joined(), l.caller(""), l.caller("")
	token := l.requests(int(control.user), 2, nil)
	for i, who := range []*caller{thief, thief2} {
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
	control.hear()
	control.play()
	thief2.send(other)
	l.tick()
	if thief2.silent(); l.refused(netcode.DropReqTokenUsed) != 1 {
		t.Errorf("%v", l.tally())
	}
	control.unharmed()
	if l.count(metrics.Takeovers) != 0 {
		t.Error("taken over while it played")
	}
}

// Sealed datagrams from unknown addresses, replayed good ones included, are dropped without an
// answer.
func TestThreat16UnknownSource(t *testing.T) {
	l := newLab(t, Config{})
	control, c, thief := l.joined(), l.joined(), l.caller("")
	c.say()
	l.tick()
	d := c.seal(c.pack(c.commands(1)...))
	before := c.inputs()
	for range 100 {
		thief.send(d)
	}
	control.hear()
	control.play()
	l.tick()
	if thief.silent(); l.refused(netcode.DropUnknown) != 100 || c.inputs().Accepted != before.Accepted {
		t.Errorf("%v", l.tally())
	}
	c.send(d) // what an attacker has sent elsewhere is still good from here
	control.play()
	l.tick()
	if c.inputs().Stale != 1 {
		t.Errorf("%+v", c.inputs())
	}
	control.unharmed()
}

// A standard client whose address changes reconnects with a fresh token and gets its player back.
// Replayed probes and echoes move no session.
func TestThreat17Rebinding(t *testing.T) {
	l := newLab(t, Config{})
	control, plain, roamer, thief := l.joined(), l.joined(), l.caller(""), l.caller("")
	roamer.start(l.mint(roamer.user, nil), netcode.ClientConfig{Roam: true, ProbeAfter: time.Millisecond})
	roamer.knock()
	roamer.hear()
	roamer.ready()
	old := plain.id()
	control.hear()
	probes := 0
	for n := range 180 {
		control.play()
		roamer.play()
		roamer.dial.Update(l.now, &roamer.post)
		for i := range roamer.post.Len() {
			_, d := roamer.post.At(i)
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
		roamer.post.Reset()
		l.tick()
		for _, d := range thief.received() {
			if netcode.KindOf(d) != netcode.KindPath || len(d) > 60 {
				t.Fatalf("the thief was sent %x", d)
			}
			d[0] = d[0]&0xf0 | byte(netcode.KindPath)
			thief.send(d) // reflected
		}
	}
	if c := roamer.state(); c.session.addr != roamer.addr() || l.count(metrics.Migrated) != 0 || probes < 10 || l.refused(netcode.DropReplay) < 10 {
		t.Errorf("moved to %v; %d probes; %v", c.session.addr, probes, l.tally())
	}
	l.silence(1, control)
	plain.move("10.9.3.1:7")
	plain.join()
	if plain.id() != old {
		t.Errorf("%v, was %v", plain.id(), old)
	}
	plain.unharmed()
	control.hear()
	control.unharmed()
}

// A client that sends more than twice what it should has the surplus refused, and at ten times for
// seconds is out.
func TestThreat18AuthenticatedFlood(t *testing.T) {
	l := newLab(t, Config{})
	control, c := l.joined(), l.joined()
	control.hear()
	used, snapshots := control.inputs().Used, 0
	ticks := 0
	for ; l.count(metrics.FloodKicked) == 0 && ticks < 60; ticks++ {
		for range 300 {
			c.say(c.commands(1)...)
		}
		snapshots += control.play()
		l.tick()
	}
	a, k := l.tally(), l.count(metrics.FloodKicked)
	if k != 1 || ticks != 6000/300+1 || a.refused[netcode.DropRate] < 5000 {
		t.Errorf("%d kicked after %d ticks: %v", k, ticks, a)
	}
	if n := control.inputs().Used - used; n != uint64(ticks) {
		t.Errorf("of %d commands beside the flood %d were used, %d snapshots", ticks, n, snapshots)
	}
	if n := l.lobby.match.CommandBuffer(c.id()); n != nil {
		t.Errorf("still there")
	}
	c.hear()
	if why, closed := c.peer.Closed(); c.dial.State() != netcode.Disconnected || !closed || why != packet.ReasonKicked {
		t.Errorf("%v, was told %v", c.dial.State(), why)
	}
	control.unharmed()
}

// twin is a lab with a player that moves, for comparing.
func twin(t *testing.T, gate netcode.ServerConfig) (l *lab, control, c *caller) {
	l = newLab(t, Config{Rules: sim.Rules{Seed: 11}, Netcode: gate})
	control, c = l.joined(), l.joined()
	control.say()
	c.say()
	l.tick()
	return l, control, c
}

// Bursts of commands for many ticks move a player no further than commands in time do.
func TestThreat19CommandFlood(t *testing.T) {
	honest, hc, h := twin(t, manyPackages())
	hack, kc, k := twin(t, manyPackages())
	before := k.inputs()
	for range 120 {
		hc.play()
		h.play()
		kc.play()
		k.hear()
		next := hack.lobby.match.Tick() + 1
		for round := range 4 {
			var cmds []sim.Command
			for i := range tick.Tick(sim.MaxWindow) {
				cmds = append(cmds, sim.Command{Tick: next + i + tick.Tick(round)*31, Yaw: 100, MoveMag: 255})
			}
			k.say(section(cmds...)...)
		}
		honest.tick()
		hack.tick()
	}
	a, _, _ := honest.lobby.match.Self(h.id())
	b, _, _ := hack.lobby.match.Self(k.id())
	got := k.inputs()
	if a != b || honest.lobby.match.Hash() != hack.lobby.match.Hash() {
		t.Errorf("the honest player is at %v, the other at %v", a.Pos, b.Pos)
	}
	if used := got.Used - before.Used; used != 120 || got.Future == 0 || got.Duplicate == 0 || hack.count(metrics.InputsFuture) != got.Future ||
		hack.count(metrics.InputsDuplicate) < got.Duplicate || honest.count(metrics.InputsFuture) != 0 {
		t.Errorf("%d commands used in 120 ticks: %+v", used, got)
	}
	kc.hear()
	kc.unharmed()
}

// Commands that come twice, late and out of order are used once each; another command for a tick
// that has one, or is over, is refused.
func TestThreat20DuplicateInputs(t *testing.T) {
	clean, ac, a := twin(t, manyPackages())
	noisy, bc, b := twin(t, manyPackages())
	rng := rand.New(rand.NewPCG(4, 4))
	wish := func(at tick.Tick) sim.Command {
		return sim.Command{Tick: at, Yaw: geom.Angle(at * 300), MoveMag: 255, Buttons: sim.Buttons(at>>4) & sim.Jump}
	}
	for range 120 {
		next := clean.lobby.match.Tick() + 1
		ac.play()
		a.hear()
		a.say(section(wish(next))...)
		bc.play()
		b.hear()
		order := []tick.Tick{next, next, next + 1, next + 2, next - 1, next - 2}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, at := range order {
			b.say(section(wish(at))...)
		}
		evil := wish(next)
		evil.MoveYaw, evil.Buttons = 128, sim.Fire
		b.say(section(evil)...)
		evil.Tick = next - 1
		b.say(section(evil)...)
		clean.tick()
		noisy.tick()
		if clean.lobby.match.Hash() != noisy.lobby.match.Hash() {
			t.Fatalf("tick %d: the worlds differ", next)
		}
	}
	if n := b.inputs(); n.Conflict != 120 || n.Stale < 3*115 || n.Duplicate < 3*115 || n.Used != 120 || n.Missing != 0 ||
		noisy.count(metrics.InputsConflict) != 120 || noisy.count(metrics.InputsStale) != n.Stale || clean.count(metrics.InputsConflict) != 0 {
		t.Errorf("%+v", n)
	}
	bc.unharmed()
}

// Of a command with a value that cannot be, the value is mended and the tick is used. Angles and
// sizes are integers here: what a float could say, NaN or more than full speed, cannot be said.
func TestThreat21BadValues(t *testing.T) {
	for i, c := range []struct {
		bad, good sim.Command
		mended    bool
	}{
		0: {sim.Command{Pitch: 0x4001}, sim.Command{Pitch: 0x4000}, true},
		1: {sim.Command{Pitch: 0x7fff}, sim.Command{Pitch: 0x4000}, true},
		2: {sim.Command{Pitch: 0x8000}, sim.Command{Pitch: 0xc000}, true},
		3: {sim.Command{Buttons: 0xfc00}, sim.Command{}, true},
		4: {sim.Command{Buttons: 0xfc00 | sim.Jump | sim.Sprint}, sim.Command{Buttons: sim.Jump | sim.Sprint}, true},
		5: {sim.Command{Yaw: 0xffff, MoveYaw: 255, MoveMag: 255}, sim.Command{Yaw: 0xffff, MoveYaw: 255, MoveMag: 255}, false},
		6: {sim.Command{Buttons: sim.Fire, View: tick.View{From: 1<<32 - 1, To: 254, Frac: 255}}, sim.Command{Buttons: sim.Fire}, false},
		7: {sim.Command{Buttons: sim.Fire, View: tick.View{From: 1 << 31, To: 1<<31 + 255}}, sim.Command{Buttons: sim.Fire, View: tick.View{From: 1 << 30, To: 1 << 30}}, false},
	} {
		one, ac, a := twin(t, labGate())
		two, bc, b := twin(t, labGate())
		for range 30 {
			ac.play()
			bc.play()
			a.hear()
			b.hear()
			c.bad.Tick, c.good.Tick = one.lobby.match.Tick()+1, one.lobby.match.Tick()+1
			a.say(section(c.bad)...)
			b.say(section(c.good)...)
			one.tick()
			two.tick()
			if one.lobby.match.Hash() != two.lobby.match.Hash() {
				t.Fatalf("%d: the worlds differ", i)
			}
		}
		if n := a.inputs(); n.Used != 30 || (n.Clamped == 30) != c.mended || one.count(metrics.InputsClamped) != n.Clamped || one.dropped(packet.DropCommands) != 0 {
			t.Errorf("%d: %+v", i, n)
		}
		ac.unharmed()
	}
}

// A client cannot assert its position or its hits: sections and messages that a client may not send
// are dropped or ignored, and counted.
func TestThreat22AssertedState(t *testing.T) {
	clean, ac, a := twin(t, labGate())
	l, control, c := twin(t, labGate())
	for n := range 60 {
		ac.play()
		a.play()
		clean.tick()
		control.play()
		c.hear()
		kill := sim.Event{Kind: sim.EventKill, Actor: c.id(), Victim: control.id(), Amount: 99}
		if n%2 == 0 {
			kill.Kind = sim.EventHit
		}
		c.queue(kill.Append(nil))
		c.say(c.commands(1)...)
		c.say(append([]byte{byte(packet.SectionSnapshot)}, bytes.Repeat([]byte{1}, 60)...)...)
		l.tick()
		if clean.lobby.match.Hash() != l.lobby.match.Hash() {
			t.Fatal("the worlds differ")
		}
	}
	w := protocol.Welcome{Version: protocol.Version, NetID: uint32(control.id()), TickRate: 1, SendInterval: 1}
	r := l.good()
	c.hear()
	c.queue(w.Append(nil))
	c.queue(r.Append(nil)) // a second Ready
	c.say(c.commands(1)...)
	control.play()
	l.tick()
	if l.dropped(packet.DropSection) != 60 || l.count(metrics.MessagesUnknown) != 62 || l.count(metrics.Hits)+l.count(metrics.Kills) != 0 {
		t.Errorf("%v; %d events unknown, %d hits", l.tally(), l.count(metrics.MessagesUnknown), l.count(metrics.Hits))
	}
	control.unharmed()
}

// views is how far behind its tick each shot was judged of a caller that pledges to look back by
// some ticks, in 1/256 tick; and how many were clamped. It claims what it pledged, or, if it lies,
// any view.
func views(t *testing.T, back tick.Tick, lies bool) (at []int64, clamped uint64) {
	l, control, c := twin(t, labGate())
	last, rng := int64(0), rand.New(rand.NewPCG(23, uint64(back)))
	var pledges lagcomp.ViewDelayTrack
	var told []tick.Tick
	for range 150 {
		control.play()
		for _, s := range c.hear() {
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
		c.say(sim.AppendArrivals(section(cmd), delay, nil)...)
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
	control.hear()
	control.unharmed()
	return at, l.count(metrics.ShotsClamped)
}

// Shots rewind by the announced view delay: other claims are counted and have no effect. An
// announced delay beyond what a client can have seen is clamped to that.
func TestThreat23Backtrack(t *testing.T) {
	honest, none := views(t, 6, false)
	liar, all := views(t, 6, true)
	some, n1 := views(t, 40, false)
	more, n2 := views(t, 127, false)
	if len(honest) < 10 || none > 4 || all < uint64(len(liar))-4 || n1 < uint64(len(some))-4 || n2 < uint64(len(more))-4 {
		t.Errorf("of %d, %d, %d, %d shots %d, %d, %d, %d clamped", len(honest), len(liar), len(some), len(more), none, all, n1, n2)
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
	l, control, c := twin(t, labGate())
	for range 60 {
		c.play()
		control.play()
		l.tick()
	}
	id, inputs := c.id(), c.inputs()
	var held [][]byte
	var from [2]geom.Vec3
	for n := range 20 { // a third of a second
		held = append(held, c.pack(section(sim.Command{Tick: l.lobby.match.Tick() + 1, MoveMag: 255})...))
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
	if n := c.inputs(); n.Missing-inputs.Missing != 20 || l.count(metrics.LagSwitchSuspected) != 1 {
		t.Errorf("%+v, was %+v; %d suspected", n, inputs, l.count(metrics.LagSwitchSuspected))
	}
	for _, p := range held {
		c.send(c.seal(p))
	}
	shot := 0
	for range 80 {
		c.hear()
		next := l.lobby.match.Tick() + 1
		c.say(section(sim.Command{Tick: next, Buttons: sim.Fire, View: tick.View{From: next - 8, To: next - 8}})...)
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
			if back := next - s.View.From; !mute && l.lobby.Stats.Count[metrics.LagSwitchSuspected].Load() != 1 {
				t.Errorf("looks back by %d", back)
			}
		}
	}
	if n := c.inputs(); n.Stale-inputs.Stale != 20 || shot < 5 || c.state().rewind.lagSwitch.suspected || l.count(metrics.LagSwitchSuspected) != 1 {
		t.Errorf("%+v; %d shots, still mute %v, %d suspected", n, shot, c.state().rewind.lagSwitch.suspected, l.count(metrics.LagSwitchSuspected))
	}
	control.unharmed()
}

// Shots of a client without an acknowledged snapshot hit nothing.
func TestThreat25Unseen(t *testing.T) {
	for _, acks := range []bool{false, true} {
		l, control, c := twin(t, labGate())
		pack := func(sections []byte) []byte { // of a header that acks nothing
			p := c.pack(sections...)
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
			c.hear()
			c.send(c.seal(pack(section(sim.Command{Tick: next, Buttons: sim.Fire, View: tick.View{From: next - 4, To: next - 4}}))))
			control.play()
			l.tick()
			for _, s := range l.lobby.match.Outcome().Shots {
				if shots++; (s.View == tick.View{}) {
					blind++
				}
			}
		}
		if shots < 5 || !acks && (blind != shots || l.count(metrics.ShotsClamped) != uint64(shots)) || acks && blind > 1 {
			t.Errorf("acks %v: %d of %d shots look at nothing, %d clamped", acks, blind, shots, l.count(metrics.ShotsClamped))
		}
		control.unharmed()
	}
}

// An ack of what was never sent is refused with its package; baselines stay what they were.
func TestThreat28ForgedAcks(t *testing.T) {
	l, control, c := twin(t, labGate())
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
		p := c.pack(c.commands(1)...)
		h, rest, err := packet.ParseHeader(p)
		if err != nil {
			t.Fatal(err)
		}
		change(&h)
		before := c.inputs().Accepted
		c.send(c.seal(append(h.Append(nil), rest...)))
		control.play()
		l.tick()
		drops++
		if n := l.dropped(packet.DropAck); n != uint64(drops) || c.state().repl.acks.newest != acked || c.inputs().Accepted != before {
			t.Errorf("%d: %v", i, l.tally())
		}
		c.received()
	}
	c.unharmed()
	control.hear()
	control.unharmed()
}

// A client that acknowledges no snapshot gets full ones, but only four times a second, so that
// withholding acks gains no bytes.
func TestThreat29AckWithholding(t *testing.T) {
	sent := func(acks int) (bytes, snapshots int, l *lab) { // 0 none, 1 of the Welcome alone, 2 all
		l, control, c := twin(t, labGate())
		for range 40 {
			l.lobby.match.Join() // bodies to be told of
		}
		welcomed := uint16(0)
		for n := range 6 * 60 {
			snapshots += len(c.hear())
			control.play()
			p := c.pack(c.commands(1)...)
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
		control.hear()
		control.unharmed()
		return c.bytes, snapshots, l
	}
	honest, all, l := sent(2)
	if l.count(metrics.SnapshotsUnacked) != 0 || all < 119 {
		t.Errorf("an honest client: %d starved, %d snapshots", l.count(metrics.SnapshotsUnacked), all)
	}
	for acks := range 2 {
		got, n, l := sent(acks)
		if n > unackedLimit+8+5*4+2 || l.count(metrics.SnapshotsAckStalled)+l.count(metrics.SnapshotsUnacked) == 0 {
			t.Errorf("acks %d: %d snapshots of %d, %d bytes of %d; %d choked, %d starved", acks, n, all, got, honest, l.count(metrics.SnapshotsAckStalled), l.count(metrics.SnapshotsUnacked))
		}
	}

	// Packages without snapshots acknowledged, and those with them not, keep the choke open; a
	// fresh start is asked for always.
	l, control, c := twin(t, labGate())
	snapshots := 0
	for range 6 * 60 {
		snapshots += len(c.hear())
		c.state().repl.dropBaselines()
		c.state().repl.acks.unacked = max(c.state().repl.acks.unacked, snapshots) // as if no ack named a snapshot
		c.say(c.commands(1)...)
		control.play()
		l.tick()
	}
	if snapshots > unackedLimit+6*4+2 || l.count(metrics.SnapshotsUnacked) < 60 || l.count(metrics.SnapshotsAckStalled) != 0 {
		t.Errorf("%d snapshots, %d starved, %d choked", snapshots, l.count(metrics.SnapshotsUnacked), l.count(metrics.SnapshotsAckStalled))
	}
	control.unharmed()
}

// Clients have no fragments: whatever they say they begin, nothing is kept of it.
func TestThreat30Fragments(t *testing.T) {
	l, control, c := twin(t, manyPackages())
	n := 0
	for size := uint32(1); size != 0; size <<= 1 {
		c.hear()
		c.say(append([]byte{byte(packet.SectionFragment), 0, 0, 0, byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)}, make([]byte, 512)...)...)
		control.play()
		l.tick()
		if n++; l.dropped(packet.DropFragment) != uint64(n) {
			t.Errorf("size %d: %v", size, l.tally())
		}
	}
	if a := testing.AllocsPerRun(20, func() {
		if rest, err := c.state().session.peer.Sections([]byte{byte(packet.SectionFragment), 0, 0, 0, 0, 4, 0, 0, 1, 2, 3}); err == nil || rest != nil {
			t.Fatal("a fragment was taken")
		}
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
	c.hear()
	c.unharmed()
	control.hear()
	control.unharmed()
}

// A window of commands that ends early, at whichever byte, or is said to hold more than it does,
// has no effect at all.
func TestThreat31OverRead(t *testing.T) {
	l, control, c := twin(t, manyPackages())
	var cmds []sim.Command
	for i := range tick.Tick(16) {
		cmds = append(cmds, sim.Command{Tick: 1000 + i, Yaw: geom.Angle(i * 77), Buttons: sim.Fire, View: tick.View{From: 9, To: 10}})
	}
	whole := section(cmds...)
	before := c.inputs()
	for n := 1; n < len(whole); n++ {
		c.hear()
		c.say(whole[:n]...)
		if n%8 == 0 {
			control.play()
			l.tick()
		}
	}
	for count := 17; count < 256; count += 7 {
		more := bytes.Clone(whole)
		more[1] = byte(count)
		c.say(more...)
	}
	control.play()
	l.tick()
	after := c.inputs()
	after.Missing, after.Used = before.Missing, before.Used
	if want := uint64(len(whole)-1) + 35; l.dropped(packet.DropCommands) != want || after != before {
		t.Errorf("%d dropped of %d; %+v, was %+v", l.dropped(packet.DropCommands), want, after, before)
	}
	control.unharmed()
}
