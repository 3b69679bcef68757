package session

import (
	"bytes"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/wire"
)

// packet writes a header with these fields from the client of a test session.
func packet(h wire.Header) []byte { h.Token = testToken; return h.Append(nil) }

// What a server that has received sequences 1 to 70 but for 60, and sent three packages, does with one datagram more.
func TestBadPackages(t *testing.T) {
	good := wire.Header{Sequence: 71}
	whole := packet(good)
	_, other := pair()
	for i, c := range []struct {
		name     string
		datagram []byte
		want     error
	}{
		0:  {"nothing", nil, wire.DropSize},
		1:  {"one byte", whole[:1], wire.DropSize},
		2:  {"a byte short of a header", whole[:24], wire.DropSize},
		3:  {"a header", whole, nil},
		4:  {"1200 bytes", append(bytes.Clone(whole), make([]byte, 1175)...), nil},
		5:  {"1201 bytes", append(bytes.Clone(whole), make([]byte, 1176)...), wire.DropSize},
		6:  {"65507 bytes", append(bytes.Clone(whole), make([]byte, 65482)...), wire.DropSize},
		7:  {"kind 0", append([]byte{0}, whole[1:]...), wire.DropKind},
		8:  {"kind 5", append([]byte{5}, whole[1:]...), wire.DropKind},
		9:  {"kind 8", append([]byte{8}, whole[1:]...), wire.DropKind},
		10: {"token 0", (&wire.Header{Sequence: 71}).Append(nil), wire.DropToken},
		11: {"token off by a bit", (&wire.Header{Token: testToken ^ 1<<63, Sequence: 71}).Append(nil), wire.DropToken},
		12: {"our own, reflected", (&wire.Header{Token: ^uint64(testToken), Sequence: 71}).Append(nil), wire.DropToken},
		13: {"replay of the newest", packet(wire.Header{Sequence: 70}), wire.DropDuplicate},
		14: {"replay of an older one", packet(wire.Header{Sequence: 50}), wire.DropDuplicate},
		15: {"late but new", packet(wire.Header{Sequence: 60}), nil},
		16: {"oldest in the window", packet(wire.Header{Sequence: 6}), wire.DropDuplicate},
		17: {"behind the window", packet(wire.Header{Sequence: 5}), wire.DropStale},
		18: {"sequence 0", packet(wire.Header{Sequence: 0}), wire.DropStale},
		19: {"before the first", packet(wire.Header{Sequence: 65535}), wire.DropStale},
		20: {"a jump of 16383", packet(wire.Header{Sequence: 70 + 16383}), nil},
		21: {"a jump of 16384", packet(wire.Header{Sequence: 70 + 16384}), wire.DropFuture},
		22: {"half the circle ahead", packet(wire.Header{Sequence: 70 + 32767}), wire.DropFuture},
		23: {"half the circle behind", packet(wire.Header{Sequence: 70 + 32768}), wire.DropStale},
		24: {"ack of the last", packet(wire.Header{Sequence: 71, Ack: 3, AckBits: 3}), nil},
		25: {"ack of the next", packet(wire.Header{Sequence: 71, Ack: 4}), wire.DropAck},
		26: {"acks all ones", packet(wire.Header{Sequence: 71, Ack: 65535, AckBits: ^uint64(0)}), wire.DropAck},
		27: {"ack bits of nothing", packet(wire.Header{Sequence: 71, Ack: 3, AckBits: 4}), wire.DropAck},
		28: {"a replay with a forged ack", packet(wire.Header{Sequence: 70, Ack: 9}), wire.DropDuplicate},
		29: {"disconnect", other.AppendDisconnect(nil, wire.ReasonLeft), nil},
		30: {"disconnect, short", other.AppendDisconnect(nil, wire.ReasonLeft)[:9], wire.DropSize},
		31: {"disconnect, long", append(other.AppendDisconnect(nil, wire.ReasonLeft), 0), wire.DropSize},
		32: {"disconnect, no reason", other.AppendDisconnect(nil, 0), wire.DropValue},
		33: {"disconnect of another", (&wire.Disconnect{Token: 1, Reason: wire.ReasonLeft}).Append(nil), wire.DropToken},
	} {
		server, _ := pair()
		for range 3 {
			server.Append(0, nil)
		}
		for n := uint16(1); n <= 70; n++ {
			if n == 60 {
				continue
			}
			if _, err := server.Receive(0, packet(wire.Header{Sequence: n})); err != nil {
				t.Fatal(err)
			}
		}
		before := *server
		payload, err := server.Receive(time.Second, c.datagram)
		if err != c.want {
			t.Errorf("%d %s: %v, want %v", i, c.name, err, c.want)
		}
		if err != nil && (payload != nil || *server != before) {
			t.Errorf("%d %s: refused, but it changed the peer", i, c.name)
		}
		if err == nil && len(c.datagram) >= wire.HeaderSize && len(payload) != len(c.datagram)-wire.HeaderSize {
			t.Errorf("%d %s: payload of %d bytes", i, c.name, len(payload))
		}
		if err == nil && server.Silent(time.Second) != 0 {
			t.Errorf("%d %s: accepted, but not heard", i, c.name)
		}
	}
}

