package session

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/wire"
)

var (
	testSecret = [32]byte{1, 2, 3, 4}
	alice      = netip.MustParseAddrPort("192.0.2.1:40000")
	bob        = netip.MustParseAddrPort("192.0.2.2:40000")
)

func testDoor() *Door {
	d := NewDoor(testSecret)
	d.Schema, d.Model, d.Arena = 11, 22, [32]byte{33}
	return d
}

func testHello() wire.Hello {
	return wire.Hello{Version: wire.Version, Nonce: 77, Schema: 11, Model: 22, Arena: [32]byte{33}}
}

// respond lets an address say Hello at an instant and returns the Response to the Challenge.
func respond(t testing.TB, d *Door, now time.Duration, from netip.AddrPort) []byte {
	h := testHello()
	reply, join, err := d.Handle(now, from, h.Append(nil), nil)
	c, bad := wire.ParseChallenge(reply)
	if err != nil || bad != nil || join != nil || c.Nonce != 77 {
		t.Fatalf("hello: %x, %v, %v", reply, join, err)
	}
	return (&wire.Response{Nonce: 77, Cookie: c.Cookie, Name: []byte("Ada")}).Append(nil)
}

func TestDoorLetsIn(t *testing.T) {
	d := testDoor()
	r := respond(t, d, time.Minute, alice)
	reply, first, err := d.Handle(time.Minute, alice, r, nil)
	if err != nil || first == nil || len(reply) != 0 {
		t.Fatalf("response: %x, %v, %v", reply, first, err)
	}
	j := *first
	if j.From != alice || j.Nonce != 77 || j.Token == 0 || string(j.Name) != "Ada" {
		t.Fatalf("join %+v", j)
	}
	if _, again, err := d.Handle(time.Minute+time.Second, alice, r, nil); err != nil || again == nil || again.Token != j.Token {
		t.Fatalf("the same response again: %v, %v", again, err)
	}
	mapped := netip.AddrPortFrom(netip.AddrFrom16(alice.Addr().As16()), alice.Port())
	if _, same, err := d.Handle(time.Minute, mapped, r, nil); err != nil || same.Token != j.Token {
		t.Fatalf("the same address as IPv6: %v, %v", same, err)
	}
}

