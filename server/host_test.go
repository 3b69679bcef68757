package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim/ghost"
)

// gnet's worker pool starts at its package's init and never ends; whatever else is left over is ours.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

func hostConfig(socket string) HostConfig {
	gate := netcode.ServerConfig{PrivateKey: netcode.Key{1, 2, 3}}
	return HostConfig{Lobby: Config{Arena: ground(), ArenaName: "arena-16", Players: 4, Gate: gate}, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Socket: socket}
}

// running starts a host and returns what ends it: like an interrupt, and within two seconds.
func running(t *testing.T, cfg HostConfig) (h *Host, stop func()) {
	t.Helper()
	h, err := NewHost(cfg)
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
		case <-time.After(2 * time.Second):
			t.Fatal("still running two seconds after the interrupt")
		}
	}
}

func ask(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 3 * time.Second}
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

// A host answers a Hello over a real socket, tells its figures, forgets them when asked, and can be started again on
// the same ports at once.
func TestHost(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		cfg := hostConfig(socket)
		for round := range 2 {
			h, stop := running(t, cfg)
			cfg.Listen, cfg.HTTP = h.Addr().String(), h.HTTPAddr() // the next round wants these very ports
			greet(t, h.Addr(), h.lobby.cfg.Models.Hash())
			at := "http://" + h.HTTPAddr()
			if status, body := ask(t, "GET", at+"/healthz"); status != 200 || body != "ok\n" {
				t.Errorf("%s, round %d: health %d %q", socket, round, status, body)
			}
			r := figures(t, at)
			for end := time.Now().Add(time.Second); r.TickWall.Max == 0 && time.Now().Before(end); r = figures(t, at) { // amid the first tick
				time.Sleep(time.Millisecond)
			}
			if r.Rate != 60 || r.Interval != 3 || r.Counts["rx_datagrams"] == 0 || r.Counts["rx_accepted"] != r.Counts["rx_datagrams"] ||
				r.Counts["tx_datagrams"] == 0 || r.Socket.DatagramsIn == 0 || r.Seconds <= 0 || r.TickWall.Max <= 0 || len(r.Stages) != Stages {
				t.Errorf("%s, round %d: %+v", socket, round, r)
			}
			if status, _ := ask(t, "POST", at+"/stats/reset"); status != http.StatusNoContent {
				t.Errorf("%s: reset %d", socket, status)
			}
			if again := figures(t, at); again.Counts["rx_datagrams"] != 0 || again.Seconds >= r.Seconds+1 {
				t.Errorf("%s: after a reset %+v", socket, again)
			}
			for _, c := range []struct {
				method, path string
				status       int
			}{{"GET", "/stats/reset", 405}, {"POST", "/stats", 405}, {"GET", "/nothing", 404}, {"GET", "/debug/pprof/goroutine", 200},
				{"GET", "/debug/pprof/cmdline", 404}, {"GET", "/v1/connect", 405}, {"POST", "/v1/connect", 200}} {
				if status, _ := ask(t, c.method, at+c.path); status != c.status {
					t.Errorf("%s: %s %s gave %d, want %d", socket, c.method, c.path, status, c.status)
				}
			}
			stop()
		}
	}
}

// greet says Hello until a Challenge comes.
func greet(t *testing.T, to netip.AddrPort, model uint64) {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h := wire.Hello{Version: wire.Version, Nonce: 77, Schema: ghost.SchemaHash(), Model: model}
	buf := make([]byte, 2000)
	for range 20 {
		if _, err := c.Write(h.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(buf); err == nil {
			if ch, err := wire.ParseChallenge(buf[:n]); err != nil || ch.Nonce != 77 {
				t.Fatalf("%x: %v", buf[:n], err)
			}
			return
		}
	}
	t.Fatal("no answer to twenty Hellos")
}

func figures(t *testing.T, at string) (r Report) {
	t.Helper()
	status, body := ask(t, "GET", at+"/stats")
	if err := json.Unmarshal([]byte(body), &r); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	return r
}

// A taken port is an error that names the address, and nothing stays open behind it.
func TestPortInUse(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		h, stop := running(t, hostConfig(socket))
		udp, web := hostConfig(socket), hostConfig(socket)
		udp.Listen, web.HTTP = h.Addr().String(), h.HTTPAddr()
		for i, c := range []struct {
			cfg  HostConfig
			want string
		}{{udp, h.Addr().String()}, {web, h.HTTPAddr()}} {
			other, err := NewHost(c.cfg)
			if err == nil || other != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %d: %v, want one line with %s", socket, i, err, c.want)
			}
		}
		stop()
	}
	for i, cfg := range []HostConfig{{Listen: "no port"}, {Listen: "127.0.0.1:0", HTTP: "no port"}, {Socket: "tcp", Listen: "127.0.0.1:0"}} {
		cfg.Lobby = hostConfig("").Lobby
		if h, err := NewHost(cfg); err == nil || h != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A host without an HTTP port has none; a guest is told when it closes.
func TestHostSaysGoodbye(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.HTTP = ""
	var log bytes.Buffer
	cfg.Log = &log
	h, stop := running(t, cfg)
	if h.HTTPAddr() != "" {
		t.Errorf("http at %s", h.HTTPAddr())
	}
	conn, err := netio.ListenMmsg("127.0.0.1:0", netio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var in, out netio.Batch
	say := func(d []byte) {
		out.Reset()
		out.Add(d, h.Addr())
		if err := conn.Send(&out); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(kind wire.Kind) []byte {
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			n, err := conn.Receive(&in)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if d := in.At(i).Data; wire.KindOf(d) == kind {
					return bytes.Clone(d)
				}
			}
		}
		t.Fatalf("nothing of kind %d came", kind)
		return nil
	}
	hello := wire.Hello{Version: wire.Version, Nonce: 5, Schema: ghost.SchemaHash(), Model: ghost.Trained().Hash()}
	say(hello.Append(nil))
	ch, err := wire.ParseChallenge(hear(wire.KindChallenge))
	if err != nil {
		t.Fatal(err)
	}
	say((&wire.Response{Nonce: 5, Cookie: ch.Cookie}).Append(nil))
	a, err := wire.ParseAccept(hear(wire.KindAccept))
	if err != nil {
		t.Fatal(err)
	}
	hear(wire.KindPayload)
	stop()
	d, err := wire.ParseDisconnect(hear(wire.KindDisconnect))
	if err != nil || d.Token != ^a.Token || d.Reason != wire.ReasonClosing {
		t.Errorf("goodbye %+v, %v", d, err)
	}
}
