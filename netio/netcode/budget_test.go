package netcode

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// crowd is a flood of connection requests with forged tokens, and clients that connect beside it
// from the same /24. A tick of the server is 8 ms.
type crowd struct {
	t       *testing.T
	s       *Server
	clients []*Client
	came    []time.Duration // when each client connected; 0: not yet
	now     time.Duration
}

const crowdTick = 8 * time.Millisecond

// at returns the address of an endpoint of the /24 by host and port.
func (c *crowd) at(host, port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(host)}), uint16(port))
}

// source is the address of client i: ten clients share a host.
func (c *crowd) source(i int) netip.AddrPort { return c.at(100+i/10, 1000+i) }

// play floods the server for a time with perSecond requests from the addresses that from returns,
// and has the clients connect. Requests of the flood and of the clients arrive mixed.
func (c *crowd) play(length time.Duration, perSecond int, from func(i int) netip.AddrPort) {
	junk := request(mint(c.t, 1<<40, nil))
	junk[100] ^= 1
	sent := 0
	var out, up Outbox
	for end := c.now + length; c.now < end; c.now += crowdTick {
		unix := testUnix + int64(c.now/time.Second)
		flood := perSecond * int(crowdTick/time.Millisecond) / 1000
		for i := range flood {
			c.s.Receive(c.now, unix, from(sent), junk, &out)
			sent++
			for k := i * len(c.clients) / flood; k < (i+1)*len(c.clients)/flood; k++ {
				up.Reset()
				c.clients[k].Update(c.now, &up)
				for n := range up.Len() {
					_, d := up.At(n)
					c.s.Receive(c.now, unix, c.source(k), d, &out)
				}
			}
		}
		c.s.Update(c.now, unix, &out)
		c.deliver(&out)
	}
}

// deliver gives the clients what the server has sent, and the server what they answer.
func (c *crowd) deliver(out *Outbox) {
	var up Outbox
	for n := 0; n < out.Len(); n++ {
		to, d := out.At(n)
		k := int(to.Port()) - 1000
		c.clients[k].Receive(c.now, testServer, d, &up)
		if c.came[k] == 0 && c.clients[k].State() == Connected {
			c.came[k] = c.now
		}
	}
	out.Reset()
}

// A hundred clients connect within two seconds beside 120,000 well-formed requests a second from
// their own /24: from a few sockets or from made-up addresses also while the loop has no time to
// spare, and from addresses that ask as seldom as clients with it. Nothing is opened beyond
// the budget and the time to spare.
func TestThreat07FloodFromClientsNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of work")
	}
	const perSecond, clients = 120_000, 100
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name  string
		spare float64
		from  func(*crowd, int) netip.AddrPort
		most  time.Duration
	}{
		{"eight sockets, no time", 0,
			func(c *crowd, i int) netip.AddrPort { return c.at(50, 5000+i%8) }, time.Second},
		{"made-up addresses, no time", 0,
			func(c *crowd, i int) netip.AddrPort { return c.at(rng.IntN(256), 5000+rng.IntN(60_000)) },
			2 * time.Second},
		{"eight sockets", 0.45,
			func(c *crowd, i int) netip.AddrPort { return c.at(50, 5000+i%8) }, time.Second},
		{"made-up addresses", 0.45,
			func(c *crowd, i int) netip.AddrPort { return c.at(rng.IntN(256), 5000+rng.IntN(60_000)) },
			time.Second},
		{"addresses like those of clients", 0.45,
			func(c *crowd, i int) netip.AddrPort { return c.at(i%12_000%100, 5000+i%12_000/100) },
			2 * time.Second},
	} {
		s := newServer(t, func(cfg *ServerConfig) { cfg.Clients = clients })
		s.SetSpare(c.spare)
		w := &crowd{t: t, s: s, came: make([]time.Duration, clients)}
		from := func(i int) netip.AddrPort { return c.from(w, i) }
		w.play(2*time.Second, perSecond, from)
		for i := range clients {
			token := mint(t, uint64(i+1), func(m *Mint) { m.TimeoutSeconds = 15 })
			w.clients = append(w.clients, NewClient(token, ClientConfig{}))
		}
		opened := s.counters.Drops[DropReqToken]
		began := w.now
		w.play(4*time.Second, perSecond, from)
		opened = s.counters.Drops[DropReqToken] - opened
		slowest, missing := time.Duration(0), 0
		for _, at := range w.came {
			if slowest = max(slowest, at-began); at == 0 {
				missing++
			}
		}
		t.Logf("%s: all in after %v; %d forged tokens opened a second", c.name, slowest, opened/4)
		if missing > 0 || slowest > c.most {
			t.Errorf("%s: %d of %d are not in, the slowest came after %v", c.name, missing, clients, slowest)
		}
		// 5,000 of one network, and what a share of a processor opens
		if most := uint64(5000 + c.spare/openingTime.Seconds()); opened/4 > most {
			t.Errorf("%s: %d opened a second, want at most %d", c.name, opened/4, most)
		}
	}
}

