package lobbysim

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// movedHost is one of the hosts between which a lobby moves.
type movedHost struct {
	port  *server.Port
	lobby *server.Lobby
	addr  netip.AddrPort
	wire  wire
	up    []*impair.Link
	down  []*impair.Link
	plays bool
}

// movedLobby is a lobby with its clients and two hosts, in virtual time.
type movedLobby struct {
	timeline
	tb      testing.TB
	cfg     Config
	rate    tick.Rate
	mint    tokenMint
	hosts   [2]movedHost
	clients []*client.Client
	brains  []swarm.Brain
	sight   Sim // of the first client

	shown  []time.Duration // by client: when its newest snapshot came
	newest []tick.Tick
	gap    time.Duration // longest without a snapshot, of any client, since watch
	watch  bool

	onSend func(i int, to netip.AddrPort, data []byte) // nil: none

	ended int           // the host that the lobby has left
	endAt time.Duration // when it ends there; 0: it has
}

func newMovedLobby(tb testing.TB, players int, rate tick.Rate, link impair.Profile, seed uint64) *movedLobby {
	tb.Helper()
	m := &movedLobby{tb: tb, rate: rate, cfg: Config{Clients: players, Seed: seed, Lobby: server.Config{
		Arena: arena.Generate(players, seed), ArenaName: "test", Players: players,
		Rules: sim.Rules{Seed: seed, Rate: rate}}}}
	m.mint = newMint(&m.cfg)
	m.sight.rate, m.sight.vision, m.sight.cfg.Lobby.Players = rate, newVision(1), m.cfg.Lobby.Players
	for n := range m.hosts {
		h := &m.hosts[n]
		h.addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(2 + n)}), 7913)
		g := m.cfg.Lobby.Netcode
		g.Addresses, g.Clients = []netip.AddrPort{h.addr}, players
		var err error
		if h.port, err = server.NewPort(server.PortConfig{Netcode: g, Host: uint32(n + 1),
			Stats: new(metrics.Stats), Timer: &metrics.TickTimer{Off: true}}); err != nil {
			tb.Fatal(err)
		}
		m.newLobby(n)
		l := newLinks(players, link, seed+uint64(n)<<8)
		h.up, h.down = l.up, l.down
	}
	m.hosts[0].plays = true
	m.shown, m.newest = make([]time.Duration, players), make([]tick.Tick, players)
	for i := range players {
		c, err := client.New(client.Config{Token: m.token(i, 0), Rules: m.cfg.Lobby.Rules, Name: "moved",
			Decode: map[bool]client.Decode{true: client.DecodeFull, false: client.DecodeOwn}[i < 2],
			Arena:  func(string, [32]byte) (*arena.Arena, error) { return m.cfg.Lobby.Arena, nil }})
		if err != nil {
			tb.Fatal(err)
		}
		m.clients, m.brains = append(m.clients, c), append(m.brains, swarm.NewBot(seed, i))
	}
	return m
}

// newLobby gives a host the lobby, empty.
func (m *movedLobby) newLobby(n int) {
	h, c := &m.hosts[n], m.cfg.Lobby
	c.Port, c.ID = h.port, 7
	l, err := server.NewLobby(c)
	if err != nil {
		m.tb.Fatal(err)
	}
	h.lobby = l
	h.port.Add(l)
}

// token is a fresh token of player i for a host.
func (m *movedLobby) token(i, host int) []byte {
	t := m.mint.unsealed(uint64(i), epoch)
	t.Servers = []netip.AddrPort{m.hosts[host].addr}
	protocol.LobbyRef{Host: uint32(host + 1), Lobby: 7}.Mark(t.UserData[:])
	token, err := m.mint.seal(&t)
	if err != nil {
		m.tb.Fatal(err)
	}
	return token
}

// step plays a tick.
func (m *movedLobby) step() {
	for range parts {
		m.part++
		m.now = time.Duration(m.part * uint64(time.Second) / uint64(m.rate) / parts)
		if m.part%parts == 0 {
			for n := range m.hosts {
				m.serve(&m.hosts[n])
			}
			m.look()
		}
		for i := int(m.part % parts); i < len(m.clients); i += parts {
			m.play(i)
		}
	}
}