func TestDoorRefuses(t *testing.T) {
	change := func(f func(*wire.Hello)) []byte { h := testHello(); f(&h); return h.Append(nil) }
	version := change(func(h *wire.Hello) { h.Version = 9 })
	good := respond(t, testDoor(), time.Minute, alice)
	flip := func(at int, mask byte) []byte { b := bytes.Clone(good); b[at] ^= mask; return b }
	for i, c := range []struct {
		name     string
		datagram []byte
		from     netip.AddrPort
		now      time.Duration
		closing  bool
		want     error
		reason   wire.Reason // of the Deny sent back; 0: silence
	}{
		0:  {"nothing", nil, alice, 0, false, wire.DropSize, 0},
		1:  {"one byte of Hello", []byte{1}, alice, 0, false, wire.DropSize, 0},
		2:  {"1201 bytes", make([]byte, 1201), alice, 0, false, wire.DropSize, 0},
		3:  {"65507 bytes of Hello", append([]byte{1}, make([]byte, 65506)...), alice, 0, false, wire.DropSize, 0},
		4:  {"kind 0", make([]byte, 128), alice, 0, false, wire.DropKind, 0},
		5:  {"a challenge, reflected", (&wire.Challenge{}).Append(nil), alice, 0, false, wire.DropKind, 0},
		6:  {"a payload", make([]byte, 100), alice, 0, false, wire.DropKind, 0},
		7:  {"version", version, alice, 0, false, wire.DropVersion, wire.ReasonVersion},
		8:  {"schema", change(func(h *wire.Hello) { h.Schema++ }), alice, 0, false, wire.DropSchema, wire.ReasonSchema},
		9:  {"model", change(func(h *wire.Hello) { h.Model++ }), alice, 0, false, wire.DropModel, wire.ReasonModel},
		10: {"arena", change(func(h *wire.Hello) { h.Arena[31]++ }), alice, 0, false, wire.DropArena, wire.ReasonArena},
		11: {"any arena", change(func(h *wire.Hello) { h.Arena = [32]byte{} }), alice, 0, false, nil, 0},
		12: {"hello while closing", change(func(*wire.Hello) {}), alice, 0, true, wire.DropClosing, wire.ReasonClosing},
		13: {"response while closing", good, alice, time.Minute, true, wire.DropClosing, wire.ReasonClosing},
		14: {"response from another address", good, bob, time.Minute, false, wire.DropCookie, 0},
		15: {"response from another port", good, netip.AddrPortFrom(alice.Addr(), 40001), time.Minute, false, wire.DropCookie, 0},
		16: {"response with another nonce", flip(1, 1), alice, time.Minute, false, wire.DropCookie, 0},
		17: {"response, first bit of the cookie", flip(9, 1), alice, time.Minute, false, wire.DropCookie, 0},
		18: {"response, last bit of the cookie", flip(24, 0x80), alice, time.Minute, false, wire.DropCookie, 0},
		19: {"response after 9.9 s", good, alice, time.Minute + 9900*time.Millisecond, false, nil, 0},
		20: {"response after 19.9 s", good, alice, time.Minute + 19900*time.Millisecond, false, nil, 0},
		21: {"response after 20 s", good, alice, time.Minute + 20*time.Second, false, wire.DropCookie, 0},
		22: {"response before its time", good, alice, time.Minute - 10*time.Second, false, wire.DropCookie, 0},
		23: {"response before a hello at time 0", good, alice, 0, false, wire.DropCookie, 0},
		24: {"response, closing and forged", flip(24, 1), alice, time.Minute, true, wire.DropCookie, 0},
	} {
		d := testDoor()
		d.Closing = c.closing
		if i == 6 {
			c.datagram[0], c.want = byte(wire.KindPayload), wire.DropUnknown
		}
		reply, join, err := d.Handle(c.now, c.from, c.datagram, nil)
		if err != c.want || join != nil && err != nil {
			t.Errorf("%d %s: %v, want %v", i, c.name, err, c.want)
		}
		deny, bad := wire.ParseDeny(reply)
		if silent := c.want != nil && c.reason == 0; silent && len(reply) != 0 || c.reason != 0 && (bad != nil || deny.Reason != c.reason || deny.Nonce != 77) {
			t.Errorf("%d %s: answered %x, want reason %d", i, c.name, reply, c.reason)
		}
	}
	other := NewDoor([32]byte{9})
	if _, join, err := other.Handle(time.Minute, alice, good, nil); join != nil || err != wire.DropCookie {
		t.Errorf("a cookie of the server's last run: %v, %v", join, err)
	}
}

// ingress is a server's front in small: everything that arrives goes through it and is counted once.
type ingress struct {
	door      *Door
	addresses *Addresses
	peers     []*Peer
	counters  Counters
	proven    map[netip.AddrPort]bool // has returned a cookie
	sent, got map[netip.AddrPort]int  // bytes
	payloads  int
	reply     []byte
}

func newIngress() *ingress {
	return &ingress{door: testDoor(), addresses: NewAddresses(64, [2]uint64{5, 6}), proven: map[netip.AddrPort]bool{},
		sent: map[netip.AddrPort]int{}, got: map[netip.AddrPort]int{}}
}

func (s *ingress) handle(now time.Duration, from netip.AddrPort, datagram []byte) []byte {
	s.counters.Arrived()
	s.got[from] += len(datagram)
	reply, err := s.route(now, from, datagram)
	s.counters.Count(err)
	s.sent[from] += len(reply)
	return reply
}

