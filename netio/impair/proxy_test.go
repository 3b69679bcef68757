package impair

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echo is a server on loopback that returns datagrams and remembers their source.
type echo struct {
	udp *net.UDPConn
	mu  sync.Mutex
	got map[netip.AddrPort]int
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	udp := socket(t)
	e := &echo{udp: udp, got: map[netip.AddrPort]int{}}
	done := make(chan bool)
	go func() {
		defer close(done)
		var buf [2048]byte
		for {
			n, from, err := udp.ReadFromUDPAddrPort(buf[:])
			if err != nil {
				return
			}
			e.mu.Lock()
			e.got[from]++
			e.mu.Unlock()
			_, _ = udp.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	t.Cleanup(func() {
		_ = udp.Close()
		<-done
	})
	return e
}

func (e *echo) addr() string { return e.udp.LocalAddr().String() }

func (e *echo) sources() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.got)
}

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	return udp
}

// running starts a proxy that stops with the test, and returns a function that stops it earlier.
func running(t *testing.T, cfg ProxyConfig) (*Proxy, func() ProxyStats) {
	t.Helper()
	p, err := NewProxy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	stop := sync.OnceValue(func() ProxyStats {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(waitLimit):
			t.Error("the proxy does not stop")
		}
		return p.Stats()
	})
	t.Cleanup(func() { balanced(t, stop()) })
	return p, stop
}

// balanced checks the identities of DirectionStats of a stopped proxy.
func balanced(t *testing.T, s ProxyStats) {
	t.Helper()
	for _, w := range []DirectionStats{s.Up, s.Down} {
		if w.Received != w.Oversize+w.Overflow+w.Pushed ||
			!conserved(w.Stats, int(w.InFlight+w.Abandoned)) || w.InFlight != 0 {
			t.Errorf("a datagram is missing: %+v", w)
		}
	}
	if s.Clients != 0 {
		t.Errorf("%d clients outlived the proxy", s.Clients)
	}
}

// client returns a socket that is connected to the proxy.
func client(t *testing.T, p *Proxy) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// waitLimit bounds every wait for a datagram on loopback: a busy machine may stall for seconds.
const waitLimit = 20 * time.Second

// answer waits for one datagram for a time; -1 if none arrives.
func answer(c *net.UDPConn, within time.Duration) int {
	_ = c.SetReadDeadline(time.Now().Add(within))
	var buf [2048]byte
	n, err := c.Read(buf[:])
	if err != nil || n < 4 {
		return -1
	}
	return int(binary.LittleEndian.Uint32(buf[:]))
}

func send(t *testing.T, c *net.UDPConn, number int) {
	t.Helper()
	if _, err := c.Write(binary.LittleEndian.AppendUint32(nil, uint32(number))); err != nil {
		t.Fatal(err)
	}
}

func TestProxyPassesAll(t *testing.T) {
	e := newEcho(t)
	p, stop := running(t, ProxyConfig{To: e.addr()})
	clients := []*net.UDPConn{client(t, p), client(t, p), client(t, p)}
	for i := range 100 {
		for k, c := range clients {
			send(t, c, i*10+k)
		}
		for k, c := range clients { // one at a time in the socket: the loopback loses nothing
			if got := answer(c, waitLimit); got != i*10+k {
				t.Fatalf("client %d heard %d, want %d", k, got, i*10+k)
			}
		}
	}
	if n := e.sources(); n != 3 {
		t.Errorf("the server saw %d addresses, want 3", n)
	}
	if s := p.Stats(); s.Clients != 3 || s.Up.Received != 300 || s.Down.Delivered != 300 {
		t.Errorf("%+v", s)
	}
	if s := stop(); s.Joined != 3 || s.Up.SendFailed+s.Down.SendFailed+s.Refused != 0 {
		t.Errorf("%+v", s)
	}
}

func TestProxyDelaysEachWay(t *testing.T) {
	e := newEcho(t)
	p, _ := running(t, ProxyConfig{To: e.addr(), Up: Profile{Delay: 40 * ms}, Down: Profile{Delay: 25 * ms}})
	c := client(t, p)
	for i := range 5 {
		start := time.Now()
		send(t, c, i)
		got, took := answer(c, waitLimit), time.Since(start)
		if got != i || took < 65*ms { // how much later is the machine's affair
			t.Fatalf("heard %d after %v, want %d after 65ms", got, took, i)
		}
	}
}

