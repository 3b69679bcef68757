package server

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// dishonesty is how a client breaks the rules of acks, rates and resyncs.
type dishonesty uint8

const (
	acksHonestly  dishonesty = iota
	asksRates                // asks in every packet for other rates, valid, out of range and garbage
	asksResyncs              // asks in every packet for a resync, or reports a wrong checksum
	acksPattern              // acks one packet of n, another n for each client
	acksRandom               // acks one random packet of the newest 64
	acksFuture               // acks packets that were never sent
	acksNothing              // acks nothing
	acksOneOfMany            // acks the first packet of each snapshot only
	acksLate                 // acks nothing for 40 snapshots, then one packet
	acksAll                  // acks all packets, arrived or not
	garbage                  // claims garbage about arrivals, and garbage sections
	dishonesties
)

func (d dishonesty) String() string {
	return [...]string{"honest", "asksRates", "asksResyncs", "acksPattern", "acksRandom", "acksFuture",
		"acksNothing", "acksOneOfMany", "acksLate", "acksAll", "garbage"}[d]
}

// crowdClient is a client of a crowd: a session whose downlink has a latency and loses packets.
type crowdClient struct {
	*testClient
	does    dishonesty
	n       int
	rng     *rand.Rand
	latency int      // ticks
	queue   [][]byte // packets on their way, by arrival
	due     []tick.Tick
	newest  tick.Tick // newest snapshot
	firsts  []uint16  // sequences of the first packets of snapshots, the newest last
	seqs    []uint16  // sequences that arrived, the newest last
	age     int       // of the newest snapshot, in ticks, summed over ticks
}

// crowd is a lobby full of clients, some of them dishonest.
type crowd struct {
	*testLobby
	clients []*crowdClient
	cpu     time.Duration // of the lobby's ticks
}

// newCrowd lets honest clients and bad ones join, of the same latencies and losses whatever bad
// ones do.
func newCrowd(t testing.TB, cfg Config, good, bad int, does func(n int) dishonesty) *crowd {
	c := &crowd{testLobby: newTestLobby(t, cfg)}
	c.conn.Close() // its queue is too short for so many
	var err error
	if c.conn, err = c.net.Listen(testAddr, netio.Config{RingDatagrams: 4 * (good + bad)}); err != nil {
		t.Fatal(err)
	}
	for n := range good + bad {
		p := &crowdClient{testClient: c.newClient(""), n: n, latency: 1 + n%7,
			rng: rand.New(rand.NewPCG(uint64(n), 26))}
		if n >= good {
			p.does = does(n - good)
		}
		p.beginConnect(nil)
		c.clients = append(c.clients, p)
	}
	for range 30 {
		for _, p := range c.clients {
			p.update()
		}
		c.tick()
		for _, p := range c.clients {
			p.receive()
		}
	}
	for n, p := range c.clients {
		if p.welcome.Version == 0 {
			t.Fatalf("client %d is not let in", n)
		}
		p.ready()
	}
	return c
}

// play plays ticks; bad clients are honest for the first honestTicks of them.
func (c *crowd) play(ticks int, bad bool) {
	c.t.Helper()
	for range ticks {
		for _, p := range c.clients {
			p.step(bad)
		}
		from := clock.ThreadCPU()
		c.tick()
		c.cpu += clock.ThreadCPU() - from
	}
}

// step receives what has arrived by now and sends a packet.
func (p *crowdClient) step(bad bool) {
	t := p.host.lobby.match.Tick()
	for _, d := range p.received() {
		if p.rng.IntN(64) == 0 {
			continue
		}
		if pkt, err := p.netcode.Receive(p.host.now, testAddr, d, &p.outbox); err == nil && pkt != nil {
			p.queue = append(p.queue, append([]byte(nil), pkt...))
			p.due = append(p.due, t+tick.Tick(p.latency))
		}
	}
	p.outbox.Reset()
	for len(p.queue) > 0 && p.due[0] <= t {
		p.take(p.queue[0])
		p.queue, p.due = p.queue[1:], p.due[1:]
	}
	p.age += int(t - p.newest)
	does := p.does
	if !bad {
		does = acksHonestly
	}
	p.sendAs(does)
}

