package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/console"

	"github.com/tickrate/tickrate/server/metrics"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// ground is the map of all these tests.
var ground = sync.OnceValue(func() *arena.Arena {
	a, err := arena.Open("arena-16")
	if err != nil {
		panic(err)
	}
	return a
})

const labUnix = 1_800_000_000 // the wall clock when a lab's begins

var (
	labAddr = netip.MustParseAddrPort("10.0.0.1:7913")
	labKey  = netcode.Key{0: 29, 1: 7, 31: 9}
)

// labGate is what lets clients into a lab.
func labGate() netcode.ServerConfig {
	return netcode.ServerConfig{PrivateKey: labKey, Addresses: []netip.AddrPort{labAddr}, Entropy: [32]byte{1, 2, 3}, AllowTokenReuse: true}
}

// operator is the caller of console lines that the owner of the process types.
var operator = console.Caller{Name: "operator", Rank: console.Operator}

// alone skips a test under the race detector: it plays on one goroutine, for long. Those of hosts,
// whose goroutines meet, stay, and so do short ones of all that a lobby does.
func alone(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}

// brief is how much of something a test plays: all, or less where tests are short.
func brief(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// lab is a lobby on a network in memory and in virtual time.
type lab struct {
	t       testing.TB
	lobby   *Lobby
	net     *netio.Memory
	conn    netio.Conn
	now     time.Duration
	random  *rand.ChaCha8 // of tokens
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
	if gate := labGate(); cfg.Netcode.Addresses == nil {
		cfg.Netcode.PrivateKey, cfg.Netcode.Addresses, cfg.Netcode.Entropy = gate.PrivateKey, gate.Addresses, gate.Entropy
		cfg.Netcode.AllowTokenReuse = gate.AllowTokenReuse
	}
	l := &lab{t: t, net: netio.NewMemory(), random: rand.NewChaCha8([32]byte{5})}
	var err error
	if l.lobby, err = NewLobby(cfg); err != nil {
		t.Fatal(err)
	}
	if l.conn, err = l.net.Listen(labAddr, netio.Config{}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lab) unix() int64 { return labUnix + int64(l.now/time.Second) }

// tick plays one tick and checks the accounts: what came in was accepted, or refused or dropped for
// one reason.
func (l *lab) tick() {
	l.t.Helper()
	l.now = l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick() + 1)
	if err := l.lobby.Tick(l.now, l.unix(), l.conn); err != nil {
		l.t.Fatal(err)
	}
	l.balanced()
}

func (l *lab) balanced() {
	l.t.Helper()
	sections, n := uint64(0), l.lobby.account.bandwidth.Total()
	for _, bytes := range n.Sections {
		sections += bytes
	}
	if out := l.count(metrics.BytesOut); sections != out || n.Bytes != out || n.Datagrams != l.count(metrics.Sent) {
		l.t.Fatalf("tick %d: the account has %d bytes by section, %d bytes in %d datagrams; %d in %d left", l.lobby.match.Tick(), sections, n.Bytes, n.Datagrams, out, l.count(metrics.Sent))
	}
	rx, a := l.count(metrics.Received), l.tally()
	sum := a.accepted
	for _, n := range a.refused {
		sum += n
	}
	for _, n := range a.drops {
		sum += n
	}
	gate := l.lobby.netcode.Counters()
	switch {
	case rx != sum || rx != l.conn.Stats().Delivered || rx != gate.Received:
		l.t.Fatalf("%d datagrams delivered, %d received, %d at the gate, %d accounted for: %+v", l.conn.Stats().Delivered, rx, gate.Received, sum, a)
	case l.count(metrics.UnbalancedTicks) != 0 || gate.Amplification != 0 || l.count(metrics.AmplificationBlocked) != 0 || l.count(metrics.SealFailed) != 0:
		l.t.Fatalf("%d ticks unbalanced, %d answers too long, %d packages unsent", l.count(metrics.UnbalancedTicks), gate.Amplification, l.count(metrics.SealFailed))
	}
}

func (l *lab) ticks(n int) {
	l.t.Helper()
	for range n {
		l.tick()
	}
}

func (l *lab) count(c metrics.Count) uint64 { return l.lobby.Stats.Count[c].Load() }

// tally is what has become of all datagrams so far.
type tally struct {
	accepted uint64
	refused  [netcode.NumDrops]uint64
	drops    [packet.NumDrops]uint64
}

func (l *lab) tally() (a tally) {
	a.accepted = l.count(metrics.Accepted)
	for i := range a.refused {
		a.refused[i] = l.lobby.Stats.AuthDrops[i].Load()
	}
	for i := range a.drops {
		a.drops[i] = l.lobby.Stats.PacketDrops[i].Load()
	}
	return a
}

// add counts n more for a reason: a netcode.Drop, a packet.Drop, or nil for accepted.
func (a *tally) add(why error, n int) {
	switch d := why.(type) {
	case nil:
		a.accepted += uint64(n)
	case netcode.Drop:
		a.refused[d] += uint64(n)
	case packet.Drop:
		a.drops[d] += uint64(n)
	}
}

// String lists what is not zero.
func (a tally) String() string {
	s := fmt.Sprintf("accepted %d", a.accepted)
	for i, n := range a.refused {
		if n > 0 {
			s += fmt.Sprintf(", %v %d", netcode.Drop(i), n)
		}
	}
	for i, n := range a.drops {
		if n > 0 {
			s += fmt.Sprintf(", %v %d", packet.Drop(i), n)
		}
	}
	return s
}

func (l *lab) refused(d netcode.Drop) uint64 { return l.lobby.Stats.AuthDrops[d].Load() }
func (l *lab) dropped(d packet.Drop) uint64  { return l.lobby.Stats.PacketDrops[d].Load() }

// mint makes a good token; change may make it a bad one.
func (l *lab) mint(user uint64, change func(*netcode.Mint)) []byte {
	l.t.Helper()
	m := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: user, Create: uint64(l.unix()), Expire: uint64(l.unix()) + 45,
		TimeoutSeconds: 5, Servers: []netip.AddrPort{labAddr}}
	if change != nil {
		change(&m)
	}
	token, err := m.Append(nil, &labKey, l.random)
	if err != nil {
		l.t.Fatal(err)
	}
	return token
}

