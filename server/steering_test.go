package server

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// testWorkers are several ports on one address of a network in memory, whose kernel picks a port by
// the port number of the source. Each lobby has a testLobby.
type testWorkers struct {
	t        testing.TB
	net      *netio.Memory
	now      time.Duration
	steering *Steering
	ports    []*Port
	conns    []netio.Conn
	stats    []*metrics.Stats
	hosts    []*testLobby // by lobby ID
	worker   []int        // of each lobby; -1: it moves
	clients  int
}

func newTestWorkers(t testing.TB, workers, lobbies, players int) *testWorkers {
	t.Helper()
	w := &testWorkers{t: t, net: netio.NewMemory(), steering: NewSteering(workers, 64)}
	cfg := testNetcodeConfig()
	cfg.Clients = 64
	var err error
	if cfg.Tokens, err = netcode.NewUsedTokens(cfg); err != nil {
		t.Fatal(err)
	}
	for i := range workers {
		stats, timer := new(metrics.Stats), &metrics.TickTimer{Off: true}
		stats.Histograms = metrics.NewHistograms(false)
		port, err := NewPort(PortConfig{Netcode: cfg, Host: 7, Stats: stats, Timer: timer,
			Steering: w.steering, Worker: i})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := w.net.Listen(testAddr, netio.Config{ReusePort: true})
		if err != nil {
			t.Fatal(err)
		}
		w.ports, w.conns, w.stats = append(w.ports, port), append(w.conns, conn), append(w.stats, stats)
	}
	for i := range lobbies {
		w.add(i%workers, players)
	}
	return w
}

// add makes one more lobby at a worker.
func (w *testWorkers) add(worker, players int) *testLobby {
	w.t.Helper()
	id := uint32(len(w.hosts))
	p := w.ports[worker]
	l, err := NewLobby(Config{Arena: ground(), ArenaName: "arena-16", Players: players, Port: p, ID: id,
		Rules: sim.Rules{Seed: uint64(id)}})
	if err != nil {
		w.t.Fatal(err)
	}
	p.Add(l)
	host := &testLobby{t: w.t, net: w.net, random: rand.NewChaCha8([32]byte{6, byte(id)}), lobby: l}
	w.hosts, w.worker = append(w.hosts, host), append(w.worker, worker)
	return host
}

// client returns a client of a lobby whose datagrams reach a worker.
func (w *testWorkers) client(h *testLobby, at int) *testClient {
	w.t.Helper()
	w.clients++
	n := w.clients
	c := h.newClient(fmt.Sprintf("10.1.%d.%d:%d", n/250, 1+n%250, 1000*len(w.ports)+at))
	c.user = uint64(n)
	return c
}

// tick plays one tick at every worker.
func (w *testWorkers) tick() {
	w.t.Helper()
	w.now += w.hosts[0].lobby.cfg.Rules.Rate.Period()
	for i := range w.ports {
		w.tickOf(i)
	}
	w.check()
}

// tickOf plays the tick of one worker.
func (w *testWorkers) tickOf(i int) {
	w.t.Helper()
	var due []Due
	for id, h := range w.hosts {
		if h.now = w.now; w.worker[id] == i {
			due = append(due, Due{Lobby: h.lobby, Ticks: 1})
		}
	}
	if err := w.ports[i].Ticks(w.now, testUnix+int64(w.now/time.Second), w.conns[i], due); err != nil {
		w.t.Fatal(err)
	}
}

