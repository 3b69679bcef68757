package host

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
)

// netcodeClient is a netcode client on a real socket.
type netcodeClient struct {
	t      *testing.T
	client *netcode.Client
	udp    *net.UDPConn
	out    netcode.Outbox
	begin  time.Time
}

// connectOver requests a token, as the launcher of a game does, and connects with it.
func connectOver(t *testing.T, url string) *netcodeClient {
	t.Helper()
	status, body := ask(t, "POST", url)
	var r httpapi.ConnectReply
	if err := json.Unmarshal([]byte(body), &r); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	j := &netcodeClient{t: t, client: netcode.NewClient(r.Token, netcode.ClientConfig{}), begin: time.Now()}
	var err error
	if j.udp, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(j.client.Server())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.udp.Close() })
	j.until(func([]byte) bool { return j.client.State() == netcode.Connected })
	return j
}

// until runs the client until done returns true for a payload, or nil for none.
func (j *netcodeClient) until(done func(payload []byte) bool) {
	j.t.Helper()
	buf := make([]byte, 2000)
	for end := time.Now().Add(waitLimit); time.Now().Before(end); {
		now := time.Since(j.begin)
		j.client.Update(now, &j.out)
		for i := range j.out.Len() {
			_, d := j.out.At(i)
			_, _ = j.udp.Write(d) // a server that has gone is noticed by its silence
		}
		j.out.Reset()
		if err := j.udp.SetReadDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
			j.t.Fatal(err)
		}
		var payload []byte
		if n, err := j.udp.Read(buf); err == nil {
			payload, _ = j.client.Receive(now, j.client.Server(), buf[:n], &j.out)
		}
		if done(payload) {
			return
		}
	}
	j.t.Fatalf("still waiting after %v, %v", waitLimit, j.client.State())
}

// echoes fails unless a payload comes back.
func (j *netcodeClient) echoes(payload []byte) {
	j.t.Helper()
	if err := j.client.Send(time.Since(j.begin), payload, &j.out); err != nil {
		j.t.Fatal(err)
	}
	j.until(func(back []byte) bool {
		if back != nil && !bytes.Equal(back, payload) {
			j.t.Fatalf("%d bytes came back as %d others", len(payload), len(back))
		}
		return back != nil
	})
}

// A client that knows only the server's HTTP address connects, receives its payloads back, and
// leaves. The report accounts for all of it.
func TestEchoHost(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		cfg := hostConfig(socket)
		cfg.Lobby = server.Config{Netcode: cfg.Lobby.Netcode, Players: 2}
		log := &safeLog{}
		cfg.Log = log
		h, err := NewEchoHost(cfg)
		if err != nil {
			t.Fatal(err)
		}
		stop := runningOf(t, h.Run)
		j := connectOver(t, h.ConnectURL())
		for _, n := range []int{1, 100, longest} {
			j.echoes(bytes.Repeat([]byte{byte(n)}, n))
		}
		at := "http://" + h.HTTPAddr()
		stats := func() (r EchoReport) {
			status, body := ask(t, "GET", at+"/stats")
			if err := json.Unmarshal([]byte(body), &r); err != nil || status != 200 {
				t.Fatalf("%d %s: %v", status, body, err)
			}
			return r
		}
		if r := stats(); r.Connected != 1 || r.Slots != 2 || r.Kinds["payload"] != 3 ||
			r.Sent["payload"] != 3 || r.Elapsed <= 0 {
			t.Errorf("%s: %+v", socket, r)
		}
		if status, body := ask(t, "GET", at+"/healthz"); status != 200 || body != "ok\n" {
			t.Errorf("%s: health %d %q", socket, status, body)
		}
		if _, err := j.udp.Write([]byte{5, 0, 0}); err != nil { // too short to be sealed
			t.Fatal(err)
		}
		j.client.Disconnect(time.Since(j.begin), &j.out)
		j.until(func([]byte) bool { return stats().Connected == 0 })
		r := stats()
		var dropped uint64
		for _, n := range r.Drops {
			dropped += n
		}
		if r.Received != r.Accepted+dropped || dropped == 0 || r.Received != r.Socket.Delivered {
			t.Errorf("%s: received %d, accepted %d, dropped %v", socket, r.Received, r.Accepted, r.Drops)
		}
		stop()
		for _, want := range []string{"slot 0: connected\n", "slot 0: disconnect\n"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: the log has no %q:\n%s", socket, want, log)
			}
		}
	}
}