// caller is one address, and a session once it has joined: a client without a game.
type caller struct {
	lab     *lab
	conn    netio.Conn
	in, out netio.Batch
	post    netcode.Outbox
	user    uint64
	dial    *netcode.Client
	peer    *packet.Peer
	welcome protocol.Welcome
	events  [][]byte // all that came, the Welcome first
	words   int      // packages without a snapshot
	closes  int      // packages that close the session
	bytes   int      // of datagrams that came
	lost    func() bool
	blob    []byte // the last that came whole
}

// caller opens an address; "" takes a new one. Its user is its number, from 1.
func (l *lab) caller(addr string) *caller {
	l.t.Helper()
	n := len(l.callers)
	if addr == "" {
		addr = fmt.Sprintf("10.%d.%d.%d:1000", 1+n/62500, 1+n/250%250, 1+n%250)
	}
	c := &caller{lab: l, user: uint64(n + 1)}
	c.move(addr)
	l.callers = append(l.callers, c)
	return c
}

// move gives the caller another address, as a router does that has forgotten it.
func (c *caller) move(addr string) {
	c.lab.t.Helper()
	sock, err := c.lab.net.Listen(netip.MustParseAddrPort(addr), netio.Config{RingDatagrams: 128})
	if err != nil {
		c.lab.t.Fatal(err)
	}
	c.conn = sock
}

func (c *caller) addr() netip.AddrPort { return c.conn.LocalAddr() }

// conn opens a new address and joins.
func (l *lab) joined() *caller {
	l.t.Helper()
	c := l.caller("")
	c.join()
	return c
}