// check checks that every datagram was counted once, at one worker, and that routes, connections and
// the table of steering agree.
func (w *testWorkers) check() {
	w.t.Helper()
	var delivered, counted, unbalanced uint64
	for i := range w.ports {
		delivered += w.conns[i].Stats().Delivered
		counted += w.stats[i].Count[metrics.Received].Load()
		unbalanced += w.stats[i].Count[metrics.UnbalancedTicks].Load()
	}
	for _, h := range w.hosts {
		counted += h.count(metrics.Received) + h.lobby.traffic.received
		unbalanced += h.count(metrics.UnbalancedTicks)
	}
	for i := range w.steering.rings {
		r := &w.steering.rings[i]
		for k := r.tail.Load(); k < r.head.Load(); k++ {
			if r.slots[k&r.mask].kind == handDatagram {
				counted++
			}
		}
	}
	if delivered != counted || unbalanced != 0 {
		w.t.Fatalf("%d datagrams delivered, %d counted, %d ticks unbalanced", delivered, counted, unbalanced)
	}
	for i, p := range w.ports {
		for client, r := range p.routes {
			s, used := p.netcode.Session(client)
			if used != (r.lobby != nil) {
				w.t.Fatalf("worker %d: client %d has a session: %v, route %+v", i, client, used, r)
			}
			if !used {
				continue
			}
			if c := p.connOf(client); r.lobby.port != p ||
				c != nil && (int(c.session.client) != client || c.roster.user != s.ClientID) {
				w.t.Fatalf("worker %d: client %d leads to lobby %d, slot %d", i, client, r.lobby.ID(), r.slot)
			}
			if at, ok := w.steering.index.FindNumber(netcode.IndexClient, s.ClientID, -1); !ok || at != i {
				w.t.Fatalf("worker %d has client %d, the table says %d, %v", i, s.ClientID, at, ok)
			}
		}
	}
}

// enter connects a client with a token, and returns why it was turned away; 0 for a Welcome.
func (w *testWorkers) enter(c *testClient, change func(*netcode.Mint)) packet.Reason {
	w.t.Helper()
	c.beginConnect(change)
	for range 40 {
		if why, done := w.entered(c); done {
			return why
		}
	}
	w.t.Fatalf("user %d: %v, no Welcome", c.user, c.netcode.State())
	return 0
}

// entered plays a tick of a client that connects.
func (w *testWorkers) entered(c *testClient) (why packet.Reason, done bool) {
	w.t.Helper()
	c.update()
	w.tick()
	c.receive()
	if c.peer != nil {
		if why, closed := c.peer.Closed(); closed {
			return why, true
		}
	}
	return 0, c.welcome.Version != 0
}

// join connects a client to a lobby by its name.
func (w *testWorkers) join(lobby, at int) *testClient {
	w.t.Helper()
	c := w.client(w.hosts[lobby], at)
	if why := w.enter(c, named(protocol.LobbyRef{Lobby: uint32(lobby)})); why != 0 {
		w.t.Fatalf("lobby %d: %v", lobby, why)
	}
	c.ready()
	return c
}

// move moves a lobby to a worker at once.
func (w *testWorkers) move(lobby, to int) {
	w.t.Helper()
	m := w.ports[w.worker[lobby]].Detach(w.now, w.hosts[lobby].lobby)
	w.attach(lobby, to, m)
}

func (w *testWorkers) attach(lobby, to int, m *Moving) {
	w.t.Helper()
	if err := w.ports[to].Attach(w.now, m); err != nil {
		w.t.Fatal(err)
	}
	w.worker[lobby] = to
	w.check()
}

// early are commands that arrive two ticks before they are played.
func (c *testClient) early() []byte {
	var all []sim.Command
	for i := range 6 {
		all = append(all, sim.Command{Tick: c.host.lobby.match.Tick() + tick.Tick(i-1), Yaw: 100, MoveMag: 255})
	}
	return section(all[2:]...)
}

// refusals adds up what the workers have refused, for all reasons.
func (w *testWorkers) refusals() (n uint64, text string) {
	for i := range w.stats {
		for d := range w.stats[i].AuthDrops {
			if k := w.stats[i].AuthDrops[d].Load(); k > 0 {
				n, text = n+k, text+fmt.Sprintf(" %v %d", netcode.Drop(d), k)
			}
		}
		for d := range w.stats[i].PacketDrops {
			n += w.stats[i].PacketDrops[d].Load()
		}
	}
	return n, text
}

