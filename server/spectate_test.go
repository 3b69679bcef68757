package server

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// spectator marks a token as one of a spectator.
func spectator(m *netcode.Mint) {
	m.TimeoutSeconds = 10
	protocol.MarkSpectator(m.UserData[:])
}

// TestRow70Spectator is row 70 of docs/features.md on the side of the server: a spectator has no
// body and takes no slot of a player. It is told its target, can change it, and gets the next
// player when the target leaves. It takes part in the chat.
func TestRow70Spectator(t *testing.T) {
	b := newClientLobby(t, 4, Config{Players: 4, Spectators: 2})
	b.play(2)
	s := b.addClient(client.Config{Name: "looker"}, spectator)
	b.play(2)
	state, _ := s.State()
	target, on := s.Spectate.Target()
	if state != client.Joined || !on || b.lobby.match.Vital(target) == nil || target == s.ID() {
		t.Fatalf("%v, looks through %v, %v", state, target, on)
	}
	if v := b.lobby.match.Vital(s.ID()); v == nil || !b.lobby.match.Spectates(s.ID()) ||
		b.lobby.match.Poses()[s.ID().Index()].ID != 0 || b.lobby.match.Score().Members != [2]uint16{2, 2} {
		t.Fatalf("%+v, members %v", v, b.lobby.match.Score().Members)
	}
	if p, ok := b.players[0].Chat.Player(s.ID().Index()); !ok || p.Name != "looker" || p.Team >= 0 {
		t.Errorf("others know it as %+v", p)
	}
	seen := map[netid.ID]bool{}
	for range 4 {
		before, _ := s.Spectate.Target()
		seen[before] = true
		must0(t, s.Spectate.Next())
		b.play(1)
		if now, _ := s.Spectate.Target(); now == before {
			t.Errorf("still looks through %v", now)
		}
	}
	if len(seen) != 4 {
		t.Errorf("the next one led to %v", seen)
	}
	at, _ := s.Spectate.Target()
	must0(t, s.Spectate.Previous())
	b.play(1)
	must0(t, s.Spectate.Next())
	b.play(1)
	if back, _ := s.Spectate.Target(); back != at {
		t.Errorf("one back and one on is %v, not %v", back, at)
	}
	for i, c := range []struct {
		ask  netid.ID
		want netid.ID
	}{{b.players[2].ID(), b.players[2].ID()}, {s.ID(), b.players[2].ID()},
		{netid.Make(0, 77), b.players[2].ID()}, {0, b.players[2].ID()}} {
		must0(t, s.Spectate.Player(c.ask))
		b.play(1)
		if got, _ := s.Spectate.Target(); got != c.want {
			t.Errorf("%d: looks through %v, want %v", i, got, c.want)
		}
	}
	if b.count(metrics.SpectateRefused) != 3 {
		t.Errorf("%d wishes refused", b.count(metrics.SpectateRefused))
	}
	must0(t, s.Chat.Say("well played"))
	must0(t, b.players[0].Chat.Say("thanks"))
	must0(t, b.players[0].Spectate.Next()) // a player keeps its own view
	unknown := b.count(metrics.MessagesUnknown)
	b.play(1)
	if _, on := b.players[0].Spectate.Target(); on || b.count(metrics.MessagesUnknown) != unknown+1 {
		t.Errorf("a player looks on: %v", on)
	}
	heard := func(p *client.Client, text string) {
		t.Helper()
		for l, ok := p.Chat.Next(); ok; l, ok = p.Chat.Next() {
			if l.Text == text {
				return
			}
		}
		t.Errorf("%q was not heard", text)
	}
	heard(b.players[1], "well played")
	heard(s, "thanks")

	b.players[2].Leave(b.now) // its target
	b.play(1)
	if now, _ := s.Spectate.Target(); now == 0 || b.lobby.match.Vital(now) == nil {
		t.Errorf("after that one left: %v", now)
	}
	shots, inputs := b.count(metrics.Shots), b.lobby.match.Hash()
	_ = inputs
	b.brain = func(int) client.Intent { return client.Intent{Buttons: sim.Fire} }
	b.players = b.players[4:] // the spectator alone
	b.endpoints = b.endpoints[4:]
	b.play(1)
	if b.lobby.match.Poses()[s.ID().Index()].ID != 0 || b.count(metrics.Shots) != shots {
		t.Error("it has a body, or fires")
	}
}

