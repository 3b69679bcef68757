package server

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// testMaps finds maps by name at once, or a number of polls later.
type testMaps struct {
	t     testing.TB
	later int
	asked []MapSpec
}

func (a *testMaps) load(c MapSpec) (func() (*LoadedMap, error), error) {
	a.asked = append(a.asked, c)
	if c.Mode != "deathmatch" {
		return nil, errors.New("no such mode")
	}
	polls := a.later
	return func() (*LoadedMap, error) {
		if polls--; polls >= 0 {
			return nil, nil
		}
		m, err := arena.Open(c.Map)
		if err != nil {
			return nil, err
		}
		return &LoadedMap{Arena: m, Name: c.Map}, nil
	}, nil
}

// known returns the Arena function of clients that have these maps.
func known(names ...string) func(string, [32]byte) (*arena.Arena, error) {
	return func(name string, _ [32]byte) (*arena.Arena, error) {
		for _, n := range names {
			if n == name {
				return arena.Open(name)
			}
		}
		return nil, client.ErrUnknownArena
	}
}

// newMapsLobby returns a lobby whose clients have these maps, or fetch them.
func newMapsLobby(t *testing.T, players int, cfg Config, maps ...string) *clientLobby {
	t.Helper()
	b := newClientLobby(t, 0, cfg)
	for range players {
		b.addClientWithMaps(client.Config{Fetch: true, Arena: known(maps...)})
	}
	return b
}

// addClientWithMaps is addClient for a client with maps of its own and without a game.
func (b *clientLobby) addClientWithMaps(cfg client.Config) *client.Client {
	b.t.Helper()
	end := b.newClient("")
	cfg.Token = b.mint(end.user, nil)
	cfg.Rules = sim.Rules{Seed: b.lobby.maps.base.Rules.Seed, Rate: b.lobby.maps.base.Rules.Rate}
	p, err := client.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.players, b.endpoints = append(b.players, p), append(b.endpoints, end)
	return p
}

// settled fails unless all clients play on the lobby's map without mispredictions and with the
// server's rows.
func (b *clientLobby) settled(seconds int) {
	b.t.Helper()
	type before struct{ missed, missing uint64 }
	was := make([]before, len(b.players))
	for n, p := range b.players {
		was[n] = before{p.Stats().Prediction.Mispredictions, p.Stats().InputsMissing}
	}
	used := b.count(metrics.InputsUsed)
	b.play(seconds)
	for n, p := range b.players {
		s := p.Stats()
		state, why := p.State()
		if state != client.Joined || p.Arena().Hash() != b.lobby.cfg.Arena.Hash() ||
			s.Prediction.Mispredictions != was[n].missed ||
			s.Undecoded != 0 || s.Diverged != 0 || s.InputsMissing != was[n].missing ||
			b.lobby.match.Vital(p.ID()) == nil {
			b.t.Errorf("client %d is %v (%v, %v) as %v: %+v", n, state, why, p.Err(), p.ID(), s)
		}
	}
	if got, want := b.count(metrics.InputsUsed)-used,
		uint64(seconds*len(b.players)*int(b.lobby.cfg.Rules.Rate)); got+uint64(len(b.players)) < want {
		b.t.Errorf("of %d commands %d were used", want, got)
	}
	b.rowsMatch(20)
}

