package packet

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// A server that has received sequences 1 to 70 but for 60, and sent three packets, gets one more
// packet.
func TestBadPackets(t *testing.T) {
	header := func(h Header) []byte { return h.Append(nil) }
	whole := header(Header{Sequence: 71})
	for i, c := range []struct {
		name string
		pkt  []byte
		want error
	}{
		0:  {"nothing", nil, DropSize},
		1:  {"one byte", whole[:1], DropSize},
		2:  {"a byte short of a header", whole[:15], DropSize},
		3:  {"a header", whole, nil},
		4:  {"1200 bytes", append(bytes.Clone(whole), make([]byte, 1184)...), nil},
		5:  {"1201 bytes", append(bytes.Clone(whole), make([]byte, 1185)...), DropSize},
		6:  {"65507 bytes", append(bytes.Clone(whole), make([]byte, 65491)...), DropSize},
		7:  {"replay of the newest", header(Header{Sequence: 70}), DropDuplicate},
		8:  {"replay of an older one", header(Header{Sequence: 50}), DropDuplicate},
		9:  {"late but new", header(Header{Sequence: 60}), nil},
		10: {"oldest in the window", header(Header{Sequence: 6}), DropDuplicate},
		11: {"behind the window", header(Header{Sequence: 5}), DropStale},
		12: {"sequence 0", header(Header{Sequence: 0}), DropStale},
		13: {"before the first", header(Header{Sequence: 65535}), DropStale},
		14: {"a jump of 16383", header(Header{Sequence: 70 + 16383}), nil},
		15: {"a jump of 16384", header(Header{Sequence: 70 + 16384}), DropFuture},
		16: {"half the circle ahead", header(Header{Sequence: 70 + 32767}), DropFuture},
		17: {"half the circle behind", header(Header{Sequence: 70 + 32768}), DropStale},
		18: {"ack of the last", header(Header{Sequence: 71, Ack: 3, AckBits: 3}), nil},
		19: {"ack of the next", header(Header{Sequence: 71, Ack: 4}), DropAck},
		20: {"acks all ones", header(Header{Sequence: 71, Ack: 65535, AckBits: ^uint64(0)}), DropAck},
		21: {"ack bits of nothing", header(Header{Sequence: 71, Ack: 3, AckBits: 4}), DropAck},
		22: {"a replay with a forged ack", header(Header{Sequence: 70, Ack: 9}), DropDuplicate},
	} {
		server, _ := pair()
		for range 3 {
			server.Append(0, nil)
		}
		for n := uint16(1); n <= 70; n++ {
			if n == 60 {
				continue
			}
			if _, err := server.Receive(0, header(Header{Sequence: n})); err != nil {
				t.Fatal(err)
			}
		}
		before := *server
		rest, err := server.Receive(time.Second, c.pkt)
		if err != c.want {
			t.Errorf("%d %s: %v, want %v", i, c.name, err, c.want)
		}
		if err != nil && (rest != nil || !reflect.DeepEqual(*server, before)) {
			t.Errorf("%d %s: refused, but it changed the peer", i, c.name)
		}
		if err == nil && len(rest) != len(c.pkt)-HeaderSize {
			t.Errorf("%d %s: sections of %d bytes", i, c.name, len(rest))
		}
		if err == nil && server.SinceReceive(time.Second) != 0 {
			t.Errorf("%d %s: accepted, but not heard", i, c.name)
		}
	}
}