// Clients get into the lobby of their token, and play there, whatever socket the kernel picks.
func TestSteeringFindsTheLobby(t *testing.T) {
	w := newTestWorkers(t, 3, 6, 3)
	var all []*testClient
	for lobby := range 6 {
		for at := range 3 {
			all = append(all, w.join(lobby, at))
		}
	}
	for range 60 {
		for _, c := range all {
			c.receive()
			c.sendSections(c.early()...)
		}
		w.tick()
	}
	for i, c := range all {
		if n := c.commandCounts(); n.Used < 55 || n.Missing > 20 {
			t.Errorf("client %d: %+v", i, n)
		}
	}
	if n, why := w.refusals(); n != 0 {
		t.Errorf("refused: %s", why)
	}
	for i := range w.ports {
		if n := w.steering.HandOvers(i); n.Handed == 0 || n.Got == 0 || n.Dropped != 0 {
			t.Errorf("worker %d: %+v", i, n)
		}
	}
	for _, c := range all {
		c.leave()
	}
	w.tick()
	w.tick()
	for i, p := range w.ports {
		if n := p.netcode.Connected(); n != 0 {
			t.Errorf("worker %d: %d are left", i, n)
		}
	}
}

// A token that names a lobby that no worker has is refused with the reason, one without a name gets
// to a worker with room.
func TestSteeringTokens(t *testing.T) {
	w := newTestWorkers(t, 2, 2, 2)
	for i, c := range []struct {
		token func(*netcode.Mint)
		why   packet.Reason
	}{
		{named(protocol.LobbyRef{Host: 7, Lobby: 9}), packet.ReasonNoLobby},
		{named(protocol.LobbyRef{Host: 8, Lobby: 1}), packet.ReasonOtherHost},
		{token: nil}, {token: nil}, {token: nil}, {token: nil},
		{nil, packet.ReasonFull},
		{named(protocol.LobbyRef{Host: 7, Lobby: 1}), packet.ReasonFull},
	} {
		if why := w.enter(w.client(w.hosts[0], 0), c.token); why != c.why {
			t.Errorf("%d: %v, want %v", i, why, c.why)
		}
	}
	for i, h := range w.hosts {
		if n := len(h.lobby.live); n != 2 {
			t.Errorf("lobby %d has %d players", i, n)
		}
	}
}

// Many clients without a name in their tokens come at once, all to one socket: they fill the lobbies
// of all workers.
func TestSteeringFillsLobbies(t *testing.T) {
	w := newTestWorkers(t, 3, 6, 3)
	var all []*testClient
	for range 18 {
		c := w.client(w.hosts[0], 1)
		c.beginConnect(nil)
		all = append(all, c)
	}
	connectAll(all, 200, w.tick)
	for i, h := range w.hosts {
		if n := len(h.lobby.live); n != 3 {
			t.Errorf("lobby %d has %d players", i, n)
		}
	}
}

// A client whose session timed out gets its player back, at whatever worker it arrives; the entries
// of those that never come back go.
func TestSteeringReconnects(t *testing.T) {
	w := newTestWorkers(t, 2, 2, 4)
	a, b := w.join(1, 0), w.join(1, 1)
	id := a.id()
	for range 60 * 6 {
		w.tick()
	}
	if n := w.hosts[1].count(metrics.TimedOut); n != 2 {
		t.Fatalf("%d timed out", n)
	}
	w.move(1, 0) // those who may come back move, too
	w.move(1, 1)
	a.received()
	if why := w.enter(a, nil); why != 0 || a.id() != id || w.hosts[1].count(metrics.Reconnected) != 1 {
		t.Fatalf("%v: player %v, was %v", why, a.id(), id)
	}
	for range 60 * 31 {
		a.update()
		a.receive()
		w.tick()
	}
	if at, ok := w.steering.index.FindNumber(indexKept, b.user, -1); ok {
		t.Errorf("worker %d keeps client %d for ever", at, b.user)
	}
}

// Two lobbies keep a player for one client. Whether they are at one worker when one of them moves,
// or one moves to the other, each worker with one of them keeps its entry, and none outlives them.
func TestSteeringKeepsClientInTwoLobbies(t *testing.T) {
	for _, together := range []bool{true, false} {
		w := newTestWorkers(t, 2, 2, 4)
		if together {
			w.move(1, 0)
		}
		c := w.join(0, 0)
		for range 60 * 6 {
			w.tick()
		}
		c.host = w.hosts[1]
		c.received()
		if why := w.enter(c, named(protocol.LobbyRef{Lobby: 1})); why != 0 {
			t.Fatal(why)
		}
		for range 60 * 6 {
			w.tick()
		}
		w.move(0, 1)
		index, user := w.steering.index, c.user
		if at0, at1 := index.HasNumber(indexKept, user, 0), index.HasNumber(indexKept, user, 1); at0 != together ||
			!at1 || index.HasNumber(indexKeptMoving, user, 0) {
			t.Errorf("together %v: worker 0 keeps it: %v, worker 1: %v", together, at0, at1)
		}
		for range 60 * 35 {
			w.tick()
		}
		for _, kind := range []netcode.IndexKind{indexKept, indexKeptMoving} {
			if at, ok := index.FindNumber(kind, user, -1); ok {
				t.Errorf("together %v: worker %d keeps client %d for ever, kind %d", together, at, user, kind)
			}
		}
	}
}