// TestRow14MapChange is row 14 of docs/features.md: the phases of the server, and a map change
// with connected clients. Some clients have the map and some fetch it. All keep their sessions and
// names and play on, and no tick or id belongs to both maps.
func TestRow14MapChange(t *testing.T) {
	alone(t)
	for i, cfg := range []Config{{}, {Relevance: RelevanceGrid, ViewDistance: 60},
		{Relevance: RelevanceOff}, {Kbps: 64}} {
		a := &testMaps{t: t, later: 5}
		cfg.LoadMap, cfg.Players, cfg.Spectators = a.load, 20, 2
		b := newMapsLobby(t, 0, cfg, "arena-16")
		if p := b.lobby.Phase(); p != PhaseIdle {
			t.Fatalf("%d: %v", i, p)
		}
		for n := range 9 {
			maps := []string{"arena-16", "arena-64"}
			b.addClientWithMaps(client.Config{Fetch: true, Arena: known(maps[:1+n%2]...),
				Name: "player " + string(rune('a'+n))})
		}
		b.play(3)
		b.settled(2)
		if p := b.lobby.Phase(); p != PhaseActive {
			t.Fatalf("%d: %v", i, p)
		}
		b.players[3].Leave(b.now) // a slot in between is free
		b.tickAll()
		b.players, b.endpoints = append(b.players[:3], b.players[4:]...),
			append(b.endpoints[:3], b.endpoints[4:]...)
		b.play(1)
		ids, seen := map[netid.ID]bool{}, map[int]bool{}
		for _, p := range b.players {
			ids[p.ID()], seen[p.ID().Index()] = true, true
		}
		for n, to := range []string{"arena-64", "arena-16", "arena-64"} {
			was := b.lobby.match.Tick()
			out, err := b.lobby.Execute(b.now, nil, "map "+to, operator)
			if err != nil || len(out) != 1 || !strings.Contains(out[0], "loading deathmatch on "+to) {
				t.Fatalf("%d, %d: %q, %v", i, n, out, err)
			}
			if p := b.lobby.Phase(); p != PhaseLoading {
				t.Fatalf("%d, %d: %v", i, n, p)
			}
			for range fullOrShort(300, 180) {
				b.tickAll()
			}
			if b.lobby.cfg.ArenaName != to || b.lobby.match.Tick() <= was ||
				b.count(metrics.MapChanges) != uint64(n+1) || b.lobby.Phase() != PhaseActive {
				t.Fatalf("%d, %d: on %s, %v, %d changes", i, n, b.lobby.cfg.ArenaName,
					b.lobby.Phase(), b.count(metrics.MapChanges))
			}
			for k, p := range b.players {
				if ids[p.ID()] || !seen[p.ID().Index()] || p.MapEpoch() != uint8(n+1) {
					t.Fatalf("%d, %d: client %d is %v in world %d", i, n, k, p.ID(), p.MapEpoch())
				}
				ids[p.ID()] = true
				if name, _ := p.Chat.Player(p.ID().Index()); name.ID != p.ID() ||
					!strings.HasPrefix(name.Name, "player ") {
					t.Errorf("%d, %d: client %d is called %+v", i, n, k, name)
				}
				for line, ok := p.Chat.Next(); ok; line, ok = p.Chat.Next() {
					if line.Kind == client.LineLeft && n > 0 || line.Kind == client.LineJoined && n > 0 {
						t.Errorf("%d, %d: %s", i, n, line.Append(nil, p.ID()))
					}
				}
			}
			b.settled(3)
		}
		if b.count(metrics.Joined) != 9 || b.count(metrics.Left) != 1 ||
			b.count(metrics.Disconnected) != 0 || b.count(metrics.MessagesUnknown) != 0 {
			t.Errorf("%d: %d joined, %d left, %d dismissed", i, b.count(metrics.Joined),
				b.count(metrics.Left), b.count(metrics.Disconnected))
		}
	}
}

// A connection keeps the memory of its send state over a map change, and nothing of the old map is
// left in it.
func TestMapChangeKeepsSendState(t *testing.T) {
	alone(t)
	const n = 12
	b := newClientLobby(t, n,
		Config{Players: 70, Kbps: 16, Relevance: RelevanceGrid, ViewDistance: 60, Rules: sim.Rules{Seed: 3}})
	b.turnPlayers(5)
	b.play(3)
	type kept struct {
		fights, seen *uint64
		last         *uint16
	}
	was := make([]kept, n)
	noted := 0
	for i, p := range b.players {
		c := &b.lobby.conns[p.ID().Index()]
		c.repl.view.noteOpponent(69)
		was[i] = kept{&c.repl.view.combat[0], &c.repl.schedule.visible[0], &c.repl.schedule.sentAt[0]}
		if slices.Max(c.repl.schedule.sentAt) != 0 && slices.Max(c.repl.schedule.visible) != 0 &&
			c.repl.schedule.meanBits != 0 && slices.Max(c.repl.view.combat) != 0 {
			noted++
		}
	}
	if noted != n {
		t.Fatalf("of %d connections %d were in combat and below demand", n, noted)
	}
	if err := b.lobby.InstallMap(b.now, LoadedMap{Arena: ground(), Name: "arena-16"}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		c := &b.lobby.conns[i]
		if len(c.repl.view.combat) != 4 || len(c.repl.schedule.sentAt) != 128 ||
			slices.Max(c.repl.view.combat) != 0 || slices.Max(c.repl.schedule.sentAt) != 0 ||
			slices.Max(c.repl.schedule.visible) != 0 || c.repl.schedule.meanBits != 0 {
			t.Errorf("connection %d keeps combat %x and schedule %+v", i, c.repl.view.combat, c.repl.schedule)
		}
	}
	b.play(3)
	for i, p := range b.players {
		c := &b.lobby.conns[p.ID().Index()]
		if now := (kept{&c.repl.view.combat[0], &c.repl.schedule.visible[0],
			&c.repl.schedule.sentAt[0]}); now != was[i] || !c.session.ready || c.repl.schedule.meanBits == 0 {
			t.Errorf("connection %d, ready %v, has other memory: %+v, before %+v",
				i, c.session.ready, now, was[i])
		}
	}
}

