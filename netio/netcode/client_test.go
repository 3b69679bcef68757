package netcode

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

// silent runs a client without any answer until it gives up, and returns when that was and the
// destination of each datagram.
func silent(c *Client, from, limit time.Duration) (gaveUp time.Duration, sent []netip.AddrPort) {
	var out Outbox
	for now := from; now < limit; now += 10 * time.Millisecond {
		out.Reset()
		c.Update(now, &out)
		for i := range out.Len() {
			to, _ := out.At(i)
			sent = append(sent, to)
		}
		if c.State() <= Disconnected {
			return now - from, sent
		}
	}
	return limit, sent
}

var testServers = []netip.AddrPort{testServer, netip.MustParseAddrPort("192.0.2.2:40000"),
	netip.MustParseAddrPort("[2001:db8::3]:40000")}

func TestClientRequestTimesOut(t *testing.T) {
	c := NewClient(mint(t, 1, nil), ClientConfig{})
	at, sent := silent(c, time.Hour, 2*time.Hour)
	if c.State() != RequestTimedOut || at != 5010*time.Millisecond || len(sent) != 51 ||
		c.Err() != StateError(RequestTimedOut) {
		t.Errorf("%v after %v and %d requests", c.State(), at, len(sent))
	}
}

func TestClientTriesAllServers(t *testing.T) {
	c := NewClient(mint(t, 1, func(m *Mint) { m.Servers = testServers }), ClientConfig{})
	at, sent := silent(c, 0, time.Hour)
	counts := map[netip.AddrPort]int{}
	for _, to := range sent {
		counts[to]++
	}
	if c.State() != RequestTimedOut || at < 15*time.Second || at > 15100*time.Millisecond ||
		len(counts) != 3 || counts[testServers[2]] != 51 {
		t.Errorf("%v after %v, %v", c.State(), at, counts)
	}
	if c.sequence != uint64(len(sent)) {
		t.Errorf("sequence %d after %d datagrams: all servers share the keys", c.sequence, len(sent))
	}
}

// The token's lifetime bounds the attempt over all addresses.
func TestClientTokenExpires(t *testing.T) {
	c := NewClient(mint(t, 1, func(m *Mint) { m.Servers, m.Expire = testServers, testUnix+7 }),
		ClientConfig{})
	if at, _ := silent(c, 0, time.Hour); c.State() != TokenExpired || at != 7*time.Second {
		t.Errorf("%v after %v", c.State(), at)
	}
	c = NewClient(mint(t, 1, func(m *Mint) { m.Expire = testUnix }), ClientConfig{})
	if _, sent := silent(c, 0, time.Hour); c.State() != TokenExpired || len(sent) != 0 {
		t.Errorf("%v and %d requests with a token that lives for no time", c.State(), len(sent))
	}
	// A token for ever expires never, and a negative timeout ends no attempt.
	c = NewClient(mint(t, 1, func(m *Mint) { m.Expire, m.TimeoutSeconds = 1<<64-1, -1 }), ClientConfig{})
	var out Outbox
	c.Update(0, &out)
	if c.Update(10_000*time.Hour, &out); c.State() != SendingRequest {
		t.Error(c.State())
	}
}

func TestClientInvalidToken(t *testing.T) {
	good := mint(t, 1, nil)
	set := func(at int, to ...byte) []byte { b := bytes.Clone(good); copy(b[at:], to); return b }
	for _, c := range []struct {
		name  string
		token []byte
	}{
		{"empty", nil}, {"short", good[:2047]}, {"long", append(bytes.Clone(good), 0)},
		{"version", set(11, '3')},
		{"no address", set(1089, 0)}, {"33 addresses", set(1089, 33)},
		{"2^32-1 addresses", set(1089, 255, 255, 255, 255)},
		{"address type 0", set(1093, 0)}, {"address type 3", set(1093, 3)},
		{"expires before it begins", set(29, 0, 0, 0, 0, 0)},
	} {
		v := NewClient(c.token, ClientConfig{})
		var out Outbox
		v.Update(0, &out)
		if _, err := v.Receive(0, testServer, make([]byte, 40), &out); v.State() != InvalidToken ||
			out.Len() != 0 || err == nil {
			t.Errorf("%s: %v, %d datagrams, %v", c.name, v.State(), out.Len(), err)
		}
		if v.Disconnect(0, &out); v.State() != InvalidToken || out.Len() != 0 || v.Server().IsValid() &&
			len(c.token) != TokenSize {
			t.Errorf("%s: disconnect: %v", c.name, v.State())
		}
	}
}

