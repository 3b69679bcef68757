package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// gnet's worker pool starts with its package and never ends; any other goroutine that is left is a
// leak.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

func hostConfig(socket string) Config {
	netcodeCfg := netcode.ServerConfig{PrivateKey: labKey} // the rest is the host's to find
	return Config{Lobby: server.Config{Arena: simtest.Arena(), ArenaName: "arena-16",
		Players: 4, Netcode: netcodeCfg},
		UDP: UDPConfig{Listen: "127.0.0.1:0", Backend: socket}, HTTP: HTTPConfig{Listen: "127.0.0.1:0"}}
}

// running starts a host and returns the function that ends it as an interrupt does.
func running(t *testing.T, cfg Config) (h *Host, stop func()) {
	t.Helper()
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h, runningOf(t, h.Run)
}

// runningOf starts a host's Run.
func runningOf(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(waitLimit):
			t.Fatalf("still running %v after the interrupt", waitLimit)
		}
	}
}

func ask(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A host answers a handshake over a real socket, reports its figures, resets them on request, and
// can be started again on the same ports at once.
func TestHost(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		cfg := hostConfig(socket)
		for round := range 2 {
			h, stop := running(t, cfg)
			// the next round wants these very ports
			cfg.UDP.Listen, cfg.HTTP.Listen = h.Addr().String(), h.HTTPAddr()
			g := greet(t, h.Addr())
			g.Close()
			at := "http://" + h.HTTPAddr()
			if status, body := ask(t, "GET", at+"/healthz"); status != 200 || body != "ok\n" {
				t.Errorf("%s, round %d: health %d %q", socket, round, status, body)
			}
			var r metrics.Report
			eventually(t, "the figures account for every datagram of the client", func() bool {
				r = figures(t, at)
				taken := r.Counts["rx_accepted"]
				for _, n := range r.Drops { // a slow machine drops repeats of a handshake
					taken += n
				}
				return r.Counts["rx_datagrams"] == g.sent && taken == g.sent && r.TickWall.Max > 0 &&
					r.Counts["tx_datagrams"] > 0 && r.Socket.DatagramsIn == g.sent
			})
			if r.Rate != 60 || r.Interval != 3 || r.Counts["tx_datagrams"] == 0 ||
				r.Socket.DatagramsIn != g.sent || r.ElapsedMillis <= 0 || len(r.Stages) != metrics.NumStages {
				t.Errorf("%s, round %d: %+v", socket, round, r)
			}
			reset := time.Now()
			if status, _ := ask(t, "POST", at+"/stats/reset"); status != http.StatusNoContent {
				t.Errorf("%s: reset %d", socket, status)
			}
			if again := figures(t, at); again.Counts["rx_datagrams"] != 0 ||
				again.ElapsedMillis > 1000*time.Since(reset).Seconds() {
				t.Errorf("%s: after a reset %+v", socket, again)
			}
			for _, c := range []struct {
				method, path string
				status       int
			}{{"GET", "/stats/reset", 405}, {"POST", "/stats", 405},
				{"GET", "/nothing", 404}, {"GET", "/debug/pprof/goroutine", 200},
				{"GET", "/debug/pprof/cmdline", 404}, {"GET", "/v1/connect", 405},
				{"POST", "/v1/connect", 200}} {
				if status, _ := ask(t, c.method, at+c.path); status != c.status {
					t.Errorf("%s: %s %s gave %d, want %d", socket, c.method, c.path, status, c.status)
				}
			}
			stop()
		}
	}
}

