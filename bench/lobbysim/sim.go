package lobbysim

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// Config describes a simulated lobby. Zero fields mean the defaults named.
type Config struct {
	Lobby       server.Config
	Clients     int
	Spectators  int                     // of the clients, the last ones; the lobby must admit them
	Seed        uint64                  // of links, tokens and brains
	Link        impair.Profile          // each way, of every client; default a perfect one
	Brain       func(n int) swarm.Brain // of client n; default swarm.NewBot
	PredictHits bool                    // clients compute what their shots hit in their own view
	Decode      client.Decode           // of clients but the first, which decodes everything

	// ChangeClient, if set, changes the configuration of client n, which has the lobby's models and
	// arena.
	ChangeClient func(n int, cfg *client.Config)

	// ChangeToken, if set, changes what the next token of client n says.
	ChangeToken func(n int, token *netcode.Mint)

	// Serve, if set, plays the server's part of a step in the place of a lobby of the Sim's own: the
	// lobbies of a server.Port, for example. Lobby then has their rate and Netcode, see
	// Sim.Netcode. Brains observe what their own clients see.
	Serve func(now time.Duration, unix int64, conn netio.Conn) error

	// Lobbies is the number of lobbies of Serve: client n plays in lobby n modulo it, and brains
	// observe what the first client of their lobby sees. 0: each observes what its own sees.
	Lobbies int

	// Phases is the number of calls of Serve in a tick, 1 to 8: an eighth of a tick lies between two
	// of them. 0 means 1.
	Phases int

	// Clock, if set, is what client n's clock shows; it must not run backwards. WallClock, if set,
	// is the server's wall clock, in seconds. By default both are right.
	Clock     func(n int, now time.Duration) time.Duration
	WallClock func(now time.Duration) int64

	// OnReceive and OnSend, if set, are called with every datagram before it reaches the server,
	// and as it leaves the server.
	OnReceive func(from netip.AddrPort, data []byte)
	OnSend    func(to netip.AddrPort, data []byte)

	// OnArrival, if set, is called with every datagram that OnReceive gets, before it, and with what
	// sent it: connection n, counted from 1 with each Connect, of a client. An injected datagram
	// has the client -1.
	OnArrival func(client, connection int, from netip.AddrPort, data []byte)

	// Conn, if set, wraps the server's connection, so that a caller can time and record it.
	Conn func(netio.Conn) netio.Conn

	// WrapTick, if set, is called with the lobby's tick and must call it, so that it can be
	// measured.
	WrapTick func(tick func() error) error
}

// parts is how many instants of a tick are simulated: clients act at different ones. Where the
// server has phases there are phaseParts.
const (
	parts      = 4
	phaseParts = 8
)

// Sim is the lobby, the clients and the links. One goroutine may call it.
type Sim struct {
	Lobby   *server.Lobby    // nil with Config.Serve
	Clients []*client.Client // nil: has left

	*timeline
	cfg       Config
	rate      tick.Rate
	brains    []swarm.Brain
	links     links
	wire      wire
	conn      netio.Conn   // &wire, or the caller's wrapper of it
	tickFn    func() error // tick
	vision    vision
	mint      tokenMint
	suspended []bool // clients that do not run
	stall     int    // ticks that the server stands still
	parts     uint64 // instants of a tick
}

// timeline is the virtual time.
type timeline struct {
	part uint64 // instants simulated
	now  time.Duration
}

// links are the links of all clients, by client.
type links struct {
	up, down   []*impair.Link
	binding    []uint64 // number of each client's address; tags datagrams on the links
	connection []uint64 // number of each client's connection; tags datagrams to the server
}

// newLinks makes n perfect or impaired links each way.
func newLinks(n int, p impair.Profile, seed uint64) links {
	l := links{up: make([]*impair.Link, n), down: make([]*impair.Link, n), binding: make([]uint64, n),
		connection: make([]uint64, n)}
	for i := range n {
		l.up[i] = impair.New(p, seed*2+uint64(i)<<32)
		l.down[i] = impair.New(p, seed*2+1+uint64(i)<<32)
	}
	return l
}

// vision is what brains observe: all of a lobby see what its first client sees.
type vision struct {
	visible     [][]swarm.VisiblePlayer // by lobby and slot
	observation swarm.Observation
	field       swarm.FlowField
}

// newVision returns what the brains of a number of lobbies observe.
func newVision(lobbies int) vision { return vision{visible: make([][]swarm.VisiblePlayer, lobbies)} }

