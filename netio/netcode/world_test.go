package netcode

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

const (
	testProtocol = 0x7469636b72617465
	testUnix     = 1_800_000_000
)

var (
	testKey    = patternKey(29, 7)
	testServer = netip.MustParseAddrPort("192.0.2.1:40000")
)

// host returns the address of the n-th client.
func host(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}),
		uint16(20_000+n%1000))
}

func newServer(t testing.TB, change func(*ServerConfig)) *Server {
	c := ServerConfig{PrivateKey: testKey, ProtocolID: testProtocol,
		Addresses: []netip.AddrPort{testServer}, Entropy: [32]byte{1, 2, 3}, AllowTokenReuse: true}
	if change != nil {
		change(&c)
	}
	s, err := NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !s.counters.Balanced() || s.counters.Amplification != 0 {
			t.Errorf("counters: %+v", s.counters)
		}
	})
	return s
}

var testRandom = rand.NewChaCha8([32]byte{9})

// mint makes a valid token for a client; change may alter it.
func mint(t testing.TB, clientID uint64, change func(*Mint)) []byte {
	m := Mint{ProtocolID: testProtocol, ClientID: clientID, Create: testUnix, Expire: testUnix + 45,
		TimeoutSeconds: 5,
		Servers:        []netip.AddrPort{testServer}}
	m.UserData[0] = byte(clientID)
	if change != nil {
		change(&m)
	}
	token, err := m.Append(nil, &testKey, testRandom)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// pair is a server and a client on a perfect link without delay.
type pair struct {
	t    testing.TB
	now  time.Duration
	s    *Server
	c    *Client
	at   netip.AddrPort // of the client
	last Event
	in   [][]byte // payloads that the client got
	got  [][]byte // payloads that the server got
}

func (p *pair) unix() int64 { return testUnix + int64(p.now/time.Second) }

// up delivers the datagrams of the client, and returns them.
func (p *pair) up(out *Outbox) (sent [][]byte) {
	var back Outbox
	for i := range out.Len() {
		_, d := out.At(i)
		sent = append(sent, bytes.Clone(d))
		e, err := p.s.Receive(p.now, p.unix(), p.at, bytes.Clone(d), &back)
		if err == nil && e.Kind != EventNone {
			p.last = e
		}
		if e.Kind == EventPayload {
			p.got = append(p.got, e.Payload)
		}
	}
	p.down(&back)
	return sent
}

// down delivers the datagrams for this client.
func (p *pair) down(out *Outbox) {
	var back Outbox
	for i := range out.Len() {
		if to, d := out.At(i); to == p.at {
			if payload, err := p.c.Receive(p.now, testServer, bytes.Clone(d), &back); err == nil &&
				payload != nil {
				p.in = append(p.in, payload)
			}
		}
	}
	if back.Len() > 0 {
		p.up(&back)
	}
}

// step updates both ends and advances the time.
func (p *pair) step(d time.Duration) {
	var out Outbox
	p.c.Update(p.now, &out)
	p.up(&out)
	out.Reset()
	for _, e := range p.s.Update(p.now, p.unix(), &out) {
		p.last = e
	}
	p.down(&out)
	p.now += d
}

func (p *pair) run(d time.Duration) {
	for end := p.now + d; p.now < end; {
		p.step(10 * time.Millisecond)
	}
}

// connected returns a pair whose client is connected.
func connected(t testing.TB, s *Server, n int) *pair {
	p := &pair{t: t, s: s, c: NewClient(mint(t, uint64(1000+n), nil), ClientConfig{}), at: host(n)}
	p.step(10 * time.Millisecond)
	if p.c.State() != Connected || p.last.Kind != EventConnected {
		t.Fatalf("client %d: %v, %v", n, p.c.State(), p.last.Kind)
	}
	return p
}

// seal seals a datagram of the client without sending it.
func (p *pair) seal(kind Kind, body []byte) []byte { return p.c.sealNext(p.now, kind, body, nil) }

// refuse checks that a datagram is dropped for a reason, without an answer, and does not affect
// the pair.
func (p *pair) refuse(from netip.AddrPort, datagram []byte, want Drop) {
	p.t.Helper()
	var out Outbox
	before := p.s.counters.Drops[want]
	_, err := p.s.Receive(p.now, p.unix(), from, bytes.Clone(datagram), &out)
	if err != want || p.s.counters.Drops[want] != before+1 || out.Len() != 0 {
		p.t.Errorf("%v instead of %v, %d answers", err, want, out.Len())
	}
	if err := p.c.Send(p.now, []byte("alive"), &out); err != nil {
		p.t.Errorf("control client: %v", err)
	}
	n := len(p.got)
	if p.up(&out); len(p.got) != n+1 {
		p.t.Errorf("after %v the control client's payload does not arrive", want)
	}
}
