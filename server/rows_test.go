package server

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Unknown sections, alone or behind valid ones, are refused with a reason of their own, and
// messages, commands and acks of the connection go on.
func TestRow19UnknownSectionsRefused(t *testing.T) {
	l := newTestLobby(t, Config{Netcode: withoutFloodLimit()})
	c := l.joinedClient()
	c.play()
	l.tick()
	for id := range 256 {
		switch packet.Section(id) {
		case packet.SectionReliable, packet.SectionUnreliable, packet.SectionFragment,
			packet.SectionCommands, packet.SectionClose:
			continue
		}
		for i, front := range [][]byte{nil, {4, 1, 0, 9}, c.commands(1)} {
			want, acked := l.tally(), c.state().repl.acks.newest
			// what follows commands is theirs
			want.add([]error{packet.DropSection, packet.DropSection, packet.DropCommands}[i], 1)
			c.receive()
			c.sendSections(append(bytes.Clone(front), byte(id), 1, 2, 3)...)
			l.tick()
			if got := l.tally(); got != want || c.state().repl.acks.newest < acked {
				t.Fatalf("section %d behind %x: %v, want %v", id, front, got, want)
			}
		}
	}
	if c.state().repl.acks.newest+10 < l.lobby.match.Tick() {
		t.Errorf("nothing was acked since tick %d", c.state().repl.acks.newest)
	}
	for i, order := range [][]byte{{4, 1, 0, 9, 1, 1, 0, 0, 0, 7}, {4, 1, 0, 9, 4, 1, 0, 9},
		append(c.commands(1), 4, 1, 0, 9)} {
		why := [...]packet.Drop{packet.DropSection, packet.DropSection, packet.DropCommands}[i]
		before := l.dropped(why)
		c.receive()
		c.sendSections(order...)
		l.tick()
		if l.dropped(why) != before+1 {
			t.Errorf("%d: sections out of order: %v", i, l.tally())
		}
	}
	c.receive()
	c.sendSections(5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7) // a lobby takes no transfers
	l.tick()
	if l.dropped(packet.DropFragment) != 1 {
		t.Errorf("a fragment: %v", l.tally())
	}
	c.queueReliable([]byte{sim.AskResync})
	c.checkUnharmed()
	if l.count(metrics.Resyncs) != 1 || c.peer.ReliablePending() != 0 {
		t.Errorf("%d resyncs, %d events not acked", l.count(metrics.Resyncs), c.peer.ReliablePending())
	}
}

// withoutFloodLimit is a netcode configuration that no session of a test exceeds.
func withoutFloodLimit() netcode.ServerConfig {
	g := testNetcodeConfig()
	g.PacketsPerSecond = 1_000_000
	return g
}