// An entry without a player keeps no client waiting, and none is needed to look at the lobbies; a
// client whose player's lobby moves waits for it.
func TestSteeringPlaceOfKeptClient(t *testing.T) {
	w := newTestWorkers(t, 2, 2, 4)
	c := w.join(1, 0)
	for range 60 * 6 {
		w.tick()
	}
	var user [netcode.UserDataSize]byte
	m := w.ports[1].Detach(w.now, w.hosts[1].lobby)
	if at := w.ports[1].place(c.user, &user); at != 1 {
		t.Errorf("its lobby moves: %d", at)
	}
	if at := w.ports[0].place(c.user, &user); at != 1 {
		t.Errorf("its lobby moves, at the other worker: %d", at)
	}
	w.attach(1, 0, m)
	if at := w.ports[1].place(c.user, &user); at != 0 {
		t.Errorf("its lobby has moved: %d", at)
	}
	if at := w.ports[0].place(c.user, &user); at != netcode.Here {
		t.Errorf("its lobby has arrived: %d", at)
	}
	w.steering.index.PutNumber(indexKept, 1<<40, 0)
	if at := w.ports[0].place(1<<40, &user); at != netcode.Here {
		t.Errorf("an entry without a player: %d", at)
	}
}

// A token that was used at one worker is refused at another, from another address.
func TestSteeringReplayedToken(t *testing.T) {
	w := newTestWorkers(t, 2, 2, 4)
	c := w.client(w.hosts[0], 0)
	token := w.hosts[0].mint(c.user, nil)
	thief := w.client(w.hosts[1], 1)
	c.start(token, netcode.ClientConfig{})
	for range 5 {
		c.update()
		w.tick()
		c.receive()
	}
	thief.start(token, netcode.ClientConfig{})
	for range 40 {
		c.update()
		thief.update()
		w.tick()
		c.receive()
		thief.receive()
	}
	if c.netcode.State() != netcode.Connected || thief.netcode.State() == netcode.Connected {
		t.Errorf("%v, %v", c.netcode.State(), thief.netcode.State())
	}
	sum := w.ports[0].netcode.Counters().Drops[netcode.DropReqTokenUsed] +
		w.ports[0].netcode.Counters().Drops[netcode.DropReqClient]
	if n := w.ports[1].netcode.Counters().Drops[netcode.DropReqTokenUsed]; n+sum == 0 {
		t.Error("nothing was refused")
	}
}

// A client that plays at one worker gets into a lobby of another with a new token: its silent
// session ends, as it would within one port.
func TestSteeringTakeover(t *testing.T) {
	for _, address := range []bool{false, true} {
		w := newTestWorkers(t, 2, 2, 4)
		c := w.join(0, 0)
		for range 30 {
			c.receive()
			c.sendSections(c.early()...)
			w.tick()
		}
		c.host = w.hosts[1]
		if address { // the new session begins at another address
			c.rebind("10.9.9.9:2001")
		}
		c.beginConnect(named(protocol.LobbyRef{Lobby: 1}))
		for range 300 {
			c.update()
			w.tick()
			w.receiveNew(c)
		}
		if c.welcome.Version == 0 || len(w.hosts[0].lobby.live) != 0 || len(w.hosts[1].lobby.live) != 1 ||
			w.hosts[0].count(metrics.Left) != 1 {
			t.Errorf("new address %v: %v, %d and %d play", address, c.netcode.State(),
				len(w.hosts[0].lobby.live), len(w.hosts[1].lobby.live))
		}
	}
}

