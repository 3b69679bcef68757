package lobbysim

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// Config describes a simulated lobby. Zero fields mean the defaults named.
type Config struct {
	Lobby   server.Config
	Clients int
	Lookers int                     // so many of the clients, the last ones, only look on; the lobby needs places for them
	Seed    uint64                  // of links, tokens and brains
	Link    impair.Profile          // each way, of every client; default a perfect one
	Brain   func(n int) swarm.Brain // of client n; default the seeded generator
	Judge   bool                    // clients work out what their shots hit in their own view
	Decode  client.Decode           // of clients but the first, which decodes everything

	// Client, if set, may change what client n is made of. By default it has the lobby's models and arena.
	Client func(n int, cfg *client.Config)

	// Clock, if set, is what client n's own clock shows; it must not run backwards. Wall, if set, is the server's wall clock, in
	// seconds. By default both are right.
	Clock func(n int, now time.Duration) time.Duration
	Wall  func(now time.Duration) int64

	// Heard and Said, if set, see every datagram that reaches the server, before it does, and every one that leaves it.
	Heard func(from netip.AddrPort, data []byte)
	Said  func(to netip.AddrPort, data []byte)

	// Conn, if set, wraps the server's connection, so that a caller can time it and record its datagrams.
	Conn func(netio.Conn) netio.Conn

	// Around, if set, is given the lobby's tick to play, so that it can be measured by itself.
	Around func(tick func() error) error
}

// parts is how many instants of a tick are played: clients act at different ones, as they do in life.
const parts = 4

// Sim is the lobby, the clients and the links.
type Sim struct {
	Lobby   *server.Lobby
	Clients []*client.Client // nil where one has left

	cfg    Config
	rate   tick.Rate
	brains []swarm.Brain
	up     []*impair.Link
	down   []*impair.Link
	bound  []uint64 // which of its addresses each client has; tags on the links
	line   line
	conn   netio.Conn   // &line, or the caller's wrapper of it
	played func() error // tick, made a value once
	eyes   []swarm.VisiblePlayer
	sight  swarm.Observation
	ways   swarm.FlowField
	part   uint64 // instants played
	now    time.Duration
	mint   mint

	away []bool // clients whose machines stand still
	held int    // ticks that the server stands still
}