// The schema goes by hash, once, in the Welcome and in the Ready. A client with another one is
// rejected with the reason, and a matching one costs no byte of any later packet.
func TestRow22SchemaByHash(t *testing.T) {
	l := newTestLobby(t, Config{})
	control := l.joinedClient()
	for i, c := range []struct {
		change func(*protocol.Ready)
		want   packet.Reason
	}{
		{func(r *protocol.Ready) { r.Schema++ }, packet.ReasonSchema},
		{func(r *protocol.Ready) { r.Model++ }, packet.ReasonModel},
		{func(r *protocol.Ready) { r.Version++ }, packet.ReasonVersion},
		{func(r *protocol.Ready) { r.Schema++; r.Model++ }, packet.ReasonSchema},
	} {
		who := l.newClient("")
		who.connect(nil)
		r := l.goodReady()
		c.change(&r)
		who.queueReliable(r.Append(nil))
		who.queueReliable(r.Append(nil)) // in the same packet: sent twice, kicked once
		control.play()
		who.sendSections(who.commands(1)...)
		l.tick()
		for range 60 {
			if s := who.receive(); s != nil {
				t.Errorf("%d: snapshots: %x", i, s)
			}
			if who.closes > 0 {
				break
			}
			control.play()
			who.sendSections()
			l.tick()
		}
		var theirs []byte // what it was told of ours, to name what differs
		for _, e := range who.messages[1:] {
			if e[0] != protocol.MessageSchemas {
				t.Errorf("%d: event %x", i, e)
			}
			theirs = append(theirs, e[1:]...)
		}
		if told := c.want != packet.ReasonVersion; told != bytes.Equal(theirs,
			l.lobby.cfg.Models.AppendText(nil)) {
			t.Errorf("%d: told %q", i, theirs)
		}
		why, _ := who.peer.Closed()
		if why != c.want || who.closes != packet.CloseRepeats ||
			who.netcode.State() != netcode.Disconnected || l.count(metrics.Disconnected) != uint64(i+1) {
			t.Errorf("%d: %v heard %d times, want %v; %d dismissed, %v", i, why,
				who.closes, c.want, l.count(metrics.Disconnected), who.netcode.State())
		}
		control.playTicks(2)
		if l.lobby.match.World.Len() != 1 || len(l.lobby.live) != 1 || l.lobby.port.netcode.Connected() != 1 {
			t.Errorf("%d: %d players, %d connections, %d sessions", i, l.lobby.match.World.Len(),
				len(l.lobby.live), l.lobby.port.netcode.Connected())
		}
	}
	hash := netstate.SchemaHash()
	c := l.joinedClient()
	if w := c.messages[0]; !bytes.Contains(w, binary.LittleEndian.AppendUint64(nil, hash)) {
		t.Errorf("no hash in the welcome %x", w)
	}
	snapshots := 0
	for range 120 {
		for _, s := range c.receive() {
			snapshots++
			if bytes.Contains(s, binary.LittleEndian.AppendUint64(nil, hash)[:4]) {
				t.Fatalf("the schema's hash in %x", s)
			}
		}
		c.sendSections(c.commands(1)...)
		l.tick()
	}
	for _, e := range c.messages[1:] {
		if e[0] != sim.TagRoundStatus && e[0] != sim.TagRoundEvent &&
			e[0] != protocol.MessageRoster && e[0] != protocol.MessageScores && e[0] != netstate.TagUpdateIntervals {
			t.Errorf("event %x", e)
		}
	}
	if snapshots < 38 {
		t.Errorf("%d snapshots", snapshots)
	}
	control.receive()
	control.checkUnharmed()
}

// At 30 % loss each way, Welcome and Ready arrive: no client is dropped, and each is ready within
// three seconds.
func TestRow22WelcomeAtLoss(t *testing.T) {
	const clients = 60
	b := newClientLobby(t, clients, Config{Players: clients, Netcode: withoutFloodLimit()})
	k := link{rand.New(rand.NewPCG(3, 3)), .3}
	for range 3 * 60 {
		b.lossy(&k)
	}
	ready := 0
	for _, slot := range b.lobby.live {
		if b.lobby.conns[slot].session.ready {
			ready++
		}
	}
	if ready != clients || b.count(metrics.Disconnected)+b.count(metrics.TimedOut) != 0 {
		t.Errorf("%d of %d are ready; %d dismissed, %d timed out", ready, clients,
			b.count(metrics.Disconnected), b.count(metrics.TimedOut))
	}
	for n, p := range b.players {
		if state, why := p.State(); state != client.Joined || p.Stats().Snapshots == 0 {
			t.Errorf("client %d is %v (%v), %d snapshots", n, state, why, p.Stats().Snapshots)
		}
	}
}

// link loses and delays datagrams between the clients and the lobby.
type link struct {
	rng  *rand.Rand
	loss float64
}

func (k *link) lost() bool { return k.rng.Float64() < k.loss }