// A client whose lobby moves while it comes back from another session keeps its player, whether its
// token names the lobby or not: the new worker ends the silent session, and keeps the player.
func TestSteeringTakeoverKeepsPlayer(t *testing.T) {
	for _, token := range []func(*netcode.Mint){named(protocol.LobbyRef{Lobby: 0}), nil} {
		moved := 0
		for moveAt := range 24 {
			w := newTestWorkers(t, 2, 3, 4)
			c := w.join(0, 0)
			id := c.id()
			for range 70 {
				c.received()
				w.tick()
			}
			c.beginConnect(token)
			for n := range 300 {
				c.update()
				if n == moveAt {
					w.move(0, 1)
				}
				w.tick()
				w.receiveNew(c)
			}
			if c.welcome.Version == 0 || c.id() != id || len(w.hosts[0].lobby.live) != 1 ||
				w.hosts[0].count(metrics.Left) != 0 {
				t.Errorf("named %v, move before tick %d: %v, player %v, was %v", token != nil, moveAt,
					c.netcode.State(), c.id(), id)
			}
			if w.hosts[0].count(metrics.Reconnected) > w.hosts[0].count(metrics.Takeovers) {
				moved++
			}
		}
		if moved == 0 {
			t.Errorf("named %v: no session was ended by another worker", token != nil)
		}
	}
}

// receiveNew takes in what has arrived for a client, but for datagrams of an earlier session.
func (w *testWorkers) receiveNew(c *testClient) {
	w.t.Helper()
	for _, d := range c.received() {
		if pkt, err := c.netcode.Receive(c.host.now, testAddr, d, &c.outbox); err == nil && pkt != nil {
			c.receivePacket(pkt)
		}
	}
	c.flushOutbox()
}

// A session that is handed to a worker whose slots have just filled ends with the reason.
func TestSteeringHandedToFullWorker(t *testing.T) {
	w := newTestWorkers(t, 2, 1, 1)
	w.add(1, 40)
	w.add(1, 40)
	for i := range 64 {
		w.join(1+i/40, 1)
	}
	var all [2]*testClient
	for i := range all {
		all[i] = w.client(w.hosts[0], 0)
		all[i].beginConnect(nil)
	}
	for range 60 {
		w.steering.workers[1].room[rolePlayer].Store(5) // a count of before
		for _, c := range all {
			c.update()
			c.receive()
		}
		w.tick()
	}
	in, full := 0, 0
	for _, c := range all {
		if c.peer != nil {
			why, closed := c.peer.Closed()
			if closed && why == packet.ReasonFull && c.netcode.State() != netcode.Connected {
				full++
			}
		}
		if c.netcode.State() == netcode.Connected {
			in++
		}
	}
	if n := w.stats[1].Count[metrics.RejectedFull].Load(); in != 1 || full != 1 || n != 1 {
		t.Errorf("%d are in, %d were told that the server is full, %d rejected", in, full, n)
	}
	for i, p := range w.ports {
		if sent := w.conns[i].Stats().DatagramsOut; sent != w.sentBy(i, p) {
			t.Errorf("worker %d: %d datagrams sent, %d counted", i, sent, w.sentBy(i, p))
		}
	}
}

// sentBy counts the datagrams that a worker and its lobbies have sent, if none has moved.
func (w *testWorkers) sentBy(i int, p *Port) uint64 {
	n := w.stats[i].Count[metrics.Sent].Load()
	for _, l := range p.lobbies {
		n += l.Stats.Count[metrics.Sent].Load()
	}
	return n
}