// safeLog is a log that one goroutine writes and another reads.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Row 40: the end of an echo host is sent to every client, and Run returns in time.
func TestThreat40EchoHost(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.Lobby = server.Config{Netcode: cfg.Lobby.Netcode, Players: 8}
	h, err := NewEchoHost(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := runningOf(t, h.Run)
	var all []*netcodeClient
	for range 8 {
		all = append(all, connectOver(t, h.ConnectURL()))
	}
	stop()
	for i, j := range all {
		j.until(func([]byte) bool { return j.client.State() <= netcode.Disconnected })
		if err := j.client.Err(); err != nil {
			t.Errorf("client %d was not told: %v", i, err)
		}
	}
}

// A host whose HTTP port others can reach gives no tokens without a secret, says so, and gives them
// with one.
func TestConnectOffLoopback(t *testing.T) {
	for i, c := range []struct {
		http, secret string
		want         int
		url          bool
	}{{"127.0.0.1:0", "", 200, true}, {"127.0.0.1:0", "s", 401, true},
		{"0.0.0.0:0", "", 403, false}, {"0.0.0.0:0", "s", 401, true}} {
		cfg := hostConfig("mmsg")
		log := &safeLog{}
		cfg.HTTP.Listen, cfg.HTTP.Secret, cfg.Log = c.http, c.secret, log
		h, stop := running(t, cfg)
		_, port, err := net.SplitHostPort(h.HTTPAddr())
		if err != nil {
			t.Fatal(err)
		}
		if status, body := ask(t, "POST", "http://127.0.0.1:"+port+"/v1/connect"); status != c.want {
			t.Errorf("%d: status %d %s, want %d", i, status, body, c.want)
		}
		if (h.ConnectURL() != "") != c.url || strings.Contains(log.String(), "--http-token") == c.url {
			t.Errorf("%d: tokens at %q, log %q", i, h.ConnectURL(), log)
		}
		stop()
	}
}

// Tokens name the bound address or the configured one. For a host on all addresses they name
// loopback, and the log says so.
func TestHostName(t *testing.T) {
	for i, c := range []struct {
		listen string
		log    bool
	}{{"127.0.0.1:0", false}, {"0.0.0.0:0", true}, {":0", true}} {
		cfg := hostConfig("mmsg")
		log := &safeLog{}
		cfg.UDP.Listen, cfg.HTTP.Listen, cfg.Log = c.listen, "", log
		h, stop := running(t, cfg)
		if g := h.sessions; len(g.Addresses) != 1 || g.Addresses[0].Addr().String() != "127.0.0.1" ||
			g.Addresses[0].Port() != h.Addr().Port() ||
			g.Entropy == [32]byte{} || g.StartUnix == 0 || g.ProtocolID != protocol.ProtocolID ||
			g.Clients != 4 {
			t.Errorf("%d: %+v", i, g)
		}
		if strings.Contains(log.String(), "--public-addr") != c.log {
			t.Errorf("%d: log %q", i, log)
		}
		stop()
		cfg.Lobby.Netcode.Addresses = publicAddrs
		h, stop = running(t, cfg)
		if g := h.sessions; len(g.Addresses) != 2 || g.Addresses[1] != publicAddrs[1] {
			t.Errorf("%d: %v", i, g.Addresses)
		}
		stop()
	}
}

// A host that fails to start leaves neither its port nor the journal open.
func TestEchoHostRefuses(t *testing.T) {
	good := hostConfig("mmsg")
	good.Lobby = server.Config{Netcode: good.Lobby.Netcode, Players: 2}
	if HasJournal {
		good.Files.Journal = filepath.Join(t.TempDir(), "echo.tokens")
	}
	first, err := NewEchoHost(good)
	if err != nil {
		t.Fatal(err)
	}
	// the last one wants these very ports
	good.UDP.Listen, good.HTTP.Listen = first.Addr().String(), first.HTTPAddr()
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Lobby.Netcode.PrivateKey = netcode.Key{} }, "refusing the well-known test key"},
		{func(c *Config) { c.Lobby.Players = netcode.MaxClients + 1 }, "10001 players: expected 1 to 10000"},
		{func(c *Config) { c.Lobby.Players = -1 }, "-1 players"},
		{func(c *Config) { c.UDP.Backend = "tcp" }, `"tcp": expected gnet or mmsg`},
		{func(c *Config) { c.HTTP.Listen = "no port" }, "no port"},
		{func(c *Config) { c.UDP.Listen = "no port" }, "no port"},
		{func(*Config) {}, ""},
	} {
		cfg := good
		c.change(&cfg)
		h, err := NewEchoHost(cfg)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%d: %v", i, err)
		case c.want == "":
			err = h.close()
			if err != nil {
				t.Error(err)
			}
		case err == nil || h != nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n"):
			t.Errorf("%d: %v, want one line with %q", i, err, c.want)
		}
	}
}

// Drops are logged: the first at once, then at most one line in ten seconds. So is a wall clock
// that was set (row 3).
func TestEchoHostLog(t *testing.T) {
	cfg := hostConfig("mmsg")
	log := &safeLog{}
	cfg.HTTP.Listen, cfg.Log, cfg.Lobby = "", log, server.Config{Netcode: cfg.Lobby.Netcode, Players: 2}
	h, err := NewEchoHost(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	var out netcode.Outbox
	refuse := func(n int) {
		for range n {
			if _, err := h.echo.server.Receive(0, echoUnix, publicAddrs[0],
				make([]byte, 1078), &out); err != netcode.DropReqVersion {
				t.Fatal(err)
			}
		}
	}
	const line = "refused: request: another version [drop_req_version]"
	for i, c := range []struct {
		refused int
		at      time.Duration
		drift   time.Duration
		want    string
	}{
		{0, 1, 0, ""},
		{3, 2, time.Second, line + " (3 times)\n"},
		{5, 3, -time.Second, ""},
		{0, 12, 0, line + " (and 4 more like it in 10 s)\n"},
		{0, 13, 3 * time.Second, "the wall clock was set by 3.0 s: tokens may expire at the wrong time\n"},
		{0, 14, 3 * time.Second, ""},
		{0, 30, 0, "the wall clock was set by -3.0 s: tokens may expire at the wrong time\n"},
	} {
		before := len(log.String())
		refuse(c.refused)
		h.everySecond(c.at*time.Second, c.drift)
		if got := log.String()[before:]; got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}
