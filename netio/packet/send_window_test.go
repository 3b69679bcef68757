package packet

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// slowSendWindow is the slow twin of the send window: maps, and the rule of loss of PROTOCOL.md.
type slowSendWindow struct {
	newest, acked uint64
	at            map[uint64]time.Duration
	ackTag        map[uint64]uint64 // of packets not resolved
}

func (o *slowSendWindow) send(now time.Duration, ackTag uint64) {
	o.newest++
	o.at[o.newest] = now
	o.ackTag[o.newest] = ackTag
}

// take returns what an ack resolves. The wide ack is the newest sequence at or below the newest
// sent with these low bits.
func (o *slowSendWindow) take(ack uint16, mask uint64) (delivered, lost []uint64) {
	a := o.newest
	for uint16(a) != ack {
		a--
	}
	for s := range o.ackTag {
		if s == a || s < a && a-1-s < 64 && mask>>(a-1-s)&1 != 0 {
			delivered = append(delivered, o.ackTag[s])
			delete(o.ackTag, s)
		}
	}
	o.acked = max(o.acked, a)
	for s := range o.ackTag {
		if s+64 < o.acked || s < o.acked && o.at[o.acked]-o.at[s] > lostAfter {
			lost = append(lost, o.ackTag[s])
			delete(o.ackTag, s)
		}
	}
	return delivered, lost
}

// Over a bad link and more than one wrap of 16 bits, every ack tag comes back once, delivered or
// lost, exactly when the twin says. None is delivered that the other end did not get.
func TestRow18PacketHeaderAcksAgreeWithMap(t *testing.T) {
	for i, c := range []struct {
		name          string
		loss, dup     float64
		delay, jitter time.Duration
		every, answer time.Duration // between packets, there and back
		packets       int
	}{
		0: {"clean", 0, 0, 20e6, 0, 16e6, 16e6, 70_000},
		1: {"lossy", .3, .1, 40e6, 30e6, 16e6, 50e6, 70_000},
		2: {"reordered", .05, .3, 60e6, 60e6, 8e6, 16e6, 20_000},
		3: {"seldom answered", .3, .1, 20e6, 10e6, 16e6, 1200e6, 20_000},
		4: {"seldom sent", .3, .1, 100e6, 80e6, 50e6, 16e6, 10_000},
		5: {"fast and reordered", .05, .1, 30e6, 30e6, 1e6, 1e6, 20_000},
		6: {"almost dead", .9, .5, 50e6, 50e6, 16e6, 100e6, 20_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, client := pair()
			twin := slowSendWindow{at: map[uint64]time.Duration{}, ackTag: map[uint64]uint64{}}
			down, up := newLink(uint64(i)), newLink(uint64(i)+100)
			for _, l := range []*link{down, up} {
				l.loss, l.dup, l.delay, l.jitter = c.loss, c.dup, c.delay, c.jitter
			}
			arrived, result := map[uint64]bool{}, map[uint64]string{}
			var sent, refused, nDelivered, nLost int
			for now := time.Duration(0); sent < c.packets; now += time.Millisecond {
				if now%c.every == 0 && server.CanSend(now) {
					d, seq := server.Append(now, nil)
					sent++
					twin.send(now, uint64(sent))
					if !server.SetAckTag(seq, uint64(sent)) {
						refused++
					}
					down.push(now, append(d, byte(sent), byte(sent>>8), byte(sent>>16)))
				}
				if now%c.answer == 0 && client.CanSend(now) {
					d, _ := client.Append(now, nil)
					up.push(now, d)
				}
				for f, ok := down.pop(now); ok; f, ok = down.pop(now) {
					if payload, err := client.Receive(now, f.data); err == nil {
						n := uint64(payload[0]) | uint64(payload[1])<<8 | uint64(payload[2])<<16
						if arrived[n] {
							t.Fatalf("packet %d came twice", n)
						}
						arrived[n] = true
					}
				}
				for f, ok := up.pop(now); ok; f, ok = up.pop(now) {
					h, _, _ := ParseHeader(f.data)
					if _, err := server.Receive(now, f.data); err != nil {
						if len(server.Delivered())+len(server.Lost()) != 0 {
							t.Fatal("a refused packet resolved ack tags")
						}
						continue
					}
					var delivered, lost []uint64
					if h.Ack != 0 || server.out.acked != 0 {
						delivered, lost = twin.take(h.Ack, h.AckBits)
					}
					slices.Sort(delivered)
					slices.Sort(lost)
					got := slices.Sorted(slices.Values(server.Lost()))
					if !slices.Equal(delivered, server.Delivered()) || !slices.Equal(lost, got) {
						t.Fatalf("at %v ack %d %b: delivered %v lost %v, the twin says %v and %v", now,
							h.Ack, h.AckBits,
							server.Delivered(), got, delivered, lost)
					}
					for _, k := range server.Delivered() {
						if result[k] != "" || !arrived[k] {
							t.Fatalf("ack tag %d delivered: before %q, arrived %v", k, result[k], arrived[k])
						}
						result[k] = "delivered"
					}
					for _, k := range server.Lost() {
						if result[k] != "" {
							t.Fatalf("ack tag %d lost: before %q", k, result[k])
						}
						result[k] = "lost"
					}
					nDelivered, nLost = nDelivered+len(delivered), nLost+len(lost)
				}
			}
			if open := len(twin.ackTag); refused != 0 || nDelivered+nLost+open != sent ||
				open > stallPackets+64 {
				t.Fatalf("%d sent, %d refused: %d delivered, %d lost, %d open", sent, refused, nDelivered,
					nLost, open)
			}
			if c.loss == 0 && nLost != 0 {
				t.Fatalf("%d lost on a clean link", nLost)
			}
			t.Logf("%d sent, %d delivered, %d lost, %d arrived", sent, nDelivered, nLost,
				len(slices.Collect(maps.Keys(arrived))))
		})
	}
}

