package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

var (
	connectKey = netcode.Key{9, 8, 7}
	connectAt  = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7913"),
		netip.MustParseAddrPort("[::1]:7913")}
)

// connectClock is the time of a Connect under test.
type connectClock struct{ now time.Time }

// newConnectTest returns a Connect with an access rule, ten tokens a second and 20 at once.
func newConnectTest(access Access) (*Connect, *connectClock) {
	clock := &connectClock{time.Unix(1_800_000_000, 0)}
	return NewConnect(ConnectConfig{Key: connectKey, ProtocolID: 1<<63 + 5,
		Servers: connectAt, Access: access,
		PerSecond: 10, Burst: 20, Now: func() time.Time { return clock.now }}), clock
}

// requestToken is one request; header is "Name: value" lines.
func requestToken(h http.Handler, method, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7914/v1/connect", strings.NewReader(body))
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Requests without access and malformed ones get their reason in JSON and no token.
func TestConnectRefuses(t *testing.T) {
	const asJSON = "Content-Type: application/json"
	for i, c := range []struct {
		bearer  string
		private bool
		method  string
		body    string
		header  []string
		status  int
		want    string
	}{
		0: {"", true, "POST", "", nil, 200, ""},
		1: {"", true, "POST", `{}`, []string{asJSON}, 200, ""},
		2: {"", true, "POST", `{"client_id":"0"}`,
			[]string{"Content-Type: application/json; charset=utf-8"}, 200, ""},
		3: {"", true, "POST", " \n", nil, 200, ""},
		4: {"", true, "POST", "", []string{"Host: localhost:7914"}, 200, ""},
		5: {"", true, "POST", "", []string{"Host: [::1]:7914"}, 200, ""},
		6: {"", true, "POST", "", []string{"Host: [::1]"}, 200, ""},
		7: {"", true, "POST", "", []string{"Origin: http://127.0.0.1:7914"}, 200, ""},
		8: {"secret", false, "POST", "", []string{"Authorization: Bearer secret"}, 200, ""},
		9: {"secret", false, "POST", "", []string{"Authorization: bearer secret", "Host: play.example"},
			200, ""},
		10: {"", true, "GET", "", nil, 405, "expected POST"},
		11: {"", true, "PUT", "", nil, 405, "expected POST"},
		12: {"", true, "POST", "", []string{"Origin: http://evil.example"}, 403, "web pages"},
		13: {"", true, "POST", "", []string{"Origin: null"}, 403, "web pages"},
		14: {"", true, "POST", "", []string{"Origin: http://127.0.0.1:80"}, 403, "web pages"},
		15: {"", true, "POST", "", []string{"Host: evil.example"}, 403, "Host"},
		// DNS rebinding
		16: {"", true, "POST", "", []string{"Host: evil.example:7914", "Origin: http://evil.example:7914"},
			403, "Host"},
		17: {"", true, "POST", "", []string{"Host: 127.0.0.1.evil.example"}, 403, "Host"},
		18: {"", true, "POST", "", []string{"Host: "}, 403, "Host"},
		19: {"", false, "POST", "", nil, 403, "--http-token"},
		20: {"secret", true, "POST", "", nil, 401, "Bearer"},
		21: {"secret", true, "POST", "", []string{"Authorization: Bearer secre"}, 401, "Bearer"},
		22: {"secret", true, "POST", "", []string{"Authorization: Bearer secrets"}, 401, "Bearer"},
		23: {"secret", true, "POST", "", []string{"Authorization: Basic secret"}, 401, "Bearer"},
		24: {"secret", false, "POST", "", []string{"Authorization: Bearer"}, 401, "Bearer"},
		25: {"", true, "POST", `{"client_id":"1"}`, nil, 415, "application/json"},
		26: {"", true, "POST", `{"client_id":"1"}`, []string{"Content-Type: text/plain"},
			415, "application/json"},
		27: {"", true, "POST", strings.Repeat(" ", 4097), []string{asJSON}, 413, "4096"},
		28: {"", true, "POST", `{"client_id":1}`, []string{asJSON}, 400, "client_id"},
		29: {"", true, "POST", `{"client_id":""}`, []string{asJSON}, 400, "client_id"},
		30: {"", true, "POST", `{"client_id":"-1"}`, []string{asJSON}, 400, "client_id"},
		31: {"", true, "POST", `{"client_id":"18446744073709551616"}`, []string{asJSON}, 400, "client_id"},
		32: {"", true, "POST", `{"client_id":"0x1"}`, []string{asJSON}, 400, "client_id"},
		33: {"", true, "POST", `{"client":"1"}`, []string{asJSON}, 400, "client_id"},
		34: {"", true, "POST", `{"client_id":"1"}{}`, []string{asJSON}, 400, "client_id"},
		35: {"", true, "POST", `[`, []string{asJSON}, 400, "client_id"},
	} {
		h, _ := newConnectTest(Access{c.private, c.bearer})
		w := requestToken(h, c.method, c.body, c.header...)
		var reply map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code != c.status {
			t.Errorf("%d: status %d, %q, %v; want %d", i, w.Code, w.Body, err, c.status)
			continue
		}
		text, _ := reply["error"].(string)
		if (c.status == 200) != (reply["token"] != nil) || (c.status == 200) != (text == "") ||
			!strings.Contains(text, c.want) {
			t.Errorf("%d: %v; want %q", i, reply, c.want)
		}
		if w.Header().Get("Content-Type") != "application/json" ||
			w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d: header %v", i, w.Header())
		}
	}
}