// A disconnect is sent ten times; the first that arrives ends the session with its reason, the rest are counted.
func TestRow28DisconnectWithReason(t *testing.T) {
	server, client := pair()
	last, _ := server.Append(0, nil)
	for n := range wire.DisconnectRepeats {
		want := error(wire.DropClosed)
		if n == 0 {
			want = nil
			if _, closed := client.Closed(); closed {
				t.Fatal("closed before the disconnect")
			}
		}
		if payload, err := client.Receive(0, server.AppendDisconnect(nil, wire.ReasonKicked)); err != want || payload != nil {
			t.Fatalf("copy %d: %v, want %v", n, err, want)
		}
	}
	if why, closed := client.Closed(); !closed || why != wire.ReasonKicked {
		t.Fatalf("closed %v, %v", closed, why)
	}
	if _, err := client.Receive(0, last); err != wire.DropClosed {
		t.Fatalf("a package after the end: %v", err)
	}
	client.Reset(0, Config{Token: 5})
	if _, closed := client.Closed(); closed || client.Token() != 5 || client.InFlight() != 0 {
		t.Fatal("a reset peer remembers")
	}
	if _, err := client.Receive(0, last); err != wire.DropToken {
		t.Fatalf("a package of the session before: %v", err)
	}
}

// Any datagrams that pass the token: a wire.Drop or a payload, and what Append writes is well formed ever after.
func FuzzPeer(f *testing.F) {
	f.Add(packet(wire.Header{Sequence: 1})[9:], packet(wire.Header{Sequence: 2, Ack: 3, AckBits: 3, Echo: 8})[9:])
	f.Add(append(packet(wire.Header{Sequence: 1})[9:], 1, 1, 0, 0, 0, 9), packet(wire.Header{Sequence: 16384})[9:])
	f.Add(packet(wire.Header{Sequence: 65535, Ack: 65535, AckBits: 1 << 63})[9:], []byte{})
	f.Add(append(packet(wire.Header{Sequence: 1})[9:], 1, 1, 0, 0, 0, 9, 4, 1, 1, 8, 8, 5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7), packet(wire.Header{Sequence: 2})[9:])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p := NewPeer(0, Config{Token: testToken, Server: true, Blobs: 2000})
		for i, body := range [][]byte{a, b, a} {
			now := time.Duration(i) * 20 * time.Millisecond
			_, seq := p.Append(now, nil)
			p.Sent(seq, uint64(i))
			before := *p
			datagram := append(packet(wire.Header{})[:9:9], body...)
			payload, err := p.Receive(now, datagram)
			if _, ok := err.(wire.Drop); err != nil && !ok {
				t.Fatalf("%x: %v is no reason", datagram, err)
			}
			if len(p.Delivered())+len(p.Lost()) > i+1 || err != nil && len(p.Delivered())+len(p.Lost()) > 0 {
				t.Fatalf("%d cookies, %v and %v came back", i+1, p.Delivered(), p.Lost())
			}
			if err != nil && (p.in != before.in || p.path != before.path || p.heard != before.heard) {
				t.Fatalf("%x: %v, but it changed the peer", datagram, err)
			}
			for err == nil && len(payload) > 0 {
				left := len(payload)
				if payload, err = p.Sections(payload); len(payload) == left {
					break
				}
				drain(p, func(e []byte) {
					if len(e) == 0 || len(e) > MaxEventSize {
						t.Fatalf("event of %d bytes", len(e))
					}
				})
				for note, ok := p.NextNote(); ok; note, ok = p.NextNote() {
					if len(note) == 0 || len(note) > MaxNoteSize {
						t.Fatalf("note of %d bytes", len(note))
					}
				}
				if blob, ok := p.NextBlob(); ok && (len(blob) == 0 || len(blob) > 2000) {
					t.Fatalf("blob of %d bytes", len(blob))
				}
			}
			if j := p.Jitter(); j.P50 < 0 || j.P95 < j.P50 || j.P99 < j.P95 {
				t.Fatalf("jitter %+v", j)
			}
			if r := p.RTT(); r.Smoothed < 0 || r.Smoothed > now || r.Min < 0 || r.Min > now || r.Var < 0 {
				t.Fatalf("path %+v after %v", r, now)
			}
		}
	})
}