func (m *movedLobby) serve(h *movedHost) {
	if m.endAt > 0 && m.now >= m.endAt && h == &m.hosts[m.ended] {
		h.port.Remove(m.now, h.lobby, packet.ReasonClosing)
		m.endAt = 0
	}
	h.wire.collect(h.up, m.now)
	var due []server.Due
	if h.plays {
		due = []server.Due{{Lobby: h.lobby, Ticks: 1}}
	}
	if err := h.port.Ticks(m.now, epoch+int64(m.now/time.Second), &h.wire, due); err != nil {
		m.tb.Fatal(err)
	}
	h.wire.deliver(h.down, m.now)
	if f := h.port.TakeFaults(); len(f) > 0 {
		m.tb.Fatalf("lobby ended by a panic: %v\n%s", f[0].Value, f[0].Stack)
	}
}

// look renews what the first client sees, by which all brains decide.
func (m *movedLobby) look() { m.sight.look(0, m.clients[0]) }

func (m *movedLobby) play(i int) {
	c := m.clients[i]
	for n := range m.hosts {
		h := &m.hosts[n]
		for data, _, ok := h.down[i].Pop(m.now); ok; data, _, ok = h.down[i].Pop(m.now) {
			_ = c.ReceiveFrom(m.now, h.addr, data)
		}
	}
	if t := c.Newest(); t > m.newest[i] {
		if m.watch && m.newest[i] > 0 {
			m.gap = max(m.gap, m.now-m.shown[i])
		}
		m.newest[i], m.shown[i] = t, m.now
	}
	for due := c.Advance(m.now); due > 0; due-- {
		c.Command(m.brains[i].Decide(m.sight.observe(0, c)))
	}
	out := c.Outgoing(m.now)
	for k := range out.Len() {
		to, data := out.At(k)
		if m.onSend != nil {
			m.onSend(i, to, data)
		}
		for n := range m.hosts {
			if m.hosts[n].addr == to {
				m.hosts[n].up[i].Push(m.now, data, 1<<bindingBits)
			}
		}
	}
}

// tell sends every player a token for the other host.
func (m *movedLobby) tell(from, to int) {
	for _, s := range m.hosts[from].lobby.Seats() {
		if s.Connected && !m.hosts[from].lobby.TellMove(s.Slot, m.token(int(s.User), to)) {
			m.tb.Fatalf("slot %d was not told", s.Slot)
		}
	}
}

// announce has the other host await the lobby, and tells the players. Some ticks later they are
// connected there.
func (m *movedLobby) announce(from, to, ticks int) {
	m.hosts[to].lobby.Await(m.hosts[from].lobby.Seats())
	m.hosts[to].plays = true
	m.tell(from, to)
	for range ticks {
		m.step()
	}
}

// move moves the lobby to the other host within the coming pause, which lasts some ticks. It
// returns the length of the state.
func (m *movedLobby) move(from, to, pause int) (bytes int) {
	a, b := &m.hosts[from], &m.hosts[to]
	state, err := a.lobby.Save(nil)
	for tries := 0; err != nil && tries < 10; tries++ { // a player comes or goes
		m.step()
		state, err = a.lobby.Save(nil)
	}
	if err != nil {
		m.tb.Fatal(err)
	}
	a.plays = false
	for range pause {
		m.step()
	}
	read, err := b.lobby.ReadState(state)
	if err == nil {
		err = b.lobby.Resume(m.now, read)
	}
	if err != nil {
		m.tb.Fatal(err)
	}
	if a.lobby.Match().Hash() != b.lobby.Match().Hash() {
		m.tb.Fatal("the loaded match differs from the saved one")
	}
	m.ended, m.endAt = from, m.now+time.Second // when clients have left for the new host
	return len(state)
}

