package server

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// RelevanceAuto is a grid where something can hide players, and nowhere else.
func TestRelevanceAuto(t *testing.T) {
	a := ground()
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	across := geom.Vec3{X: size.X, Z: size.Z}.Len()
	for i, c := range []struct {
		cfg  Config
		want Relevance
	}{
		{Config{}, RelevanceAll},
		{Config{Kbps: 64}, RelevanceAll},
		{Config{ViewDistance: across + 1}, RelevanceAll},
		{Config{ViewDistance: across - 1}, RelevanceGrid},
		{Config{CellVisible: func(from, to int) bool { return true }}, RelevanceGrid},
		{Config{ViewDistance: across - 1, Relevance: RelevanceOff}, RelevanceOff},
		{Config{ViewDistance: across - 1, Relevance: RelevanceAll}, RelevanceAll},
		{Config{Relevance: RelevanceGrid}, RelevanceGrid},
	} {
		c.cfg.Arena, c.cfg.ArenaName = a, "arena-16"
		if cfg, err := c.cfg.withDefaults(); err != nil || cfg.Relevance != c.want {
			t.Errorf("%d: %v, %v, want %v", i, cfg.Relevance, err, c.want)
		}
	}
	for _, r := range []Relevance{RelevanceAuto, RelevanceOff, RelevanceAll, RelevanceGrid} {
		if got, err := ParseRelevance(r.String()); err != nil || got != r {
			t.Errorf("%v was read as %v, %v", r, got, err)
		}
	}
	if _, err := ParseRelevance("some"); err == nil {
		t.Error("a relevance called some")
	}
	if g := GridConfig(a, 4); g.MinX != a.Bounds.Min.X || g.MinZ != a.Bounds.Min.Z ||
		float32(g.Wide)*4 < size.X || float32(g.Deep)*4 < size.Z || float32(g.Wide-1)*4 >= size.X {
		t.Errorf("%+v over %v", g, size)
	}
	if g := GridConfig(arena.Generate(4000, 1), 0); g.Cell < defaultCell ||
		g.Wide > maxCells || g.Deep > maxCells {
		t.Errorf("%+v", g)
	}
}