func (s *ingress) route(now time.Duration, from netip.AddrPort, datagram []byte) ([]byte, error) {
	slot, known := s.addresses.Get(from)
	if kind := wire.KindOf(datagram); known && (kind == wire.KindPayload || kind == wire.KindDisconnect) {
		p := s.peers[slot]
		payload, err := p.Receive(now, datagram)
		for err == nil && len(payload) > 0 {
			if wire.SectionOf(payload) != wire.SectionEvents {
				return nil, wire.DropSection
			}
			payload, err = p.ParseEvents(payload)
			drain(p, func([]byte) {})
		}
		if err == nil {
			s.payloads++
		}
		if _, closed := p.Closed(); closed {
			s.addresses.Delete(from)
		}
		return nil, err
	}
	reply, join, err := s.door.Handle(now, from, datagram, s.reply[:0])
	if join == nil {
		return reply, err
	}
	s.proven[from] = true
	if known && s.peers[slot].Token() != join.Token {
		return reply, wire.DropState
	}
	if !known {
		if !s.addresses.Put(from, int32(len(s.peers))) {
			return Deny(reply, join.Nonce, wire.ReasonFull), wire.DropFull
		}
		s.peers = append(s.peers, NewPeer(now, Config{Token: join.Token, Server: true}))
	}
	a := wire.Accept{Nonce: join.Nonce, Token: join.Token, TickRate: 60, SendInterval: 3}
	return a.Append(reply), nil
}

// Whatever arrives, from whomever, is counted once, answered with less than it brought until the cookie is proven, and hurts nobody:
// a client that plays beside it loses nothing.
func TestEveryDatagramIsCountedOnce(t *testing.T) {
	s := newIngress()
	rng := newLink(99).rng
	control := netip.MustParseAddrPort("[2001:db8::1]:5000")
	now := time.Minute
	join := func(from netip.AddrPort) *Peer {
		a, err := wire.ParseAccept(s.handle(now, from, respond(t, s.door, now, from)))
		if err != nil {
			t.Fatal(err)
		}
		return NewPeer(now, Config{Token: a.Token})
	}
	player, attacker := join(control), join(bob)
	recorded := [][]byte{(&wire.Challenge{}).Append(nil), attacker.AppendDisconnect(nil, 0)}
	events, played := 0, 0
	for n := range 200_000 {
		now += 100 * time.Microsecond
		if n%500 == 0 { // its own garbage ruins the attacker's session
			s.addresses.Delete(bob)
			attacker = join(bob)
		}
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(rng.UintN(8))}), uint16(rng.UintN(4)))
		if rng.IntN(2) == 0 {
			from = bob
		}
		var d []byte
		switch rng.IntN(6) {
		case 0:
			d = make([]byte, rng.IntN(1400))
			for i := range d {
				d[i] = byte(rng.Uint32())
			}
			if len(d) > 0 {
				d[0] %= 10
			}
		case 1:
			h := testHello()
			h.Nonce = rng.Uint64N(4)
			d = h.Append(nil)
		case 2, 3:
			_ = attacker.Queue([]byte("noise"))
			d, _ = attacker.Append(now, nil)
			d = attacker.AppendEvents(d, 300)
		case 4:
			d = bytes.Clone(recorded[rng.IntN(len(recorded))])
		case 5:
			d = respond(t, s.door, now, from)
		}
		if len(recorded) < 500 {
			recorded = append(recorded, bytes.Clone(d))
		}
		for n := rng.IntN(3); n > 0 && len(d) > 0; n-- {
			switch rng.IntN(3) {
			case 0:
				d[rng.IntN(len(d))] ^= 1 << rng.IntN(8)
			case 1:
				d = d[:rng.IntN(len(d)+1)]
			case 2:
				d = append(d, byte(rng.Uint32()))
			}
		}
		before := s.counters
		s.handle(now, from, d)
		moved := s.counters.Accepted - before.Accepted
		for i := range s.counters.Drops {
			moved += s.counters.Drops[i] - before.Drops[i]
		}
		if moved != 1 || !s.counters.Balanced() {
			t.Fatalf("%x moved %d counters", d, moved)
		}
		if !s.proven[from] && s.sent[from] > s.got[from]/3 {
			t.Fatalf("%v sent %d bytes and got %d before it proved itself", from, s.got[from], s.sent[from])
		}
		if rng.IntN(100) == 0 {
			if player.Queue(binary.LittleEndian.AppendUint32(nil, uint32(events))) == nil {
				events++
			}
			d, _ := player.Append(now, nil)
			ok := s.payloads
			s.handle(now, control, player.AppendEvents(d, 900))
			played++
			if s.payloads != ok+1 {
				t.Fatalf("the control client's package %d was refused", played)
			}
			slot, _ := s.addresses.Get(control)
			answer, _ := s.peers[slot].Append(now, nil)
			if _, err := player.Receive(now, answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d received, %d accepted, %d drops, %d packages of the control client", s.counters.Received, s.counters.Accepted, s.counters.Dropped(), played)
	for d := wire.Drop(1); d < wire.NumDrops; d++ {
		t.Logf("%9d %s", s.counters.Drops[d], d.String())
	}
	for _, d := range []wire.Drop{wire.DropSize, wire.DropKind, wire.DropUnknown, wire.DropMagic, wire.DropPadding, wire.DropText,
		wire.DropCookie, wire.DropToken, wire.DropStale, wire.DropDuplicate, wire.DropAck, wire.DropSection, wire.DropEvents} {
		if s.counters.Drops[d] == 0 {
			t.Errorf("nothing was dropped for %v: the test does not reach it", d)
		}
	}
}

func TestCountersRefuseForeignErrors(t *testing.T) {
	for _, err := range []error{ErrQueueFull, wire.DropNone, wire.NumDrops} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was counted", err)
				}
			}()
			(&Counters{}).Count(err)
		}()
	}
}

