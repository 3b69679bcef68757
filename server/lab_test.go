package server

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// ground is the map of all these tests.
var ground = sync.OnceValue(func() *arena.Arena {
	a, err := arena.Open("arena-16")
	if err != nil {
		panic(err)
	}
	return a
})

// lab is a lobby on a network in memory and in virtual time.
type lab struct {
	t       testing.TB
	lobby   *Lobby
	net     *netio.Memory
	conn    netio.Conn
	now     time.Duration
	nonces  uint64
	callers []*caller
}

func newLab(t testing.TB, cfg Config) *lab {
	t.Helper()
	if cfg.Arena == nil {
		cfg.Arena, cfg.ArenaName = ground(), "arena-16"
	}
	if cfg.Players == 0 {
		cfg.Players = 8
	}
	cfg.Secret[0] = 1
	l := &lab{t: t, net: netio.NewMemory()}
	var err error
	if l.lobby, err = NewLobby(cfg); err != nil {
		t.Fatal(err)
	}
	if l.conn, err = l.net.Listen(netip.MustParseAddrPort("10.0.0.1:7913"), netio.Config{}); err != nil {
		t.Fatal(err)
	}
	return l
}

// tick plays one tick and checks the accounts: what came in was accepted or dropped for one reason.
func (l *lab) tick() {
	l.t.Helper()
	l.now = l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick() + 1)
	if err := l.lobby.Tick(l.now, 0, l.conn); err != nil {
		l.t.Fatal(err)
	}
	rx, accepted, dropped := l.count(Received), l.count(Accepted), uint64(0)
	for _, n := range l.drops() {
		dropped += n
	}
	if rx != accepted+dropped || rx != l.conn.Stats().Delivered {
		l.t.Fatalf("%d datagrams delivered, %d received, %d accepted, %d dropped", l.conn.Stats().Delivered, rx, accepted, dropped)
	}
}

func (l *lab) ticks(n int) {
	l.t.Helper()
	for range n {
		l.tick()
	}
}

func (l *lab) count(c Count) uint64 { return l.lobby.Stats.Count[c].Load() }

func (l *lab) drops() (n [wire.NumDrops]uint64) {
	for i := range n {
		n[i] = l.lobby.Stats.Drops[i].Load()
	}
	return n
}

// caller is one address, and a session once it has joined: a client without a game.
type caller struct {
	lab      *lab
	conn     netio.Conn
	in, out  netio.Batch
	nonce    uint64
	response []byte
	accept   wire.Accept
	peer     *session.Peer
}

// caller opens an address; "" takes a new one.
func (l *lab) caller(addr string) *caller {
	l.t.Helper()
	if addr == "" {
		addr = fmt.Sprintf("10.0.%d.%d:1000", 1+len(l.callers)/250, 1+len(l.callers)%250)
	}
	conn, err := l.net.Listen(netip.MustParseAddrPort(addr), netio.Config{})
	if err != nil {
		l.t.Fatal(err)
	}
	c := &caller{lab: l, conn: conn}
	l.callers = append(l.callers, c)
	return c
}

// guest opens a new address and joins.
func (l *lab) guest() *caller {
	l.t.Helper()
	c := l.caller("")
	c.join()
	return c
}

func (c *caller) send(datagram []byte) {
	c.lab.t.Helper()
	c.out.Reset()
	c.out.Add(datagram, c.lab.conn.LocalAddr())
	if err := c.conn.Send(&c.out); err != nil {
		c.lab.t.Fatal(err)
	}
}

// received empties the caller's socket.
func (c *caller) received() (all [][]byte) {
	c.lab.t.Helper()
	for {
		n, err := c.conn.Receive(&c.in)
		if err != nil {
			c.lab.t.Fatal(err)
		}
		if n == 0 {
			return all
		}
		for i := range n {
			all = append(all, append([]byte(nil), c.in.At(i).Data...))
		}
	}
}

// hello is what this lobby wants to hear.
func (c *caller) hello() wire.Hello {
	l := c.lab.lobby
	return wire.Hello{Version: wire.Version, Nonce: c.nonce, Schema: ghost.SchemaHash(), Model: l.cfg.Models.Hash(), Arena: l.door.Arena}
}

