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

// ground is the map of the tests.
var ground = sync.OnceValue(func() *arena.Arena {
	a, err := arena.Open("arena-16")
	if err != nil {
		panic(err)
	}
	return a
})

const testUnix = 1_800_000_000 // Unix seconds at the start of a test

var (
	testAddr = netip.MustParseAddrPort("10.0.0.1:7913")
	testKey  = netcode.Key{0: 29, 1: 7, 31: 9}
)

// testNetcodeConfig is the netcode configuration of a testLobby.
func testNetcodeConfig() netcode.ServerConfig {
	return netcode.ServerConfig{PrivateKey: testKey, Addresses: []netip.AddrPort{testAddr},
		Entropy: [32]byte{1, 2, 3}, AllowTokenReuse: true}
}

// operator is the caller of console lines that the owner of the process types.
var operator = console.Caller{Name: "operator", Rank: console.Operator}

// alone skips a long test under the race detector if it runs on one goroutine.
func alone(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}

// fullOrShort returns all, or short with go test -short.
func fullOrShort(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// testLobby is a lobby on a network in memory and in virtual time.
type testLobby struct {
	t       testing.TB
	lobby   *Lobby
	net     *netio.Memory
	conn    netio.Conn
	now     time.Duration
	random  *rand.ChaCha8 // of tokens
	clients []*testClient
}

func newTestLobby(t testing.TB, cfg Config) *testLobby {
	t.Helper()
	if cfg.Arena == nil {
		cfg.Arena, cfg.ArenaName = ground(), "arena-16"
	}
	if cfg.Players == 0 {
		cfg.Players = 8
	}
	if netcodeCfg := testNetcodeConfig(); cfg.Netcode.Addresses == nil {
		cfg.Netcode.PrivateKey, cfg.Netcode.Addresses, cfg.Netcode.Entropy = netcodeCfg.PrivateKey,
			netcodeCfg.Addresses, netcodeCfg.Entropy
		cfg.Netcode.AllowTokenReuse = netcodeCfg.AllowTokenReuse
	}
	l := &testLobby{t: t, net: netio.NewMemory(), random: rand.NewChaCha8([32]byte{5})}
	var err error
	if l.lobby, err = NewLobby(cfg); err != nil {
		t.Fatal(err)
	}
	if l.conn, err = l.net.Listen(testAddr, netio.Config{}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *testLobby) unix() int64 { return testUnix + int64(l.now/time.Second) }

// tick plays one tick and checks the accounts: what came in was accepted, or refused or dropped for
// one reason.
func (l *testLobby) tick() {
	l.t.Helper()
	l.now = l.lobby.cfg.Rules.Rate.At(l.lobby.match.Tick() + 1)
	if err := l.lobby.Tick(l.now, l.unix(), l.conn); err != nil {
		l.t.Fatal(err)
	}
	l.checkBalance()
}

func (l *testLobby) checkBalance() {
	l.t.Helper()
	sections, n := uint64(0), l.lobby.account.bandwidth.Total()
	for _, bytes := range n.Sections {
		sections += bytes
	}
	if out := l.count(metrics.BytesOut); sections != out || n.Bytes != out ||
		n.Datagrams != l.count(metrics.Sent) {
		l.t.Fatalf("tick %d: the account has %d bytes by section, %d bytes in %d datagrams; %d in %d left",
			l.lobby.match.Tick(), sections, n.Bytes, n.Datagrams, out, l.count(metrics.Sent))
	}
	rx, a := l.count(metrics.Received), l.tally()
	sum := a.accepted
	for _, n := range a.refused {
		sum += n
	}
	for _, n := range a.drops {
		sum += n
	}
	datagrams := l.lobby.port.netcode.Counters()
	switch {
	case rx != sum || rx != l.conn.Stats().Delivered || rx != datagrams.Received:
		l.t.Fatalf("%d datagrams delivered, %d received, %d at the netcode server, %d accounted for: %+v",
			l.conn.Stats().Delivered, rx, datagrams.Received, sum, a)
	case l.count(metrics.UnbalancedTicks) != 0 || datagrams.Amplification != 0 ||
		l.count(metrics.AmplificationBlocked) != 0 || l.count(metrics.SealFailed) != 0:
		l.t.Fatalf("%d ticks unbalanced, %d answers too long, %d packets unsent",
			l.count(metrics.UnbalancedTicks), datagrams.Amplification, l.count(metrics.SealFailed))
	}
}

func (l *testLobby) ticks(n int) {
	l.t.Helper()
	for range n {
		l.tick()
	}
}

func (l *testLobby) count(c metrics.Count) uint64 { return l.lobby.Stats.Count[c].Load() }

// tally counts all datagrams so far by result.
type tally struct {
	accepted uint64
	refused  [netcode.NumDrops]uint64
	drops    [packet.NumDrops]uint64
}

func (l *testLobby) tally() (a tally) {
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

func (l *testLobby) refused(d netcode.Drop) uint64 { return l.lobby.Stats.AuthDrops[d].Load() }
func (l *testLobby) dropped(d packet.Drop) uint64  { return l.lobby.Stats.PacketDrops[d].Load() }

// mint makes a valid token; change may alter it before it is sealed.
func (l *testLobby) mint(user uint64, change func(*netcode.Mint)) []byte {
	l.t.Helper()
	m := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: user,
		Create: uint64(l.unix()), Expire: uint64(l.unix()) + 45,
		TimeoutSeconds: 5, Servers: []netip.AddrPort{testAddr}}
	if change != nil {
		change(&m)
	}
	token, err := m.Append(nil, &testKey, l.random)
	if err != nil {
		l.t.Fatal(err)
	}
	return token
}

// testClient is one address, and a session once it has joined: netcode and a peer without a game.
type testClient struct {
	host           *testLobby
	conn           netio.Conn
	in, out        netio.Batch
	outbox         netcode.Outbox
	user           uint64
	netcode        *netcode.Client
	peer           *packet.Peer
	welcome        protocol.Welcome
	messages       [][]byte // all that came, the Welcome first
	controlPackets int      // packets without a snapshot
	closes         int      // packets that close the session
	bytes          int      // of datagrams that came
	lost           func() bool
	transfer       []byte // the last that came whole
}

// newClient opens an address; "" takes a new one. Its user is its number, from 1.
func (l *testLobby) newClient(addr string) *testClient {
	l.t.Helper()
	n := len(l.clients)
	if addr == "" {
		addr = fmt.Sprintf("10.%d.%d.%d:1000", 1+n/62500, 1+n/250%250, 1+n%250)
	}
	c := &testClient{host: l, user: uint64(n + 1)}
	c.rebind(addr)
	l.clients = append(l.clients, c)
	return c
}

// rebind gives the client another address, as a router does after a timeout.
func (c *testClient) rebind(addr string) {
	c.host.t.Helper()
	sock, err := c.host.net.Listen(netip.MustParseAddrPort(addr), netio.Config{RingDatagrams: 128})
	if err != nil {
		c.host.t.Fatal(err)
	}
	c.conn = sock
}

func (c *testClient) addr() netip.AddrPort { return c.conn.LocalAddr() }

// joinedClient returns a client at a new address that has joined.
func (l *testLobby) joinedClient() *testClient {
	l.t.Helper()
	c := l.newClient("")
	c.join()
	return c
}

func (c *testClient) send(datagram []byte) {
	c.host.t.Helper()
	c.out.Reset()
	c.out.Add(datagram, testAddr)
	if err := c.conn.Send(&c.out); err != nil {
		c.host.t.Fatal(err)
	}
}

// received empties the client's socket without processing the datagrams.
func (c *testClient) received() (all [][]byte) {
	c.host.t.Helper()
	for {
		n, err := c.conn.Receive(&c.in)
		if err != nil {
			c.host.t.Fatal(err)
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

// beginConnect starts a connect with a fresh token.
func (c *testClient) beginConnect(change func(*netcode.Mint)) {
	c.host.t.Helper()
	c.start(c.host.mint(c.user, change), netcode.ClientConfig{})
}

func (c *testClient) start(token []byte, cfg netcode.ClientConfig) {
	c.netcode, c.peer = netcode.NewClient(token, cfg), nil
	c.welcome, c.messages, c.controlPackets, c.closes = protocol.Welcome{}, nil, 0, 0
}

// update lets the netcode client send what is due.
func (c *testClient) update() {
	c.host.t.Helper()
	c.netcode.Update(c.host.now, &c.outbox)
	c.flushOutbox()
}

func (c *testClient) flushOutbox() {
	c.host.t.Helper()
	for i := range c.outbox.Len() {
		_, d := c.outbox.At(i)
		c.send(d)
	}
	c.outbox.Reset()
}

// receive processes arrived datagrams, lets netcode answer, and returns the snapshots' sections
// with their section bytes. It skips datagrams of an earlier session or after the end of one.
func (c *testClient) receive() (snapshots [][]byte) {
	c.host.t.Helper()
	for _, d := range c.received() {
		pkt, err := c.netcode.Receive(c.host.now, testAddr, d, &c.outbox)
		if err == netcode.DropState {
			continue
		}
		if err != nil {
			c.host.t.Fatalf("%x: %v, %v", d[:min(len(d), 40)], err, c.netcode.State())
		}
		if pkt == nil {
			continue
		}
		if s := c.receivePacket(pkt); s != nil {
			snapshots = append(snapshots, s)
		}
	}
	c.flushOutbox()
	return snapshots
}

// receivePacket processes a packet and returns its snapshot, nil without one.
func (c *testClient) receivePacket(pkt []byte) []byte {
	t := c.host.t
	t.Helper()
	if c.peer == nil {
		c.peer = packet.NewPeer(c.host.now, packet.Config{})
	}
	if _, closed := c.peer.Closed(); closed { // the repetitions
		c.closes++
		return nil
	}
	rest, err := c.peer.Receive(c.host.now, pkt)
	if err == nil {
		rest, err = c.peer.Sections(rest)
	}
	if err != nil {
		t.Fatalf("%x: %v", pkt[:min(len(pkt), 40)], err)
	}
	for e, ok := c.peer.NextReliable(); ok; e, ok = c.peer.NextReliable() {
		if c.messages = append(c.messages, bytes.Clone(e)); len(c.messages) == 1 {
			if c.welcome, err = protocol.ParseWelcome(e); err != nil {
				t.Fatalf("the first event is %x", e)
			}
		}
	}
	if transfer, ok := c.peer.NextTransfer(); ok {
		c.transfer = bytes.Clone(transfer)
	}
	if _, closed := c.peer.Closed(); closed {
		c.closes++
	}
	if packet.SectionOf(rest) != packet.SectionSnapshot {
		c.controlPackets++
		if len(rest) > 0 {
			t.Fatalf("section %d", rest[0])
		}
		return nil
	}
	return rest
}

// handshake runs until netcode has connected the client, and reports whether that took at most ten
// ticks.
func (c *testClient) handshake() bool {
	c.host.t.Helper()
	for range 10 {
		c.update()
		c.host.tick()
		c.receive()
		if c.netcode.State() == netcode.Connected {
			return true
		}
	}
	return false
}

// connect runs a connect until the client has its Welcome.
func (c *testClient) connect(change func(*netcode.Mint)) {
	c.host.t.Helper()
	c.beginConnect(change)
	if !c.handshake() {
		c.host.t.Fatalf("not let in: %v; %v", c.netcode.State(), c.host.tally())
	}
	for range 5 {
		if c.welcome.Version != 0 {
			return
		}
		c.host.tick()
		c.receive()
	}
	c.host.t.Fatalf("no welcome")
}

// join connects and queues a Ready for the next packet.
func (c *testClient) join() {
	c.host.t.Helper()
	c.connect(nil)
	c.ready()
}

// goodReady is the Ready that this lobby expects.
func (l *testLobby) goodReady() protocol.Ready {
	return protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(),
		Model: l.lobby.cfg.Models.Hash()}
}

func (c *testClient) ready() {
	c.host.t.Helper()
	r := c.host.goodReady()
	c.queueReliable(r.Append(nil))
}

func (c *testClient) queueReliable(event []byte) {
	c.host.t.Helper()
	if err := c.peer.QueueReliable(event); err != nil {
		c.host.t.Fatal(err)
	}
}

func (c *testClient) id() netid.ID { return netid.ID(c.welcome.NetID) }

// state is the lobby's connection of the client, if its player is still there.
func (c *testClient) state() *conn { return &c.host.lobby.conns[c.id().Index()] }

// packet returns a packet of the session with the given sections.
func (c *testClient) packet(sections ...byte) []byte {
	p, _ := c.peer.Append(c.host.now, nil)
	p = c.peer.AppendReliable(p, 512)
	return append(p, sections...)
}

// seal returns a packet as a datagram.
func (c *testClient) seal(pkt []byte) []byte {
	c.host.t.Helper()
	d, err := c.netcode.Seal(c.host.now, pkt, nil)
	if err != nil {
		c.host.t.Fatal(err)
	}
	return d
}

// sendSections sends a packet with the given sections.
func (c *testClient) sendSections(sections ...byte) {
	c.host.t.Helper()
	c.send(c.seal(c.packet(sections...)))
}

// leave sends a disconnect.
func (c *testClient) leave() {
	c.host.t.Helper()
	c.netcode.Disconnect(c.host.now, &c.outbox)
	c.flushOutbox()
}

// commands is a section with a window up to the next simulated tick.
func (c *testClient) commands(n int) []byte {
	var cmds []sim.Command
	next := c.host.lobby.match.Tick() + 1
	for i := range n {
		cmds = append(cmds, sim.Command{Tick: next - tick.Tick(n-1-i), Yaw: 100, MoveMag: 255})
	}
	return section(cmds...)
}

// section is a Commands section.
func section(cmds ...sim.Command) []byte {
	return sim.AppendCommands([]byte{byte(packet.SectionCommands)}, cmds)
}

// play sends a command for the coming tick, runs the tick and receives, and returns the number of
// snapshots.
func (c *testClient) play() (snapshots int) {
	c.host.t.Helper()
	snapshots = len(c.receive())
	c.sendSections(c.commands(1)...)
	return snapshots
}

// playTicks lets a caller play n ticks.
func (c *testClient) playTicks(n int) (snapshots int) {
	c.host.t.Helper()
	for range n {
		snapshots += c.play()
		c.host.tick()
	}
	return snapshots
}

// commandCounts counts what became of the client's commands.
func (c *testClient) commandCounts() sim.CommandCounts {
	c.host.t.Helper()
	inbox := c.host.lobby.match.CommandBuffer(c.id())
	if inbox == nil {
		c.host.t.Fatalf("%v is gone", c.id())
	}
	return inbox.Count
}

// checkUnharmed plays a second with the client and fails unless every command is used and every
// snapshot arrives.
func (c *testClient) checkUnharmed() {
	t := c.host.t
	t.Helper()
	used := c.commandCounts().Used
	n := int(c.host.lobby.cfg.Rules.Rate)
	snapshots := c.playTicks(n)
	if got := c.commandCounts().Used - used; got != uint64(n) ||
		snapshots < n/c.host.lobby.cfg.SendInterval-1 {
		t.Fatalf("of %d commands %d were used, and %d snapshots came", n, got, snapshots)
	}
}
