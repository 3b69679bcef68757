package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// serving returns the address of a port of at most that many connections.
func serving(t *testing.T, most int, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{pool: newPool(l, most)}
	s.Serve(h)
	t.Cleanup(func() { _ = s.Close() })
	return s.Addr()
}

// dial opens a connection and sends text.
func dial(t *testing.T, at, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// status reads the status of an answer, or "closed".
func status(t *testing.T, c net.Conn) string {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Fatal("no answer within 20 s")
	}
	if err != nil {
		return "closed"
	}
	_ = r.Body.Close()
	return r.Status
}

const get = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

// post begins a request whose body never comes to its end.
func post(path string, header ...string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + strings.Join(header, "") + "\r\nab"
}

// Requests whose bodies never end are answered without a handler, and hold no place that a request
// about health needs.
func TestThreat42BodiesThatNeverEnd(t *testing.T) {
	called := make(chan string, 100)
	at := serving(t, 32, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { called <- r.URL.Path }))
	var held []net.Conn
	for i := range 40 {
		length := "Content-Length: 900\r\n"
		if i%2 == 0 {
			length = "Transfer-Encoding: chunked\r\n"
		}
		held = append(held, dial(t, at, post("/v1/console", length)))
	}
	if got := status(t, dial(t, at, get)); got != "200 OK" {
		t.Errorf("health beside 40 bodies that never end: %s", got)
	}
	if got := status(t, held[0]); got != "closed" {
		t.Errorf("the oldest of 40 connections where 8 may be: %s, expected it closed", got)
	}
	if got := status(t, held[39]); !strings.HasPrefix(got, "408") && !strings.HasPrefix(got, "400") {
		t.Errorf("the body that never ends: %s", got)
	}
	close(called)
	for path := range called {
		if path != Health {
			t.Errorf("a handler was called for %s, whose body had not come", path)
		}
	}
}

// A body is whole in the handler, also if it comes in pieces; a long one is refused.
func TestBodies(t *testing.T) {
	at := serving(t, 32, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "abc" {
			t.Errorf("body %q, %v", body, err)
		}
	}))
	c := dial(t, at, post("/x", "Content-Length: 3\r\n"))
	time.Sleep(50 * time.Millisecond)
	_, _ = io.WriteString(c, "c")
	if got := status(t, c); got != "200 OK" {
		t.Errorf("a body in pieces: %s", got)
	}
	long := fmt.Sprintf("Content-Length: %d\r\n", MaxBody+1)
	c = dial(t, at, post("/x", long)+strings.Repeat("x", MaxBody))
	if got := status(t, c); !strings.HasPrefix(got, "413") {
		t.Errorf("a body of %d bytes: %s", MaxBody+1, got)
	}
}

// Handlers that do not return leave room for requests about health, and others are told.
func TestBusyHandlers(t *testing.T) {
	ended := make(chan struct{})
	at := serving(t, 16, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Health {
			<-ended
		}
	}))
	defer close(ended)
	const slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
	for range 3 { // as many as an address may have busy
		dial(t, at, slow)
		time.Sleep(50 * time.Millisecond)
	}
	if got := status(t, dial(t, at, slow)); !strings.HasPrefix(got, "503") {
		t.Errorf("a fourth slow request of an address: %s", got)
	}
	for range 5 {
		if got := status(t, dial(t, at, get)); got != "200 OK" {
			t.Errorf("health beside slow requests: %s", got)
		}
	}
}

// fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	closed *int
}

func (f fakeConn) Close() error { *f.closed++; return nil }

// The connection that has waited longest, of the address with the most, makes room; one that is busy
// never does.
func TestPoolEvicts(t *testing.T) {
	p := newPool(nil, 16)
	closed := 0
	open := func(from string) *conn {
		c := &conn{Conn: fakeConn{closed: &closed}, from: netip.MustParsePrefix(from + "/32")}
		if !p.admit(c) {
			return nil
		}
		return c
	}
	var all []*conn
	for i := range 16 {
		all = append(all, open(fmt.Sprintf("10.0.0.%d", i/4)))
	}
	if p.all.open != 16 || closed != 0 {
		t.Fatalf("%d connections, %d closed, expected 16 and none", p.all.open, closed)
	}
	p.begin(all[0], false)
	if c := open("10.0.0.0"); c == nil || !all[1].gone || all[0].gone {
		t.Error("an address over its limit loses the one of its own that has waited longest")
	}
	if c := open("10.0.1.1"); c == nil || closed != 2 || p.all.open != 16 {
		t.Errorf("a new address has no place: %d closed", closed)
	}
	for _, c := range all {
		p.begin(c, false)
	}
	if p.all.busy > maxBusy(16) {
		t.Errorf("%d are busy, expected at most %d", p.all.busy, maxBusy(16))
	}
	for e := p.waiting.Front(); e != nil; e = p.waiting.Front() {
		p.begin(e.Value.(*conn), true) // requests about health may use the last places
	}
	if open("10.0.2.1") != nil {
		t.Error("a connection got a place though all others are busy")
	}
}

// connsOf leaves three quarters of the files to the rest of the process.
func TestConnsOf(t *testing.T) {
	for files, want := range map[uint64]int{0: 8, 128: 32, 1024: 256, 1 << 20: 1024} {
		if got := connsOf(files); got != want {
			t.Errorf("%d files: %d connections, expected %d", files, got, want)
		}
	}
}

// A client with IPv6 is counted by its /64 network.
func TestNetwork(t *testing.T) {
	of := func(s string) netip.Prefix { return Network(netip.MustParseAddr(s)) }
	if of("2001:db8::1") != of("2001:db8::2") || of("2001:db8:1::1") == of("2001:db8::1") ||
		of("::ffff:10.0.0.1") != of("10.0.0.1") || of("10.0.0.2") == of("10.0.0.1") {
		t.Error("addresses are told apart wrongly")
	}
}