// One tick opens no more than sixteen milliseconds' share of the time to spare, and no time to
// spare opens nothing.
func TestBudgetSpare(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	b := newBudget(2, 1, [2]uint64{1, 2})
	now := time.Duration(0)
	burst := func() (taken int) {
		now += time.Second
		for i := range 100_000 {
			if b.admit(now, addressKey(host(i)), rng) == DropNone {
				taken++
			}
		}
		return taken
	}
	for i, c := range []struct {
		share    float64
		min, max int
	}{{0, 0, 1}, {0.3, 1000, 1602}, {1, 4000, 5336}, {2, 4000, 5336}, {0, 0, 1}, {-1, 0, 1}, {0.003, 10, 18}} {
		b.setSpare(c.share)
		if n := burst(); n < c.min || n > c.max {
			t.Errorf("%d: %d opened at once with a share of %v", i, n, c.share)
		}
	}
}

// Addresses are counted from the first pressure until ten seconds without it, and anew at the next,
// for which nothing is allocated.
func TestBudgetCountsUnderPressure(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	b := newBudget(1000, 100, [2]uint64{1, 2})
	now := time.Duration(0)
	flood := func() { // of one network
		for i := range 200 {
			b.admit(now, addressKey(host(i)), rng)
		}
	}
	calm := func(length time.Duration) { // a request of another network twice a second
		for end := now + length; now < end; now += 500 * time.Millisecond {
			b.admit(now, addressKey(host(1<<16)), rng)
		}
	}
	if calm(5 * time.Second); b.asked != nil || b.counting {
		t.Error("addresses are counted without pressure")
	}
	if flood(); !b.counting {
		t.Error("addresses are not counted under pressure")
	}
	if calm(5 * time.Second); !b.counting {
		t.Error("addresses are not counted five seconds after pressure")
	}
	calm(10 * time.Second)
	turned := b.asked.turned
	if calm(60 * time.Second); b.counting || b.asked.turned != turned {
		t.Errorf("addresses are counted a minute after pressure, the sketch turned %v later", b.asked.turned-turned)
	}
	if n := testing.AllocsPerRun(1, func() {
		now += time.Minute
		flood()
	}); n != 0 || !b.counting {
		t.Errorf("%v allocations under the next pressure, counting %v", n, b.counting)
	}
}

// An estimate is never below the truth within the last half second, is close to it beside many
// other keys, and is forgotten after a second.
func TestSketch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	k := newSketch(0, [2]uint64{rng.Uint64(), rng.Uint64()})
	key := func(i int) tableKey { return addressKey(host(i)) }
	wrong := 0
	for round := range 10 {
		now := time.Duration(round) * 40 * time.Millisecond
		for i := range 100 {
			n := k.add(now, key(i))
			if n < round {
				t.Fatalf("key %d: %d, seen %d times", i, n, round)
			}
			if n > round {
				wrong++
			}
		}
		for range 5000 {
			k.add(now, key(1000+rng.IntN(1<<23)))
		}
	}
	if wrong > 200 {
		t.Errorf("%d of 1000 estimates are too high", wrong)
	}
	for range 1000 {
		k.add(400*time.Millisecond, key(7))
	}
	if n := k.add(400*time.Millisecond, key(7)); n != 255 {
		t.Errorf("after 1000 times %d", n)
	}
	if n := k.add(700*time.Millisecond, key(7)); n < 255 {
		t.Errorf("in the next half second %d", n)
	}
	if n := k.add(1900*time.Millisecond, key(7)); n != 0 {
		t.Errorf("later %d", n)
	}
}

// TestProvenHostsAreForgotten: a host stays proven through the half in which it answered and the
// next, and no longer, also if nobody asked in between.
func TestProvenHostsAreForgotten(t *testing.T) {
	host := addressKey(netip.MustParseAddrPort("192.0.2.1:9"))
	for _, asked := range [][]time.Duration{{2*provenFor - 1}, {2 * provenFor}, {provenFor, 2*provenFor - 1}, {provenFor, 2 * provenFor}} {
		b := newBudget(1000, 100, [2]uint64{1, 2})
		b.markProven(0, host)
		for i, now := range asked {
			if want := now < 2*provenFor; b.isProven(now, host) != want {
				t.Errorf("asked at %v: proven %v at %v", asked[:i+1], !want, now)
			}
		}
	}
	b := newBudget(1000, 100, [2]uint64{1, 2})
	b.markProven(provenFor, host) // at the edge it belongs to the newer half
	if !b.isProven(2*provenFor, host) || !b.isProven(3*provenFor-1, host) {
		t.Error("a host of the newer half is forgotten early")
	}
}
