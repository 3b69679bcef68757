package netcode

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// link is one direction of a lossy network for all clients, in virtual time.
type link struct {
	rng   *rand.Rand
	loss  float64
	queue flights
	n     int
	burst map[int]time.Duration // until when a client's path is blocked
}

type flight struct {
	at     time.Duration
	n      int
	client int
	data   []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].n < f[j].n
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any     { x := (*f)[len(*f)-1]; *f = (*f)[:len(*f)-1]; return x }

// send drops a share of loss, duplicates 10 %, damages 5 %, delays by 0 to 80 ms, so that datagrams
// overtake one another, and at times blocks the path of a client for up to half a second.
func (l *link) send(now time.Duration, client int, data []byte) {
	if l.rng.Float64() < 0.002 {
		l.burst[client] = now + time.Duration(l.rng.Int64N(int64(500*time.Millisecond)))
	}
	copies := 1
	if l.rng.Float64() < 0.1 {
		copies = 2
	}
	for range copies {
		if l.rng.Float64() < l.loss {
			continue
		}
		d := bytes.Clone(data)
		if l.rng.Float64() < 0.05 {
			switch l.rng.IntN(3) {
			case 0:
				d[l.rng.IntN(len(d))] ^= 1 << l.rng.IntN(8)
			case 1:
				d = d[:l.rng.IntN(len(d))]
			case 2:
				d = append(d, byte(l.rng.Uint32()))
			}
		}
		at := max(now, l.burst[client]) + time.Duration(l.rng.Int64N(int64(80*time.Millisecond)))
		l.n++
		heap.Push(&l.queue, flight{at, l.n, client, d})
	}
}

func (l *link) arrived(now time.Duration) (f flight, ok bool) {
	if len(l.queue) == 0 || l.queue[0].at > now {
		return f, false
	}
	return heap.Pop(&l.queue).(flight), true
}

// stamp returns a payload that shows whether it was damaged or delivered to another client.
func stamp(client int, n uint32) []byte {
	b := make([]byte, 8, 60)
	binary.LittleEndian.PutUint32(b, uint32(client))
	binary.LittleEndian.PutUint32(b[4:], n)
	return append(b, pattern(make([]byte, n%50), client, int(n))...)
}

func stamped(client int, b []byte) bool {
	return len(b) >= 8 && bytes.Equal(b, stamp(client, binary.LittleEndian.Uint32(b[4:])))
}

// lossyNetwork is a server and its clients with a lossy link each way.
type lossyNetwork struct {
	now      time.Duration
	s        *Server
	clients  []*Client
	up, down link
	slots    map[int]int     // slot to client
	entered  []time.Duration // when each client connected
	received int
	bytes    map[netip.AddrPort][2]int // from and to an address before its session begins
	quiet    bool                      // the server sends nothing but handshakes
	nonces   map[nonce]bool
	t        *testing.T
}

// nonce is what must never be used twice: the key of a client, the direction, and the sequence.
type nonce struct {
	client   int
	down     bool
	sequence uint64
}

// once fails the test if a sealed datagram repeats a nonce. n lacks the sequence, which is read
// from the datagram.
func (h *lossyNetwork) once(n nonce, d []byte) {
	if f, why := parseHeader(d); why == DropNone {
		n.sequence = f.sequence
		if h.nonces[n] {
			h.t.Fatalf("%+v seals twice", n)
		}
		h.nonces[n] = true
	}
}

func newLossyNetwork(t *testing.T, n int, loss float64, change func(*ServerConfig)) *lossyNetwork {
	h := &lossyNetwork{t: t, slots: map[int]int{}, entered: make([]time.Duration, n),
		bytes: map[netip.AddrPort][2]int{}, nonces: map[nonce]bool{}}
	h.s = newServer(t, func(c *ServerConfig) {
		c.Clients = n
		if change != nil {
			change(c)
		}
	})
	h.up = link{rng: rand.New(rand.NewPCG(1, 2)), loss: loss, burst: map[int]time.Duration{}}
	h.down = link{rng: rand.New(rand.NewPCG(3, 4)), loss: loss, burst: map[int]time.Duration{}}
	for i := range n {
		h.clients = append(h.clients, NewClient(mint(t, uint64(i), nil), ClientConfig{Roam: i%2 == 0}))
	}
	return h
}

func (h *lossyNetwork) clientOf(a netip.AddrPort) int {
	b := a.Addr().As4()
	return int(b[1])<<16 | int(b[2])<<8 | int(b[3])
}

// emit puts the server's datagrams on the link, and checks the amplification limit of unverified
// addresses.
func (h *lossyNetwork) emit(out *Outbox) {
	for i := range out.Len() {
		to, d := out.At(i)
		h.count(to, 1, len(d))
		h.once(nonce{client: h.clientOf(to), down: true}, d)
		h.down.send(h.now, h.clientOf(to), d)
	}
}