// A sender that ignores Ready while acks stall is told that its ack tags are not stored. Stored
// tags come back once.
func TestRow20PacketInfoOverwritten(t *testing.T) {
	server, client := pair()
	hello, _ := client.Append(0, nil)
	taken, back := map[uint64]bool{}, map[uint64]bool{}
	for n := range uint64(1000) {
		_, seq := server.Append(time.Duration(n)*time.Millisecond, nil)
		if server.SetAckTag(seq, n) {
			taken[n] = true
		}
		if server.SetAckTag(seq, n) || server.SetAckTag(seq+1, n) || server.SetAckTag(seq-300, n) {
			t.Fatal("a ack tag was taken twice, for the future or for the distant past")
		}
	}
	if len(taken) != sendWindowSize {
		t.Fatalf("%d ack tags taken, want %d", len(taken), sendWindowSize)
	}
	now := time.Second
	if _, err := server.Receive(now, hello); err != nil {
		t.Fatal(err)
	}
	for _, k := range server.Lost() {
		back[k] = true
	}
	var last []byte
	for n := range uint64(100) { // then the peer is heard again
		last, _ = server.Append(now, nil)
		server.SetAckTag(server.seq(), 5000+n)
	}
	if _, err := client.Receive(now, last); err != nil {
		t.Fatal(err)
	}
	answer, _ := client.Append(now, nil)
	if _, err := server.Receive(now, answer); err != nil {
		t.Fatal(err)
	}
	for _, k := range server.Lost() {
		if back[k] {
			t.Fatalf("ack tag %d came back twice", k)
		}
		back[k] = true
	}
	for k := range taken {
		if !back[k] {
			t.Fatalf("ack tag %d never came back", k)
		}
	}
	if d := server.Delivered(); len(d) != 1 || d[0] != 5099 {
		t.Fatalf("delivered %v, want the last one", d)
	}
}

func (p *Peer) seq() uint16 { return uint16(p.out.newest) }