// At 20 % loss each way every client joins within three seconds, and a client with other hashes
// receives the reason.
func TestRow27HandshakeAtLossAndMismatch(t *testing.T) {
	const clients = 60
	b := newClientLobby(t, clients, Config{Players: clients + 1})
	k := link{rand.New(rand.NewPCG(1, 1)), .2}
	for range 3 * 60 {
		b.lossy(&k)
	}
	for n, p := range b.players {
		if state, why := p.State(); state != client.Joined {
			t.Errorf("client %d is %v (%v)", n, state, why)
		}
	}
	if b.count(metrics.Joined) != clients {
		t.Errorf("%d joined", b.count(metrics.Joined))
	}
	mismatched := b.newClient("")
	mismatched.lost = k.lost
	mismatched.beginConnect(nil)
	for range 180 {
		if mismatched.netcode.Update(b.now, &mismatched.outbox); mismatched.peer != nil &&
			mismatched.messages != nil {
			mismatched.send(mismatched.seal(mismatched.packet()))
		}
		if k.lost() {
			mismatched.outbox.Reset()
		}
		mismatched.flushOutbox()
		b.lossy(&k)
		if heard := len(mismatched.messages); len(mismatched.receive()) == 0 &&
			heard == 0 && len(mismatched.messages) > 0 {
			r := b.goodReady()
			r.Version++
			mismatched.queueReliable(r.Append(nil))
		}
		if mismatched.netcode.State() == netcode.Disconnected {
			break
		}
	}
	if why, _ := mismatched.peer.Closed(); why != packet.ReasonVersion ||
		b.count(metrics.Joined) != clients+1 || b.count(metrics.Disconnected) != 1 {
		t.Errorf("another version: %v; %d joined, %d dismissed", why,
			b.count(metrics.Joined), b.count(metrics.Disconnected))
	}
}

// lossy plays one tick over a link.
func (b *clientLobby) lossy(k *link) {
	b.tick()
	for n, p := range b.players {
		for _, d := range b.endpoints[n].received() {
			if !k.lost() { // a packet may overtake the server's acceptance; its message is then sent again
				if err := p.Receive(b.now, d); err != nil && err != netcode.DropState {
					b.t.Fatalf("client %d: %v", n, err)
				}
			}
		}
		for due := p.Advance(b.now); due > 0; due-- {
			p.Command(b.brain(n))
		}
		out := p.Outgoing(b.now)
		for i := range out.Len() {
			if _, d := out.At(i); !k.lost() {
				b.endpoints[n].send(d)
			}
		}
	}
}

// paced adds a client that requests a snapshot interval and a bandwidth.
func (b *clientLobby) paced(every, kbps int) *client.Client {
	b.t.Helper()
	return b.addClient(client.Config{SnapshotEvery: every, MaxKbps: kbps}, nil)
}

// Bandwidth stays within 2 % of the limit and uses it, for the lobby's limit and for a client's
// lower one. The client decodes everything without a resync or a misprediction, and every drop is
// counted.
func TestRow26ByteRateHolds(t *testing.T) {
	alone(t)
	for i, c := range []struct{ lobby, wish, cap int }{
		0: {0, 0, 0},
		1: {48, 1000, 48},
		2: {200, 30, 30},
		3: {16, 0, 16},
	} {
		b := newClientLobby(t, fullOrShort(60, 40),
			Config{Players: 64, Kbps: c.lobby, Rules: sim.Rules{Seed: 3}})
		b.turnPlayers(uint64(i))
		p := b.paced(0, c.wish)
		b.play(2)
		seconds := fullOrShort(10, 4)
		before, s0 := p.Stats(), b.counted()
		b.play(seconds)
		after, s1 := p.Stats(), b.counted()
		kbps := float64(after.BytesIn-before.BytesIn) * 8 / 1000 / float64(seconds)
		t.Logf("%d: %.1f kbit/s of %d, %d snapshots, age %v, throttled %d", i,
			kbps, c.cap, after.Snapshots-before.Snapshots, after.SnapshotAge, s1[1]-s0[1])
		if c.cap == 0 {
			if s1[1] != 0 || after.Snapshots-before.Snapshots != uint64(seconds*20) || kbps < 50 {
				t.Errorf("%d: without a cap %d throttled, %d snapshots, %.1f kbit/s",
					i, s1[1], after.Snapshots-before.Snapshots, kbps)
			}
		} else if kbps > float64(c.cap)*1.02 || kbps < float64(c.cap)*.9 {
			t.Errorf("%d: %.1f kbit/s, the cap is %d", i, kbps, c.cap)
		}
		if state, _ := p.State(); state != client.Joined || after.Undecoded != 0 ||
			after.Resyncs != 0 || after.Prediction.Mispredictions != 0 {
			t.Errorf("%d: %v, %+v", i, state, after)
		}
		due := uint64(seconds * 20 * len(b.players))
		if got := s1[0] + s1[1] + s1[2] - s0[0] - s0[1] - s0[2]; got != due {
			t.Errorf("%d: %d snapshots sent, throttled or stalled of %d due", i, got, due)
		}
	}
}