// A lobby moves to another host and back while its players play. Their clients go on: no command
// that the server has is lost, nothing is mispredicted, the score stays, and the longest time
// without a snapshot is told.
func TestRow81LobbyMovesBetweenHosts(t *testing.T) {
	for _, c := range []struct {
		name    string
		players int
		rate    tick.Rate
		link    impair.Profile
		gap     time.Duration // most that is wanted without a snapshot
	}{
		{"64 players nearby", 64, 60, impair.Profile{Delay: time.Millisecond}, 100 * time.Millisecond},
		{"16 players, 40 ms away", 16, 60, impair.Profile{Delay: 20 * time.Millisecond,
			Jitter: 3 * time.Millisecond}, 140 * time.Millisecond},
		{"10 players at 128 Hz", 10, 128, impair.Profile{Delay: 5 * time.Millisecond}, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMovedLobby(t, c.players, c.rate, c.link, 5)
			second := int(c.rate)
			for range 6 * second {
				m.step()
			}
			before := m.totals()
			m.watch = true
			for n := range 2 {
				from, to := n, 1-n
				if n == 1 { // back, to a host that has forgotten the lobby
					m.newLobby(to)
				}
				m.announce(from, to, second/2)
				if got := m.hosts[to].lobby.Awaited(); got != c.players {
					t.Fatalf("%d of %d players are connected to the new host", got, c.players)
				}
				score := *m.hosts[from].lobby.Match().Score()
				bytes := m.move(from, to, 1)
				if *m.hosts[to].lobby.Match().Score() != score {
					t.Error("another score")
				}
				for range 3 * second {
					m.step()
				}
				t.Logf("move %d: %d bytes of state, longest gap %v", n+1, bytes, m.gap)
			}
			after := m.totals()
			if m.gap > c.gap {
				t.Errorf("%v without a snapshot: expected at most %v", m.gap, c.gap)
			}
			if after.mispredicted != before.mispredicted {
				t.Errorf("%d mispredictions more", after.mispredicted-before.mispredicted)
			}
			if after.missing != before.missing {
				t.Errorf("the server played %d ticks without a command", after.missing-before.missing)
			}
			if after.resyncs != before.resyncs || after.resets != before.resets {
				t.Errorf("%d resyncs, %d clock resets more", after.resyncs-before.resyncs,
					after.resets-before.resets)
			}
			for i, p := range m.clients {
				if s, why := p.State(); s != client.Joined || p.Stats().Moves != 2 {
					t.Fatalf("client %d: %v, %v, %d moves, %v", i, s, why, p.Stats().Moves, p.Err())
				}
			}
			for slot := range c.players {
				if p, ok := m.clients[0].Chat.Player(slot); !ok || !strings.HasPrefix(p.Name, "moved") {
					t.Errorf("the first client knows the player in slot %d as %q", slot, p.Name)
				}
			}
		})
	}
}

// Over links that lose one datagram in twenty, a lobby moves all the same, after a pause of a tenth
// of a second: nobody loses its session, and a client that was not told in time comes later with
// its token.
func TestLobbyMovesUnderLoss(t *testing.T) {
	for seed := range uint64(5) {
		m := newMovedLobby(t, 12, 60, impair.Profile{Delay: 30 * time.Millisecond, Jitter: 5 * time.Millisecond,
			Loss: 0.05}, 100+seed)
		for range 300 {
			m.step()
		}
		m.announce(0, 1, 30)
		m.move(0, 1, 6)
		for range 180 {
			m.step()
		}
		for i, p := range m.clients {
			if s, why := p.State(); s != client.Joined || p.Stats().Moves != 1 {
				t.Errorf("seed %d: client %d: %v, %v, %d moves, %v", seed, i, s, why, p.Stats().Moves, p.Err())
			}
		}
		for i, p := range m.clients {
			if n := p.Stats().InputsMissing; n > 60 { // counts of two hosts are not mixed
				t.Errorf("seed %d: client %d: the server played %d ticks without a command", seed, i, n)
			}
		}
		if n := m.hosts[1].lobby.Stats.Count[metrics.Joined].Load(); n > 1 {
			t.Logf("seed %d: %d clients came after the move", seed, n)
		}
	}
}

