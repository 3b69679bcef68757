package server

import (
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// checkAccount fails unless the cells of a lobby that samples everything account for every bit
// that was sent.
func (l *testLobby) checkAccount() {
	l.t.Helper()
	n, bits := l.lobby.Bandwidth(), uint64(0)
	for _, c := range l.lobby.account.bandwidth.AppendCells(nil) {
		bits += c.Bits
		if c.Component == "unparsed" {
			l.t.Fatalf("tick %d: %d bits unparsed", l.lobby.match.Tick(), c.Bits)
		}
	}
	if n.Sampled != n.Datagrams || bits != 8*n.Bytes {
		l.t.Fatalf("tick %d: %d of %d datagrams sampled, %d bits of %d",
			l.lobby.match.Tick(), n.Sampled, n.Datagrams, bits, 8*n.Bytes)
	}
}

// The bandwidth account stays exact with spectators, map changes, frames of several ticks, low
// detail, rejected clients and an empty lobby. What it publishes is at most a second of ticks old.
func TestBandwidthAccountIsExact(t *testing.T) {
	a := &testMaps{t: t, later: 5}
	b := newMapsLobby(t, 6, Config{Players: 7, Spectators: 1, SampleEvery: 1,
		SleepWhenEmpty: true, LoadMap: a.load, Rules: sim.Rules{Mix: true}}, "arena-16")
	l := b.lobby
	play := func(seconds int) {
		t.Helper()
		for range seconds * 60 {
			b.tickAll()
			b.checkAccount()
		}
	}
	if n := l.Summary(); n.Census.PlayerSlots != 7 || n.Census.SpectatorSlots != 1 ||
		!n.Census.AcceptsNewcomer {
		t.Errorf("before the first tick: %+v", n.Census)
	}
	play(3)
	looker := func() *client.Client {
		end := b.newClient("")
		p, err := client.New(client.Config{Token: b.mint(end.user, spectator),
			Rules: sim.Rules{Mix: true}, Fetch: true, Arena: known("arena-16")})
		must0(t, err)
		b.players, b.endpoints = append(b.players, p), append(b.endpoints, end)
		return p
	}
	looker()
	play(1)
	late := looker() // there is one place
	play(1)
	if state, _ := late.State(); state != client.Lost || b.count(metrics.RejectedFull) == 0 {
		t.Errorf("a second spectator is %v", state)
	}
	b.players, b.endpoints = b.players[:7], b.endpoints[:7]
	if c := l.Summary().Census; c.Players != 6 || c.Spectators != 1 || c.Ready != 7 || !c.AcceptsNewcomer {
		t.Errorf("%+v", c)
	}
	if _, err := l.Execute(b.now, nil, "map arena-64", operator); err != nil {
		t.Fatal(err)
	}
	play(5)
	if n := alloctest.In(20, l.Publish); n != 0 && !raceEnabled {
		t.Errorf("%v allocations to publish", n)
	}
	if b.count(metrics.MapChanges) != 1 || l.Summary().Census.Ready != 7 {
		t.Fatalf("%d changes of the map, %+v", b.count(metrics.MapChanges), l.Summary().Census)
	}
	surveys := l.Stats.InputBuffer.Read().Count
	for frame := range 60 { // of three ticks
		b.now = l.cfg.Rules.Rate.At(l.match.Tick() + 3)
		if err := l.Ticks(b.now, b.unix(), b.conn, 3); err != nil {
			t.Fatal(err)
		}
		b.checkBalance()
		b.checkAccount()
		b.exchange()
		if was := l.Summary().Bandwidth.Datagrams; frame%20 == 0 && was == 0 {
			t.Error("nothing is published")
		}
	}
	if got := l.Stats.InputBuffer.Read().Count - surveys; got != 3*7 {
		t.Errorf("in three seconds of frames of three ticks %d samples of 7 connections", got)
	}
	l.SetLoadLevel(overload.LowDetail)
	play(2)
	for _, p := range b.players {
		p.Leave(b.now)
	}
	b.tickAll()
	b.players, b.endpoints = nil, nil
	play(1)
	if n := l.Summary(); b.count(metrics.TicksSlept) < 30 ||
		n.Bandwidth.Bytes != b.count(metrics.BytesOut) ||
		n.Bandwidth.Datagrams != b.count(metrics.Sent) || n.Census.Players != 0 {
		t.Errorf("%d ticks slept, %d bytes in %d datagrams of %d in %d, %+v", b.count(metrics.TicksSlept),
			n.Bandwidth.Bytes, n.Bandwidth.Datagrams, b.count(metrics.BytesOut),
			b.count(metrics.Sent), n.Census)
	}
}

// TestReasonsOfSpectatorsAndDetail checks the reasons for rows that a spectator is not sent, and
// for rows left out at low detail.
func TestReasonsOfSpectatorsAndDetail(t *testing.T) {
	alone(t)
	n := fullOrShort(40, 28)
	b := newClientLobby(t, n, Config{Players: 40, Spectators: 2, SpectateAll: true, Kbps: 24, SampleEvery: 1})
	s := b.addClient(client.Config{Name: "looker"}, spectator)
	b.play(4)
	l := b.lobby
	why := func(client, entity netid.ID, want Reason) Explanation {
		t.Helper()
		v := l.Explain(client, entity)
		if v.Reason != want || v.Text != want.Text() || v.Sentence() == "" {
			t.Errorf("of %v and %v it says %+v, want %v", client, entity, v, want)
		}
		return v
	}
	why(s.ID(), s.ID(), ReasonSpectator)
	why(b.players[0].ID(), s.ID(), ReasonSpectator)
	target, _ := s.Spectate.Target()
	told := func(c *client.Client, id netid.ID) bool { // what the newest snapshot said of it
		sent, _ := l.conns[c.ID().Index()].repl.acks.tracker.RowSent(id.Index())
		return sent
	}
	sent := func(c *client.Client) tick.Tick { return l.conns[c.ID().Index()].repl.pacing.sent }
	var row [netstate.PublicFields]int32
	looked := false
	for _, p := range b.players[:n] {
		if !told(s, p.ID()) {
			continue
		}
		v := why(s.ID(), p.ID(), ReasonSent)
		looked = true
		f := l.Frame(sent(s))
		me, it := netstate.PoseOf(f.Row(target.Index(), row[:]), row[:]).Pos,
			netstate.PoseOf(f.Row(p.ID().Index(), row[:]), row[:]).Pos
		me.Y, it.Y = 0, 0
		if d := int(me.Sub(it).Len()); v.Metres != d {
			t.Errorf("%d m away from the player whose view it has, want %d", v.Metres, d)
		}
	}
	if !looked {
		t.Error("a spectator is told of nobody: nothing tested")
	}

	turned := false
	for range 12 {
		must0(t, s.Spectate.Next())
		for range 10 { // no multiple of an interval
			b.tickAll()
			// its newest snapshot is through other eyes
			if g := &l.conns[s.ID().Index()]; g.roster.view.target.Index() != int(g.repl.view.viewpoint) {
				for _, p := range b.players[:n] {
					if !told(s, p.ID()) {
						why(s.ID(), p.ID(), ReasonViewpointChanged)
						turned = true
					}
				}
			}
		}
	}
	b.turnPlayers(1)
	must0(t, s.Spectate.Player(0)) // free camera
	b.play(1)
	if target, _ := s.Spectate.Target(); target != 0 {
		t.Fatal(target)
	}
	nobodys := func(want Reason) (untold int) {
		for range 30 {
			b.tickAll()
			for _, p := range b.players[:n] {
				if sent(s) == l.match.Tick() && !told(s, p.ID()) {
					if v := why(s.ID(), p.ID(), want); v.Metres != -1 {
						t.Errorf("%+v", v)
					}
					untold++
				}
			}
		}
		return untold
	}
	if n := nobodys(ReasonBudget); !turned || n == 0 {
		t.Errorf("turned to others %v, %d untold through nobody's eyes: nothing tested", turned, n)
	}
	l.SetLoadLevel(overload.LowDetail) // then a free-camera spectator is sent no player
	b.play(1)
	if n := nobodys(ReasonFreeCamera); n == 0 {
		t.Error("told of all while detail is shed: nothing tested")
	}

	d := newClientLobby(t, fullOrShort(40, 28), Config{Players: 40, SampleEvery: 1})
	d.play(6)
	l = d.lobby
	l.SetLoadLevel(overload.LowDetail)
	d.play(2)
	untold := 0
	for range 60 {
		d.tickAll()
		for _, c := range d.players {
			if sent(c) != l.match.Tick() {
				continue
			}
			for _, p := range d.players {
				if !told(c, p.ID()) {
					why(c.ID(), p.ID(), ReasonLowDetail)
					untold++
				} else {
					why(c.ID(), p.ID(), ReasonSent)
				}
			}
		}
	}
	l.Publish()
	if counted := l.Summary().Replication.Players[ReasonLowDetail]; untold == 0 || counted < uint64(untold) {
		t.Errorf("%d untold as detail is shed, %d counted", untold, counted)
	}
}
