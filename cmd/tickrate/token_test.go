package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// A token holds what its flags say, in base64 and in a file that only its owner can read, whatever
// its mode was before.
func TestToken(t *testing.T) {
	flags := []string{"token", "--server", "127.0.0.1:1000", "--server", "[::1]:2000",
		"--client-id", "0x10", "--protocol-id", "77",
		"--lifetime", "9s", "--session-timeout", "-1s", "--user-data-hex", "0aFF"}
	code, out, errs := result(t, flags...)
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(out, "\n"))
	if code != 0 || err != nil ||
		errs != "client 16, server 127.0.0.1:1000, [::1]:2000, to be used within 9s\n" {
		t.Fatalf("code %d, %v, %q", code, err, errs)
	}
	path := filepath.Join(t.TempDir(), "a.token")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := result(t, append(flags, "--out", path)...); code != 0 ||
		errs != "" || !strings.HasPrefix(out, path+": client 16,") {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for i, b := range [][]byte{raw, file} {
		var p netcode.PublicToken
		if err := p.Parse(b); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if p.ProtocolID != 77 || p.Expire-p.Create != 9 || p.TimeoutSeconds != -1 ||
			p.NumServers != 2 || p.Servers[1].String() != "[::1]:2000" {
			t.Errorf("%d: %+v", i, p)
		}
	}
	if bytes.Equal(raw, file) {
		t.Error("two tokens are one")
	}
	var p netcode.PublicToken
	_, out, _ = result(t, "token")
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out)); err != nil ||
		p.Parse(raw) != nil || p.ProtocolID != protocol.ProtocolID ||
		p.Expire-p.Create != uint64(httpapi.DefaultTokenLifetime/time.Second) ||
		p.TimeoutSeconds != httpapi.TimeoutSeconds(httpapi.DefaultSessionTimeout) ||
		p.Servers[0].String() != "127.0.0.1:7913" {
		t.Errorf("defaults: %+v, %v", p, err)
	}
}