// A lobby moves a hundred times while its clients play through loss: none loses its session, and
// without loss no datagram is refused and no command is late.
func TestSteeringMoves(t *testing.T) {
	for _, loss := range []float64{0, 0.1} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			w := newTestWorkers(t, 3, 3, 6)
			rng := rand.New(rand.NewPCG(3, 4))
			var all []*testClient
			for lobby := range 3 {
				for at := range 6 {
					all = append(all, w.join(lobby, at%3))
				}
			}
			for _, c := range all {
				c.receive()
				c.lost = func() bool { return rng.Float64() < loss }
			}
			for range 20 {
				w.play(all, rng, loss)
			}
			before := w.used(all)
			const rounds = 300
			held, lobby := (*Moving)(nil), 0
			for n := range rounds {
				switch {
				case held != nil: // on the way for a tick
					w.attach(lobby, rng.IntN(3), held)
					held = nil
				case n%3 == 0:
					w.move(rng.IntN(3), rng.IntN(3))
				case n%3 == 1:
					lobby = rng.IntN(3)
					held = w.ports[w.worker[lobby]].Detach(w.now, w.hosts[lobby].lobby)
					w.worker[lobby] = -1
				}
				w.play(all, rng, loss)
			}
			for i, c := range all {
				if c.netcode.State() != netcode.Connected {
					t.Errorf("client %d: %v", i, c.netcode.State())
				}
			}
			for id, h := range w.hosts {
				if len(h.lobby.live) != 6 || h.count(metrics.Joined) != 6 || h.count(metrics.TimedOut) != 0 {
					t.Errorf("lobby %d: %d play, %d timed out", id, len(h.lobby.live), h.count(metrics.TimedOut))
				}
			}
			if n, why := w.refusals(); n != 0 {
				t.Errorf("refused: %s", why)
			}
			after := w.used(all)
			if loss == 0 && after.Missing != before.Missing {
				t.Errorf("%d commands missing of %d", after.Missing-before.Missing, after.Used-before.Used)
			}
		})
	}
}

// play lets all clients send and receive for a tick.
func (w *testWorkers) play(all []*testClient, rng *rand.Rand, loss float64) {
	w.t.Helper()
	for _, c := range all {
		c.receive()
		if d := c.seal(c.packet(c.early()...)); rng.Float64() >= loss {
			c.send(d)
		}
	}
	w.tick()
}

// used adds up what became of the clients' commands.
func (w *testWorkers) used(all []*testClient) (sum sim.CommandCounts) {
	for _, c := range all {
		n := c.commandCounts()
		sum.Used += n.Used
		sum.Missing += n.Missing
	}
	return sum
}

// Clients that are connecting when their lobby moves get in.
func TestSteeringMovesWhileClientsConnect(t *testing.T) {
	for moveAt := range 12 {
		w := newTestWorkers(t, 2, 2, 6)
		var all []*testClient
		for i := range 6 {
			c := w.client(w.hosts[0], i%2)
			c.beginConnect(named(protocol.LobbyRef{Lobby: 0}))
			all = append(all, c)
		}
		for n := range 60 {
			for i, c := range all {
				if n >= i/2 { // not all in step
					c.update()
				}
			}
			if n == moveAt {
				w.move(0, 1)
			}
			w.tick()
			for _, c := range all {
				c.receive()
			}
		}
		for i, c := range all {
			if c.welcome.Version == 0 {
				t.Errorf("move before tick %d: client %d: %v", moveAt, i, c.netcode.State())
			}
		}
	}
}

// A lobby does not move to a port without room for its sessions, and plays on where it was.
func TestSteeringMoveWithoutRoom(t *testing.T) {
	w := newTestWorkers(t, 2, 2, 40)
	var all []*testClient
	for i := range 66 {
		all = append(all, w.join(i%2, 0))
	}
	m := w.ports[0].Detach(w.now, w.hosts[0].lobby)
	if err := w.ports[1].Attach(w.now, m); err == nil || m.Lobby() != w.hosts[0].lobby {
		t.Fatalf("%v", err)
	}
	w.attach(0, 0, m)
	for range 10 {
		for _, c := range all {
			c.receive()
			c.sendSections(c.early()...)
		}
		w.tick()
	}
	if n, why := w.refusals(); n != 0 {
		t.Errorf("refused: %s", why)
	}
}