// A host prefaults its memory once, before the first client can join.
func TestHostPrefaults(t *testing.T) {
	for _, c := range []struct {
		touch   bool
		touched int
	}{{false, 0}, {true, 1}} {
		cfg, touched := hostConfig("mmsg"), 0
		if c.touch {
			cfg.Prefault = func() { touched++ }
		}
		h, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if touched != c.touched {
			t.Errorf("touch %v: touched %d times, expected %d", c.touch, touched, c.touched)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	}
}

// greeted is a client of a host over a real socket that has its Welcome.
type greeted struct {
	*net.UDPConn
	t    *testing.T
	dial *netcode.Client
	peer *packet.Peer
	out  netcode.Outbox
	when time.Time
	sent uint64 // datagrams
}

// greet connects until the Welcome arrives.
func greet(t *testing.T, to netip.AddrPort) *greeted {
	t.Helper()
	g := dialHost(t, to, nil)
	g.until("a welcome", g.welcomed)
	return g
}

// welcomed reports whether a Welcome has come.
func (g *greeted) welcomed() bool {
	if g.peer == nil {
		return false
	}
	e, ok := g.peer.NextReliable()
	_, err := protocol.ParseWelcome(e)
	return ok && err == nil
}

// dialHost begins to connect; change may alter the token.
func dialHost(t *testing.T, to netip.AddrPort, change func(*netcode.Mint)) *greeted {
	t.Helper()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	m := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: 7,
		Create: uint64(now.Unix()), Expire: uint64(now.Unix()) + 45, TimeoutSeconds: 60,
		Servers: []netip.AddrPort{to}}
	if change != nil {
		change(&m)
	}
	token, err := m.Append(nil, &labKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &greeted{UDPConn: conn, t: t, dial: netcode.NewClient(token, netcode.ClientConfig{}), when: now}
}

// until runs the client until a condition holds.
func (g *greeted) until(what string, happened func() bool) {
	g.t.Helper()
	for end := time.Now().Add(waitLimit); time.Now().Before(end); {
		if g.step() && happened() {
			return
		}
	}
	g.t.Fatalf("no %s within %v; %v", what, waitLimit, g.dial.State())
}

// step sends what is due and reads a datagram; false if none came in time.
func (g *greeted) step() bool {
	now := time.Since(g.when)
	g.dial.Update(now, &g.out)
	for i := range g.out.Len() {
		_, d := g.out.At(i)
		if _, err := g.Write(d); err == nil { // a port that is closed by now says so here
			g.sent++
		}
	}
	g.out.Reset()
	_ = g.SetReadDeadline(time.Now().Add(10 * time.Millisecond)) // fails on a closed socket, as Read does
	var buf [2000]byte
	n, err := g.Read(buf[:])
	if err != nil {
		return false
	}
	pkt, err := g.dial.Receive(now, g.dial.Server(), buf[:n], &g.out)
	if err == nil && pkt != nil {
		if g.peer == nil {
			g.peer = packet.NewPeer(now, packet.Config{})
		}
		if rest, err := g.peer.Receive(now, pkt); err == nil {
			_, _ = g.peer.Sections(rest)
		}
	}
	return true
}

func figures(t *testing.T, at string) (r metrics.Report) {
	t.Helper()
	askJSON(t, at+"/stats", &r)
	return r
}

// askJSON reads the document at a URL into v.
func askJSON(t *testing.T, url string, v any) {
	t.Helper()
	status, body := ask(t, "GET", url)
	if err := json.Unmarshal([]byte(body), v); err != nil || status != 200 {
		t.Fatalf("%s: %d %s: %v", url, status, body, err)
	}
}

// A taken port is an error that names the address, and nothing stays open behind it.
func TestPortInUse(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		h, stop := running(t, hostConfig(socket))
		udp, web := hostConfig(socket), hostConfig(socket)
		udp.UDP.Listen, web.HTTP.Listen = h.Addr().String(), h.HTTPAddr()
		for i, c := range []struct {
			cfg  Config
			want string
		}{{udp, h.Addr().String()}, {web, h.HTTPAddr()}} {
			other, err := New(c.cfg)
			if err == nil || other != nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %d: %v, want one line with %s", socket, i, err, c.want)
			}
		}
		stop()
	}
	for i, cfg := range []Config{{UDP: UDPConfig{Listen: "no port"}},
		{UDP: UDPConfig{Listen: "127.0.0.1:0"}, HTTP: HTTPConfig{Listen: "no port"}},
		{UDP: UDPConfig{Backend: "tcp", Listen: "127.0.0.1:0"}}} {
		cfg.Lobby = hostConfig("").Lobby
		if h, err := New(cfg); err == nil || h != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A host without an HTTP port has none. Connections receive a close when it ends.
func TestRow77HostSaysGoodbye(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.HTTP.Listen = ""
	var log bytes.Buffer
	cfg.Log = &log
	h, stop := running(t, cfg)
	if h.HTTPAddr() != "" {
		t.Errorf("http at %s", h.HTTPAddr())
	}
	g := greet(t, h.Addr())
	defer g.Close()
	stop()
	why, closed := packet.Reason(0), false
	g.until("goodbye", func() bool {
		why, closed = g.peer.Closed()
		return closed
	})
	if why != packet.ReasonClosing {
		t.Errorf("goodbye for %v", why)
	}
}