// turnPlayers makes all players run and turn, which makes the largest snapshots.
func (b *clientLobby) turnPlayers(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	b.brain = func(int) client.Intent {
		return client.Intent{MoveMag: 255, Yaw: geom.Angle(rng.Uint32()),
			Pitch: geom.Angle(rng.IntN(8000)), Buttons: sim.Buttons(rng.IntN(4))}
	}
}

// counted returns the snapshots that were sent, throttled and held back because acks stalled.
func (b *clientLobby) counted() [3]uint64 {
	return [3]uint64{b.count(metrics.Snapshots), b.count(metrics.SnapshotsThrottled),
		b.count(metrics.SnapshotsAckStalled)}
}

// A connection whose bucket stays empty gets a packet with acks and messages four times a second.
func TestRow26ThrottledClientGetsAcks(t *testing.T) {
	alone(t)
	b := newClientLobby(t, 60, Config{Players: 64, Kbps: 16, Relevance: RelevanceOff})
	b.turnPlayers(4)
	c := b.joinedClient()
	longest, quiet := 0, 0
	for range 6 {
		for range 60 {
			b.tickAll()
			quiet++
			if before := c.bytes; len(c.receive()) > 0 || c.bytes > before {
				longest, quiet = max(longest, quiet), 0
			}
			c.sendSections(c.commands(1)...)
		}
	}
	if longest > 60/keepAlivesPerSecond+3 || c.controlPackets < 6 {
		t.Errorf("%d ticks without a word, %d words", longest, c.controlPackets)
	}
}

// A client with a lower snapshot rate has a longer view delay, and its shots are judged by it: no
// view is clamped.
func TestRow26PacedViewsAreBelieved(t *testing.T) {
	for _, every := range []int{1, 2, 4} {
		b := newClientLobby(t, 0, Config{Players: 16, Rules: sim.Rules{RewindMillis: 1000}})
		for range 4 {
			b.paced(every, 0)
		}
		b.brain = func(n int) client.Intent {
			return client.Intent{Yaw: geom.Angle(n << 14), Buttons: sim.Fire}
		}
		b.play(3)
		shots, clamped := b.count(metrics.Shots), b.count(metrics.ShotsClamped)
		b.play(3)
		if shots, clamped = b.count(metrics.Shots)-shots,
			b.count(metrics.ShotsClamped)-clamped; shots < 40 || clamped != 0 {
			t.Errorf("every %d: %d of %d views clamped", every, clamped, shots)
		}
	}
}