// Over three wraps of 16 bits and a thousand of the ring, with every seventh packet lost and
// stalls of 100 packets, each ack tag comes back once with the right result.
func TestRow20PacketInfoWraps(t *testing.T) {
	server, client := pair()
	const packets = 200_000
	var result [packets]byte
	var now time.Duration
	for n := range packets {
		now += 16 * time.Millisecond
		d, seq := server.Append(now, nil)
		if !server.SetAckTag(seq, uint64(n)) {
			t.Fatalf("ack tag %d was not taken", n)
		}
		if n%7 != 3 {
			if _, err := client.Receive(now, d); err != nil {
				t.Fatal(err)
			}
		}
		if n%1000 < 100 && n < packets-1000 { // stalled: no acks
			continue
		}
		a, _ := client.Append(now, nil)
		if _, err := server.Receive(now, a); err != nil {
			t.Fatal(err)
		}
		for _, k := range server.Delivered() {
			if result[k] != 0 || k%7 == 3 {
				t.Fatalf("ack tag %d delivered, before %q", k, result[k])
			}
			result[k] = 'd'
		}
		for _, k := range server.Lost() {
			if result[k] != 0 {
				t.Fatalf("ack tag %d lost, before %q", k, result[k])
			}
			result[k] = 'l'
		}
	}
	arrived := 0
	for n, f := range result[:packets-64] {
		if f == 0 || f == 'l' && n%7 != 3 && n%1000 >= 101 {
			t.Fatalf("ack tag %d: %q", n, f)
		}
		if f == 'd' {
			arrived++
		}
	}
	if arrived < packets*8/10 {
		t.Errorf("only %d of %d delivered", arrived, packets)
	}
}

// A packet is lost when the newest ack is 65 ahead, or when a packet that was sent more than 250
// ms later arrived, and not a packet or a millisecond sooner.
func TestRow18LossByAcksAndByTime(t *testing.T) {
	for i, c := range []struct {
		every time.Duration
		want  int // packets after the lost one, when it is known
	}{{0, 65}, {time.Millisecond, 65}, {3 * time.Millisecond, 65}, {5 * time.Millisecond, 51},
		{50 * time.Millisecond, 6}, {250 * time.Millisecond, 2}, {251 * time.Millisecond, 1}} {
		server, client := pair()
		_, seq := server.Append(0, nil)
		server.SetAckTag(seq, 77)
		after := 0
		for now := c.every; len(server.Lost()) == 0 && after < 200; now += c.every {
			d, _ := server.Append(now, nil)
			after++
			if _, err := client.Receive(now, d); err != nil {
				t.Fatal(err)
			}
			a, _ := client.Append(now, nil)
			if _, err := server.Receive(now, a); err != nil {
				t.Fatal(err)
			}
		}
		if after != c.want || server.Lost()[0] != 77 {
			t.Errorf("%d: a packet each %v: lost after %d, want %d", i, c.every, after, c.want)
		}
	}
}

// An ack of a packet that the ring has overwritten has no effect on the one in its place.
func TestRow20PacketInfoAncientAck(t *testing.T) {
	server, _ := pair()
	for n := range uint64(300) {
		if _, seq := server.Append(0, nil); n >= 200 && !server.SetAckTag(seq, n) {
			t.Fatal("a ack tag was not taken")
		}
	}
	h := Header{Sequence: 1, Ack: 20, AckBits: 1<<19 - 1}
	if _, err := server.Receive(0, h.Append(nil)); err != nil ||
		len(server.Delivered())+len(server.Lost()) != 0 {
		t.Fatalf("%v, delivered %v, lost %v", err, server.Delivered(), server.Lost())
	}
	if server.RTT() != (RTT{}) {
		t.Fatal("it gave an RTT")
	}
}

