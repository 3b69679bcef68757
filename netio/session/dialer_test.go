package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/wire"
)

func testDialer(t testing.TB, nonce uint64) *Dialer {
	d, err := NewDialer(DialConfig{Nonce: nonce, Schema: 11, Model: 22, Arena: [32]byte{33}, Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// With 30 % loss, duplicates and reordering every client gets in, and both ends agree on the token.
func TestRow27HandshakeAtThirtyPercentLoss(t *testing.T) {
	const clients = 2000
	var slowest, sum time.Duration
	for i := range uint64(clients) {
		s, d := newIngress(), testDialer(t, i)
		up, down := newLink(2*i), newLink(2*i+1)
		for _, l := range []*link{up, down} {
			l.loss, l.dup, l.delay, l.jitter = .3, .1, 40*time.Millisecond, 40*time.Millisecond
		}
		now := time.Duration(0)
		for ; d.State() < Connected; now += 5 * time.Millisecond {
			up.push(now, d.Update(now, nil))
			for f, ok := up.pop(now); ok; f, ok = up.pop(now) {
				down.push(now, s.handle(now, alice, f.data))
			}
			for f, ok := down.pop(now); ok; f, ok = down.pop(now) {
				_ = d.Receive(now, f.data)
			}
		}
		if d.State() != Connected || d.Err() != nil {
			t.Fatalf("client %d: %v, %v after %v", i, d.State(), d.Err(), now)
		}
		if slot, ok := s.addresses.Get(alice); !ok || s.peers[slot].Token() != d.Accept().Token || len(s.peers) != 1 {
			t.Fatalf("client %d: the ends do not agree: %d sessions", i, len(s.peers))
		}
		slowest, sum = max(slowest, now), sum+now
	}
	t.Logf("mean %v, slowest %v", sum/clients, slowest)
	if slowest > 8*time.Second {
		t.Fatalf("slowest %v", slowest)
	}
}

// A client whose Accept was lost keeps asking, with a fresh cookie when the old one may be too old, and is let into the session that it
// has already.
func TestLostAccepts(t *testing.T) {
	s, d := newIngress(), testDialer(t, 1)
	cookies := map[wire.Cookie]bool{}
	accepts := 0
	for now := time.Duration(0); now < 9*time.Second; now += 10 * time.Millisecond {
		out := d.Update(now, nil)
		if r, err := wire.ParseResponse(out); err == nil {
			cookies[r.Cookie] = true
		}
		if reply := s.handle(now+5*time.Second, alice, out); wire.KindOf(reply) == wire.KindAccept {
			if accepts++; now > 8*time.Second {
				_ = d.Receive(now, reply)
			}
		} else if len(reply) > 0 {
			_ = d.Receive(now, reply)
		}
	}
	if d.State() != Connected || len(s.peers) != 1 || accepts < 20 || len(cookies) != 2 {
		t.Fatalf("%v, %d sessions, %d accepts, %d cookies", d.State(), len(s.peers), accepts, len(cookies))
	}
}

func TestDialerDenied(t *testing.T) {
	for r := wire.ReasonFull; r <= wire.ReasonClosing; r++ {
		d := testDialer(t, 5)
		d.Update(0, nil)
		if err := d.Receive(1, Deny(nil, 5, r)); err != nil {
			t.Fatal(err)
		}
		var denied DeniedError
		if err := d.Err(); d.State() != Denied || !errors.As(err, &denied) || denied.Reason != r || err.Error() != "session: denied: "+r.String() {
			t.Errorf("reason %d: %v, %v", r, d.State(), err)
		}
		if out := d.Update(time.Second, nil); out != nil {
			t.Errorf("a denied dialer sends %x", out)
		}
	}
	fmt.Fprintln(logWriter{t}, DeniedError{wire.ReasonFull})
}

type logWriter struct{ t *testing.T }

func (w logWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

func TestDialerTimesOut(t *testing.T) {
	d := testDialer(t, 5)
	sent := 0
	for now := time.Hour; d.State() < Connected; now += 10 * time.Millisecond {
		if len(d.Update(now, nil)) > 0 {
			sent++
		}
		if now > time.Hour+11*time.Second {
			t.Fatal("never ends")
		}
	}
	if d.State() != TimedOut || d.Err() != ErrNoAnswer || sent != 41 {
		t.Fatalf("%v, %v, %d datagrams", d.State(), d.Err(), sent)
	}
}

func TestDialerRefuses(t *testing.T) {
	challenge := func(nonce uint64) []byte { return (&wire.Challenge{Nonce: nonce, Cookie: wire.Cookie{1}}).Append(nil) }
	accept := func(nonce uint64) []byte {
		return (&wire.Accept{Nonce: nonce, Token: 1, TickRate: 60, SendInterval: 3}).Append(nil)
	}
	for i, c := range []struct {
		name     string
		state    DialState
		datagram []byte
		want     error
		then     DialState
	}{
		0:  {"nothing", Greeting, nil, wire.DropSize, Greeting},
		1:  {"a hello, reflected", Greeting, make([]byte, 128), wire.DropKind, Greeting},
		2:  {"a payload before the accept", Answering, append([]byte{6}, make([]byte, 30)...), wire.DropKind, Answering},
		3:  {"challenge to another", Greeting, challenge(6), wire.DropNonce, Greeting},
		4:  {"challenge cut short", Greeting, challenge(5)[:24], wire.DropSize, Greeting},
		5:  {"challenge", Greeting, challenge(5), nil, Answering},
		6:  {"challenge again", Answering, challenge(5), wire.DropState, Answering},
		7:  {"accept to another", Answering, accept(6), wire.DropNonce, Answering},
		8:  {"accept", Answering, accept(5), nil, Connected},
		9:  {"a late accept, after asking anew", Greeting, accept(5), nil, Connected},
		10: {"accept again", Connected, accept(5), wire.DropState, Connected},
		11: {"deny to another", Greeting, Deny(nil, 6, wire.ReasonFull), wire.DropNonce, Greeting},
		12: {"deny without a reason", Greeting, Deny(nil, 5, 0), wire.DropValue, Greeting},
		13: {"deny after the accept", Connected, Deny(nil, 5, wire.ReasonFull), wire.DropState, Connected},
		14: {"accept after the deny", Denied, accept(5), wire.DropState, Denied},
		15: {"accept after the end", TimedOut, accept(5), wire.DropState, TimedOut},
	} {
		d := testDialer(t, 5)
		d.Update(0, nil)
		d.state = c.state
		if err := d.Receive(1, c.datagram); err != c.want || d.State() != c.then {
			t.Errorf("%d %s: %v and %v, want %v and %v", i, c.name, err, d.State(), c.want, c.then)
		}
	}
	early := testDialer(t, 5)
	if err := early.Receive(0, challenge(5)); err != wire.DropState {
		t.Errorf("an answer before the first hello: %v", err)
	}
	for _, name := range []string{strings.Repeat("x", 33), "\x00", "a\u202eb", "\xff"} {
		if _, err := NewDialer(DialConfig{Name: name}); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
}

// Whatever a hostile server sends: no panic, a wire.Drop or a state that goes forward, and never more than one datagram per Update.
func FuzzDialer(f *testing.F) {
	f.Add((&wire.Challenge{Nonce: 5}).Append(nil), (&wire.Accept{Nonce: 5, Token: 1, TickRate: 60, SendInterval: 3, ArenaName: "a"}).Append(nil))
	f.Add(Deny(nil, 5, wire.ReasonFull), []byte{})
	f.Add((&wire.Challenge{Nonce: 5}).Append(nil), Deny(nil, 5, wire.ReasonArena))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := testDialer(t, 5)
		for i, in := range [][]byte{a, b} {
			now := time.Duration(i) * time.Second
			if out := d.Update(now, nil); len(out) > wire.HelloSize {
				t.Fatalf("sends %d bytes", len(out))
			}
			before := d.State()
			err := d.Receive(now, in)
			if _, ok := err.(wire.Drop); err != nil && (!ok || d.State() != before) || err == nil && d.State() <= before {
				t.Fatalf("%x in state %v: %v, then %v", in, before, err, d.State())
			}
		}
	})
}