func (c *caller) send(datagram []byte) {
	c.lab.t.Helper()
	c.out.Reset()
	c.out.Add(datagram, labAddr)
	if err := c.conn.Send(&c.out); err != nil {
		c.lab.t.Fatal(err)
	}
}

// received empties the caller's socket and takes nothing of it in.
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
			if c.lost != nil && c.lost() {
				continue
			}
			all = append(all, bytes.Clone(c.in.At(i).Data))
			c.bytes += len(c.in.At(i).Data)
		}
	}
}

// ask begins an attempt with a fresh token.
func (c *caller) ask(change func(*netcode.Mint)) {
	c.lab.t.Helper()
	c.start(c.lab.mint(c.user, change), netcode.ClientConfig{})
}

func (c *caller) start(token []byte, cfg netcode.ClientConfig) {
	c.dial, c.peer = netcode.NewClient(token, cfg), nil
	c.welcome, c.events, c.words, c.closes = protocol.Welcome{}, nil, 0, 0
}

// update lets the gate's client say what is due.
func (c *caller) update() {
	c.lab.t.Helper()
	c.dial.Update(c.lab.now, &c.post)
	c.mail()
}

func (c *caller) mail() {
	c.lab.t.Helper()
	for i := range c.post.Len() {
		_, d := c.post.At(i)
		c.send(d)
	}
	c.post.Reset()
}

// hear takes in what has come, answers the gate, and returns the snapshots' sections, their section
// byte included. What is of an earlier session, or comes behind the end of one, is left.
func (c *caller) hear() (snapshots [][]byte) {
	c.lab.t.Helper()
	for _, d := range c.received() {
		pack, err := c.dial.Receive(c.lab.now, labAddr, d, &c.post)
		if err == netcode.DropState {
			continue
		}
		if err != nil {
			c.lab.t.Fatalf("%x: %v, %v", d[:min(len(d), 40)], err, c.dial.State())
		}
		if pack == nil {
			continue
		}
		if s := c.take(pack); s != nil {
			snapshots = append(snapshots, s)
		}
	}
	c.mail()
	return snapshots
}

// take takes in a package and returns its snapshot, nil if it has none.
func (c *caller) take(pack []byte) []byte {
	t := c.lab.t
	t.Helper()
	if c.peer == nil {
		c.peer = packet.NewPeer(c.lab.now, packet.Config{})
	}
	if _, closed := c.peer.Closed(); closed { // the repetitions
		c.closes++
		return nil
	}
	rest, err := c.peer.Receive(c.lab.now, pack)
	if err == nil {
		rest, err = c.peer.Sections(rest)
	}
	if err != nil {
		t.Fatalf("%x: %v", pack[:min(len(pack), 40)], err)
	}
	for e, ok := c.peer.NextReliable(); ok; e, ok = c.peer.NextReliable() {
		if c.events = append(c.events, bytes.Clone(e)); len(c.events) == 1 {
			if c.welcome, err = protocol.ParseWelcome(e); err != nil {
				t.Fatalf("the first event is %x", e)
			}
		}
	}
	if blob, ok := c.peer.NextTransfer(); ok {
		c.blob = bytes.Clone(blob)
	}
	if _, closed := c.peer.Closed(); closed {
		c.closes++
	}
	if packet.SectionOf(rest) != packet.SectionSnapshot {
		c.words++
		if len(rest) > 0 {
			t.Fatalf("section %d", rest[0])
		}
		return nil
	}
	return rest
}

// knock goes through the handshake until the gate has let the caller in. False: it will not within
// ten ticks.
func (c *caller) knock() bool {
	c.lab.t.Helper()
	for range 10 {
		c.update()
		c.lab.tick()
		c.hear()
		if c.dial.State() == netcode.Connected {
			return true
		}
	}
	return false
}