// Each client gets its snapshots evenly at the interval that it requested, beside clients with
// other intervals.
func TestRow26IntervalsHonoured(t *testing.T) {
	b := newClientLobby(t, 0, Config{Players: 16})
	asks := []int{0, 1, 2, 3, 4, 6, 8}
	for _, every := range asks {
		b.paced(every, 0)
	}
	b.play(4)
	var before []client.Stats
	for _, p := range b.players {
		before = append(before, p.Stats())
	}
	b.play(12)
	for n, p := range b.players {
		s, want := p.Stats(), uint64(12*20/max(1, asks[n]))
		got := s.Snapshots - before[n].Snapshots
		if got+1 < want || got > want+1 || s.Undecoded != 0 || s.Resyncs != 0 ||
			s.Prediction.Mispredictions != 0 || s.RenderStalls > before[n].RenderStalls {
			t.Errorf("every %d: %d snapshots of %d, %+v", asks[n], got, want, s)
		}
		if g := &b.lobby.conns[p.ID().Index()]; int(g.repl.pacing.spacing) != 3*max(1, asks[n]) ||
			!snapshot.IsBaselineAge(max(1, asks[n])) {
			t.Errorf("every %d: paced at %d ticks", asks[n], g.repl.pacing.spacing)
		}
	}
	c := b.joinedClient()
	for i, bad := range [][]byte{sim.AppendSnapshotRate(nil, 0, 0), sim.AppendSnapshotRate(nil, 5, 0),
		sim.AppendSnapshotRate(nil, 9, 0), sim.AppendSnapshotRate(nil, 2, 15), {sim.AskSnapshotRate}} {
		c.queueReliable(bad)
		c.receive()
		c.sendSections()
		b.tick()
		if g := &b.lobby.conns[c.id().Index()]; g.repl.pacing.every != 1 || !g.repl.pacing.bucket.Ready(0) {
			t.Errorf("%d: a pace of %x was taken", i, bad)
		}
	}
	for i, cfg := range []client.Config{{SnapshotEvery: 5}, {SnapshotEvery: 9},
		{SnapshotEvery: 257}, {SnapshotEvery: -1}, {MaxKbps: 15}, {MaxKbps: 65536 + 16}} {
		cfg.Token, cfg.Arena = b.mint(99, nil), onGround
		if _, err := client.New(cfg); err != client.ErrSnapshotRate {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// After ten seconds without any datagram both ways, sessions with a longer timeout recover within
// a second and decode every snapshot.
func TestRow28RecoveryAfterTenSeconds(t *testing.T) {
	b := newClientLobby(t, 0, Config{})
	for range 4 {
		b.addClient(client.Config{}, func(m *netcode.Mint) { m.TimeoutSeconds = 15 })
	}
	k := link{rng: rand.New(rand.NewPCG(2, 2))}
	run := func(seconds int) {
		for range seconds * 60 {
			b.lossy(&k)
		}
	}
	run(3)
	k.loss = 1
	sent, s0 := b.count(metrics.Sent), b.counted()
	run(10)
	if s1 := b.counted(); s1[0]+s1[2] != s0[0]+s0[2]+4*10*20 || s1[1] != s0[1] {
		t.Errorf("snapshots sent, throttled and stalled went from %v to %v", s0, s1)
	}
	if n := b.count(metrics.Sent) - sent; n > 4*(2*20+8*(4+10)+4) { // probes, and keep-alives of netcode
		t.Errorf("%d datagrams into ten seconds of silence", n)
	}
	k.loss = 0
	run(1)
	var before []client.Stats
	for _, p := range b.players {
		before = append(before, p.Stats())
	}
	run(2)
	for n, p := range b.players {
		s := p.Stats()
		if state, _ := p.State(); state != client.Joined || s.Undecoded != 0 ||
			s.Snapshots-before[n].Snapshots < 38 || s.InputsMissing > before[n].InputsMissing {
			t.Errorf("client %d is %v: %+v", n, state, s)
		}
	}
	if b.count(metrics.TimedOut) != 0 || b.count(metrics.Joined) != 4 {
		t.Errorf("%d timed out, %d joined", b.count(metrics.TimedOut), b.count(metrics.Joined))
	}
}

// A tick in which most connections are throttled allocates nothing.
func TestThrottledTickAllocatesNothing(t *testing.T) {
	alone(t)
	for _, r := range []Relevance{RelevanceOff, RelevanceAll, RelevanceGrid} {
		throttledTick(t, Config{Players: 64, Kbps: 16, Relevance: r, Hysteresis: -1, ViewDistance: 20})
	}
}

func throttledTick(t *testing.T, cfg Config) {
	b := newClientLobby(t, 40, cfg)
	b.turnPlayers(1)
	b.play(fullOrShort(5, 2))
	before, squeezed := b.counted(), b.count(metrics.SnapshotsOverBudget)
	if n := alloctest.In(fullOrShort(120, 30), func() {
		b.now = b.lobby.cfg.Rules.Rate.At(b.lobby.match.Tick() + 1)
		if err := b.lobby.Tick(b.now, b.unix(), b.conn); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v: %v allocations", cfg.Relevance, n)
	}
	if after := b.counted(); after[0] == before[0] ||
		after[1] == before[1] && b.count(metrics.SnapshotsOverBudget) == squeezed {
		t.Errorf("%v: %v snapshots sent, throttled and stalled, was %v", cfg.Relevance, after, before)
	}
}
