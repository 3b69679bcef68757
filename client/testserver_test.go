package client

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// testServer is a minimal server in virtual time with its own links: the real netcode, peers, match
// and encoder. It does not import package server, which imports this one in its tests.
type testServer struct {
	t        testing.TB
	rules    sim.Rules
	arena    *arena.Arena
	match    *sim.Match
	netcode  *netcode.Server
	outbox   netcode.Outbox
	frames   *snapshot.Ring
	encoder  *snapshot.Encoder
	packer   snapshot.Packer
	models   netstate.Models
	interval tick.Tick
	players  int
	conns    []*serverConn
	extras   []netid.ID // players without a client
	clients  []*testClient
	minted   uint64 // tokens
	now      time.Duration
	rng      *rand.Rand
	random   *rand.ChaCha8 // of tokens
	hits     []sim.Event   // every EventHit of the match

	visible   func(t tick.Tick) []uint64 // what clients may see; default all, in blocks
	checks    bool                       // snapshots have checksums
	checksums snapshot.Checksums

	flipped tick.Tick // up to here a test changed rows that clients hold

	// the first events to a client; default the Welcome alone
	greet func(w *protocol.Welcome) [][]byte
	// takes a request for content; default it fails the test
	onRequest func(g *serverConn, what protocol.Content)
	onPacket  func(pkt []byte) // sees every packet before it is sealed
}

// serverConn is the server's side of a client.
type serverConn struct {
	addr            netip.AddrPort
	client          int // slot in netcode
	id              netid.ID
	peer            *packet.Peer
	tracker         *snapshot.Tracker
	owner           *snapshot.OwnerWriter
	ready           bool
	mismatch        packet.Reason     // in which the Welcome and the client differ
	mismatchSent    bool              // the client was told of the mismatch
	ended           netcode.EventKind // how its session ended
	resyncs         int
	checksumResyncs int // of these, by checksums
}

// testClient is a client with its links and its inputs.
type testClient struct {
	client     *Client
	addr       netip.AddrPort
	up, down   link
	clock      func(time.Duration) time.Duration // the client's own, by the server's
	frame      time.Duration                     // from one Advance to the next
	next       time.Duration
	brain      func(n int) Intent
	commands   int
	stop       bool                                   // no more frames
	onDatagram func(now time.Duration, data []byte)   // sees what arrives
	afterFrame func(now time.Duration, s *testClient) // after every frame
	lastView   int64
	last       time.Duration
	newest     tick.Tick
}

// link is one direction of an impaired path.
type link struct {
	delay, jitter   time.Duration
	loss, dup, swap float64
	queue           []flight
	seq             int
}

type flight struct {
	at   time.Duration
	seq  int
	data []byte
}

func (l *link) push(now time.Duration, rng *rand.Rand, data []byte) {
	if rng.Float64() < l.loss {
		return
	}
	n := 1
	if rng.Float64() < l.dup {
		n = 2
	}
	for range n {
		at := now + l.delay
		if l.jitter > 0 {
			at += time.Duration(rng.Int64N(int64(l.jitter)))
		}
		if rng.Float64() < l.swap {
			at += 20 * time.Millisecond
		}
		l.seq++
		l.queue = append(l.queue, flight{at, l.seq, slices.Clone(data)})
	}
	slices.SortFunc(l.queue, func(a, b flight) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.seq - b.seq
	})
}

func (l *link) pop(now time.Duration) ([]byte, bool) {
	if len(l.queue) == 0 || l.queue[0].at > now {
		return nil, false
	}
	data := l.queue[0].data
	l.queue = l.queue[1:]
	return data, true
}

// damage is a game with rifles of a given damage. Both heroes knock back the players they hit.
func damage(points int16) *sim.Game {
	g := sim.DefaultGame()
	g.Heroes[sim.Terraformer].Slots[0].Gun.Damage = points
	return g
}

type testServerConfig struct {
	rules   sim.Rules
	players int
	extras  int
	seed    uint64
}