// Junk from nowhere is handed to nobody. While a worker stalls, the ring to it fills, and what finds
// it full is lost and counted; then its players play on.
func TestSteeringFlood(t *testing.T) {
	w := newTestWorkers(t, 2, 2, 4)
	c, d := w.join(1, 0), w.join(1, 0)
	for range 10 {
		c.receive()
		c.sendSections(c.early()...)
		w.tick()
	}
	stranger := w.client(w.hosts[0], 0)
	rng, junk := rand.New(rand.NewPCG(7, 8)), make([]byte, 100)
	handed := w.steering.HandOvers(0).Handed
	for range 10 {
		for range 400 {
			for i := range junk {
				junk[i] = byte(rng.Uint32())
			}
			junk[0] = 0x10 | byte(rng.IntN(8))
			stranger.send(junk)
		}
		w.tick()
	}
	if n := w.steering.HandOvers(0); n.Handed != handed {
		t.Errorf("%d of strangers were handed over", n.Handed-handed)
	}
	junk[0] = 0x10 | byte(netcode.KindPayload) // in the name of the player
	for range 8 {
		for range 400 {
			c.send(junk)
		}
		w.tickOf(0)
	}
	w.check()
	lost := w.stats[0].AuthDrops[netcode.DropHandOver].Load()
	ring := w.steering.ring(0, 1)
	half, share := len(ring.slots)/2, len(ring.slots)/sourceShare
	if n := w.steering.HandOvers(0); lost == 0 || n.Dropped != lost || ring.len() > half+1+share {
		t.Errorf("%d were lost, %d wait, %+v", lost, ring.len(), n)
	}
	for n := range share { // another player behind the flood
		d.send(junk)
		if w.tickOf(0); w.stats[0].AuthDrops[netcode.DropHandOver].Load() != lost {
			t.Fatalf("datagram %d of a player behind the flood was lost", n)
		}
	}
	w.check()
	used := c.commandCounts().Used
	for range 30 {
		c.receive()
		c.sendSections(c.early()...)
		w.tick()
	}
	if n := c.commandCounts().Used - used; n < 28 {
		t.Errorf("%d of 30 commands were used after the flood", n)
	}
}

// A client whose address changes keeps its session, also when the kernel gives its datagrams to
// another worker from then on.
func TestSteeringMigrates(t *testing.T) {
	w := newTestWorkers(t, 3, 3, 4)
	c := w.client(w.hosts[1], 0)
	c.start(w.hosts[1].mint(c.user, named(protocol.LobbyRef{Lobby: 1})), netcode.ClientConfig{Roam: true})
	for c.welcome.Version == 0 {
		if _, done := w.entered(c); w.now > time.Minute || done && c.welcome.Version == 0 {
			t.Fatalf("%v", c.netcode.State())
		}
	}
	c.ready()
	for n := range 4 {
		for range 60 {
			c.update()
			c.receive()
			c.sendSections(c.early()...)
			w.tick()
		}
		c.rebind(fmt.Sprintf("10.200.0.%d:%d", n, 3000+n%3))
		w.move(1, (n+2)%3)
		for range 120 {
			c.update()
			c.receive()
			c.sendSections(c.early()...)
			w.tick()
		}
		if got := w.hosts[1].count(metrics.Migrated); got != uint64(n+1) {
			t.Fatalf("moved %d times, want %d", got, n+1)
		}
	}
}