// enter begins an attempt and goes on until there is a Welcome.
func (c *caller) enter(change func(*netcode.Mint)) {
	c.lab.t.Helper()
	c.ask(change)
	if !c.knock() {
		c.lab.t.Fatalf("not let in: %v; %v", c.dial.State(), c.lab.tally())
	}
	for range 5 {
		if c.welcome.Version != 0 {
			return
		}
		c.lab.tick()
		c.hear()
	}
	c.lab.t.Fatalf("no welcome")
}

// join comes in, with a Ready that leaves with the next package.
func (c *caller) join() {
	c.lab.t.Helper()
	c.enter(nil)
	c.ready()
}

// good is the Ready that this lobby wants to hear.
func (l *lab) good() protocol.Ready {
	return protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(), Model: l.lobby.cfg.Models.Hash()}
}

func (c *caller) ready() {
	c.lab.t.Helper()
	r := c.lab.good()
	c.queue(r.Append(nil))
}

func (c *caller) queue(event []byte) {
	c.lab.t.Helper()
	if err := c.peer.QueueReliable(event); err != nil {
		c.lab.t.Fatal(err)
	}
}

func (c *caller) id() netid.ID { return netid.ID(c.welcome.NetID) }

// state is what the lobby knows of the caller, if its player is still there.
func (c *caller) state() *conn { return &c.lab.lobby.conns[c.id().Index()] }

// pack is a package of the session with the given sections.
func (c *caller) pack(sections ...byte) []byte {
	p, _ := c.peer.Append(c.lab.now, nil)
	p = c.peer.AppendReliable(p, 512)
	return append(p, sections...)
}

// seal makes a package a datagram.
func (c *caller) seal(pack []byte) []byte {
	c.lab.t.Helper()
	d, err := c.dial.Seal(c.lab.now, pack, nil)
	if err != nil {
		c.lab.t.Fatal(err)
	}
	return d
}

// say sends a package with the given sections.
func (c *caller) say(sections ...byte) {
	c.lab.t.Helper()
	c.send(c.seal(c.pack(sections...)))
}

// leave says goodbye.
func (c *caller) leave() {
	c.lab.t.Helper()
	c.dial.Disconnect(c.lab.now, &c.post)
	c.mail()
}

// commands is a section with a window up to the tick that is simulated next.
func (c *caller) commands(n int) []byte {
	var cmds []sim.Command
	next := c.lab.lobby.match.Tick() + 1
	for i := range n {
		cmds = append(cmds, sim.Command{Tick: next - tick.Tick(n-1-i), Yaw: 100, MoveMag: 255})
	}
	return section(cmds...)
}

// section is a Commands section.
func section(cmds ...sim.Command) []byte {
	return sim.AppendCommands([]byte{byte(packet.SectionCommands)}, cmds)
}

// play lets a caller send a command for the coming tick, and hears what has come for it.
func (c *caller) play() (snapshots int) {
	c.lab.t.Helper()
	snapshots = len(c.hear())
	c.say(c.commands(1)...)
	return snapshots
}

// plays lets a caller play n ticks.
func (c *caller) plays(n int) (snapshots int) {
	c.lab.t.Helper()
	for range n {
		snapshots += c.play()
		c.lab.tick()
	}
	return snapshots
}

// inputs is what has become of the caller's commands.
func (c *caller) inputs() sim.CommandCounts {
	c.lab.t.Helper()
	inbox := c.lab.lobby.match.CommandBuffer(c.id())
	if inbox == nil {
		c.lab.t.Fatalf("%v is gone", c.id())
	}
	return inbox.Count
}

// unharmed plays a second with the caller and fails unless each of its commands is used and each
// snapshot comes.
func (c *caller) unharmed() {
	t := c.lab.t
	t.Helper()
	used := c.inputs().Used
	n := int(c.lab.lobby.cfg.Rules.Rate)
	snapshots := c.plays(n)
	if got := c.inputs().Used - used; got != uint64(n) || snapshots < n/c.lab.lobby.cfg.SendInterval-1 {
		t.Fatalf("of %d commands %d were used, and %d snapshots came", n, got, snapshots)
	}
}