func TestProxyImpairsBySeed(t *testing.T) {
	e := newEcho(t)
	hear := func(seed uint64) (heard string) {
		p, stop := running(t, ProxyConfig{To: e.addr(), Up: Profile{Loss: 0.3},
			Down: Profile{Duplicate: 0.3}, Seed: seed})
		c := client(t, p)
		for i := range 200 {
			send(t, c, i)
			for p.Stats().Up.Received != uint64(i+1) { // one by one, so that the socket loses none
				time.Sleep(50 * time.Microsecond)
			}
		}
		heardAll := func() bool {
			s := p.Stats()
			return s.Up.InFlight+s.Down.InFlight == 0 && s.Down.Received == s.Up.Delivered &&
				uint64(len([]rune(heard))) == s.Down.Delivered
		}
		for end := time.Now().Add(waitLimit); !heardAll() && time.Now().Before(end); {
			if n := answer(c, 20*ms); n >= 0 {
				heard += string(rune(n))
			}
		}
		if n := answer(c, 20*ms); n >= 0 {
			t.Errorf("heard %d after all", n)
		}
		s := stop()
		if len([]rune(heard)) != int(s.Down.Delivered) || s.Up.Lost < 30 || s.Down.Duplicated < 15 {
			t.Errorf("heard %d; %+v", len([]rune(heard)), s)
		}
		return heard
	}
	if a, b, c := hear(1), hear(1), hear(2); a != b || a == c {
		t.Error("a seed decides nothing, or not everything")
	}
}

func TestProxyRebinds(t *testing.T) {
	e := newEcho(t)
	p, stop := running(t, ProxyConfig{To: e.addr(), Up: Profile{Rebind: 50 * ms}})
	c := client(t, p)
	for end := time.Now().Add(waitLimit); p.Stats().Up.Rebound < 3 && time.Now().Before(end); {
		send(t, c, 1)
		answer(c, 20*ms) // some are lost, as at any change of address
	}
	s := stop()
	if s.Up.Rebound < 3 || s.Joined != 1 || e.sources() < 3 {
		t.Fatalf("%d addresses seen; %+v", e.sources(), s)
	}
}

func TestProxyIsBounded(t *testing.T) {
	e := newEcho(t)
	p, stop := running(t, ProxyConfig{To: e.addr(), Up: Profile{Delay: time.Minute}, Clients: 2,
		MaxInFlight: 50})
	until := func(what string, done func(s ProxyStats) bool) {
		t.Helper()
		for end := time.Now().Add(waitLimit); !done(p.Stats()); time.Sleep(ms) {
			if time.Now().After(end) {
				t.Fatalf("%s: %+v", what, p.Stats())
			}
		}
	}
	for i := range 4 {
		send(t, client(t, p), i)
	}
	until("two of four get in", func(s ProxyStats) bool { return s.Refused == 2 && s.Joined == 2 })
	p.mu.Lock()
	var g *proxyClient
	for _, g = range p.clients {
		break
	}
	p.mu.Unlock()
	for range 100 { // straight in: the loopback may lose a flood
		g.push(&g.up, []byte("data"))
	}
	g.push(&g.up, make([]byte, MaxDatagram+1))
	s := stop()
	if s.Up.Overflow != 52 || s.Up.Abandoned != 50 || s.Up.Oversize != 1 || p.inFlight.Load() != 0 {
		t.Fatalf("%+v, %d on their way", s, p.inFlight.Load())
	}
	g.push(&g.up, []byte("too late"))
	if p.Stats() != s {
		t.Fatal("a client that has gone still counts")
	}
}