// A tick of workers that hand datagrams over allocates nothing.
func TestSteeringAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	w := newTestWorkers(t, 2, 2, 4)
	var all []*testClient
	for i := range 4 {
		all = append(all, w.join(i%2, i/2))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 120 {
		w.play(all, rng, 0)
	}
	due := [2][]Due{{{Lobby: w.hosts[0].lobby, Ticks: 1}}, {{Lobby: w.hosts[1].lobby, Ticks: 1}}}
	sum := 0.0
	for range 20 {
		for _, c := range all {
			c.receive()
			c.sendSections(c.early()...)
		}
		w.now += w.hosts[0].lobby.cfg.Rules.Rate.Period()
		for i, p := range w.ports {
			calls := 0
			sum += testing.AllocsPerRun(1, func() {
				if calls++; calls == 1 {
					return // the first call is not counted
				}
				if err := p.Ticks(w.now, testUnix, w.conns[i], due[i]); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	if sum != 0 {
		t.Errorf("%v allocations in 20 ticks of two workers", sum)
	}
}

// Clients that come, go, fall silent, take over and change lobbies at random, at any socket, while
// lobbies move at random: a client only ever gets rows of its own lobby, nobody has two sessions, and
// in the end nothing is left of them.
func TestSteeringNeverMixes(t *testing.T) {
	w := newTestWorkers(t, 3, 4, 4)
	rng := rand.New(rand.NewPCG(1, 2))
	var guests []*steeredGuest
	for range 16 {
		guests = append(guests, &steeredGuest{testClient: w.client(w.hosts[0], rng.IntN(3))})
	}
	var held [4]*Moving
	played, moves := [4]int{}, 0
	for range fullOrShort(4000, 1500) {
		for _, g := range guests {
			w.step(rng, g, &played)
		}
		if lobby := rng.IntN(4); rng.IntN(4) == 0 {
			if m := held[lobby]; m != nil {
				w.attach(lobby, rng.IntN(3), m)
				held[lobby] = nil
				moves++
			} else {
				held[lobby] = w.ports[w.worker[lobby]].Detach(w.now, w.hosts[lobby].lobby)
				w.worker[lobby] = -1
			}
		}
		w.tick()
		w.checkUsers(guests)
	}
	for lobby, m := range held {
		if m != nil {
			w.attach(lobby, 0, m)
		}
	}
	takeovers := uint64(0)
	for range 60 * 40 { // all time out, and are forgotten
		w.tick()
	}
	for i, p := range w.ports {
		takeovers += p.netcode.Counters().Takeovers
		if p.netcode.Connected() != 0 || p.netcode.PendingHandshakes() != 0 {
			t.Errorf("worker %d: %d sessions, %d handshakes are left", i, p.netcode.Connected(),
				p.netcode.PendingHandshakes())
		}
	}
	for _, g := range guests {
		for _, kind := range []netcode.IndexKind{netcode.IndexClient, indexKept} {
			if at, ok := w.steering.index.FindNumber(kind, g.user, -1); ok {
				t.Errorf("worker %d has client %d for ever, kind %d", at, g.user, kind)
			}
		}
	}
	if min(played[0], played[1], played[2], played[3]) < 20 || takeovers < 5 || moves < 50 {
		t.Errorf("snapshots by lobby: %v, %d takeovers, %d moves", played, takeovers, moves)
	}
}

// steeredGuest is a client that does something at random.
type steeredGuest struct {
	*testClient
	lobby  int // that its token names; -1: none
	silent int // ticks
}

func (w *testWorkers) step(rng *rand.Rand, g *steeredGuest, played *[4]int) {
	if g.silent > 1 {
		g.silent--
		g.received()
		return
	}
	if g.netcode == nil || g.silent == 1 || g.netcode.State() <= netcode.Disconnected || rng.IntN(300) == 0 {
		g.lobby, g.silent = rng.IntN(4), 0
		g.host = w.hosts[g.lobby]
		g.received()
		token := named(protocol.LobbyRef{Lobby: uint32(g.lobby)})
		if rng.IntN(4) == 0 {
			g.lobby, token = -1, nil
		}
		g.beginConnect(token)
		return
	}
	g.update()
	for _, d := range g.received() {
		pkt, err := g.netcode.Receive(g.host.now, testAddr, d, &g.outbox)
		if err != nil || pkt == nil || rng.IntN(20) == 0 {
			continue // of an earlier session, or lost
		}
		welcomed := g.welcome.Version != 0
		if g.receivePacket(pkt) != nil && g.lobby >= 0 {
			played[g.lobby]++
		}
		if !welcomed && g.welcome.Version != 0 {
			g.ready()
		}
	}
	g.flushOutbox()
	switch n := rng.IntN(200); {
	case n == 0:
		g.silent = 70 + rng.IntN(400)
	case n == 1 && g.netcode.State() == netcode.Connected:
		g.leave()
	case g.welcome.Version != 0 && g.netcode.State() == netcode.Connected:
		g.sendSections(g.commands(1)...)
	}
}

// checkUsers checks that no user has two sessions, and that a client with a Welcome plays in the
// lobby that its token named.
func (w *testWorkers) checkUsers(guests []*steeredGuest) {
	w.t.Helper()
	for _, g := range guests {
		sessions := 0
		for _, p := range w.ports {
			client, ok := p.netcode.Find(g.user)
			if !ok {
				continue
			}
			sessions++
			s, _ := p.netcode.Session(client)
			if ref, isNamed := protocol.LobbyOf(s.UserData[:], p.host); isNamed && p.connOf(client) != nil &&
				p.routes[client].lobby.ID() != ref.Lobby {
				w.t.Fatalf("user %d plays in lobby %d, its token names %d", g.user,
					p.routes[client].lobby.ID(), ref.Lobby)
			}
		}
		if sessions > 1 {
			w.t.Fatalf("user %d has %d sessions", g.user, sessions)
		}
	}
}