// Spectator slots are counted apart: they can be full by themselves, and a full match takes
// spectators. A rejection says which is full.
func TestRow70Places(t *testing.T) {
	b := newClientLobby(t, 2, Config{Players: 2, Spectators: 1})
	first := b.addClient(client.Config{}, spectator)
	b.play(1)
	for i, c := range []struct {
		change func(*netcode.Mint)
	}{{spectator}, {func(m *netcode.Mint) { m.TimeoutSeconds = 10 }}} {
		p := b.addClient(client.Config{}, c.change)
		b.play(1)
		if state, _ := p.State(); state == client.Joined || b.count(metrics.Joined) != 3 {
			t.Errorf("%d: %v, %d joined", i, state, b.count(metrics.Joined))
		}
		b.players, b.endpoints = b.players[:3], b.endpoints[:3]
	}
	if state, _ := first.State(); state != client.Joined {
		t.Fatal(state)
	}
	first.Leave(b.now)
	b.tickAll()
	b.players, b.endpoints = b.players[:2], b.endpoints[:2]
	b.play(1)
	again := b.addClient(client.Config{}, spectator)
	b.play(1)
	if state, _ := again.State(); state != client.Joined {
		t.Errorf("the place that became free: %v", state)
	}
	none := newClientLobby(t, 0, Config{Players: 2})
	p := none.addClient(client.Config{}, spectator)
	none.play(1)
	if state, why := p.State(); state != client.Lost || none.count(metrics.RejectedFull) != 1 ||
		why != packet.ReasonFull {
		t.Errorf("where nobody looks on: %v, %v", state, why)
	}
	for i, c := range []struct{ cfg Config }{{Config{Players: 4000, Spectators: 97}},
		{Config{Spectators: -1}}} {
		c.cfg.Arena, c.cfg.ArenaName, c.cfg.Netcode = ground(), "arena-16", testNetcodeConfig()
		if _, err := NewLobby(c.cfg); err == nil || !strings.Contains(err.Error(), "spectators beside") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// In a town, a spectator gets the rows that its target may see and no other byte, and never the
// owner row of its target. With SpectateAll it gets all players.
func TestRow70SpectatorSeesNoMore(t *testing.T) {
	alone(t)
	town, err := arena.Open("town:32:3")
	if err != nil {
		t.Fatal(err)
	}
	walls, err := pvs.Build(town, pvs.Fit(town, pvs.CellFor(town)))
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		b := newClientLobby(t, 0, Config{Arena: town, ArenaName: "town:32:3",
			Players: 24, Spectators: 2, Relevance: RelevanceGrid, PVS: walls,
			Hysteresis: -1, SpectateAll: all})
		b.brain = func(n int) client.Intent {
			return client.Intent{MoveMag: 255,
				Yaw: geom.Angle(uint32(n)*3000 + uint32(b.lobby.match.Tick())*100)}
		}
		cfg := client.Config{Arena: func(string, [32]byte) (*arena.Arena, error) { return town, nil }}
		for range 20 {
			b.addSpectator(cfg, nil)
		}
		s := b.addSpectator(cfg, spectator)
		b.play(3)
		// what the target may see, worked out apart
		honest := interest.NewClient(b.lobby.replication.players.interest.grid)
		told, hidden := 0, 0
		var row [netstate.PublicFields]int32
		for n := range 600 {
			if n%60 == 0 {
				must0(t, s.Spectate.Next())
			}
			g := &b.lobby.conns[s.ID().Index()]
			b.tickAll()
			if g.repl.pacing.sent != b.lobby.match.Tick() { // no snapshot left in this tick
				continue
			}
			c := &b.lobby.replication.players.interest
			b.lobby.replication.fillPlayers()
			target := g.roster.view.target.Index()
			honest.Reset()
			honest.UpdateVisible(c.grid,
				interest.Viewer{Slot: target, X: c.x[target], Z: c.z[target], Team: c.team[target]})
			if newest := s.Newest(); newest != b.lobby.match.Tick() {
				continue
			}
			for slot := range 22 {
				id, ok := s.Row(s.Newest(), slot, row[:])
				if !ok || id == 0 {
					continue
				}
				told++
				if honest.Visible()[slot>>6]>>(slot&63)&1 == 0 {
					hidden++
				}
			}
			if self, _ := s.Self(); self.Motion.Pos != (geom.Vec3{}) ||
				self.Abilities.Slots[0].Load != 0 || self.Team != 3 {
				t.Fatalf("its own row tells of %+v", self)
			}
		}
		if told < 500 || all != (hidden > 0) {
			t.Errorf("all %v: %d rows told, %d of them hidden from the target", all, told, hidden)
		}
		must0(t, s.Spectate.Player(0))
		b.play(1)
		if target, _ := s.Spectate.Target(); (target == 0) != all {
			t.Errorf("all %v: looks through %v", all, target)
		}
	}
}

func (b *clientLobby) addSpectator(cfg client.Config, change func(*netcode.Mint)) *client.Client {
	b.t.Helper()
	if change == nil {
		change = func(m *netcode.Mint) { m.TimeoutSeconds = 10 }
	}
	end := b.newClient("")
	cfg.Token, cfg.Rules = b.mint(end.user, change), b.lobby.cfg.Rules
	p, err := client.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.players, b.endpoints = append(b.players, p), append(b.endpoints, end)
	return p
}

func must0(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