// One stranger's bytes against a server that has a session with him: no panic, one counter, no reply larger than the
// request unless he returned a cookie.
func FuzzDatagram(f *testing.F) {
	h := testHello()
	f.Add(h.Append(nil))
	f.Add(respond(f, testDoor(), time.Minute, bob))
	d := respond(f, testDoor(), time.Minute, alice)
	f.Add(d)
	token := NewPeer(0, Config{Token: 1})
	p, _ := token.Append(0, nil)
	f.Add(append(p, 1, 1, 0, 0, 0, 9))
	f.Add(token.AppendDisconnect(nil, wire.ReasonLeft))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, datagram []byte) {
		s := newIngress()
		s.addresses.Put(alice, 0)
		s.peers = []*Peer{NewPeer(time.Minute, Config{Token: 1, Server: true})}
		for _, from := range []netip.AddrPort{alice, bob} {
			reply := s.handle(time.Minute, from, datagram)
			if !s.proven[from] && len(reply) > len(datagram) {
				t.Fatalf("%d bytes answered with %d", len(datagram), len(reply))
			}
		}
		if !s.counters.Balanced() || s.counters.Received != 2 {
			t.Fatalf("%+v", s.counters)
		}
	})
}

func TestDoorAllocatesNothing(t *testing.T) {
	d := testDoor()
	reply := make([]byte, 0, wire.MaxDatagram)
	h := testHello()
	good := respond(t, d, time.Minute, alice)
	forged := bytes.Clone(good)
	forged[20] ^= 1
	for _, c := range []struct {
		name     string
		datagram []byte
	}{{"hello", h.Append(nil)}, {"response", good}, {"forged response", forged}, {"garbage", make([]byte, 700)}, {"nothing", nil}} {
		if n := testing.AllocsPerRun(100, func() { reply, _, _ = d.Handle(time.Minute, alice, c.datagram, reply[:0]) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