func newTestServer(t testing.TB, c testServerConfig) *testServer {
	c.rules = c.rules.WithDefaults()
	if c.players == 0 {
		c.players = 16
	}
	a, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	l := &testServer{
		t: t, rules: c.rules, arena: a, models: netstate.Trained(), players: c.players,
		interval: max(1, tick.Tick(c.rules.Rate+10)/20), rng: rand.New(rand.NewPCG(c.seed, 1)),
		match: sim.New(c.players, c.rules, a),
	}
	l.random = rand.NewChaCha8([32]byte{byte(c.seed), 2})
	l.greet = func(w *protocol.Welcome) [][]byte { return [][]byte{w.Append(nil)} }
	l.netcode, err = netcode.NewServer(netcode.ServerConfig{
		PrivateKey: testKey, ProtocolID: protocol.ProtocolID,
		Addresses: []netip.AddrPort{testAddr}, Entropy: [32]byte{byte(c.seed), 1}, Clients: c.players,
		AllowTokenReuse: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.frames = snapshot.NewRing(netstate.Public, c.players, 512, 1)
	l.encoder = snapshot.NewEncoder(l.models.Public, c.players)
	for range c.extras {
		l.extras = append(l.extras, l.match.Join())
	}
	return l
}

var (
	testKey  = netcode.Key{1, 2, 3}
	testAddr = netip.MustParseAddrPort("10.0.1.1:7913")
)

const testUnix = 1_800_000_000 // Unix seconds at the start of a test

func (l *testServer) unix() int64 { return testUnix + int64(l.now/time.Second) }

// token mints a token for a new client; change may alter it.
func (l *testServer) token(change func(*netcode.Mint)) []byte {
	l.minted++
	m := netcode.Mint{
		ProtocolID: protocol.ProtocolID, ClientID: l.minted, Create: uint64(l.unix()),
		Expire: uint64(l.unix()) + 45, TimeoutSeconds: 5,
		Servers: []netip.AddrPort{testAddr},
	}
	if change != nil {
		change(&m)
	}
	token, err := m.Append(nil, &testKey, l.random)
	if err != nil {
		l.t.Fatal(err)
	}
	return token
}

// timeout returns a change of a token: its timeout.
func timeout(seconds int32) func(*netcode.Mint) {
	return func(m *netcode.Mint) { m.TimeoutSeconds = seconds }
}

func (l *testServer) config() Config {
	return Config{
		Token: l.token(nil), Rules: l.rules, PredictHits: true,
		Arena: func(string, [32]byte) (*arena.Arena, error) { return l.arena, nil },
	}
}

// addClient adds a client; path is one way.
func (l *testServer) addClient(cfg Config, path link) *testClient {
	c, err := New(cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	s := &testClient{
		client: c, up: path, down: path, frame: l.rules.Rate.Period(),
		next:  l.now + time.Duration(len(l.clients))*3*time.Millisecond,
		clock: func(now time.Duration) time.Duration { return now },
		addr:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(len(l.clients))}), 1000),
		brain: wander(uint64(len(l.clients))),
	}
	l.clients = append(l.clients, s)
	return s
}

// wander returns the inputs of a player that runs, turns, jumps, shoots and reloads at random.
func wander(seed uint64) func(int) Intent {
	rng := rand.New(rand.NewPCG(seed, 7))
	var in Intent
	turn := 0
	return func(n int) Intent {
		if rng.IntN(20) == 0 {
			turn = rng.IntN(2000) - 1000
			in.MoveYaw, in.MoveMag = uint8(rng.IntN(256)), uint8(rng.IntN(2)*255)
			in.Buttons = sim.Buttons(rng.Uint32()) & (sim.Sprint | sim.Fire |
				sim.Throw&sim.Buttons(rng.Uint32()))
		}
		in.Buttons &^= sim.Jump | sim.Reload | sim.Melee | sim.Dance
		switch rng.IntN(300) {
		case 0:
			in.Buttons |= sim.Dance
		case 1, 2:
			in.Buttons |= sim.Melee
		}
		if rng.IntN(30) == 0 {
			in.Buttons |= sim.Jump
		}
		if rng.IntN(200) == 0 {
			in.Buttons |= sim.Reload
		}
		in.Yaw += geom.Angle(turn)
		in.Pitch = geom.Angle(uint16(rng.IntN(2000) - 1000))
		return in
	}
}

const labStep = time.Millisecond

// run plays for d.
func (l *testServer) run(d time.Duration) {
	for end := l.now + d; l.now < end; l.now += labStep {
		for _, s := range l.clients {
			for data, ok := s.up.pop(l.now); ok; data, ok = s.up.pop(l.now) {
				l.receive(s, data)
			}
		}
		for l.now >= l.rules.Rate.At(l.match.Tick()+1) {
			l.tick()
		}
		for _, s := range l.clients {
			l.frameOf(s)
		}
	}
}

func (l *testServer) frameOf(s *testClient) {
	for data, ok := s.down.pop(l.now); ok; data, ok = s.down.pop(l.now) {
		if s.onDatagram != nil {
			s.onDatagram(l.now, data)
		}
		s.client.Receive(s.clock(l.now), data)
	}
	if l.now < s.next || s.stop {
		return
	}
	s.next += s.frame
	s.step(s.clock(l.now), func(data []byte) { s.up.push(l.now, l.rng, data) })
	l.check(s)
	if s.afterFrame != nil {
		s.afterFrame(l.now, s)
	}
}