// A swarm that gets no token prints the server's reason, or what to do.
func TestTokensRefused(t *testing.T) {
	var status int
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	at := s.Listener.Addr().String()
	for i, c := range []struct {
		status int
		body   string
		want   string
	}{
		{401, "{}", "--http-token"},
		{403, `{"error":"start the server with x"}`, "start the server with x"},
		{404, "<html>", "status 404; is this tickrate serve?"},
		{302, "", "status 302"},
		{200, "{}", "holds no token"},
		{200, "ok", "holds no token"},
		{200, `{"token":"AAAA"}`, "holds no token"},
		{200, `{"token":"` + base64.StdEncoding.EncodeToString(make([]byte, netcode.TokenSize)) + `"}`,
			"malformed token"},
		{200, strings.Repeat("x", 1<<20), "holds no token"},
	} {
		status, body = c.status, c.body
		if k, err := tokensOverHTTP(t.Context(), at, ""); err == nil || k != nil ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

// Each player gets a token of its own over one connection, with the secret. The first token names
// the server.
func TestTokens(t *testing.T) {
	connections := 0
	key := netcode.Key{4}
	servers, err := publicAddrs("", []string{"127.0.0.1:4567"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(httpapi.NewConnect(httpapi.ConnectConfig{Key: key,
		ProtocolID: 3, Servers: servers, Access: httpapi.Access{Secret: "s"}}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			connections++
		}
	}
	s.Start()
	defer s.Close()
	over, err := tokensOverHTTP(t.Context(), s.Listener.Addr().String(), "s")
	if err != nil {
		t.Fatal(err)
	}
	here, err := mintTokens(key, netcode.Mint{ProtocolID: 3, TimeoutSeconds: 1, Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, k := range []*tokenSource{over, here} {
		if k.at != servers[0] {
			t.Errorf("%d: server %v", i, k.at)
		}
		for n := range 20 {
			raw, err := k.Token(n)
			var p netcode.PublicToken
			if err != nil || p.Parse(raw) != nil || p.ProtocolID != 3 || seen[string(p.Nonce[:])] {
				t.Fatalf("%d: token %d: %v, or a second time", i, n, err)
			}
			seen[string(p.Nonce[:])] = true
		}
	}
	if connections != 1 {
		t.Errorf("%d connections", connections)
	}
}

// Row 39: a port in use and an invalid flag end with an exit code and one line that names them.
func TestThreat39PortsAndFlags(t *testing.T) {
	udp, tcp := takenPorts(t)
	for i, c := range []struct {
		args string
		code int
		want string
	}{
		{"serve --http= --journal none --listen " + udp.LocalAddr().String(), 1, udp.LocalAddr().String()},
		{"serve --echo --http= --journal none --listen " + udp.LocalAddr().String(),
			1, udp.LocalAddr().String()},
		{"serve --echo --socket mmsg --http= --journal none --listen " + udp.LocalAddr().String(),
			1, udp.LocalAddr().String()},
		{"serve --listen 127.0.0.1:0 --http " + tcp.Addr().String(), 1, tcp.Addr().String()},
		{"serve --echo --listen 127.0.0.1:0 --http " + tcp.Addr().String(), 1, tcp.Addr().String()},
		{"serve --echo --players many", 2, "--players"},
		{"serve --echoes", 2, "--echoes"},
		{"serve --protocol-id tickrate", 2, "--protocol-id"},
		{"serve --public-addr :7913", 2, "--public-addr"},
		{"token --server 127.0.0.1", 2, "--server"},
	} {
		code, out, errs := result(t, strings.Fields(c.args)...)
		if first, rest, ok := strings.Cut(errs, "\n"); ok && strings.Contains(first, "WARN  no journal of used tokens") {
			errs = rest
		}
		line := strings.TrimSuffix(errs, "\n")
		if code != c.code || out != "" || !strings.Contains(line, c.want) || strings.Contains(line, "\n") {
			t.Errorf("%d %s: code %d, %q, %q", i, c.args, code, out, errs)
		}
	}
}

// Row 40: SIGTERM ends an echo server with 0 in bounded time, and every client receives a
// disconnect.
func TestThreat40Echo(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	for i, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd, _, line := serving(t, "--echo", "--ready", "--players", "10",
			"--socket", []string{"gnet", "mmsg"}[i])
		var r ready
		if err := json.Unmarshal([]byte(line), &r); err != nil ||
			r.Connect != "http://"+r.HTTP+"/v1/connect" {
			t.Fatalf("%q: %v", line, err)
		}
		k, err := tokensOverHTTP(t.Context(), r.HTTP, "")
		if err != nil {
			t.Fatal(err)
		}
		var all []*netcodeClient
		for n := range 10 {
			all = append(all, newNetcodeClient(t, k, n))
		}
		alive(t, all, netcode.Connected)
		endsInTime(t, cmd, sig)
		alive(t, all, netcode.Disconnected)
		for n, w := range all {
			if w.client.Err() != nil {
				t.Errorf("%v: client %d: %v", sig, n, w.client.Err())
			}
		}
	}
}

// netcodeClient is a netcode client on a real socket.
type netcodeClient struct {
	client *netcode.Client
	udp    *net.UDPConn
	out    netcode.Outbox
}

func newNetcodeClient(t *testing.T, k *tokenSource, n int) *netcodeClient {
	t.Helper()
	raw, err := k.Token(n)
	if err != nil {
		t.Fatal(err)
	}
	w := &netcodeClient{client: netcode.NewClient(raw, netcode.ClientConfig{})}
	if w.udp, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(k.at)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.udp.Close() })
	return w
}

var wanderersBegan = time.Now()

// alive runs all clients until they are in a state.
func alive(t *testing.T, all []*netcodeClient, want netcode.State) {
	t.Helper()
	buf := make([]byte, 2000)
	for end := time.Now().Add(waitLimit); time.Now().Before(end); {
		there := 0
		for _, w := range all {
			now := time.Since(wanderersBegan)
			w.client.Update(now, &w.out)
			for i := range w.out.Len() {
				_, d := w.out.At(i)
				_, _ = w.udp.Write(d) // a server that has gone refuses
			}
			w.out.Reset()
			if err := w.udp.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, err := w.udp.Read(buf); err == nil {
				_, _ = w.client.Receive(now, w.client.Server(), buf[:n], &w.out)
			}
			if w.client.State() == want {
				there++
			}
		}
		if there == len(all) {
			return
		}
	}
	t.Fatalf("not all of %d are %v after %v", len(all), want, waitLimit)
}

// tokensOverHTTP requests tokens of players from a server.
func tokensOverHTTP(ctx context.Context, addr, secret string) (*tokenSource, error) {
	return requestTokens(ctx, tokenRequest{addr, secret, asPlayer, -1})
}