// A move that does not come about changes nothing: the clients play on, and a later one works.
func TestLobbyStaysAfterAFailedMove(t *testing.T) {
	m := newMovedLobby(t, 8, 60, impair.Profile{Delay: 5 * time.Millisecond}, 9)
	for range 300 {
		m.step()
	}
	before := m.totals()
	m.announce(0, 1, 40)
	m.hosts[1].port.Remove(m.now, m.hosts[1].lobby, packet.ReasonClosing) // the other host has given up
	for range 120 {
		m.step()
	}
	if after := m.totals(); after != before {
		t.Errorf("counters %+v, before %+v", after, before)
	}
	m.newLobby(1)
	m.announce(0, 1, 40)
	m.move(0, 1, 1)
	for range 120 {
		m.step()
	}
	for i, p := range m.clients {
		if s, _ := p.State(); s != client.Joined || p.Stats().Moves != 1 {
			t.Errorf("client %d: %v, %d moves, %v", i, s, p.Stats().Moves, p.Err())
		}
	}
}

// A state that was cut or changed on its way makes an error that says so, or a possible lobby;
// never a panic. A state of another configuration is refused by what differs.
func TestReadStateRefuses(t *testing.T) {
	m := newMovedLobby(t, 4, 60, impair.Profile{}, 4)
	for range 200 {
		m.step()
	}
	state, err := m.hosts[0].lobby.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	target := m.hosts[1].lobby
	read, err := target.ReadState(state)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(state); n += 1 + n/20 {
		if _, err := target.ReadState(state[:n]); !errors.Is(err, server.ErrLobbyState) && !errors.Is(err, server.ErrOther) {
			t.Fatalf("%d bytes of %d: %v", n, len(state), err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		bad := bytes.Clone(state)
		for range 1 + r.IntN(4) {
			bad[r.IntN(len(bad))] ^= byte(1 << r.IntN(8))
		}
		_, _ = target.ReadState(bad)
	}
	for want, change := range map[string]func(*server.Config){
		"tick rate":     func(c *server.Config) { c.Rules.Rate = 30 },
		"send interval": func(c *server.Config) { c.SendInterval = 6 },
		"slots":         func(c *server.Config) { c.Players = 9 },
		"spectators":    func(c *server.Config) { c.Players, c.Spectators = 3, 1 },
		"seed":          func(c *server.Config) { c.Rules.Seed++ },
		"arena":         func(c *server.Config) { c.Arena = arena.Generate(4, 77) },
	} {
		c := m.cfg.Lobby
		change(&c)
		other, err := server.NewLobby(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.ReadState(state); !errors.Is(err, server.ErrOther) || !strings.Contains(err.Error(), want) {
			t.Errorf("another %s: %v", want, err)
		}
	}
	if err := m.hosts[0].lobby.Resume(m.now, read); !errors.Is(err, server.ErrPlayed) {
		t.Errorf("a lobby that has played: %v", err)
	}
}

// movedTotals are counters of all clients.
type movedTotals struct{ mispredicted, missing, resyncs, resets uint64 }

func (m *movedLobby) totals() (s movedTotals) {
	for _, c := range m.clients {
		st := c.Stats()
		s.mispredicted += st.Prediction.Mispredictions
		s.missing += st.InputsMissing
		s.resyncs += st.Resyncs
		s.resets += st.HardResets
	}
	return s
}

// A match that moves without standing still is the match that would have been played without the
// move: players stand, look and live as they would, tick by tick. (Limits of lag compensation are
// measured anew, so hashes of the whole state differ.)
func TestRow81MovedMatchIsTheSame(t *testing.T) {
	played := [2][][]rig.Pose{}
	var scores [2]sim.Score
	for n := range played {
		m := newMovedLobby(t, 8, 60, impair.Profile{Delay: 8 * time.Millisecond}, 21)
		for range 300 {
			m.step()
		}
		at := 0
		if n == 1 {
			m.announce(0, 1, 40)
			m.move(0, 1, 0)
			at = 1
		} else {
			for range 40 {
				m.step()
			}
		}
		for range 600 {
			m.step()
			played[n] = append(played[n], slices.Clone(m.hosts[at].lobby.Match().Poses()))
		}
		scores[n] = *m.hosts[at].lobby.Match().Score()
	}
	for i := range played[0] {
		if !slices.Equal(played[0][i], played[1][i]) {
			t.Fatalf("another match %d ticks after the move", i+1)
		}
	}
	if scores[0] != scores[1] {
		t.Errorf("score %+v, without the move %+v", scores[1], scores[0])
	}
}

// nonceLog says whether two datagrams were sealed with one key and one sequence, which is the
// nonce.
type nonceLog struct {
	used   map[sealedWith]bool
	reused int
}

type sealedWith struct {
	key      netcode.Key
	sequence uint64
}

// add takes a datagram that a client has sealed with the keys of a token. Its first byte is the
// kind and, from bit 4 on, the number of bytes of the sequence that follow, lowest first.
func (l *nonceLog) add(token, datagram []byte) {
	n := int(datagram[0] >> 4)
	if netcode.KindOf(datagram) == netcode.KindRequest || len(datagram) < 1+n || n > 8 {
		return
	}
	var public netcode.PublicToken
	if public.Parse(token) != nil {
		panic("a token of the test's own")
	}
	at := sealedWith{key: public.ClientToServer}
	for i := range n {
		at.sequence |= uint64(datagram[1+i]) << (8 * i)
	}
	if l.used[at] {
		l.reused++
	}
	l.used[at] = true
}

// A client that moves seals nothing with a key and a sequence that it has used before, as each host
// has a token of its own. If both hosts had the same keys, this test would say so.
func TestRow81MoveReusesNoNonce(t *testing.T) {
	for _, planted := range []bool{false, true} {
		m := newMovedLobby(t, 4, 60, impair.Profile{Delay: 5 * time.Millisecond}, 31)
		log := &nonceLog{used: map[sealedWith]bool{}}
		first := make([][]byte, 4)
		for i := range first {
			first[i] = m.tokenOf(i, 0, 1)
			c, err := client.New(client.Config{Token: first[i], Rules: m.cfg.Lobby.Rules,
				Arena: func(string, [32]byte) (*arena.Arena, error) { return m.cfg.Lobby.Arena, nil }})
			if err != nil {
				t.Fatal(err)
			}
			m.clients[i] = c
		}
		tokens := map[netip.AddrPort][][]byte{m.hosts[0].addr: first, m.hosts[1].addr: make([][]byte, 4)}
		m.onSend = func(i int, to netip.AddrPort, data []byte) { log.add(tokens[to][i], data) }
		for range 200 {
			m.step()
		}
		m.hosts[1].lobby.Await(m.hosts[0].lobby.Seats())
		m.hosts[1].plays = true
		for _, s := range m.hosts[0].lobby.Seats() {
			i := int(s.User)
			seed := byte(2)
			if planted { // the keys of the session that the client has
				seed = 1
			}
			tokens[m.hosts[1].addr][i] = m.tokenOf(i, 1, seed)
			m.hosts[0].lobby.TellMove(s.Slot, tokens[m.hosts[1].addr][i])
		}
		for range 40 {
			m.step()
		}
		if !planted {
			m.move(0, 1, 1)
		}
		for range 100 {
			m.step()
		}
		if (log.reused > 0) != planted || len(log.used) < 1000 {
			t.Errorf("planted %v: %d of %d nonces were used again", planted, log.reused, len(log.used))
		}
	}
}

// tokenOf is a token of player i for a host, with keys drawn from a seed.
func (m *movedLobby) tokenOf(i, host int, seed byte) []byte {
	was := m.mint.random
	defer func() { m.mint.random = was }()
	m.mint.random = rand.NewChaCha8([32]byte{seed, byte(i)})
	return m.token(i, host)
}