// Acks of packets that were never sent are refused and change nothing, even if part of them is
// true.
func TestForgedAcks(t *testing.T) {
	server, _ := pair()
	for range 10 {
		_, seq := server.Append(0, nil)
		server.SetAckTag(seq, uint64(seq))
	}
	for i, c := range []struct {
		ack  uint16
		bits uint64
		want error
	}{
		0: {11, 0, DropAck},
		1: {65535, 0, DropAck},
		2: {32778, 0, DropAck},
		3: {32777, 0, DropAck},
		4: {10, ^uint64(0), DropAck},
		5: {10, 1 << 9, DropAck}, // sequence 0
		6: {1, 1, DropAck},
		7: {0, 1, DropAck},
		8: {0, 0, nil},
		9: {10, 1<<9 - 1, nil},
	} {
		h := Header{Sequence: uint16(i + 1), Ack: c.ack, AckBits: c.bits}
		before := server.in
		_, err := server.Receive(0, h.Append(nil))
		if err != c.want {
			t.Errorf("%d: ack %d bits %b: %v, want %v", i, c.ack, c.bits, err, c.want)
		}
		if err != nil && (server.in != before || server.InFlight() != 10) {
			t.Errorf("%d: a refused packet left a trace", i)
		}
	}
	old := NewPeer(0, Config{})
	for range 70_000 {
		old.Append(0, nil)
	}
	for _, ahead := range []uint16{1, 2, 20_000, 32_000} {
		h := Header{Sequence: 1, Ack: uint16(70_000%65536) + ahead}
		if _, err := old.Receive(0, h.Append(nil)); err != DropAck {
			t.Errorf("after 70,000 packets, ack of the next %d: %v", ahead, err)
		}
	}
	if got := server.Delivered(); !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("delivered %v, want 1 to 10", got)
	}
}

// For any acks at any time, the window equals the twin and stays within its bounds.
func FuzzOutbox(f *testing.F) {
	f.Add([]byte{1, 1, 1, 0, 1, 0, 255, 1, 1, 1, 1, 0, 0, 85})
	f.Add([]byte{200, 0, 10, 255, 255, 0, 0, 0})
	for seed := range uint64(8) {
		r, script := rand.New(rand.NewPCG(1, seed)), []byte(nil)
		for range 900 {
			script = append(script, byte(r.Uint32())&3|byte(r.Uint32N(8))<<2*byte(seed&1),
				byte(r.ExpFloat64()*20), byte(r.Uint32()))
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		o, twin := sendWindow{oldest: 1}, slowSendWindow{at: map[uint64]time.Duration{},
			ackTag: map[uint64]uint64{}}
		now := time.Duration(0)
		for ; len(script) >= 3; script = script[3:] {
			op, back, mask := script[0], uint16(script[1]), uint64(script[2])*0x0101010101010101
			now += time.Duration(op>>2) * time.Millisecond
			if op&3 != 0 {
				for n := op & 3; n > 0 && o.newest-o.acked < stallPackets; n-- {
					s := o.next(now)
					twin.send(now, s)
					if !o.setAckTag(uint16(s), s) {
						t.Fatalf("ack tag %d was not taken", s)
					}
				}
				continue
			}
			o.clearResults()
			a, ok := o.expand(uint16(o.newest)-back, mask)
			if !ok {
				continue
			}
			o.applyAck(a, mask)
			delivered, lost := twin.take(uint16(a), mask)
			slices.Sort(delivered)
			slices.Sort(lost)
			got := slices.Sorted(slices.Values(o.lost[:o.nLostShown]))
			if !slices.Equal(got, lost) ||
				!slices.Equal(slices.Sorted(slices.Values(o.delivered[:o.nDelivered])), delivered) {
				t.Fatalf("ack %d %b of %d: delivered %v lost %v, the twin says %v and %v", a, mask,
					o.newest, o.delivered[:o.nDelivered], got, delivered, lost)
			}
			if o.tagsHeld != len(twin.ackTag) {
				t.Fatalf("%d ack tags held, the twin has %d", o.tagsHeld, len(twin.ackTag))
			}
		}
	})
}
