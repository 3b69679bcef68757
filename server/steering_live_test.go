package server

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// One goroutine pushes, one takes: every handover arrives once, in order and whole.
func TestHandoverRing(t *testing.T) {
	const total = 50_000
	var r handoverRing
	r.init(100)
	if len(r.slots) != 128 {
		t.Fatalf("%d slots", len(r.slots))
	}
	go func() {
		for n := uint64(0); n < total; {
			h, data := r.next()
			if h == nil {
				runtime.Gosched()
				continue
			}
			*h = handover{client: n, bytes: uint16(8 + n%100)}
			binary.LittleEndian.PutUint64(data[:], n)
			binary.LittleEndian.PutUint64(data[n%100:], n)
			r.push()
			n++
		}
	}()
	for n := uint64(0); n < total; {
		slots, data := r.ready(1 + int(n%70))
		for i := range slots {
			h := &slots[i]
			if h.client != n || h.bytes != uint16(8+n%100) || binary.LittleEndian.Uint64(data[i][n%100:]) != n {
				t.Fatalf("handover %d: %+v", n, *h)
			}
			n++
		}
		r.release(len(slots))
		if len(slots) == 0 {
			runtime.Gosched()
		}
	}
	if r.len() != 0 {
		t.Errorf("%d are left", r.len())
	}
}