// New makes the lobby and its clients, which start to connect with the first Step.
func New(cfg Config) (*Sim, error) {
	mint := newMint(&cfg)
	var lobby *server.Lobby
	if cfg.Serve == nil {
		var err error
		if lobby, err = server.NewLobby(cfg.Lobby); err != nil {
			return nil, err
		}
	}
	if cfg.Brain == nil {
		cfg.Brain = func(n int) swarm.Brain { return swarm.NewBot(cfg.Seed, n) }
	}
	if cfg.WrapTick == nil {
		cfg.WrapTick = func(tick func() error) error { return tick() }
	}
	n := cfg.Clients
	b := &Sim{
		Lobby: lobby, Clients: make([]*client.Client, n), timeline: new(timeline),
		cfg: cfg, rate: cfg.Lobby.Rules.WithDefaults().Rate, mint: mint,
		brains: make([]swarm.Brain, n), links: newLinks(n, cfg.Link, cfg.Seed), suspended: make([]bool, n),
		vision: newVision(max(1, cfg.Lobbies)), parts: parts,
	}
	if b.cfg.Phases = max(1, cfg.Phases); b.cfg.Phases > 1 {
		b.parts = phaseParts
	}
	b.tickFn = b.tick
	b.wire.onSend = cfg.OnSend
	b.conn = &b.wire
	if cfg.Conn != nil {
		b.conn = cfg.Conn(b.conn)
	}
	for i := range n {
		if err := b.Connect(i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Beside returns a Sim that shows another lobby of a Sim with Config.Serve: the time is the same,
// and the caller sets its Clients. It has no network: nothing but Now, Lobby and Clients is to be
// used.
func (b *Sim) Beside(l *server.Lobby) *Sim {
	return &Sim{Lobby: l, Clients: make([]*client.Client, len(b.Clients)), timeline: b.timeline}
}

// Netcode is the netcode configuration with the key of the tokens.
func (b *Sim) Netcode() netcode.ServerConfig { return b.cfg.Lobby.Netcode }

// decode is how much client i decodes of snapshots.
func (b *Sim) decode(i int) client.Decode {
	if i == 0 {
		return client.DecodeFull
	}
	return b.cfg.Decode
}

// Connect makes client i anew, with a fresh token of the same client id.
func (b *Sim) Connect(i int) error {
	b.links.connection[i]++
	unsealed := b.mint.unsealed(uint64(i), b.unix())
	if i >= b.cfg.Clients-b.cfg.Spectators {
		protocol.MarkSpectator(unsealed.UserData[:])
	}
	if b.cfg.ChangeToken != nil {
		b.cfg.ChangeToken(i, &unsealed)
	}
	token, err := b.mint.seal(&unsealed)
	if err != nil {
		return err
	}
	cfg := client.Config{
		Token: token, Name: "bot " + strconv.Itoa(i), PredictHits: b.cfg.PredictHits, Decode: b.decode(i),
		Models: b.cfg.Lobby.Models, Rules: b.cfg.Lobby.Rules,
		Arena: func(string, [32]byte) (*arena.Arena, error) { return b.cfg.Lobby.Arena, nil },
	}
	if b.cfg.ChangeClient != nil {
		b.cfg.ChangeClient(i, &cfg)
	}
	c, err := client.New(cfg)
	b.Clients[i], b.brains[i] = c, b.cfg.Brain(i)
	return err
}

// Leave disconnects client i.
func (b *Sim) Leave(i int) {
	now := b.clock(i)
	b.Clients[i].Leave(now)
	b.send(i, now)
	b.Clients[i] = nil
}

// Crash removes client i without a disconnect.
func (b *Sim) Crash(i int) { b.Clients[i] = nil }

// Rebind gives client i another address, as a NAT does that has forgotten it: datagrams under way
// to the old one are lost. It works 65,535 times.
func (b *Sim) Rebind(i int) { b.links.binding[i]++ }

// send puts client i's datagrams on its link; now is what its clock shows.
func (b *Sim) send(i int, now time.Duration) {
	out := b.Clients[i].Outgoing(now)
	for k := range out.Len() {
		_, data := out.At(k)
		b.links.up[i].Push(b.now, data, b.links.binding[i]|b.links.connection[i]<<bindingBits)
	}
}

// Links are the links of client i, to be changed or counted.
func (b *Sim) Links(i int) (up, down *impair.Link) { return b.links.up[i], b.links.down[i] }

// ClientAddr is the address of client i, as the server sees it.
func (b *Sim) ClientAddr(i int) netip.AddrPort { return clientAddr(i, b.links.binding[i]) }

// ServerAddr is the server's address.
func (b *Sim) ServerAddr() netip.AddrPort { return serverAddr }

// Token makes a valid token for a client id.
func (b *Sim) Token(client uint64) ([]byte, error) { return b.mint.token(client, b.unix()) }

// Inject delivers a datagram to the server with the next tick, from an address that may be a
// client's.
func (b *Sim) Inject(from netip.AddrPort, data []byte) {
	b.wire.injected.push(from, data)
}

// DropInjected forgets injected datagrams that the server has not read, as its socket does when it is
// killed.
func (b *Sim) DropInjected() { b.wire.injected.clear() }

// Suspend stops client i's machine.
func (b *Sim) Suspend(i int) { b.suspended[i] = true }

// Resume lets client i's machine go on.
func (b *Sim) Resume(i int) { b.suspended[i] = false }

// StallServer stops the server for a number of ticks. Datagrams wait; missed ticks are not caught
// up.
func (b *Sim) StallServer(ticks int) { b.stall = max(b.stall, ticks) }

// Restart replaces the server by another one, which keeps only what change gives it. Clients are
// not told.
func (b *Sim) Restart(change func(*server.Config)) error {
	cfg := b.cfg.Lobby
	change(&cfg)
	lobby, err := server.NewLobby(cfg)
	if err != nil {
		return err
	}
	b.Lobby, b.cfg.Lobby = lobby, cfg
	return nil
}

// Now is the virtual time.
func (b *Sim) Now() time.Duration { return b.now }

// Step plays one tick of the server, and every client's part of the time until the next.
func (b *Sim) Step() error {
	for range b.parts {
		b.part++
		b.now = time.Duration(b.part * uint64(time.Second) / uint64(b.rate) / b.parts)
		instant := int(b.part % b.parts)
		if instant < b.cfg.Phases {
			if err := b.serve(); err != nil {
				return err
			}
		}
		for i := range b.Clients {
			if b.instantOf(i) == instant && b.Clients[i] != nil && !b.suspended[i] {
				b.play(i)
			}
		}
	}
	return nil
}

// instantOf is the instant of a tick at which client i acts. The clients of a lobby act at all.
func (b *Sim) instantOf(i int) int { return i / max(1, b.cfg.Lobbies) % int(b.parts) }

// serve plays a tick of the server, unless it is stalled.
func (b *Sim) serve() error {
	if b.stall > 0 {
		b.stall--
		return nil
	}
	b.wire.collect(b.links.up, b.now)
	if b.cfg.OnArrival != nil {
		for i := range b.wire.in.entries {
			from, data := b.wire.in.get(i)
			client, connection := b.wire.sender(i)
			b.cfg.OnArrival(client, connection, from, data)
		}
	}
	if b.cfg.OnReceive != nil {
		for i := range b.wire.in.entries {
			b.cfg.OnReceive(b.wire.in.get(i))
		}
	}
	if err := b.cfg.WrapTick(b.tickFn); err != nil {
		return err
	}
	b.wire.deliver(b.links.down, b.now)
	b.lookAround()
	return nil
}

// clock is what client i's own clock shows.
func (b *Sim) clock(i int) time.Duration {
	if b.cfg.Clock == nil {
		return b.now
	}
	return b.cfg.Clock(i, b.now)
}

func (b *Sim) tick() error {
	if b.cfg.Serve != nil {
		return b.cfg.Serve(b.now, b.unix(), b.conn)
	}
	return b.Lobby.Tick(b.now, b.unix(), b.conn)
}

// play lets one client receive, decide and send.
func (b *Sim) play(i int) {
	c, now := b.Clients[i], b.clock(i)
	for data, binding, ok := b.links.down[i].Pop(b.now); ok; data, binding, ok = b.links.down[i].Pop(b.now) {
		if binding == b.links.binding[i] {
			_ = c.Receive(now, data) // the client counts invalid ones
		}
	}
	for due := c.Advance(now); due > 0; due-- {
		c.Command(b.brains[i].Decide(b.observe(i%len(b.vision.visible), c)))
	}
	b.send(i, now)
}

// observe gathers what the brain of client c in a lobby decides by.
func (b *Sim) observe(lobby int, c *client.Client) *swarm.Observation {
	self, _ := c.Self()
	if b.cfg.Serve != nil && b.cfg.Lobbies == 0 {
		b.look(0, c)
	}
	s := &b.vision.observation
	visible := b.vision.visible[lobby]
	*s = swarm.Observation{
		Tick: 1, Rate: b.rate, Self: self, ID: uint32(c.ID()), Visible: visible, Arena: c.Arena(),
	}
	if now, t, ok := c.Predicted(); ok {
		s.Self.Self, s.Tick = now, t+1
	}
	if slot := c.ID().Index(); slot < len(visible) {
		s.Team = visible[slot].Team
	}
	b.vision.field.AddTo(s, c)
	return s
}

// lookAround renews what the first client of each lobby sees.
func (b *Sim) lookAround() {
	if b.cfg.Serve != nil && b.cfg.Lobbies == 0 {
		return
	}
	for lobby := range b.vision.visible {
		b.look(lobby, b.Clients[lobby])
	}
}

// look makes what client c sees what the brains of a lobby observe; nothing if c is nil.
func (b *Sim) look(lobby int, c *client.Client) {
	visible := b.vision.visible[lobby]
	if len(visible) == 0 {
		visible = make([]swarm.VisiblePlayer, b.visibleSlots())
		b.vision.visible[lobby] = visible
	}
	clear(visible)
	if c == nil {
		return
	}
	for slot := range visible {
		if p, ok := c.Pose(slot); ok {
			visible[slot] = swarm.VisiblePlayer{
				ID: p.ID, Team: p.Team(), Alive: p.Alive(), Pos: p.Pos}
		}
	}
}

// visibleSlots is the number of slots that brains observe: those of the lobby or, where each observes
// what its own client sees, of one group.
func (b *Sim) visibleSlots() int {
	switch {
	case b.Lobby != nil:
		return len(b.Lobby.Match().Poses())
	case b.cfg.Serve != nil && b.cfg.Lobbies == 0:
		return snapshot.GroupRows
	}
	return b.cfg.Lobby.Players
}