// field returns a map without walls, on which two teams face each other at a distance of 8 m.
func field(t testing.TB) *arena.Arena {
	t.Helper()
	var spawns []arena.Spawn
	for i := range 16 {
		x := float32(i * 3)
		spawns = append(spawns, arena.Spawn{Pos: geom.Vec3{X: x}, Team: 0},
			arena.Spawn{Pos: geom.Vec3{X: x, Z: 8}, Yaw: geom.Turn / 2, Team: 1})
	}
	a, err := arena.New("field",
		geom.AABB{Min: geom.Vec3{X: -8, Y: -8, Z: -8}, Max: geom.Vec3{X: 64, Y: 32, Z: 24}},
		[]arena.Solid{arena.NewSolid(arena.Box, geom.Vec3{X: -8, Y: -4, Z: -8}, geom.Vec3{X: 64, Z: 24})},
		spawns)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A player that joined after the newest snapshot that the shooter has acknowledged cannot be hit,
// though the claimed view has it; after the ack it can. Likewise with snapshots by rows.
func TestThreat25NeverShown(t *testing.T) {
	for _, r := range []Relevance{RelevanceAll, RelevanceGrid} {
		l := newTestLobby(t, Config{Arena: field(t), ArenaName: "field", Relevance: r})
		c := l.joinedClient()
		c.playTicks(60)
		if c.state().repl.acks.newest == 0 {
			t.Fatal("nothing was acknowledged")
		}
		stale := c.peerAcks()
		victim := l.joinedClient()
		for range 20 {
			c.receive()
			victim.play()
			c.send(c.seal(stale(section(c.aim(victim)))))
			l.tick()
		}
		vital := l.lobby.match.Vital(victim.id())
		if n := l.count(metrics.Hits); n != 0 || vital.Health != 100 ||
			l.count(metrics.HitsFiltered) < 3 || l.lobby.LastSeen(c.id(), victim.id()) != 0 {
			t.Errorf("%v: %d hits on somebody who was never shown, %d points left, %d counted",
				r, n, vital.Health, l.count(metrics.HitsFiltered))
		}
		unseen := l.count(metrics.HitsFiltered)
		for range 90 {
			c.receive()
			victim.play()
			c.sendSections(section(c.aim(victim))...)
			l.tick()
		}
		if l.count(metrics.Hits) < 3 || l.count(metrics.HitsFiltered) > unseen+2 ||
			l.lobby.LastSeen(c.id(), victim.id()) < c.state().repl.acks.newest-6 {
			t.Errorf("%v: %d hits on somebody who is shown, %d were not let through",
				r, l.count(metrics.Hits), l.count(metrics.HitsFiltered)-unseen)
		}
	}
}

// aim is a command for the coming tick that fires at the current position of another player.
func (c *testClient) aim(at *testClient) sim.Command {
	m := c.host.lobby.match
	me, _, _ := m.Self(c.id())
	other, _, _ := m.Self(at.id())
	d := other.Pos.Sub(me.Pos)
	next, newest := m.Tick()+1, max(c.state().repl.pacing.sent, 1)
	return sim.Command{Tick: next, Yaw: geom.Atan2(d.X, d.Z), Buttons: sim.Fire,
		View: tick.View{From: newest, To: newest}}
}

// peerAcks returns a function that makes packets whose acks stay those of now.
func (c *testClient) peerAcks() func(sections []byte) []byte {
	was, _, err := packet.ParseHeader(c.packet())
	if err != nil {
		c.host.t.Fatal(err)
	}
	return func(sections []byte) []byte {
		h, rest, err := packet.ParseHeader(c.packet(sections...))
		if err != nil {
			c.host.t.Fatal(err)
		}
		h.Ack, h.AckBits = was.Ack, was.AckBits
		return append(h.Append(nil), rest...)
	}
}

// walled is a CellVisible that parts a map in two at a column of cells.
func walled(a *arena.Arena, cell float32) func(from, to int) bool {
	wide := GridConfig(a, cell).Wide
	return func(from, to int) bool { return from%wide < wide/2 == (to%wide < wide/2) }
}

// Frames of the server are corrupted: the clients notice by the checksums, ask for a resync, and
// recover.
func TestRow37ServerHearsOfDivergence(t *testing.T) {
	alone(t)
	for _, cfg := range []Config{{ChecksumEvery: 4}, {ChecksumEvery: 4, Kbps: 40},
		{ChecksumEvery: 4, Relevance: RelevanceGrid}, {ChecksumEvery: -1}} {
		cfg.Players = 32
		b := newClientLobby(t, 20, cfg)
		b.play(3)
		slot := b.players[7].ID().Index()
		var row [netstate.PublicFields]int32
		now := b.lobby.match.Tick()
		for at := now - 30; at <= now; at++ { // the next snapshots have one of these as baseline
			f := b.lobby.replication.players.frames.At(at)
			if f == nil { // no snapshot of that tick was due
				continue
			}
			id := f.Row(slot, row[:])
			row[6] ^= 3
			f.Set(slot, id, row[:])
		}
		b.play(3)
		diverged := uint64(0)
		for _, p := range b.players {
			diverged += p.Stats().Diverged
		}
		if cfg.ChecksumEvery < 0 {
			if diverged != 0 || b.count(metrics.ChecksumMismatches) != 0 || b.count(metrics.Resyncs) != 0 {
				t.Errorf("without checksums %d diverged, %d told, %d resyncs",
					diverged, b.count(metrics.ChecksumMismatches), b.count(metrics.Resyncs))
			}
			continue
		}
		if diverged < 15 || b.count(metrics.ChecksumMismatches) < 15 || b.count(metrics.Resyncs) < 15 {
			t.Errorf("%+v: %d snapshots diverged, the server heard of %d and began anew %d times",
				cfg.Relevance, diverged, b.count(metrics.ChecksumMismatches), b.count(metrics.Resyncs))
		}
		told := b.count(metrics.ChecksumMismatches)
		b.play(2)
		if b.count(metrics.ChecksumMismatches) != told {
			t.Errorf("%v: %d more diverged afterwards", cfg.Relevance,
				b.count(metrics.ChecksumMismatches)-told)
		}
		b.rowsMatch(30)
	}
}

// rowsMatch fails unless the rows of the clients' newest snapshots are those of the server's
// frames, and at least least of them.
func (b *clientLobby) rowsMatch(least int) (rows int) {
	b.t.Helper()
	var got, want [netstate.PublicFields]int32
	for n, p := range b.players {
		if p == nil {
			continue
		}
		for at := p.Newest() - min(12, p.Newest()); at <= p.Newest(); at++ {
			f := b.lobby.replication.players.frames.At(at)
			for slot := range b.lobby.cfg.Players {
				id, held := p.Row(at, slot, got[:])
				if !held || f == nil || id == 0 {
					continue
				}
				if was := f.Row(slot, want[:]); was != id || got != want {
					b.t.Fatalf("client %d, tick %d, slot %d: %v %v, the server has %v %v",
						n, at, slot, id, got, was, want)
				}
				rows++
			}
		}
	}
	if rows < least {
		b.t.Errorf("only %d rows compared", rows)
	}
	return rows
}

// A net id names one player from its join to its leave, at both ends. A slot is used again under
// another id, and no player is shown under an id that has left. See row 36 of docs/features.md.
func TestRow36IdentitiesAreStable(t *testing.T) {
	alone(t)
	for _, r := range []Relevance{RelevanceAll, RelevanceGrid} {
		b := newClientLobby(t, 12, Config{Players: 16, Relevance: r})
		rng := rand.New(rand.NewPCG(36, uint64(r)))
		gone := map[netid.ID]bool{}
		b.play(1)
		again := 0
		for range 25 {
			n := rng.IntN(len(b.players))
			p := b.players[n]
			id := p.ID()
			p.Leave(b.now)
			out := p.Outgoing(b.now)
			for i := range out.Len() {
				_, d := out.At(i)
				b.endpoints[n].send(d)
			}
			b.players, b.endpoints = slices.Delete(b.players, n, n+1), slices.Delete(b.endpoints, n, n+1)
			if id != 0 {
				gone[id] = true
			}
			b.addClient(client.Config{}, nil)
			for range 20 + rng.IntN(20) {
				b.tickAll()
			}
			newest := b.players[len(b.players)-1].ID()
			if gone[newest] {
				t.Fatalf("%v again", newest)
			}
			for old := range gone {
				if old.Index() == newest.Index() {
					again++
				}
			}
			b.rowsMatch(100)
			var row [netstate.PublicFields]int32
			for _, p := range b.players {
				if state, _ := p.State(); state != client.Joined || b.lobby.match.Vital(p.ID()) == nil {
					t.Fatalf("%v, %v", p.ID(), state)
				}
				for slot := range 16 {
					if id, ok := p.Row(p.Newest(), slot, row[:]); ok && gone[id] {
						t.Fatalf("%v is shown, who left", id)
					}
				}
			}
		}
		if again < 10 {
			t.Errorf("%v: only %d slots were used again", r, again)
		}
	}
}

// The steps of a join, in their order. What is not allowed in a step has no effect; reliable
// messages take effect once and in order. See row 64 of docs/features.md.
func TestRow64JoinFlow(t *testing.T) {
	l := newTestLobby(t, Config{})
	other := l.joinedClient()
	other.playTicks(30)
	c := l.newClient("")

	c.beginConnect(nil) // 1: a handshake alone makes no player
	if joined := l.count(metrics.Joined); c.host.lobby.match.Score().Members[0]+
		l.lobby.match.Score().Members[1] != 1 || joined != 1 {
		t.Fatalf("%d joined", joined)
	}
	if !c.handshake() {
		t.Fatal("not let in")
	}
	for range 30 { // 2: it has its net id, and gets no snapshot before Ready, whatever it sends
		other.play()
		if c.welcome.Version != 0 {
			c.sendSections(section(sim.Command{Tick: l.lobby.match.Tick() + 1, MoveMag: 255})...)
		}
		l.tick()
		if s := c.receive(); len(s) != 0 {
			t.Fatalf("%d snapshots before Ready", len(s))
		}
	}
	if c.welcome.NetID == 0 || len(c.messages) != 1 || l.count(metrics.Joined) != 2 {
		t.Fatalf("%+v, %d events, %d joined", c.welcome, len(c.messages), l.count(metrics.Joined))
	}
	// 3: messages keep their order around Ready
	for _, e := range [][]byte{{sim.AskResync}, sim.AppendSnapshotRate(nil, 2, 0), {9, 9}} {
		c.queueReliable(e)
	}
	c.ready()
	c.queueReliable(sim.AppendSnapshotRate(nil, 4, 0))
	snapshots := 0
	for range 120 { // 4: snapshots at the rate of the last request
		snapshots += c.play()
		other.play()
		l.tick()
	}
	if g := c.state(); !g.session.ready || g.repl.pacing.every != 4 || snapshots < 9 ||
		snapshots > 11 || l.count(metrics.MessagesUnknown) != 1 {
		t.Errorf("ready %v, every %d, %d snapshots, %d unknown events", g.session.ready,
			g.repl.pacing.every, snapshots, l.count(metrics.MessagesUnknown))
	}
	c.ready() // 5: a second Ready changes nothing
	x := c.commandCounts()
	for range 30 {
		c.play()
		other.play()
		l.tick()
	}
	if y := c.commandCounts(); y.Used-x.Used != 30 || l.count(metrics.MessagesUnknown) != 2 ||
		l.count(metrics.Joined) != 2 {
		t.Errorf("%d commands used, %d unknown events, %d joined", y.Used-x.Used,
			l.count(metrics.MessagesUnknown), l.count(metrics.Joined))
	}
	// 6: commands move their sender's player alone
	stolen := section(sim.Command{Tick: l.lobby.match.Tick() + 1, MoveMag: 255})
	before := other.commandCounts().Accepted
	c.receive()
	c.sendSections(stolen...)
	l.tick()
	if other.commandCounts().Accepted != before {
		t.Error("another's player took the command")
	}
	other.checkUnharmed()
}

// A player in a reused slot is never shown with anything of the player before, though the viewer
// held that one as a baseline and did not see the change. See row 67 of docs/features.md.
func TestRow67ReusedSlot(t *testing.T) {
	alone(t)
	a := ground()
	b := newClientLobby(t, 14,
		Config{Players: 16, Relevance: RelevanceGrid, CellSize: 4, CellVisible: walled(a, 4), Hysteresis: -1})
	b.turnPlayers(67)
	b.play(3)
	rng := rand.New(rand.NewPCG(67, 1))
	hiddenSwaps := 0
	for range 40 {
		n := rng.IntN(len(b.players))
		p := b.players[n]
		slot := p.ID().Index()
		var row [netstate.PublicFields]int32
		for _, v := range b.players {
			if id, ok := v.Row(v.Newest(), slot, row[:]); v != p && (!ok || id == 0) {
				hiddenSwaps++
			}
		}
		p.Leave(b.now)
		out := p.Outgoing(b.now)
		for i := range out.Len() {
			_, d := out.At(i)
			b.endpoints[n].send(d)
		}
		b.players, b.endpoints = slices.Delete(b.players, n, n+1), slices.Delete(b.endpoints, n, n+1)
		b.addClient(client.Config{}, func(m *netcode.Mint) { m.TimeoutSeconds = 10 })
		for range 10 + rng.IntN(40) {
			b.tickAll()
			b.rowsMatch(0)
		}
	}
	if hiddenSwaps < 50 {
		t.Errorf("only %d times somebody left out of sight", hiddenSwaps)
	}
	for n, p := range b.players {
		if s := p.Stats(); s.Undecoded != 0 || s.Resyncs != 0 || s.Diverged != 0 {
			t.Errorf("client %d: %d sections not decoded, %d resyncs, %d diverged",
				n, s.Undecoded, s.Resyncs, s.Diverged)
		}
	}
}

// A hit by the map's areas and fires has no actor: it puts no other player in combat, and is queued
// for no connection.
func TestHitsWithoutAnActorAreNobodys(t *testing.T) {
	l := newTestLobby(t, Config{ViewDistance: 20})
	ann, bob := l.namedClient("Ann"), l.namedClient("Bob")
	l.playTicks(5)
	p := &l.lobby.replication.players
	hit := func() {
		out := l.lobby.match.Outcome()
		out.Events = append(out.Events[:0], sim.Event{Kind: sim.EventHit, Tick: l.lobby.match.Tick(),
			Victim: bob.state().id, Amount: 7})
		l.lobby.outbound.queueEvents(l.now)
		out.Events = out.Events[:0]
	}
	hit()
	if ann.state().id.Index() != 0 || p.combatUntil[0] != 0 {
		t.Errorf("slot 0, of %v, is in combat until %d", ann.state().id, p.combatUntil[0])
	}
	l.lobby.conns[0].id = 0 // an empty slot has no peer
	peer := l.lobby.conns[0].session.peer
	l.lobby.conns[0].session.peer = nil
	hit()
	l.lobby.conns[0].session.peer = peer
}