// challenged returns a client with a challenge of a server that has since forgotten it.
func challenged(t *testing.T, token []byte) *Client {
	s := newServer(t, nil)
	c := NewClient(token, ClientConfig{})
	var out, back Outbox
	c.Update(0, &out)
	_, d := out.At(0)
	if _, err := s.Receive(0, testUnix, host(1), d, &back); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	_, d = back.At(0)
	again := bytes.Clone(d)
	if _, err := c.Receive(0, testServer, d, &out); err != nil || c.State() != SendingResponse ||
		out.Len() != 1 {
		t.Fatalf("%v, %v", err, c.State())
	}
	if _, err := c.Receive(0, testServer, again, &out); err != DropState {
		t.Errorf("the challenge again: %v", err)
	}
	return c
}

func TestClientResponseTimesOut(t *testing.T) {
	c := challenged(t, mint(t, 1, nil))
	at, sent := silent(c, 0, time.Hour)
	if c.State() != ResponseTimedOut || at != 5010*time.Millisecond || len(sent) != 50 {
		t.Errorf("%v after %v and %d responses", c.State(), at, len(sent))
	}
	c = challenged(t, mint(t, 1, func(m *Mint) { m.Servers = testServers[:2] }))
	if _, sent := silent(c, 0, time.Hour); c.State() != RequestTimedOut ||
		sent[len(sent)-1] != testServers[1] {
		t.Errorf("with a second server: %v", c.State())
	}
	c = challenged(t, mint(t, 1, func(m *Mint) { m.Expire = testUnix + 3 }))
	if at, _ := silent(c, 0, time.Hour); c.State() != TokenExpired || at != 3*time.Second {
		t.Errorf("token of 3 s: %v after %v", c.State(), at)
	}
}

func TestClientConnectionTimesOut(t *testing.T) {
	p := connected(t, newServer(t, nil), 1)
	if at, sent := silent(p.c, p.now, time.Hour); p.c.State() != ConnectionTimedOut || at < 5*time.Second ||
		at > 5010*time.Millisecond || len(sent) < 49 {
		t.Errorf("%v after %v and %d keep-alives", p.c.State(), at, len(sent))
	}
}

// A client that the first server denies tries the second. Denied by the last, it fails.
func TestClientDenied(t *testing.T) {
	full := newServer(t, func(c *ServerConfig) { c.Addresses = testServers[:2] })
	full.StopAccepting()
	c := NewClient(mint(t, 1, func(m *Mint) { m.Servers = testServers[:2] }), ClientConfig{})
	var out Outbox
	c.Update(0, &out)
	for i := range 2 {
		to, d := out.At(i)
		if to != testServers[i] {
			t.Fatalf("request %d went to %v", i, to)
		}
		var back Outbox
		full.Receive(0, testUnix, host(1), bytes.Clone(d), &back)
		_, d = back.At(0)
		if _, err := c.Receive(0, to, d, &out); err != nil {
			t.Fatal(err)
		}
	}
	if c.State() != ConnectionDenied || out.Len() != 2 {
		t.Errorf("%v, %d datagrams", c.State(), out.Len())
	}
}