// The response holds a valid token for the requested client, with the stated lifetime.
func TestConnectMints(t *testing.T) {
	h, clock := newConnectTest(Access{Loopback: true})
	seen := map[string]bool{}
	for i, body := range []string{`{"client_id":"18446744073709551615"}`, "", ""} {
		w := requestToken(h, "POST", body, "Content-Type: application/json")
		var r ConnectReply
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
			t.Fatalf("%d: %v in %s", i, err, w.Body)
		}
		var p netcode.PublicToken
		if err := p.Parse(r.Token); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if p.ProtocolID != 1<<63+5 || r.ProtocolID != "9223372036854775813" ||
			p.Create != uint64(clock.now.Unix()) ||
			p.Expire != p.Create+uint64(DefaultTokenLifetime/time.Second) ||
			r.Expires != int64(p.Expire) || p.TimeoutSeconds != TimeoutSeconds(DefaultSessionTimeout) ||
			p.NumServers != 2 || p.Servers[1] != connectAt[1] ||
			strings.Join(r.Servers, " ") != "127.0.0.1:7913 [::1]:7913" {
			t.Errorf("%d: %+v", i, r)
		}
		if i == 0 && r.ClientID != "18446744073709551615" || seen[r.ClientID] || seen[string(p.Nonce[:])] {
			t.Errorf("%d: client %s, or a nonce, for the second time", i, r.ClientID)
		}
		seen[r.ClientID], seen[string(p.Nonce[:])] = true, true
		if bytes.Contains(w.Body.Bytes(), connectKey[:]) {
			t.Errorf("%d: the private key is in the answer", i)
		}
	}
}

// Tokens are limited by a burst and a rate: an hour of asking gains no more than the burst.
func TestConnectLimit(t *testing.T) {
	h, clock := newConnectTest(Access{Loopback: true})
	given := func() (n int) {
		for range 50 {
			switch w := requestToken(h, "POST", ""); w.Code {
			case 200:
				n++
			case 429:
				if w.Header().Get("Retry-After") != "1" {
					t.Error("no Retry-After")
				}
			default:
				t.Fatalf("status %d", w.Code)
			}
		}
		return n
	}
	for i, c := range []struct {
		pause time.Duration
		want  int
	}{{0, 20}, {0, 0}, {time.Second, 10}, {50 * time.Millisecond, 0},
		{60 * time.Millisecond, 1}, {time.Hour, 20}, {-time.Hour, 0}, {time.Second, 10}} {
		clock.now = clock.now.Add(c.pause)
		if n := given(); n != c.want {
			t.Errorf("%d: %d tokens after %v, want %d", i, n, c.pause, c.want)
		}
	}
}