// Two workers on threads and sockets of their own play while lobbies move between them all the time:
// every client keeps its session, and the figures of all datagrams agree in the end.
func TestSteeringLive(t *testing.T) {
	conns, err := netio.ListenShared(2, netio.ListenMmsg, "127.0.0.1:0", netio.Config{})
	if err != nil {
		t.Skipf("no shared port: %v", err)
	}
	w := newLiveWorkers(t, conns)
	var clients []*liveClient
	for i := range 8 {
		clients = append(clients, w.client(t, uint64(i+1), uint32(i%4)))
	}
	run := 3 * time.Second
	if testing.Short() {
		run = time.Second
	}
	for end := time.Now().Add(run + 5*time.Second); time.Now().Before(end) && !t.Failed(); {
		ready := 0
		for _, c := range clients {
			c.step(t)
			if c.snapshots > 20 {
				ready++
			}
		}
		if ready == len(clients) && w.moved.Load() > 30 && time.Until(end) < 5*time.Second {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	w.stop.Store(true)
	w.both.Wait()
	for i, c := range clients {
		if c.netcode.State() != netcode.Connected || c.snapshots <= 20 {
			t.Errorf("client %d: %v, %d snapshots", i, c.netcode.State(), c.snapshots)
		}
	}
	var delivered, counted uint64
	for i := range w.ports {
		delivered += conns[i].Stats().Delivered
		counted += w.stats[i].Count[metrics.Received].Load()
		if n := w.stats[i].Count[metrics.UnbalancedTicks].Load(); n != 0 {
			t.Errorf("worker %d: %d ticks unbalanced", i, n)
		}
		for k := range w.ports {
			counted += uint64(w.steering.ring(i, k).len())
		}
	}
	for _, l := range w.lobbies {
		counted += l.Stats.Count[metrics.Received].Load() + l.traffic.received
		if n := l.Stats.Count[metrics.TimedOut].Load(); n != 0 {
			t.Errorf("lobby %d: %d timed out", l.ID(), n)
		}
	}
	if delivered != counted || w.moved.Load() < 20 {
		t.Errorf("%d datagrams delivered, %d counted, %d moves", delivered, counted, w.moved.Load())
	}
}

// liveWorkers are two ports on sockets of the machine, each played by a goroutine. A lobby moves by
// the channel of its new worker.
type liveWorkers struct {
	addr     netip.AddrPort
	steering *Steering
	ports    [2]*Port
	stats    [2]*metrics.Stats
	conns    []netio.Conn
	lobbies  []*Lobby
	inbox    [2]chan *Moving
	start    time.Time
	stop     atomic.Bool
	moved    atomic.Int32
	both     sync.WaitGroup
}

func newLiveWorkers(t *testing.T, conns []netio.Conn) *liveWorkers {
	w := &liveWorkers{addr: conns[0].LocalAddr(), steering: NewSteering(2, 64), conns: conns, start: time.Now()}
	cfg := testNetcodeConfig()
	cfg.Clients, cfg.Addresses = 64, []netip.AddrPort{w.addr}
	var err error
	if cfg.Tokens, err = netcode.NewUsedTokens(cfg); err != nil {
		t.Fatal(err)
	}
	var own [2][]*Lobby
	for i := range w.ports {
		w.stats[i], w.inbox[i] = new(metrics.Stats), make(chan *Moving, 8)
		w.stats[i].Histograms = metrics.NewHistograms(false)
		if w.ports[i], err = NewPort(PortConfig{Netcode: cfg, Stats: w.stats[i],
			Timer: &metrics.TickTimer{Off: true}, Steering: w.steering, Worker: i}); err != nil {
			t.Fatal(err)
		}
	}
	for id := range uint32(4) {
		p := w.ports[id%2]
		l, err := NewLobby(Config{Arena: ground(), ArenaName: "arena-16", Players: 4, Port: p, ID: id,
			Rules: sim.Rules{Seed: uint64(id)}})
		if err != nil {
			t.Fatal(err)
		}
		p.Add(l)
		w.lobbies, own[id%2] = append(w.lobbies, l), append(own[id%2], l)
	}
	for i := range w.ports {
		w.both.Add(1)
		go func() {
			defer w.both.Done()
			w.play(t, i, own[i])
		}()
	}
	t.Cleanup(func() {
		w.stop.Store(true)
		w.both.Wait()
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return w
}

// play is the loop of a worker. Every few ticks it gives a lobby away, if it has more than one.
func (w *liveWorkers) play(t *testing.T, i int, own []*Lobby) {
	for n := 1; !w.stop.Load(); n++ {
		now := time.Since(w.start)
		for more := true; more; {
			select {
			case m := <-w.inbox[i]:
				own = append(own, m.Lobby())
				if err := w.ports[i].Attach(now, m); err != nil {
					t.Error(err)
					return
				}
				w.moved.Add(1)
			default:
				more = false
			}
		}
		var due []Due
		for _, l := range own {
			due = append(due, Due{Lobby: l, Ticks: 1})
		}
		if err := w.ports[i].Ticks(now, testUnix, w.conns[i], due); err != nil {
			t.Error(err)
			return
		}
		if n%3 == 0 && len(own) > 0 {
			w.inbox[1-i] <- w.ports[i].Detach(now, own[0])
			own = own[1:]
		}
		time.Sleep(w.lobbies[0].cfg.Rules.Rate.Period())
	}
	for len(w.inbox[i]) > 0 {
		if err := w.ports[i].Attach(time.Since(w.start), <-w.inbox[i]); err != nil {
			t.Error(err)
		}
	}
}

// liveClient is a client on a socket of the machine.
type liveClient struct {
	w         *liveWorkers
	conn      netio.Conn
	in, out   netio.Batch
	outbox    netcode.Outbox
	netcode   *netcode.Client
	peer      *packet.Peer
	ready     bool
	snapshots int
}

func (w *liveWorkers) client(t *testing.T, user uint64, lobby uint32) *liveClient {
	t.Helper()
	l := &testLobby{t: t, random: rand.NewChaCha8([32]byte{byte(user), 77})}
	token := l.mint(user, func(m *netcode.Mint) {
		m.Servers = []netip.AddrPort{w.addr}
		protocol.LobbyRef{Lobby: lobby}.Mark(m.UserData[:])
	})
	conn, err := netio.ListenMmsg("127.0.0.1:0", netio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &liveClient{w: w, conn: conn, netcode: netcode.NewClient(token, netcode.ClientConfig{})}
}

// step receives what has come and sends what is due.
func (c *liveClient) step(t *testing.T) {
	now := time.Since(c.w.start)
	for {
		n, err := c.conn.Receive(&c.in)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		for i := range n {
			if pkt, err := c.netcode.Receive(now, c.w.addr, c.in.At(i).Data, &c.outbox); err == nil && pkt != nil {
				c.receive(t, now, pkt)
			}
		}
	}
	c.netcode.Update(now, &c.outbox)
	if c.peer != nil && c.netcode.State() == netcode.Connected {
		pkt, _ := c.peer.Append(now, nil)
		if err := c.netcode.Send(now, c.peer.AppendReliable(pkt, 512), &c.outbox); err != nil {
			t.Fatal(err)
		}
	}
	c.out.Reset()
	for i := range c.outbox.Len() {
		_, d := c.outbox.At(i)
		c.out.Add(d, c.w.addr)
	}
	c.outbox.Reset()
	if err := c.conn.Send(&c.out); err != nil {
		t.Fatal(err)
	}
}

func (c *liveClient) receive(t *testing.T, now time.Duration, pkt []byte) {
	if c.peer == nil {
		c.peer = packet.NewPeer(now, packet.Config{})
	}
	rest, err := c.peer.Receive(now, pkt)
	if err == nil {
		rest, err = c.peer.Sections(rest)
	}
	if err != nil {
		return // late or twice
	}
	for _, ok := c.peer.NextReliable(); ok; _, ok = c.peer.NextReliable() {
		if !c.ready { // the first is the Welcome
			c.ready = true
			r := (&testLobby{lobby: c.w.lobbies[0]}).goodReady()
			if err := c.peer.QueueReliable(r.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if packet.SectionOf(rest) == packet.SectionSnapshot {
		c.snapshots++
	}
}