func (h *lossyNetwork) count(a netip.AddrPort, way, n int) {
	if _, in := h.s.slotAt.get(addressKey(a)); !in {
		b := h.bytes[a]
		b[way] += n
		h.bytes[a] = b
		if float64(b[1]) > amplification*float64(b[0]) {
			h.t.Fatalf("%v sent %d bytes and got %d before it was proven", a, b[0], b[1])
		}
	}
}

func (h *lossyNetwork) step() {
	var out Outbox
	for i, c := range h.clients {
		out.Reset()
		c.Update(h.now, &out)
		if c.State() == Connected && h.now%(50*time.Millisecond) == 0 {
			c.Send(h.now, stamp(i, uint32(h.now/time.Millisecond)), &out)
		}
		for j := range out.Len() {
			_, d := out.At(j)
			h.once(nonce{client: i}, d)
			h.up.send(h.now, i, d)
		}
	}
	for f, ok := h.up.arrived(h.now); ok; f, ok = h.up.arrived(h.now) {
		out.Reset()
		a := host(f.client)
		h.count(a, 0, len(f.data))
		e, _ := h.s.Receive(h.now, testUnix+int64(h.now/time.Second), a, f.data, &out)
		switch e.Kind {
		case EventConnected:
			h.slots[e.Client] = f.client
		case EventPayload:
			h.received++
			if !stamped(h.slots[e.Client], e.Payload) || h.slots[e.Client] != f.client {
				h.t.Fatalf("slot %d got %q from client %d", e.Client, e.Payload, f.client)
			}
		}
		h.emit(&out)
	}
	out.Reset()
	if !h.quiet {
		h.s.Update(h.now, testUnix+int64(h.now/time.Second), &out)
	}
	if !h.quiet && h.now%(50*time.Millisecond) == 0 {
		for slot, client := range h.slots {
			h.s.Send(h.now, slot, stamp(client, uint32(h.now/time.Millisecond)), &out)
		}
	}
	h.emit(&out)
	for f, ok := h.down.arrived(h.now); ok; f, ok = h.down.arrived(h.now) {
		out.Reset()
		c := h.clients[f.client]
		payload, _ := c.Receive(h.now, testServer, f.data, &out)
		if payload != nil && !stamped(f.client, payload) {
			h.t.Fatalf("client %d got %q", f.client, payload)
		}
		if c.State() == Connected && h.entered[f.client] == 0 {
			h.entered[f.client] = h.now
		}
		for j := range out.Len() {
			_, d := out.At(j)
			h.once(nonce{client: f.client}, d)
			h.up.send(h.now, f.client, d)
		}
	}
	h.now += 10 * time.Millisecond
}

// A thousand clients connect at once over paths that lose 30 %. All are connected within three
// seconds, no damaged payload is delivered, no session gets another's payload, no unverified
// address gets more than its share, and no key seals two datagrams with one sequence.
func TestThousandClientsOverLoss(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 200
	}
	h := newLossyNetwork(t, n, 0.3, nil)
	for h.now < 3*time.Second {
		h.step()
	}
	var slowest, sum time.Duration
	for i, c := range h.clients {
		if c.State() != Connected {
			t.Errorf("client %d: %v", i, c.State())
		}
		slowest, sum = max(slowest, h.entered[i]), sum+h.entered[i]
		if !c.counters.Balanced() {
			t.Errorf("client %d: %+v", i, c.counters)
		}
	}
	for h.now < 4*time.Second {
		h.step()
	}
	if h.s.Connected() != n || h.received < 20*n/2 {
		t.Errorf("%d connected, %d payloads", h.s.Connected(), h.received)
	}
	t.Logf("%d clients: %v on the mean, the slowest %v; server: %d datagrams, %d dropped", n,
		sum/time.Duration(n), slowest,
		h.s.counters.Received, h.s.counters.Dropped())
}

// Ten thousand clients connect at once on a good link: the budget spreads them out, and all are
// connected within three seconds.
func TestTenThousandAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of work")
	}
	h := newLossyNetwork(t, MaxClients, 0, nil)
	for h.now < 3*time.Second && h.s.Connected() < MaxClients {
		h.step()
	}
	if h.s.Connected() != MaxClients {
		t.Errorf("%d connected", h.s.Connected())
	}
	t.Logf("all in after %v", h.now)
}

// Without the server's keep-alives many clients stay outside: the test above can fail.
func TestLossNeedsKeepAlives(t *testing.T) {
	h := newLossyNetwork(t, 100, 0.3, nil)
	h.quiet = true
	for h.now < 3*time.Second {
		h.step()
	}
	in := 0
	for _, c := range h.clients {
		if c.State() == Connected {
			in++
		}
	}
	if in < 50 || in > 90 || h.s.Connected() < 99 {
		t.Errorf("%d of 100 are in without keep-alives, the server knows %d", in, h.s.Connected())
	}
}