// prove says Hello with a new nonce and makes the Response to the Challenge, without sending it.
func (c *caller) prove() {
	t := c.lab.t
	t.Helper()
	c.lab.nonces++
	c.nonce = c.lab.nonces
	h := c.hello()
	c.received()
	c.send(h.Append(nil))
	c.lab.tick()
	ch, err := wire.ParseChallenge(c.kind(wire.KindChallenge))
	if err != nil || ch.Nonce != c.nonce {
		t.Fatalf("challenge %+v, %v", ch, err)
	}
	c.response = (&wire.Response{Nonce: c.nonce, Cookie: ch.Cookie, Name: []byte("Ada")}).Append(nil)
}

// kind returns the only datagram of a kind among those received, nil if there is none.
func (c *caller) kind(k wire.Kind) (d []byte) {
	c.lab.t.Helper()
	for _, r := range c.received() {
		if wire.KindOf(r) == k {
			if d != nil {
				c.lab.t.Fatalf("two of kind %d", k)
			}
			d = r
		}
	}
	return d
}

// knock sends the Response and reads the Accept, if there is one.
func (c *caller) knock() bool {
	c.lab.t.Helper()
	c.send(c.response)
	c.lab.tick()
	var err error
	if c.accept, err = wire.ParseAccept(c.kind(wire.KindAccept)); err != nil {
		return false
	}
	c.peer = session.NewPeer(c.lab.now, session.Config{Token: c.accept.Token})
	return true
}

func (c *caller) join() {
	c.lab.t.Helper()
	c.prove()
	if !c.knock() {
		c.lab.t.Fatalf("not let in")
	}
}

func (c *caller) id() ecs.NetID { return ecs.NetID(c.accept.NetID) }

// pack is a package of the session with the given sections.
func (c *caller) pack(sections ...byte) []byte {
	d, _ := c.peer.Append(c.lab.now, nil)
	d = c.peer.AppendEvents(d, 512)
	return append(d, sections...)
}

// commands is a section with a window up to the tick that is simulated next.
func (c *caller) commands(n int) []byte {
	var cmds []sim.Command
	next := c.lab.lobby.match.Tick() + 1
	for i := range n {
		cmds = append(cmds, sim.Command{Tick: next - tick.Tick(n-1-i), Yaw: 100, MoveMag: 255})
	}
	return sim.AppendCommands([]byte{byte(wire.SectionCommands)}, cmds)
}

// play lets a caller send a command for the coming tick, and hears what has come for it.
func (c *caller) play() (snapshots int) {
	c.lab.t.Helper()
	for _, d := range c.received() {
		rest, err := c.peer.Receive(c.lab.now, d)
		if err != nil {
			c.lab.t.Fatalf("%x: %v", d, err)
		}
		if wire.SectionOf(rest) == wire.SectionEvents {
			if rest, err = c.peer.ParseEvents(rest); err != nil {
				c.lab.t.Fatal(err)
			}
			for _, ok := c.peer.NextEvent(); ok; _, ok = c.peer.NextEvent() {
			}
		}
		if wire.SectionOf(rest) == wire.SectionSnapshot {
			snapshots++
		}
	}
	c.send(c.pack(c.commands(1)...))
	return snapshots
}

// unharmed plays a second with the caller and fails unless each of its commands is used and each snapshot comes.
func (c *caller) unharmed() {
	t := c.lab.t
	t.Helper()
	inbox := c.lab.lobby.match.Inbox(c.id())
	if inbox == nil {
		t.Fatalf("%v is gone", c.id())
	}
	used, snapshots := inbox.Count.Used, 0
	n := int(c.lab.lobby.cfg.Rules.Rate)
	for range n {
		snapshots += c.play()
		c.lab.tick()
	}
	if got := c.lab.lobby.match.Inbox(c.id()).Count.Used - used; got != uint64(n) || snapshots < n/c.lab.lobby.cfg.Interval-1 {
		t.Fatalf("of %d commands %d were used, and %d snapshots came", n, got, snapshots)
	}
}