// A map that cannot be played is refused with a reason, even if that shows only after loading, and
// nothing changes.
func TestRow14BadMap(t *testing.T) {
	a := &testMaps{t: t, later: 2}
	b := newClientLobby(t, 3, Config{LoadMap: a.load})
	b.play(2)
	match, frames := b.lobby.match, b.lobby.replication.players.frames
	admin, guest := console.Caller{Name: "http", Rank: console.Admin},
		console.Caller{Name: "player", Rank: console.Guest}
	for i, c := range []struct {
		line string
		who  console.Caller
		want string
	}{
		0: {"map arena-64", guest, "needs rank admin"},
		1: {"mode assault", guest, "needs rank admin, yours is guest"},
		2: {"map arena-64", console.Caller{Rank: console.Moderator}, "needs rank admin"},
		3: {"map arena-64 football", admin, "no such mode"},
		4: {"mode football", admin, "no such mode"},
		5: {"map \"a\u0007b\"", admin, ""},
		6: {"map " + strings.Repeat("x", 300), admin, "expected printable text"},
		7: {"map a b c", admin, ""},
	} {
		if out, err := b.lobby.Execute(b.now, nil, c.line, c.who); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %q, %v, want %q", i, out, err, c.want)
		}
	}
	if _, err := b.lobby.Execute(b.now, nil, "map nowhere", admin); err != nil {
		t.Fatal(err)
	}
	if _, err := b.lobby.Execute(b.now, nil, "map arena-64", admin); err == nil ||
		!strings.Contains(err.Error(), "loading deathmatch on nowhere already") {
		t.Errorf("two at once: %v", err)
	}
	b.play(1)
	out, _ := b.lobby.Execute(b.now, nil, "status", admin)
	if text := strings.Join(out, "\n"); !strings.Contains(text,
		"the last change of the map failed: deathmatch on nowhere: ") {
		t.Errorf("status says %s", text)
	}
	for i, g := range []LoadedMap{{}, {Arena: ground()}, {Arena: ground(), Name: "x\n"},
		{Arena: ground(), Name: "x", Game: &sim.Game{}},
		{Arena: ground(), Name: strings.Repeat("x", protocol.MaxArenaName+1)}} {
		if err := b.lobby.InstallMap(b.now, g); err == nil {
			t.Errorf("ground %d was taken", i)
		}
	}
	if b.lobby.match != match || b.lobby.replication.players.frames != frames ||
		b.count(metrics.MapChanges) != 0 || b.count(metrics.MapChangesFailed) != 1 ||
		b.lobby.Phase() != PhaseActive {
		t.Errorf("%d changes, %d refused, %v", b.count(metrics.MapChanges),
			b.count(metrics.MapChangesFailed), b.lobby.Phase())
	}
	b.settled(2)
	alone := newClientLobby(t, 0, Config{})
	if _, err := alone.lobby.Execute(0, nil, "map arena-64", operator); !errors.Is(err, errNoLoader) {
		t.Errorf("without Load: %v", err)
	}
}