// A client refuses what is invalid in each state, with and without a session.
func TestClientRefuses(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	c := p.c
	seal := func(kind Kind, sequence uint64, body []byte) []byte {
		return s.sealer.seal(s.slots[0].seal, nil, kind, sequence, body)
	}
	got := seal(KindPayload, 50, []byte("x"))
	if _, err := c.Receive(p.now, testServer, bytes.Clone(got), &Outbox{}); err != nil {
		t.Fatal(err)
	}
	forged := seal(KindDisconnect, 60, nil)
	forged[len(forged)-1] ^= 1
	var out Outbox
	check := func(name string, from netip.AddrPort, d []byte, want Drop) {
		t.Helper()
		state, heard := c.State(), c.received
		if _, err := c.Receive(p.now+time.Second, from, bytes.Clone(d), &out); err != want ||
			c.State() != state || c.received != heard || out.Len() != 0 {
			t.Errorf("%s: %v instead of %v, %v, %d answers", name, err, want, c.State(), out.Len())
		}
	}
	check("empty", testServer, nil, DropSize)
	check("request", testServer, make([]byte, requestSize), DropType)
	check("response", testServer, seal(KindResponse, 51, make([]byte, bodySize)), DropType)
	check("path, as it does not roam", testServer, seal(KindPath, 51, make([]byte, 20)), DropType)
	check("denied while connected", testServer, seal(KindDenied, 51, nil), DropState)
	check("challenge while connected", testServer, seal(KindChallenge, 51, make([]byte, bodySize)), DropState)
	check("from elsewhere", host(3), seal(KindDisconnect, 51, nil), DropSource)
	check("again", testServer, got, DropReplay)
	check("forged disconnect", testServer, forged, DropAuth)
	check("disconnect of 1", testServer, seal(KindDisconnect, 52, []byte{1}), DropBody)
	check("its own, far on", testServer, s.sealer.seal(c.seal, nil, KindPayload, 70, []byte("x")), DropAuth)
	if !c.counters.Balanced() {
		t.Errorf("%+v", c.counters)
	}
	waiting := challenged(t, mint(t, 2, nil))
	if _, err := waiting.Receive(0, testServer, seal(KindPayload, 1, []byte("x")), &out); err != DropState {
		t.Errorf("a payload before the session: %v", err)
	}
	fresh := NewClient(mint(t, 3, nil), ClientConfig{})
	if _, err := fresh.Receive(0, testServer, seal(KindDenied, 1, nil), &out); err != DropState {
		t.Errorf("a denial before the first request: %v", err)
	}
	if _, err := fresh.Seal(0, []byte("x"), nil); err != ErrNoSession {
		t.Errorf("seal before the session: %v", err)
	}
}

func TestStatesAndNames(t *testing.T) {
	for s := TokenExpired; s <= Connected; s++ {
		if s.String() == "invalid" || StateError(s).Error() == "netcode: invalid" {
			t.Errorf("state %d has no name", s)
		}
	}
	seen := map[string]bool{}
	for d := range NumDrops {
		if d.String() == "" || d.Error() == "" || seen[d.String()] || seen[d.Error()] {
			t.Errorf("reason %d: %q, %q", d, d.String(), d.Error())
		}
		seen[d.String()], seen[d.Error()] = true, true
	}
	if State(9).String() != "invalid" || NumDrops.String() != "invalid" || numKinds.String() != "invalid" ||
		EventKind(99).String() != "invalid" {
		t.Error("names of what does not exist")
	}
}

// Sequences of the first server do not block the second, whose sequences begin at 0 as well.
func TestClientForgetsTheFirstServer(t *testing.T) {
	c := challenged(t, mint(t, 1, func(m *Mint) { m.Servers = testServers[:2] }))
	s := newSealer(testProtocol)
	var out Outbox
	seal := func(body []byte) []byte {
		return s.seal(packetAEAD(&c.token.ServerToClient), nil, KindKeepAlive, 2000, body)
	}
	if _, err := c.Receive(0, testServer, seal(make([]byte, 7)), &out); err != DropBody {
		t.Fatal(err)
	}
	c.Update(6*time.Second, &out)
	if c.Server() != testServers[1] || c.window.Newest() != 0 {
		t.Errorf("%v, newest %d", c.Server(), c.window.Newest())
	}
}
