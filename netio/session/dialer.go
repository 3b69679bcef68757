package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/netio/wire"
)

const (
	dialEvery   = 250 * time.Millisecond // from one repetition to the next
	answerLimit = 2 * time.Second        // then the cookie may be too old, or the server another: ask for a new one
)

// ErrNoAnswer is a Dialer's error when the server said nothing until the timeout.
var ErrNoAnswer = errors.New("session: no answer from the server")

// DeniedError is a Dialer's error when the server said no.
type DeniedError struct{ Reason wire.Reason }

// Error says the server's reason in words.
func (e DeniedError) Error() string { return fmt.Sprintf("session: denied: %s", e.Reason) }

// DialConfig of a Dialer.
type DialConfig struct {
	Nonce   uint64        // random, another for every attempt
	Schema  uint64        // see wire.Hello
	Model   uint64        // see wire.Hello
	Arena   [32]byte      // see wire.Hello; zero: any
	Name    string        // printable UTF-8 of up to wire.MaxName bytes
	Timeout time.Duration // 0: DefaultTimeout
}

// DialState is how far a Dialer has come.
type DialState uint8

// The states of a Dialer. The last three are final.
const (
	Greeting  DialState = iota // sends Hello
	Answering                  // has a cookie, sends Response
	Connected                  // has an Accept
	Denied                     // has a Deny
	TimedOut                   // has heard nothing of use for too long
)

// String names the state.
func (s DialState) String() string {
	if s > TimedOut {
		return "invalid"
	}
	return [...]string{"greeting", "answering", "connected", "denied", "timed out"}[s]
}

// Dialer lets a client in: it repeats what was lost until the server accepts, denies, or is silent for too long.
type Dialer struct {
	cfg     DialConfig
	state   DialState
	begun   bool
	start   time.Duration // of the attempt
	since   time.Duration // when the state was entered
	due     time.Duration // when to send next
	cookie  wire.Cookie
	accept  wire.Accept
	refusal wire.Reason
}

// NewDialer returns a dialer whose attempt begins with the first Update. The error says that the name cannot be sent.
func NewDialer(c DialConfig) (*Dialer, error) {
	if !wire.ValidText([]byte(c.Name), wire.MaxName) {
		return nil, fmt.Errorf("session: name %q: not printable UTF-8 of up to %d bytes", c.Name, wire.MaxName)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return &Dialer{cfg: c}, nil
}

// Update appends the datagram to be sent now to dst, or nothing. Call it at least every 50 ms.
func (d *Dialer) Update(now time.Duration, dst []byte) []byte {
	if !d.begun {
		d.begun, d.start, d.since, d.due = true, now, now, now
	}
	if d.state >= Connected {
		return dst
	}
	if now-d.start > d.cfg.Timeout {
		d.state = TimedOut
		return dst
	}
	if d.state == Answering && now-d.since > answerLimit {
		d.enter(Greeting, now)
	}
	if now < d.due {
		return dst
	}
	d.due = now + dialEvery
	if d.state == Answering {
		return (&wire.Response{Nonce: d.cfg.Nonce, Cookie: d.cookie, Name: []byte(d.cfg.Name)}).Append(dst)
	}
	h := wire.Hello{Version: wire.Version, Nonce: d.cfg.Nonce, Schema: d.cfg.Schema, Model: d.cfg.Model, Arena: d.cfg.Arena}
	return h.Append(dst)
}

func (d *Dialer) enter(s DialState, now time.Duration) { d.state, d.since, d.due = s, now, now }

// Receive takes a datagram from the server. The error is a wire.Drop; then nothing changed. An Accept or Deny is
// believed in either open state, as it names our nonce.
func (d *Dialer) Receive(now time.Duration, datagram []byte) error {
	switch wire.KindOf(datagram) {
	case wire.KindChallenge:
		c, err := wire.ParseChallenge(datagram)
		if err = d.expect(c.Nonce, err, Greeting); err != nil {
			return err
		}
		d.cookie = c.Cookie
		d.enter(Answering, now)
	case wire.KindAccept:
		a, err := wire.ParseAccept(datagram)
		if err = d.expect(a.Nonce, err, Answering); err != nil {
			return err
		}
		d.accept = a
		d.enter(Connected, now)
	case wire.KindDeny:
		n, err := wire.ParseDeny(datagram)
		if err = d.expect(n.Nonce, err, Answering); err != nil {
			return err
		}
		d.refusal = n.Reason
		d.enter(Denied, now)
	default:
		if len(datagram) == 0 {
			return wire.DropSize
		}
		return wire.DropKind
	}
	return nil
}

// expect checks an answer: parsed, to our Hello, and not later than the state last.
func (d *Dialer) expect(nonce uint64, err error, last DialState) error {
	switch {
	case err != nil:
		return err
	case nonce != d.cfg.Nonce:
		return wire.DropNonce
	case d.state > last || !d.begun:
		return wire.DropState
	}
	return nil
}

// State returns how far the attempt has come.
func (d *Dialer) State() DialState { return d.state }

// Accept returns the server's Accept once Connected.
func (d *Dialer) Accept() wire.Accept { return d.accept }

// Err says why the attempt failed: a DeniedError or ErrNoAnswer; nil while it has not.
func (d *Dialer) Err() error {
	switch d.state {
	case Denied:
		return DeniedError{d.refusal}
	case TimedOut:
		return ErrNoAnswer
	}
	return nil
}