// Readys, requests, commands and acks of the old map never count for the new one, in any order. A
// client that does not get ready is kicked with a reason.
func TestRow14OldPackets(t *testing.T) {
	l := newTestLobby(t, Config{})
	c, late := l.joinedClient(), l.joinedClient()
	c.playTicks(60)
	for range 3 {
		late.receive()
		late.sendSections()
		l.tick()
	}
	c.receive()
	old := c.seal(c.packet(c.commands(3)...)) // acknowledges what c was sent of the old map
	from := l.lobby.match.Tick()
	next, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.lobby.InstallMap(l.now, LoadedMap{Arena: next, Name: "arena-64"}); err != nil {
		t.Fatal(err)
	}
	g := c.state()
	if g.id == c.id() || g.session.ready || g.repl.acks.newest != 0 ||
		g.repl.acks.tracker.Baseline(0) != 0 || l.lobby.Phase() != PhaseLoading {
		t.Fatalf("%+v", g)
	}
	c.send(old)
	ready := l.goodReady()
	c.queueReliable(ready.Append(nil)) // of world 0, whose turn is over
	c.sendSections(c.commands(1)...)
	l.ticks(3)
	if g.session.ready || g.repl.acks.newest != 0 || g.repl.acks.sinceResync != 0 ||
		l.count(metrics.StaleMapEpoch) < 3 || l.lobby.match.CommandBuffer(g.id).Count.Accepted != 0 {
		t.Fatalf("ready %v, acked %d, %d of the old map, %+v", g.session.ready,
			g.repl.acks.newest, l.count(metrics.StaleMapEpoch), l.lobby.match.CommandBuffer(g.id).Count)
	}
	heard := func() (w protocol.Welcome) {
		for range 10 {
			if n := len(c.receive()); n != 0 {
				t.Fatalf("%d snapshots before the Ready", n)
			}
			c.sendSections()
			l.tick()
		}
		world, event, err := protocol.ParseMapChange(c.messages[len(c.messages)-1])
		if err != nil || world != 1 {
			t.Fatalf("world %d, %v", world, err)
		}
		w, err = protocol.ParseWelcome(event)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := heard()
	if w.Tick != uint32(from) || w.NetID != uint32(g.id) || w.ArenaName != "arena-64" ||
		w.ArenaHash != next.Hash() {
		t.Fatalf("%+v, the change was after tick %d", w, from)
	}
	before := c.seal(c.packet(c.commands(1)...))                    // made before the Ready, comes behind it
	c.queueReliable(ready.Append(protocol.AppendMapChange(nil, 2))) // of a world that never was
	c.queueReliable(ready.Append(protocol.AppendMapChange(nil, 1)))
	c.sendSections()
	l.tick()
	if !g.session.ready {
		t.Fatal("its Ready did not count")
	}
	c.send(before)
	l.ticks(2)
	if n := l.lobby.match.CommandBuffer(g.id).Count.Accepted; n != 0 {
		t.Fatalf("%d commands of the old map were taken", n)
	}
	c.welcome = w
	for range 60 {
		c.playTicks(1)
	}
	c.checkUnharmed()
	if l.count(metrics.Disconnected) != 0 {
		t.Fatal("somebody was dismissed early")
	}
	for range 60 * int(readyWithin/time.Second) {
		if late.receive(); late.netcode.State() == netcode.Connected {
			late.sendSections()
		}
		c.play()
		l.tick()
	}
	if why, closed := late.peer.Closed(); !closed || why != packet.ReasonTimeout ||
		l.count(metrics.Disconnected) != 1 || l.lobby.Phase() != PhaseActive {
		t.Errorf("who did not get ready: %v, %v; %d dismissed, %v", why, closed,
			l.count(metrics.Disconnected), l.lobby.Phase())
	}
}

// A disconnected player finds its slot on the new map after a map change. The map may change again
// while the first is being fetched.
func TestRow14ReconnectOnANewMap(t *testing.T) {
	b := newMapsLobby(t, 3, Config{Rules: sim.Rules{Seed: 3}}, "arena-16")
	b.play(2)
	slot := b.players[1].ID().Index()
	end := b.endpoints[1]
	b.players, b.endpoints = append(b.players[:1:1], b.players[2]), append(b.endpoints[:1:1], b.endpoints[2])
	b.play(7) // its session times out
	if len(b.lobby.reconnectable) != 1 {
		t.Fatalf("%d are away", len(b.lobby.reconnectable))
	}
	// before anybody can have fetched one
	for _, name := range []string{"arena-64", "arena-256", "gen:32:5", "gen:32:6"} {
		m, err := arena.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.lobby.InstallMap(b.now, LoadedMap{Arena: m, Name: name}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			b.tickAll()
		}
	}
	b.play(4)
	b.settled(2)
	p, err := client.New(client.Config{Fetch: true, Arena: known("arena-16"),
		Token: b.mint(end.user, nil), Rules: sim.Rules{Seed: 3}})
	if err != nil {
		t.Fatal(err)
	}
	b.players, b.endpoints = append(b.players, p), append(b.endpoints, end)
	end.received()
	b.play(3)
	if b.count(metrics.Reconnected) != 1 || p.ID().Index() != slot || p.MapEpoch() != 0 {
		t.Errorf("%d returned, as %v", b.count(metrics.Reconnected), p.ID())
	}
	b.settled(2)
}

// After a round the rotation changes to the next map, at the moment at which the next round would
// begin.
func TestRow14Rotation(t *testing.T) {
	game := sim.DefaultGame()
	game.Mode.RoundMillis, game.Mode.PrematchMillis, game.Mode.PostmatchMillis = 3000, 1000, 2000
	var asked []MapSpec
	load := func(c MapSpec) (func() (*LoadedMap, error), error) {
		asked = append(asked, c)
		if c.Map == "broken" {
			return nil, errors.New("broken")
		}
		return func() (*LoadedMap, error) {
			m, err := arena.Open(c.Map)
			return &LoadedMap{Arena: m, Name: c.Map, Game: game}, err
		}, nil
	}
	l := newTestLobby(t, Config{Rules: sim.Rules{Game: game}, LoadMap: load,
		Rotation: []MapSpec{{Map: "arena-64"}, {Map: "broken"}, {Map: "arena-16"}}})
	l.lobby.match.Join()
	l.lobby.match.Join()
	var maps []string
	for range 60 * 30 {
		l.tick()
		if n := len(maps); n == 0 || maps[n-1] != l.lobby.cfg.ArenaName {
			maps = append(maps, l.lobby.cfg.ArenaName)
			l.lobby.match.Join() // players without a client do not come along
			l.lobby.match.Join()
		}
	}
	if got := strings.Join(maps, " "); !strings.HasPrefix(got, "arena-16 arena-64 arena-16 arena-64") ||
		l.count(metrics.MapChangesFailed) < 1 || asked[0] != (MapSpec{Map: "arena-64", Mode: "deathmatch"}) {
		t.Errorf("played on %s, asked for %v, %d refused", got, asked, l.count(metrics.MapChangesFailed))
	}
}

// An empty lobby that may sleep runs no tick. A client that connects wakes it, and the match is as
// it was.
func TestRow14Idle(t *testing.T) {
	b := newClientLobby(t, 0, Config{SleepWhenEmpty: true})
	turn := func(ticks int) {
		for range ticks {
			b.now += b.lobby.cfg.Rules.Rate.Period()
			if err := b.lobby.Tick(b.now, b.unix(), b.conn); err != nil {
				t.Fatal(err)
			}
			b.checkBalance()
			for n, p := range b.players {
				for _, d := range b.endpoints[n].received() {
					_ = p.Receive(b.now, d)
				}
				for due := p.Advance(b.now); due > 0; due-- {
					p.Command(client.Intent{MoveMag: 255})
				}
				out := p.Outgoing(b.now)
				for i := range out.Len() {
					_, d := out.At(i)
					b.endpoints[n].send(d)
				}
			}
		}
	}
	turn(600)
	if b.lobby.match.Tick() != 0 || b.count(metrics.TicksSlept) != 600 || b.lobby.Phase() != PhaseIdle {
		t.Fatalf("tick %d, %d slept, %v", b.lobby.match.Tick(), b.count(metrics.TicksSlept), b.lobby.Phase())
	}
	p := b.addClient(client.Config{}, nil)
	turn(180)
	s := p.Stats()
	if state, _ := p.State(); state != client.Joined || b.lobby.match.Tick() < 150 ||
		s.Prediction.Mispredictions != 0 || b.count(metrics.InputsUsed) < 100 ||
		b.lobby.Phase() != PhaseActive {
		t.Fatalf("%v, tick %d: %+v", state, b.lobby.match.Tick(), s)
	}
	p.Leave(b.now)
	turn(10)
	at := b.lobby.match.Tick()
	turn(600)
	if b.lobby.match.Tick() != at || b.lobby.Phase() != PhaseIdle {
		t.Errorf("tick %d after %d, %v", b.lobby.match.Tick(), at, b.lobby.Phase())
	}
}