// take takes an arrived packet.
func (p *crowdClient) take(pkt []byte) {
	h, _, _ := packet.ParseHeader(pkt)
	rest := p.receivePacket(pkt)
	p.seqs = append(p.seqs, h.Sequence)
	if rest == nil {
		return
	}
	if s, _, err := netstate.ParseHeader(rest[1:]); err == nil {
		if s.Owner {
			p.firsts = append(p.firsts, h.Sequence)
		}
		p.newest = max(p.newest, s.Tick)
	}
}

// walk is the client's next command, which depends on nothing but the tick.
func (p *crowdClient) walk() []byte {
	next := p.host.lobby.match.Tick() + 1
	c := sim.Command{Tick: next, Yaw: geom.Angle(uint32(p.n*977) + uint32(next)*111), MoveMag: 255,
		MoveYaw: uint8(p.n*37 + int(next>>5)*29)}
	return section(c)
}

// sendAs sends the packet of a tick.
func (p *crowdClient) sendAs(does dishonesty) {
	t, rng := p.host.lobby.match.Tick(), p.rng
	ask := func(message []byte) { _ = p.peer.QueueReliable(message) }
	switch does {
	case asksRates:
		every := [...]uint8{1, 8, 0, 255, 5, 2, 1, 3}[int(t)%8]
		ask(sim.AppendSnapshotRate(nil, every, [...]uint16{0, 1, 0xffff, 16, 0}[int(t)%5]))
		ask(sim.AppendSnapshotRate(nil, 1, 0))
	case asksResyncs:
		ask([]byte{sim.AskResync})
		ask(sim.AppendDiverged(nil, t))
	}
	walk := p.walk()
	if does == garbage { // in a packet of its own: the commands in it are refused with it
		junk := append([]byte(nil), walk...)
		for range 1 + rng.IntN(20) {
			junk = append(junk, byte(rng.Uint32()))
		}
		p.send(p.seal(p.packet(junk...)))
	}
	pkt := p.packet(walk...)
	le := binary.LittleEndian
	ack, bits := le.Uint16(pkt[2:]), le.Uint64(pkt[4:])
	switch every := 2 + p.n%11; does {
	case acksPattern:
		ack, bits = pick(p.seqs, func(i int, seq uint16) bool { return int(seq)%every == 0 })
	case acksRandom:
		if n := len(p.seqs); n > 0 {
			ack, bits = p.seqs[n-1-rng.IntN(min(n, 64))], 0
		}
	case acksFuture: // in a packet of its own: the commands in it are refused with it
		forged := p.packet()
		le.PutUint16(forged[2:], ack+uint16(1+rng.IntN(30000)))
		p.send(p.seal(forged))
	case acksNothing:
		ack, bits = 0, 0
	case acksOneOfMany:
		ack, bits = pick(p.firsts, func(int, uint16) bool { return true })
	case acksLate:
		if n := len(p.firsts); int(t)/3%40 != 0 || n == 0 {
			ack, bits = p.held()
		}
	case acksAll:
		bits = ^uint64(0)
		if ack <= 64 {
			bits = 1<<(max(ack, 1)-1) - 1
		}
	}
	le.PutUint16(pkt[2:], ack)
	le.PutUint64(pkt[4:], bits)
	p.send(p.seal(pkt))
}

// held is an old ack again.
func (p *crowdClient) held() (ack uint16, bits uint64) {
	if n := len(p.firsts); n > 0 {
		ack = p.firsts[(n-1)/40*40]
	}
	return ack, 0
}

// pick is an ack of the sequences that are wanted.
func pick(seqs []uint16, want func(i int, seq uint16) bool) (ack uint16, bits uint64) {
	for i := len(seqs) - 1; i >= 0; i-- {
		switch back := ack - seqs[i]; {
		case !want(i, seqs[i]):
		case ack == 0:
			ack = seqs[i]
		case back >= 1 && back <= 64:
			bits |= 1 << (back - 1)
		case back > 64:
			return ack, bits
		}
	}
	return ack, bits
}