// step plays a frame of the client.
func (s *testClient) step(now time.Duration, send func([]byte)) {
	for range s.client.Advance(now) {
		s.client.Command(s.brain(s.commands))
		s.commands++
	}
	out := s.client.Outgoing(now)
	for i := range out.Len() {
		_, data := out.At(i)
		send(data)
	}
}

// check asserts the invariants of every frame of every client.
func (l *testServer) check(s *testClient) {
	c := s.client
	if st := c.Stats(); !accounted(&st) {
		l.t.Fatalf("%v: datagrams %+v, packets %+v", l.now, st.Datagrams, st.Packets)
	}
	if t := c.predict.Newest; t < s.newest {
		l.t.Fatalf("%v: command tick went from %d back to %d", l.now, s.newest, t)
	} else {
		s.newest = t
	}
	v := c.View()
	if v.From == 0 {
		return
	}
	_, _, render := c.Clocks()
	switch at := lagcomp.Instant(v); {
	case !v.Valid():
		l.t.Fatalf("%v: view %v is not valid", l.now, v)
	case render < s.last:
		l.t.Fatalf("%v: render clock went back from %v to %v", l.now, s.last, render)
	case render > l.rules.Rate.At(c.Newest()):
		l.t.Fatalf("%v: render clock %v is past snapshot %d", l.now, render, c.Newest())
	// a snapshot that came late makes the view's steps finer: not a step back
	case at+int64(v.To-v.From) < s.lastView:
		l.t.Fatalf("%v: view went back to %v", l.now, v)
	default:
		s.last, s.lastView = render, at
	}
	l.compare(c)
}

// accounted reports whether every datagram and every packet was counted once.
func accounted(s *Stats) bool {
	return s.Traffic.Total() == s.BytesIn && s.Datagrams.Balanced() &&
		s.Packets.Balanced() && s.Packets.Received == s.Datagrams.Accepted[netcode.KindPayload]
}

// compare checks the decoded rows against the frames that they were encoded from.
func (l *testServer) compare(c *Client) {
	if c.interp.Decoder == nil {
		return
	}
	var got, want [netstate.PublicFields]int32
	for _, t := range [2]tick.Tick{c.Newest() - l.interval*tick.Tick(c.cfg.SnapshotEvery), c.Newest()} {
		frame := l.frames.At(t)
		if frame == nil {
			continue
		}
		for slot := range l.players {
			id, ok := c.Row(t, slot, got[:])
			if !ok || t <= l.flipped {
				continue
			}
			if l.visible != nil && l.visible(t)[slot>>6]>>(slot&63)&1 == 0 {
				if id != 0 {
					l.t.Fatalf("tick %d slot %d: client has %v, who is hidden", t, slot, id)
				}
				continue
			}
			if was := frame.Row(slot, want[:]); was != id || got != want {
				l.t.Fatalf("tick %d slot %d: client has %v %v, server had %v %v", t, slot, id, got, was, want)
			}
		}
	}
}

func (l *testServer) receive(s *testClient, data []byte) {
	e, err := l.netcode.Receive(l.now, l.unix(), s.addr, data, &l.outbox)
	switch {
	case err != nil:
	case e.Kind == netcode.EventConnected:
		l.admit(e.Client)
	case e.Kind == netcode.EventPayload:
		l.payload(l.conn(e.Client), e.Payload)
	default:
		l.handleEvent(e)
	}
	l.flushOutbox()
}

// handleEvent handles events other than payloads and arrivals.
func (l *testServer) handleEvent(e netcode.Event) {
	switch e.Kind {
	case netcode.EventTimeout, netcode.EventDisconnect, netcode.EventKick, netcode.EventExhausted:
		l.conn(e.Client).ended = e.Kind
	}
}

// flushOutbox puts netcode's outgoing datagrams on the links.
func (l *testServer) flushOutbox() {
	for i := range l.outbox.Len() {
		to, data := l.outbox.At(i)
		for _, s := range l.clients {
			if s.addr == to {
				s.down.push(l.now, l.rng, data)
			}
		}
	}
	l.outbox.Reset()
}

// send seals a packet for a connection and puts it on its link.
func (l *testServer) send(g *serverConn, pkt []byte) {
	if l.onPacket != nil {
		l.onPacket(pkt)
	}
	if err := l.netcode.Send(l.now, g.client, pkt, &l.outbox); err != nil {
		l.t.Fatal(err)
	}
	l.flushOutbox()
}