// Any packet is a Drop or sections and is counted once, and Append stays well formed. The first
// packet comes twice.
func FuzzPeer(f *testing.F) {
	header := func(h Header, sections ...byte) []byte { return append(h.Append(nil), sections...) }
	f.Add(header(Header{Sequence: 1}), header(Header{Sequence: 2, Ack: 3, AckBits: 3, Echo: 8}))
	f.Add(header(Header{Sequence: 1}, 1, 1, 0, 0, 0, 9), header(Header{Sequence: 16384}))
	f.Add(header(Header{Sequence: 65535, Ack: 65535, AckBits: 1 << 63}), []byte{})
	f.Add(header(Header{Sequence: 1}, 1, 1, 0, 0, 0, 9, 4, 1, 1, 8, 8, 5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7),
		header(Header{Sequence: 2}))
	f.Add(header(Header{Sequence: 1}, 4, 1, 0, 9, 6, 10, 3, 1), header(Header{Sequence: 2}))
	f.Add(header(Header{Sequence: 1}, 6, 12), header(Header{Sequence: 2}, 6))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p, counters := NewPeer(0, Config{MaxTransfer: 2000}), Counters{}
		for i, pkt := range [][]byte{a, b, a} {
			now := time.Duration(i) * 20 * time.Millisecond
			d, seq := p.Append(now, nil)
			p.SetAckTag(seq, uint64(i))
			if h, _, err := ParseHeader(d); err != nil || h.Sequence != uint16(i+1) || h.Ack == 0 &&
				h.AckBits != 0 {
				t.Fatalf("wrote %+v, %v", h, err)
			}
			before := *p
			counters.Arrived()
			rest, err := p.Receive(now, pkt)
			if len(p.Delivered())+len(p.Lost()) > i+1 || err != nil && len(p.Delivered())+len(p.Lost()) > 0 {
				t.Fatalf("%d ack tags, %v and %v came back", i+1, p.Delivered(), p.Lost())
			}
			if err != nil && (p.in != before.in || p.rtt != before.rtt || p.received != before.received) {
				t.Fatalf("%x: %v, but it changed the peer", pkt, err)
			}
			if _, over := p.Closed(); err == nil && over {
				t.Fatalf("%x was taken after the end", pkt)
			}
			for err == nil && len(rest) > 0 {
				left := len(rest)
				if rest, err = p.Sections(rest); err == nil && len(rest) == left {
					err = DropSection // the owner of these is not here
				}
				drain(p, func(e []byte) {
					if len(e) == 0 || len(e) > MaxMessageSize {
						t.Fatalf("reliable message of %d bytes", len(e))
					}
				})
				for note, ok := p.NextUnreliable(); ok; note, ok = p.NextUnreliable() {
					if len(note) == 0 || len(note) > MaxMessageSize {
						t.Fatalf("unreliable message of %d bytes", len(note))
					}
				}
				if transfer, ok := p.NextTransfer(); ok && (len(transfer) == 0 || len(transfer) > 2000) {
					t.Fatalf("transfer of %d bytes", len(transfer))
				}
			}
			counters.Count(err) // panics unless it is a Drop
			if why, over := p.Closed(); over != why.Valid() {
				t.Fatalf("closed %v for reason %d", over, why)
			}
			if j := p.Jitter(); j.P50 < 0 || j.P95 < j.P50 || j.P99 < j.P95 {
				t.Fatalf("jitter %+v", j)
			}
			if r := p.RTT(); r.Smoothed < 0 || r.Smoothed > now || r.Min < 0 || r.Min > now || r.Var < 0 {
				t.Fatalf("path %+v after %v", r, now)
			}
		}
		if !counters.Balanced() || counters.Received != 3 {
			t.Fatalf("%+v", counters)
		}
	})
}

func TestPeerAllocatesNothing(t *testing.T) {
	server, client := pair()
	now, event, got := time.Duration(0), []byte("boom"), 0
	up, down := make([]byte, 0, MaxPacketSize), make([]byte, 0, MaxPacketSize)
	garbage := make([]byte, 300)
	if n := alloctest.In(1000, func() {
		now += 16 * time.Millisecond
		_ = client.QueueReliable(event)
		var seq uint16
		up, seq = client.Append(now, up[:0])
		up = client.AppendReliable(up, 400)
		client.SetAckTag(seq, 7)
		payload, _ := server.Receive(now, up)
		_, _ = server.Receive(now, up)
		_, _ = server.Receive(now, garbage)
		_, _ = server.reliableIn.parse(payload)
		_, _ = server.reliableIn.parse(garbage)
		for _, ok := server.NextReliable(); ok; _, ok = server.NextReliable() {
			got++
		}
		down, _ = server.Append(now, down[:0])
		_, _ = client.Receive(now, down)
		_, _, _, _ = client.Delivered(), client.Lost(), client.RTT(), client.CanSend(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got < 1000 {
		t.Errorf("only %d reliable messages arrived", got)
	}
	if n := alloctest.In(10, func() { server.Reset(0, Config{}) }); n != 0 {
		t.Errorf("Reset: %v allocations", n)
	}
}

// BenchmarkPeer measures a packet there and back.
func BenchmarkPeer(b *testing.B) {
	for _, c := range []struct {
		name   string
		every  int // every n-th packet is lost
		events bool
	}{{"clean", 0, false}, {"loss=1/8", 8, false}, {"events", 0, true}} {
		b.Run(c.name, func(b *testing.B) {
			server, client := pair()
			up, down := make([]byte, 0, MaxPacketSize), make([]byte, 0, MaxPacketSize)
			event := make([]byte, 16)
			b.ReportAllocs()
			for i := range b.N {
				now := time.Duration(i) * 16 * time.Millisecond
				var seq uint16
				up, seq = client.Append(now, up[:0])
				client.SetAckTag(seq, uint64(i))
				if c.events {
					_ = client.QueueReliable(event)
					up = client.AppendReliable(up, 400)
				}
				if c.every != 0 && i%c.every == 0 {
					continue
				}
				payload, _ := server.Receive(now, up)
				if c.events {
					_, _ = server.reliableIn.parse(payload)
					drain(server, func([]byte) {})
				}
				down, seq = server.Append(now, down[:0])
				server.SetAckTag(seq, uint64(i))
				_, _ = client.Receive(now, down)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/packet")
		})
	}
}