func TestPeerAllocatesNothing(t *testing.T) {
	server, client := pair()
	now, event, got := time.Duration(0), []byte("boom"), 0
	up, down := make([]byte, 0, wire.MaxDatagram), make([]byte, 0, wire.MaxDatagram)
	garbage := make([]byte, 300)
	if n := testing.AllocsPerRun(1000, func() {
		now += 16 * time.Millisecond
		_ = client.Queue(event)
		var seq uint16
		up, seq = client.Append(now, up[:0])
		up = client.AppendEvents(up, 400)
		client.Sent(seq, 7)
		payload, _ := server.Receive(now, up)
		_, _ = server.Receive(now, up)
		_, _ = server.Receive(now, garbage)
		_, _ = server.ParseEvents(payload)
		_, _ = server.ParseEvents(garbage)
		for _, ok := server.NextEvent(); ok; _, ok = server.NextEvent() {
			got++
		}
		down, _ = server.Append(now, down[:0])
		_, _ = client.Receive(now, down)
		_, _, _, _ = client.Delivered(), client.Lost(), client.RTT(), client.Ready(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got < 1000 {
		t.Errorf("only %d events arrived", got)
	}
	if n := testing.AllocsPerRun(10, func() { server.Reset(0, Config{Token: 1}) }); n != 0 {
		t.Errorf("Reset: %v allocations", n)
	}
}

// A package there and back. The twin keeps the same books in maps.
func BenchmarkPeer(b *testing.B) {
	for _, c := range []struct {
		name   string
		every  int // a package of so many is lost
		events bool
	}{{"clean", 0, false}, {"loss=1/8", 8, false}, {"events", 0, true}} {
		b.Run(c.name, func(b *testing.B) {
			server, client := pair()
			up, down := make([]byte, 0, wire.MaxDatagram), make([]byte, 0, wire.MaxDatagram)
			event := make([]byte, 16)
			b.ReportAllocs()
			for i := range b.N {
				now := time.Duration(i) * 16 * time.Millisecond
				var seq uint16
				up, seq = client.Append(now, up[:0])
				client.Sent(seq, uint64(i))
				if c.events {
					_ = client.Queue(event)
					up = client.AppendEvents(up, 400)
				}
				if c.every != 0 && i%c.every == 0 {
					continue
				}
				payload, _ := server.Receive(now, up)
				if c.events {
					_, _ = server.ParseEvents(payload)
					drain(server, func([]byte) {})
				}
				down, seq = server.Append(now, down[:0])
				server.Sent(seq, uint64(i))
				_, _ = client.Receive(now, down)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/package")
		})
	}
	b.Run("map twin", func(b *testing.B) { // one direction's worth of send, acks and receive each, as above
		type end struct {
			out slowOutbox
			in  slowWindow
		}
		fresh := func() *end {
			return &end{slowOutbox{at: map[uint64]time.Duration{}, cookie: map[uint64]uint64{}}, slowWindow{seen: map[uint64]bool{}}}
		}
		ends := [2]*end{fresh(), fresh()}
		b.ReportAllocs()
		for i := range b.N {
			now := time.Duration(i) * 16 * time.Millisecond
			for k, from := range ends {
				to := ends[1-k]
				from.out.send(now, uint64(i))
				s := int64(from.out.newest)
				if to.in.judge(s) == nil {
					to.in.seen[uint64(s)], to.in.newest = true, uint64(s)
					delete(to.in.seen, uint64(s)-65)
				}
				if from.in.newest != 0 {
					to.out.take(uint16(from.in.newest), from.in.bits())
					delete(to.out.at, to.out.newest-100)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/package")
	})
}

func BenchmarkDoor(b *testing.B) {
	d := testDoor()
	h := testHello()
	hello, reply := h.Append(nil), make([]byte, 0, wire.MaxDatagram)
	good := respond(b, d, time.Minute, alice)
	for _, c := range []struct {
		name     string
		datagram []byte
	}{{"hello", hello}, {"response", good}, {"garbage", make([]byte, 300)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				reply, _, _ = d.Handle(time.Minute, alice, c.datagram, reply[:0])
			}
		})
	}
}