// conn returns the connection in a slot of netcode.
func (l *testServer) conn(client int) *serverConn {
	return l.conns[slices.IndexFunc(l.conns, func(g *serverConn) bool {
		return g.client == client && g.ended == 0
	})]
}

func (l *testServer) admit(client int) {
	s, _ := l.netcode.Session(client)
	g := &serverConn{addr: s.Address, client: client, id: l.match.Join()}
	g.peer = packet.NewPeer(l.now, packet.Config{})
	l.remove(g)
	l.conns = append(l.conns, g)
	w := l.welcome(g)
	for _, e := range l.greet(&w) {
		if err := g.peer.QueueReliable(e); err != nil {
			l.t.Fatal(err)
		}
	}
	switch {
	case w.Schema != netstate.SchemaHash():
		g.mismatch = packet.ReasonSchema
	case w.Model != l.models.Hash():
		g.mismatch = packet.ReasonModel
	}
}

// sendMismatch sends a client whose Ready does not match the schemas of the server.
func (l *testServer) sendMismatch(g *serverConn) {
	text := bytes.Replace(l.models.AppendText(nil), []byte("yaw wrap 4096"), []byte("yaw wrap 2048"), 1)
	if g.mismatch == packet.ReasonModel {
		text = netstate.Untrained().AppendText(nil)
	}
	for part := range slices.Chunk(text, packet.MaxMessageSize-1) {
		if err := g.peer.QueueReliable(append([]byte{protocol.MessageSchemas}, part...)); err != nil {
			l.t.Fatal(err)
		}
	}
	g.mismatchSent = true
}

// disconnect ends a client's session with a reason.
func (l *testServer) disconnect(g *serverConn) {
	for range packet.CloseRepeats {
		pkt, _ := g.peer.Append(l.now, nil)
		l.send(g, g.peer.AppendClose(pkt, g.mismatch))
	}
	if err := l.netcode.Disconnect(l.now, g.client, &l.outbox); err != nil {
		l.t.Fatal(err)
	}
	l.flushOutbox()
	g.ended = netcode.EventDisconnect
}

func (l *testServer) remove(g *serverConn) {
	g.tracker = snapshot.NewTracker(l.players, l.interval)
	g.owner = snapshot.NewOwnerWriter(l.models.Owner, l.interval)
}

func (l *testServer) welcome(g *serverConn) protocol.Welcome {
	return protocol.Welcome{
		Version: protocol.Version, Schema: netstate.SchemaHash(), Model: l.models.Hash(),
		NetID: uint32(g.id), TickRate: uint8(l.rules.Rate),
		SendInterval: uint8(l.interval), Tick: uint32(l.match.Tick()),
		MaxPlayers: uint16(l.players), ArenaHash: l.arena.Hash(), ArenaName: "arena-16",
	}
}

func (l *testServer) payload(g *serverConn, data []byte) {
	rest, err := g.peer.Receive(l.now, data)
	if err != nil {
		return
	}
	for _, tag := range g.peer.Delivered() {
		at := tick.Tick(tag >> 32)
		g.tracker.Acked(at, int(tag>>16&0xffff), int(tag&0x7fff))
		if tag>>15&1 != 0 {
			g.owner.Acked(at)
		}
	}
	if rest, err = g.peer.Sections(rest); err != nil {
		l.t.Fatal(err)
	}
	for e, ok := g.peer.NextReliable(); ok; e, ok = g.peer.NextReliable() {
		l.receiveMessage(g, e)
	}
	if packet.SectionOf(rest) == packet.SectionCommands {
		var window [sim.MaxWindow]sim.Command
		n, after, err := sim.ParseCommands(rest[1:], &window)
		var arrivals [sim.MaxArrivals]sim.Arrival
		_, _, _, wrong := sim.ParseArrivals(after, n, &arrivals)
		if err != nil || wrong != nil {
			l.t.Fatalf("commands: %v, %v", err, wrong)
		}
		for i := n - 1; i >= 0; i-- {
			l.match.CommandBuffer(g.id).Offer(window[i])
		}
	}
}