// crowdResult is what a crowd costs and gets.
type crowdResult struct {
	hash       uint64
	age, bytes float64 // of honest clients: ticks, and a tick
	coded      snapshot.Coded
	snapshots  uint64
	cpu        time.Duration // a tick; a figure of this machine
	badBytes   map[dishonesty]float64
}

func playCrowd(t testing.TB, cfg Config, good, bad int, does func(int) dishonesty) (r crowdResult) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := newCrowd(t, cfg, good, bad, does)
	c.play(180, false)
	c.play(240, true) // longer than a baseline lives
	if n := len(c.lobby.live); n != good+bad || c.count(metrics.InputsMissing) > uint64(n*60) {
		t.Fatalf("%d of %d clients play", n, good+bad)
	}
	coded, snapshots := c.lobby.replication.players.encoder.Coded, c.count(metrics.Snapshots)
	for _, p := range c.clients {
		p.age, p.bytes = 0, 0
	}
	c.cpu = 0
	const ticks = 300
	c.play(ticks, true)
	now := c.lobby.replication.players.encoder.Coded
	r.coded = snapshot.Coded{Baselines: now.Baselines - coded.Baselines, Blocks: now.Blocks - coded.Blocks,
		Rows: now.Rows - coded.Rows}
	r.snapshots, r.hash = c.count(metrics.Snapshots)-snapshots, c.lobby.match.Hash()
	r.cpu = c.cpu / ticks
	r.badBytes = map[dishonesty]float64{}
	for n, p := range c.clients {
		if n < good {
			r.age += float64(p.age) / float64(good*ticks)
			r.bytes += float64(p.bytes) / float64(good*ticks)
		} else {
			r.badBytes[p.does] += float64(p.bytes) / ticks
		}
	}
	return r
}

// TestDishonestClientsCostTheirShare plays a lobby twice. In the second run a tenth of the clients
// lie in acks and ask for impossible rates and endless resyncs. The match is equal to the bit, honest
// clients get the same snapshots, and dishonest ones are sent no more bytes than honest ones in
// their place.
func TestDishonestClientsCostTheirShare(t *testing.T) {
	alone(t)
	good, bad := 500, 50
	if testing.Short() {
		t.Skip("a full lobby")
	}
	a, err := arena.Open("arena-1024")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Players: good + bad, Arena: a, ArenaName: "arena-1024", Netcode: withoutFloodLimit()}
	base := playCrowd(t, cfg, good, bad, func(int) dishonesty { return acksHonestly })
	got := playCrowd(t, cfg, good, bad, func(n int) dishonesty {
		return 1 + dishonesty(n)%(dishonesties-1)
	})
	t.Logf("all honest: %+v", base)
	t.Logf("a tenth dishonest: %+v", got)
	if got.hash != base.hash {
		t.Error("the match differs")
	}
	share := base.badBytes[acksHonestly] / float64(dishonesties-1)
	sent := 0.0
	for d, n := range got.badBytes {
		if sent += n; n > 1.75*share {
			t.Errorf("clients of kind %v are sent %.0f bytes a tick, honest ones %.0f", d, n, share)
		}
	}
	for _, c := range []struct {
		what             string
		got, base, bound float64
	}{
		{"age of honest clients' snapshots", got.age, base.age, 1.02},
		{"bytes of honest clients", got.bytes, base.bytes, 1.02},
		{"bytes of dishonest clients", sent, base.badBytes[acksHonestly], 1.02},
		{"snapshots", float64(got.snapshots), float64(base.snapshots), 1},
		{"sets of baselines", float64(got.coded.Baselines), float64(base.coded.Baselines), 3},
		{"rows and rows of blocks coded", float64(got.coded.Rows + 16*got.coded.Blocks),
			float64(base.coded.Rows + 16*base.coded.Blocks), 1.6}, // partial acks have baselines of their own
	} {
		if c.got > c.bound*c.base {
			t.Errorf("%s: %.1f, and %.1f if all are honest", c.what, c.got, c.base)
		}
	}
}