func TestProxyForgetsTheSilent(t *testing.T) {
	e := newEcho(t)
	p, _ := running(t, ProxyConfig{To: e.addr(), Idle: 50 * ms, Clients: 1})
	ask := func(number int) {
		t.Helper()
		c := client(t, p)
		for end := time.Now().Add(waitLimit); time.Now().Before(end); {
			send(t, c, number) // again, for the proxy may forget a client while the machine stalls
			if got := answer(c, 200*ms); got == number {
				return
			}
		}
		t.Fatalf("no answer to %d", number)
	}
	ask(1)
	for end := time.Now().Add(waitLimit); p.Stats().Clients > 0; time.Sleep(5 * ms) {
		if time.Now().After(end) {
			t.Fatalf("%+v", p.Stats())
		}
	}
	ask(2)
}

// A server that starts late or restarts is reached again.
func TestProxyOutlivesTheServer(t *testing.T) {
	gone := socket(t)
	addr := gone.LocalAddr().(*net.UDPAddr)
	_ = gone.Close()
	p, _ := running(t, ProxyConfig{To: addr.String()})
	c := client(t, p)
	for i := range 5 {
		send(t, c, i)
		time.Sleep(2 * ms)
	}
	late, err := net.ListenUDP("udp4", addr)
	if err != nil {
		t.Skip("the port is in use again")
	}
	defer func() { _ = late.Close() }()
	var arrived atomic.Bool
	go func() {
		if _, _, err := late.ReadFromUDPAddrPort(make([]byte, 100)); err == nil {
			arrived.Store(true)
		}
	}()
	for i := 0; !arrived.Load(); i++ {
		if i == 1000 {
			t.Fatal("nothing arrives")
		}
		send(t, c, i)
		time.Sleep(5 * ms)
	}
}

// Many clients at once over the worst profile: every datagram is accounted for, under the race
// detector too.
func TestProxyUnderLoad(t *testing.T) {
	e := newEcho(t)
	hell, err := ParseProfile("hell,rate=200kB,rebind=100ms")
	if err != nil {
		t.Fatal(err)
	}
	p, stop := running(t, ProxyConfig{To: e.addr(), Up: hell, Down: hell, Seed: 7})
	var all sync.WaitGroup
	for range 20 {
		c := client(t, p)
		all.Go(func() {
			for i := range 100 {
				_, _ = c.Write(binary.LittleEndian.AppendUint64(nil, uint64(i)))
				answer(c, 2*ms)
			}
		})
	}
	all.Wait()
	s := stop()
	balanced(t, s)
	if s.Joined != 20 || s.Up.Received < 1500 || s.Up.Lost == 0 || s.Down.Delivered == 0 ||
		s.Up.Rebound == 0 {
		t.Errorf("%+v", s)
	}
}

func TestProxyRefusesBadConfigurations(t *testing.T) {
	taken, free := socket(t), socket(t)
	self := free.LocalAddr().String()
	_ = free.Close()
	for _, c := range []struct {
		cfg  ProxyConfig
		word string
	}{
		{ProxyConfig{}, "no server"},
		{ProxyConfig{To: "nowhere"}, "server address"},
		{ProxyConfig{To: "127.0.0.1:1", Listen: "127.0.0.1:http3"}, "listen"},
		{ProxyConfig{To: "127.0.0.1:1", Listen: taken.LocalAddr().String()}, taken.LocalAddr().String()},
		{ProxyConfig{To: self, Listen: self}, "to itself"},
		{ProxyConfig{To: "localhost" + self[len("127.0.0.1"):],
			Listen: "0.0.0.0" + self[len("127.0.0.1"):]}, "to itself"},
		{ProxyConfig{To: "127.0.0.1:1", Up: Profile{Loss: 2}}, "to the server"},
		{ProxyConfig{To: "127.0.0.1:1", Down: Profile{Loss: 2}}, "to the clients"},
		{ProxyConfig{To: "127.0.0.1:1", Clients: -1}, "clients"},
		{ProxyConfig{To: "127.0.0.1:1", MaxInFlight: -1}, "on their way"},
		{ProxyConfig{To: "127.0.0.1:1", Idle: -1}, "forgotten"},
	} {
		p, err := NewProxy(c.cfg)
		if err == nil {
			_ = p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%+v: %v, want an error with %q", c.cfg, err, c.word)
		}
	}
}
