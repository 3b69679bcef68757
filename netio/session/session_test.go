package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickrate/tickrate/netio/netcode"
)

// gnet, which this package does not use, starts a pool of workers with its package.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// TestEcho: a client dials with a token of the listener's, and payloads go both ways until it leaves.
func TestEcho(t *testing.T) {
	l, err := Listen("127.0.0.1:0", netcode.ServerConfig{Clients: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	token, err := l.Token(7)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(token)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var events []netcode.EventKind
	var said, heard []string
	poll := func() {
		t.Helper()
		err := l.Poll(func(e netcode.Event) {
			events = append(events, e.Kind)
			if e.Kind == netcode.EventPayload {
				said = append(said, string(e.Payload))
				if err := l.Send(e.Client, append([]byte("re: "), e.Payload...)); err != nil {
					t.Error(err)
				}
			}
		})
		if err := errors.Join(err, l.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Send([]byte("early")); err != netcode.ErrNoSession {
		t.Errorf("sent before the session is up: %v", err)
	}
	for n := 0; n < 400 && len(heard) < 100; n++ {
		if err := c.Poll(func(p []byte) { heard = append(heard, string(p)) }); err != nil {
			t.Fatal(err)
		}
		if c.Connected() && len(said) == 0 {
			for range 100 { // more than one batch
				if err := c.Send([]byte("hello")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		poll()
		time.Sleep(time.Millisecond)
	}
	if len(said) < 100 || len(heard) < 100 || heard[0] != "re: hello" || events[0] != netcode.EventConnected {
		t.Fatalf("said %d, heard %d, events %v", len(said), len(heard), events)
	}
	if who, ok := l.Netcode.Session(0); !ok || who.ClientID != 7 {
		t.Errorf("session %+v, %v", who, ok)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 100 && l.Netcode.Connected() > 0; n++ {
		poll()
		time.Sleep(time.Millisecond)
	}
	if events[len(events)-1] != netcode.EventDisconnect {
		t.Errorf("the client has left: %v", events[len(events)-1])
	}
}

// What cannot work is refused at the door, and the port is free again.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		address string
		cfg     netcode.ServerConfig
		want    string
	}{
		{":0", netcode.ServerConfig{}, "clients cannot dial ::"},
		{"127.0.0.1:0", netcode.ServerConfig{Clients: -1}, "-1 clients"},
		{"example", netcode.ServerConfig{}, "missing port"},
	} {
		if l, err := Listen(c.address, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v, want %q", c.address, l, err, c.want)
		}
	}
	if _, err := Dial([]byte("token")); !errors.Is(err, netcode.StateError(netcode.InvalidToken)) {
		t.Errorf("a token that is none: %v", err)
	}
}