// New makes the lobby and its clients, who begin to connect with the first Step.
func New(cfg Config) (*Sim, error) {
	m := newMint(&cfg)
	lobby, err := server.NewLobby(cfg.Lobby)
	if err != nil {
		return nil, err
	}
	if cfg.Brain == nil {
		cfg.Brain = func(n int) swarm.Brain { return swarm.NewBot(cfg.Seed, n) }
	}
	if cfg.Around == nil {
		cfg.Around = func(tick func() error) error { return tick() }
	}
	n := cfg.Clients
	b := &Sim{Lobby: lobby, mint: m, Clients: make([]*client.Client, n), cfg: cfg, rate: lobby.Match().Rules().Rate,
		brains: make([]swarm.Brain, n), up: make([]*impair.Link, n), down: make([]*impair.Link, n), bound: make([]uint64, n), away: make([]bool, n)}
	b.played = b.tick
	b.line.said = cfg.Said
	b.conn = &b.line
	if cfg.Conn != nil {
		b.conn = cfg.Conn(b.conn)
	}
	for i := range n {
		b.up[i] = impair.New(cfg.Link, cfg.Seed*2+uint64(i)<<32)
		b.down[i] = impair.New(cfg.Link, cfg.Seed*2+1+uint64(i)<<32)
		if err := b.Connect(i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// decode is how much client i decodes of snapshots.
func (b *Sim) decode(i int) client.Decode {
	if i == 0 {
		return client.DecodeFull
	}
	return b.cfg.Decode
}

// Connect puts a new client in place i, with a fresh token of the same client id as the one before it.
func (b *Sim) Connect(i int) error {
	token, err := b.mint.admit(uint64(i), b.unix(), i >= b.cfg.Clients-b.cfg.Lookers)
	if err != nil {
		return err
	}
	cfg := client.Config{
		Token: token, Name: "bot " + strconv.Itoa(i), Judge: b.cfg.Judge, Decode: b.decode(i), Models: b.cfg.Lobby.Models,
		Rules: b.cfg.Lobby.Rules, Arena: func(string, [32]byte) (*arena.Arena, error) { return b.cfg.Lobby.Arena, nil },
	}
	if b.cfg.Client != nil {
		b.cfg.Client(i, &cfg)
	}
	c, err := client.New(cfg)
	b.Clients[i], b.brains[i] = c, b.cfg.Brain(i)
	return err
}

// Leave lets client i say goodbye and go.
func (b *Sim) Leave(i int) {
	now := b.clock(i)
	b.Clients[i].Leave(now)
	b.send(i, now)
	b.Clients[i] = nil
}

// Vanish takes client i away without a word.
func (b *Sim) Vanish(i int) { b.Clients[i] = nil }

// Rebind gives client i another address, as a router does that has forgotten it: what is still on its way to the old one gets
// lost. It may do so 65,535 times.
func (b *Sim) Rebind(i int) { b.bound[i]++ }

// send puts what client i has to say on its link; now is what its clock shows.
func (b *Sim) send(i int, now time.Duration) {
	out := b.Clients[i].Outgoing(now)
	for k := range out.Len() {
		_, data := out.At(k)
		b.up[i].Push(b.now, data, b.bound[i])
	}
}

// Links are the links of client i, to be changed or counted.
func (b *Sim) Links(i int) (up, down *impair.Link) { return b.up[i], b.down[i] }

// Address is where client i is now, as the server sees it.
func (b *Sim) Address(i int) netip.AddrPort { return place(i, b.bound[i]) }

// Home is the server's address.
func (b *Sim) Home() netip.AddrPort { return home }

// Token makes a token for anybody, as good as the clients' own.
func (b *Sim) Token(client uint64) ([]byte, error) { return b.mint.token(client, b.unix()) }

// Inject lets a datagram reach the server with the next tick, as if it came from an address, which may be a client's.
func (b *Sim) Inject(from netip.AddrPort, data []byte) {
	b.line.strange.push(from, data)
}

// Asleep stops client i's machine, or lets it go on.
func (b *Sim) Asleep(i int, asleep bool) { b.away[i] = asleep }

// Hold stops the server for some ticks. What arrives meanwhile waits for it; ticks that it missed are not made up for.
func (b *Sim) Hold(ticks int) { b.held = max(b.held, ticks) }

// Restart kills the server and starts another in its place, which knows nothing of the one before but what change gives it. Clients
// are not told.
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

// Step plays one tick of the server and every client's share until the next.
func (b *Sim) Step() error {
	for range parts {
		b.part++
		b.now = time.Duration(b.part * uint64(time.Second) / uint64(b.rate) / parts)
		if b.part%parts == 0 {
			if err := b.serve(); err != nil {
				return err
			}
		}
		for i := int(b.part % parts); i < len(b.Clients); i += parts {
			if b.Clients[i] != nil && !b.away[i] {
				b.play(i)
			}
		}
	}
	return nil
}

// serve plays a tick of the server, unless it stands still.
func (b *Sim) serve() error {
	if b.held > 0 {
		b.held--
		return nil
	}
	b.line.gather(b.up, b.now)
	if b.cfg.Heard != nil {
		for i := range b.line.in.letters {
			b.cfg.Heard(b.line.in.get(i))
		}
	}
	if err := b.cfg.Around(b.played); err != nil {
		return err
	}
	b.line.spread(b.down, b.now)
	b.look()
	return nil
}

// clock is what client i's own clock shows.
func (b *Sim) clock(i int) time.Duration {
	if b.cfg.Clock == nil {
		return b.now
	}
	return b.cfg.Clock(i, b.now)
}

func (b *Sim) tick() error { return b.Lobby.Tick(b.now, b.unix(), b.conn) }

// play lets one client receive, decide and send.
func (b *Sim) play(i int) {
	c, now := b.Clients[i], b.clock(i)
	for data, binding, ok := b.down[i].Pop(b.now); ok; data, binding, ok = b.down[i].Pop(b.now) {
		if binding == b.bound[i] {
			_ = c.Receive(now, data) // the client counts what is wrong with it
		}
	}
	for due := c.Advance(now); due > 0; due-- {
		c.Command(b.brains[i].Decide(b.see(c)))
	}
	b.send(i, now)
}

// see gathers what a client's brain decides by.
func (b *Sim) see(c *client.Client) *swarm.Observation {
	self, _ := c.Self()
	s := &b.sight
	*s = swarm.Observation{Tick: 1, Rate: b.rate, Self: self, ID: uint32(c.ID()), Visible: b.eyes, Arena: c.Arena()}
	if now, t, ok := c.Predicted(); ok {
		s.Self.Self, s.Tick = now, t+1
	}
	if slot := c.ID().Index(); slot < len(b.eyes) {
		s.Team = b.eyes[slot].Team
	}
	b.ways.AddTo(s, c)
	return s
}

// look renews what everybody knows of everybody: the first client's view.
func (b *Sim) look() {
	if b.eyes == nil {
		b.eyes = make([]swarm.VisiblePlayer, len(b.Lobby.Match().Poses()))
	}
	clear(b.eyes)
	c := b.Clients[0]
	if c == nil {
		return
	}
	for slot := range b.eyes {
		if p, ok := c.Pose(slot); ok {
			b.eyes[slot] = swarm.VisiblePlayer{ID: p.ID, Team: p.Team(), Alive: p.Alive(), Pos: p.Pos}
		}
	}
}

// Delivered counts the datagrams that links and strangers have handed to the server, and that links have handed to the clients'
// addresses, present and past.
func (b *Sim) Delivered() (toServer, toClients uint64) {
	for i := range b.up {
		toServer += b.up[i].Stats().Delivered
		toClients += b.down[i].Stats().Delivered
	}
	return toServer + b.line.strangers, toClients
}
