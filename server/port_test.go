package server

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
)

// testPort is a port with several lobbies on a network in memory. Each lobby has a testLobby, whose
// clients are on the same network.
type testPort struct {
	*testLobby // its lobby is the newest one
	port       *Port
	hosts      []*testLobby // by lobby ID
	stats      metrics.Stats
	timer      metrics.TickTimer
}

func newTestPort(t testing.TB, lobbies, players int) *testPort {
	t.Helper()
	p := &testPort{}
	p.stats.Histograms = metrics.NewHistograms(false)
	p.timer = metrics.TickTimer{Off: true}
	cfg := testNetcodeConfig()
	cfg.Clients = 64
	var err error
	if p.port, err = NewPort(PortConfig{Netcode: cfg, Host: 7, Stats: &p.stats, Timer: &p.timer}); err != nil {
		t.Fatal(err)
	}
	p.testLobby = &testLobby{t: t, net: netio.NewMemory(), random: rand.NewChaCha8([32]byte{5})}
	if p.conn, err = p.net.Listen(testAddr, netio.Config{}); err != nil {
		t.Fatal(err)
	}
	for range lobbies {
		p.add(players)
	}
	return p
}

// add makes one more lobby.
func (p *testPort) add(players int) *testLobby {
	p.t.Helper()
	id := uint32(len(p.hosts))
	l, err := NewLobby(Config{Arena: ground(), ArenaName: "arena-16", Players: players, Port: p.port, ID: id,
		Rules: sim.Rules{Seed: uint64(id)}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.port.Add(l)
	host := &testLobby{t: p.t, net: p.net, conn: p.conn, random: rand.NewChaCha8([32]byte{6, byte(id)})}
	host.lobby = l
	p.testLobby.lobby, p.hosts = l, append(p.hosts, host)
	return host
}

// tick plays one tick of all lobbies that have not ended.
func (p *testPort) tick() {
	p.t.Helper()
	p.now += p.lobby.cfg.Rules.Rate.Period()
	var due []Due
	for _, h := range p.hosts {
		h.now = p.now
		due = append(due, Due{Lobby: h.lobby, Ticks: 1})
	}
	if err := p.port.Ticks(p.now, p.unix(), p.conn, due); err != nil {
		p.t.Fatal(err)
	}
	p.checkPort()
}

// checkPort checks that every datagram was counted once, and that routes and connections agree.
func (p *testPort) checkPort() {
	p.t.Helper()
	sum := p.stats.Count[metrics.Received].Load()
	sent, unbalanced := p.stats.Count[metrics.Sent].Load(), p.stats.Count[metrics.UnbalancedTicks].Load()
	for _, h := range p.hosts {
		sum += h.count(metrics.Received)
		sent += h.count(metrics.Sent)
		unbalanced += h.count(metrics.UnbalancedTicks)
	}
	if s := p.conn.Stats(); s.Delivered != sum || s.DatagramsOut+s.SendFailed != sent || unbalanced != 0 {
		p.t.Fatalf("%d datagrams delivered, %d counted; %d sent, %d counted; %d ticks unbalanced",
			s.Delivered, sum, s.DatagramsOut+s.SendFailed, sent, unbalanced)
	}
	sessions := 0
	for client, r := range p.port.routes {
		s, used := p.port.netcode.Session(client)
		if used != (r.lobby != nil) {
			p.t.Fatalf("client %d has a session: %v, route %+v", client, used, r)
		}
		if !used {
			continue
		}
		sessions++
		c := p.port.connOf(client)
		if r.lobby.join.ended || c != nil && (int(c.session.client) != client || c.roster.user != s.ClientID) {
			p.t.Fatalf("client %d leads to lobby %d, slot %d", client, r.lobby.ID(), r.slot)
		}
	}
	if n := p.port.netcode.Connected(); n != sessions {
		p.t.Fatalf("%d sessions, %d routes", n, sessions)
	}
}

// named is a change of a token that names a lobby.
func named(ref protocol.LobbyRef) func(*netcode.Mint) {
	return func(m *netcode.Mint) { ref.Mark(m.UserData[:]) }
}

// enter connects a client of a host with a token, and returns why it was turned away; 0 for a
// client that has its Welcome.
func (p *testPort) enter(c *testClient, change func(*netcode.Mint)) packet.Reason {
	p.t.Helper()
	c.beginConnect(change)
	for range 20 {
		c.update()
		p.tick()
		c.receive()
		if c.peer != nil {
			if why, closed := c.peer.Closed(); closed {
				return why
			}
		}
		if c.welcome.Version != 0 {
			return 0
		}
	}
	p.t.Fatalf("user %d: %v, no Welcome", c.user, c.netcode.State())
	return 0
}

// client returns a new client of a lobby, at an address and with a user of its own.
func (p *testPort) client(h *testLobby) *testClient {
	p.t.Helper()
	c := p.newClient("")
	c.host = h
	return c
}

// A token names a lobby, or its host chooses one; without the lobby it is refused with the reason.
func TestPortTokens(t *testing.T) {
	p := newTestPort(t, 3, 2)
	ref := func(lobby uint32) func(*netcode.Mint) { return named(protocol.LobbyRef{Host: 7, Lobby: lobby}) }
	p.hosts[2].lobby.SetLoadLevel(overload.NoNewPlayers)
	for i, c := range []struct {
		token func(*netcode.Mint)
		why   packet.Reason
		lobby int
	}{
		{token: ref(1), lobby: 1},
		{token: named(protocol.LobbyRef{Lobby: 1}), lobby: 1},
		{token: ref(1), why: packet.ReasonFull},
		{token: ref(2), why: packet.ReasonOverload},
		{token: ref(9), why: packet.ReasonNoLobby},
		{token: named(protocol.LobbyRef{Host: 8, Lobby: 0}), why: packet.ReasonOtherHost},
		{lobby: 0},
		{lobby: 0},
		{why: packet.ReasonFull},
	} {
		who := p.client(p.hosts[c.lobby])
		joined := p.hosts[c.lobby].count(metrics.Joined)
		if why := p.enter(who, c.token); why != c.why {
			t.Errorf("%d: %v, want %v", i, why, c.why)
		}
		if c.why == 0 && p.hosts[c.lobby].count(metrics.Joined) != joined+1 {
			t.Errorf("%d: not in lobby %d", i, c.lobby)
		}
	}
	gone := p.hosts[1].lobby
	p.port.Remove(p.now, gone, packet.ReasonClosing)
	p.tick()
	if why := p.enter(p.client(p.hosts[1]), ref(1)); why != packet.ReasonNoLobby {
		t.Errorf("a lobby that has ended: %v", why)
	}
	if why := p.enter(p.client(p.hosts[0]), nil); why != packet.ReasonFull {
		t.Errorf("no lobby has room: %v", why)
	}
	if p.hosts[0].count(metrics.Disconnected)+p.hosts[0].count(metrics.RejectedFull) != 0 {
		t.Error("what happened elsewhere shows in lobby 0")
	}
}

// Clients without a lobby in their token that arrive together fill the lobbies to the last slot.
func TestPortFillsLobbies(t *testing.T) {
	p := newTestPort(t, 4, 3)
	var all []*testClient
	for range 12 {
		c := p.client(p.hosts[0])
		c.beginConnect(nil)
		all = append(all, c)
	}
	connectAll(all, 20, p.tick)
	for i, h := range p.hosts {
		if n := len(h.lobby.live); n != 3 || h.count(metrics.RejectedFull) != 0 {
			t.Errorf("lobby %d has %d players, %d were rejected", i, n, h.count(metrics.RejectedFull))
		}
	}
}

// The clients of a lobby that is removed are told why, those of the others play on.
func TestPortRemove(t *testing.T) {
	p := newTestPort(t, 2, 2)
	var all [2]*testClient
	for i := range all {
		all[i] = p.client(p.hosts[i])
		if why := p.enter(all[i], named(protocol.LobbyRef{Lobby: uint32(i)})); why != 0 {
			t.Fatal(why)
		}
		all[i].ready()
	}
	p.port.Remove(p.now, p.hosts[0].lobby, packet.ReasonClosing)
	snapshots := 0
	for range 30 {
		p.tick()
		all[0].receive()
		all[1].sendSections(all[1].commands(1)...)
		snapshots += len(all[1].receive())
	}
	if why, closed := all[0].peer.Closed(); !closed || why != packet.ReasonClosing {
		t.Errorf("closed %v: %v", closed, why)
	}
	if snapshots < 5 || p.port.Find(0) != nil || p.port.Find(1) != p.hosts[1].lobby {
		t.Errorf("%d snapshots, lobbies %v", snapshots, p.port.lobbies)
	}
}

// A lobby that panics ends with a reason to its players; the ticks of the others are those of
// lobbies that never had it beside them.
func TestPortFault(t *testing.T) {
	hashes := func(faulty bool) (all []string) {
		p := newTestPort(t, 3, 4)
		var clients []*testClient
		for i, h := range p.hosts {
			for range 2 {
				c := p.client(h)
				if why := p.enter(c, named(protocol.LobbyRef{Lobby: uint32(i)})); why != 0 {
					t.Fatal(why)
				}
				c.ready()
				clients = append(clients, c)
			}
		}
		broken := p.hosts[1].lobby
		for n := range 120 {
			if faulty && n == 60 {
				broken.cfg.EnterStage, broken.timer.OnStage = nil, nil // the next stage panics
			}
			for _, c := range clients {
				if c.receive(); c.netcode.State() == netcode.Connected {
					c.sendSections(c.commands(2)...)
				}
			}
			p.tick()
			all = append(all, fmt.Sprint(p.hosts[0].lobby.match.Hash(), p.hosts[2].lobby.match.Hash()))
		}
		faults := p.port.TakeFaults()
		if !faulty {
			if len(faults) != 0 {
				t.Fatalf("%v\n%s", faults[0].Value, faults[0].Stack)
			}
			return all
		}
		if len(faults) != 1 || faults[0].Lobby != broken ||
			!strings.Contains(string(faults[0].Stack), "TickTimer") {
			t.Fatalf("%d faults", len(faults))
		}
		for i, c := range clients {
			why, closed := c.peer.Closed()
			if i/2 == 1 && (!closed || why != packet.ReasonFault) || i/2 != 1 && closed {
				t.Errorf("client %d of lobby %d: closed %v, %v", i, i/2, closed, why)
			}
		}
		return all
	}
	want := hashes(false)
	for i, got := range hashes(true) {
		if got != want[i] {
			t.Fatalf("tick %d: %v, want %v", i, got, want[i])
		}
	}
}

// The match of a lobby on a shared port is that of a lobby alone with the same clients.
func TestPortPlaysLikeALobbyAlone(t *testing.T) {
	play := func(h *testLobby, tick func()) (hashes []uint64) {
		var clients []*testClient
		for range 3 {
			c := h.newClient("")
			c.beginConnect(named(protocol.LobbyRef{Lobby: 0}))
			clients = append(clients, c)
		}
		for range 200 {
			for _, c := range clients {
				if c.receive(); len(c.messages) == 1 && c.peer.ReliablePending() == 0 {
					c.ready()
				}
				if c.update(); c.welcome.Version != 0 {
					c.sendSections(c.commands(2)...)
				}
			}
			tick()
			hashes = append(hashes, h.lobby.match.Hash())
		}
		if len(h.lobby.live) != 3 {
			t.Fatalf("%d of 3 joined", len(h.lobby.live))
		}
		return hashes
	}
	lonely := newTestLobby(t, Config{Players: 4})
	want := play(lonely, lonely.tick)
	p := newTestPort(t, 2, 4)
	for i, hash := range play(p.hosts[0], p.tick) {
		if hash != want[i] {
			t.Fatalf("tick %d: another match", i)
		}
	}
}

// Clients that come, go, fall silent, take over and change lobbies, at random: routes and
// connections agree after every tick, and a client only ever gets rows of its own lobby.
func TestPortNeverMixes(t *testing.T) {
	p := newTestPort(t, 3, 4)
	rng := rand.New(rand.NewPCG(1, 2))
	type guest struct {
		*testClient
		lobby  int
		silent int // ticks
	}
	var guests []*guest
	for range 14 {
		guests = append(guests, &guest{testClient: p.client(p.hosts[0])})
	}
	played := [3]int{}
	for range fullOrShort(3000, 600) {
		for _, g := range guests {
			p.step(rng, g.testClient, &g.lobby, &g.silent, &played)
		}
		p.tick()
	}
	takeovers := p.port.netcode.Counters().Takeovers
	if min(played[0], played[1], played[2]) < 20 || takeovers < 5 {
		t.Errorf("snapshots by lobby: %v, %d takeovers", played, takeovers)
	}
}

// step lets a client do something at random.
func (p *testPort) step(rng *rand.Rand, c *testClient, lobby, silent *int, played *[3]int) {
	if *silent > 1 {
		*silent--
		c.received()
		return
	}
	if c.netcode == nil || *silent == 1 || c.netcode.State() <= netcode.Disconnected ||
		rng.IntN(150) == 0 { // anew, in any lobby
		*lobby, *silent = rng.IntN(3), 0
		c.host = p.hosts[*lobby]
		c.received()
		c.beginConnect(named(protocol.LobbyRef{Lobby: uint32(*lobby)}))
		return
	}
	c.update()
	for _, d := range c.received() {
		pkt, err := c.netcode.Receive(p.now, testAddr, d, &c.outbox)
		if err != nil || pkt == nil {
			continue // of an earlier session
		}
		welcomed := c.welcome.Version != 0
		if c.receivePacket(pkt) != nil {
			played[*lobby]++
			if i := p.port.connByUser(c.user); i == nil || i != c.host.lobby {
				p.t.Fatalf("user %d gets snapshots of lobby %d", c.user, *lobby)
			}
		}
		if !welcomed && c.welcome.Version != 0 {
			c.ready()
		}
	}
	c.flushOutbox()
	switch n := rng.IntN(200); {
	case n == 0:
		*silent = 70 + rng.IntN(400)
	case n == 1 && c.netcode.State() == netcode.Connected:
		c.leave()
	case c.welcome.Version != 0 && c.netcode.State() == netcode.Connected:
		c.sendSections(c.commands(1)...)
	}
}

// connByUser returns the lobby in which a user has a connection.
func (p *Port) connByUser(user uint64) *Lobby {
	if client, ok := p.netcode.Find(user); ok && p.connOf(client) != nil {
		return p.routes[client].lobby
	}
	return nil
}

// A port with idle clients allocates nothing in a tick.
func TestPortTickAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := newTestPort(t, 2, 2)
	for i := range p.hosts {
		c := p.client(p.hosts[i])
		if why := p.enter(c, named(protocol.LobbyRef{Lobby: uint32(i)})); why != 0 {
			t.Fatal(why)
		}
	}
	due := []Due{{Lobby: p.hosts[0].lobby, Ticks: 1}, {Lobby: p.hosts[1].lobby, Ticks: 1}}
	for range 100 {
		p.tick()
	}
	if n := alloctest.In(50, func() {
		p.now += p.lobby.cfg.Rules.Rate.Period()
		if err := p.port.Ticks(p.now, p.unix(), p.conn, due); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations in a tick of two lobbies", n)
	}
}

// connectAll plays ticks in which all clients go on with their handshakes.
func connectAll(all []*testClient, ticks int, tick func()) {
	for range ticks {
		for _, c := range all {
			c.update()
			c.receive()
		}
		tick()
	}
}