// receiveMessage takes a reliable message. The first must be a Ready.
func (l *testServer) receiveMessage(g *serverConn, e []byte) {
	if f, err := protocol.ParseFetch(e); err == nil && l.onRequest != nil && !g.ready {
		l.onRequest(g, f.Content)
		return
	}
	switch r, err := protocol.ParseReady(e); {
	case !g.ready:
		if want := (protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(),
			Model: l.models.Hash()}); err != nil || r != want {
			l.t.Fatalf("instead of a Ready: %x", e)
		}
		if g.mismatch != 0 {
			l.sendMismatch(g)
			return
		}
		g.ready = true
	case len(e) == 1 && e[0] == sim.AskResync:
		l.remove(g)
		g.resyncs++
	default:
		if _, ok := sim.ParseDiverged(e); ok {
			l.remove(g)
			g.resyncs++
			g.checksumResyncs++
		}
	}
}

func (l *testServer) tick() {
	for _, e := range l.netcode.Update(l.now, l.unix(), &l.outbox) {
		l.handleEvent(e)
	}
	l.flushOutbox()
	t := l.match.Tick() + 1
	for i, id := range l.extras {
		if in := l.match.CommandBuffer(id); in != nil {
			w := wander(uint64(i)<<32 | uint64(t/30))(0)
			in.Offer(sim.Command{Tick: t, Yaw: geom.Angle(uint32(t) * 300),
				MoveMag: 255, MoveYaw: w.MoveYaw, Buttons: w.Buttons & sim.Sprint})
		}
	}
	for _, g := range l.conns {
		l.match.SetClampLimits(g.id, lagcomp.ClampLimits{Rate: l.rules.Rate,
			InterpTicks: 1000, CapTicks: 60, Newest: t - 1, Oldest: l.match.History().Oldest()})
	}
	l.match.Step()
	frame := l.frames.Begin(t)
	var row [netstate.PublicFields]int32
	acts := l.match.AbilityStates()
	for slot, pose := range l.match.Poses() {
		if v := l.match.Vital(netid.ID(pose.ID)); v != nil {
			netstate.PublicRow(row[:], &pose, v, &acts[slot])
			frame.Set(slot, netid.ID(pose.ID), row[:])
		}
	}
	l.encoder.Begin(frame, l.frames)
	l.checksums.Begin(frame)
	for _, e := range l.match.Outcome().Events {
		if e.Kind == sim.EventHit {
			l.hits = append(l.hits, e)
		}
		for _, g := range l.conns {
			if e.Kind == sim.EventKill || e.Actor == g.id {
				g.peer.QueueReliable(e.Append(nil))
			}
		}
	}
	for i, g := range l.conns {
		switch {
		case g.ended != 0 || !g.peer.CanSend(l.now):
		case g.mismatchSent && g.peer.ReliablePending() == 0:
			l.disconnect(g)
		case !g.ready && g.peer.ReliableDue(l.now):
			pkt, _ := g.peer.Append(l.now, nil)
			l.send(g, g.peer.AppendReliable(pkt, 512))
		case !g.ready && g.peer.FragmentDue(l.now):
			pkt, _ := g.peer.Append(l.now, nil)
			l.send(g, g.peer.AppendFragment(pkt, packet.FragmentSectionSize))
		case g.ready && (t+tick.Tick(i))%l.interval == 0 && l.match.Vital(g.id) != nil:
			l.snapshot(g, t)
		}
	}
}

func (l *testServer) snapshot(g *serverConn, t tick.Tick) {
	g.tracker.Advance(t)
	if l.visible != nil {
		l.packer.BeginRows(l.encoder, g.tracker, l.visible(t))
	} else {
		l.packer.Begin(l.encoder, g.tracker, 0, l.frames.Groups())
	}
	for first := true; first || !l.packer.Done(); first = false {
		buf, seq := g.peer.Append(l.now, nil)
		buf = g.peer.AppendReliable(buf, 256)
		buf = append(buf, byte(packet.SectionSnapshot))
		at, head := len(buf), netstate.Header{Tick: t, Owner: first, Checked: l.checks}
		buf = head.Append(buf)
		if first {
			self := netstate.GatherSelf(l.match, g.id)
			var row [netstate.OwnerFields]int32
			netstate.OwnerRow(row[:], &self)
			buf = g.owner.Append(buf, t, row[:])
		}
		buf, group, count, _ := l.packer.Next(buf, packet.MaxPacketSize-len(buf))
		if l.checks {
			head.Sum = l.packer.Sum(&l.checksums, group, count)
			head.Append(buf[:at])
		}
		tag := uint64(t)<<32 | uint64(group)<<16 | uint64(count)
		if first {
			tag |= 1 << 15
		}
		g.peer.SetAckTag(seq, tag)
		l.send(g, buf)
	}
}

func (l *testServer) inbox(s *testClient) *sim.CommandCounts {
	return &l.match.CommandBuffer(s.client.ID()).Count
}
