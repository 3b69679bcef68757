package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// drain passes on all reliable messages that are in order.
func drain(p *Peer, take func([]byte)) {
	for e, ok := p.NextReliable(); ok; e, ok = p.NextReliable() {
		take(e)
	}
}

// Every reliable message arrives exactly once and in order over bad links, both ways, through
// more than one wrap of the 16-bit id.
func TestRow21ReliableMessagesExactlyOnceInOrder(t *testing.T) {
	for i, c := range []struct {
		name          string
		loss, dup     float64
		delay, jitter time.Duration
		budget        int
		events        int
	}{
		0: {"30 % loss", .3, .1, 30e6, 20e6, MaxSectionBytes, 70_000},
		1: {"clean, small budget", 0, 0, 10e6, 0, 300, 10_000},
		2: {"heavy reordering", .1, .5, 100e6, 100e6, 600, 10_000},
		3: {"60 % loss", .6, 0, 5e6, 5e6, MaxSectionBytes, 10_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, client := pair()
			ends := [2]*Peer{server, client}
			var links [2]*link // links[i] leads away from ends[i]
			for k := range links {
				links[k] = newLink(uint64(10*i + k))
				links[k].loss, links[k].dup, links[k].delay, links[k].jitter = c.loss, c.dup, c.delay,
					c.jitter
			}
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			var queued, taken [2]uint32
			var buf [MaxMessageSize]byte
			for now := time.Duration(0); taken[0] < uint32(c.events) ||
				taken[1] < uint32(c.events); now += time.Millisecond {
				if now > 4*time.Hour {
					t.Fatalf("stuck: %v queued, %v taken", queued, taken)
				}
				for k, p := range ends {
					for n := rng.IntN(3); n > 0 && queued[k] < uint32(c.events); n-- {
						binary.LittleEndian.PutUint32(buf[:], queued[k])
						if p.QueueReliable(buf[:4+queued[k]%9]) == nil {
							queued[k]++
						}
					}
					if now%(16*time.Millisecond) == 0 && p.CanSend(now) {
						d, _ := p.Append(now, nil)
						before := len(d)
						d = p.AppendReliable(d, c.budget)
						if len(d)-before > c.budget || len(d) > MaxPacketSize {
							t.Fatalf("%d bytes of reliable messages, the budget is %d", len(d)-before,
								c.budget)
						}
						links[k].push(now, d)
					}
					from := links[1-k]
					for f, ok := from.pop(now); ok; f, ok = from.pop(now) {
						payload, err := p.Receive(now, f.data)
						if err != nil || len(payload) == 0 {
							continue
						}
						if rest, err := p.reliableIn.parse(payload); err != nil || len(rest) != 0 {
							t.Fatalf("%x: %v, rest %x", payload, err, rest)
						}
						drain(p, func(e []byte) {
							if n := binary.LittleEndian.Uint32(e); n != taken[k] || len(e) != int(4+n%9) {
								t.Fatalf("reliable message %d of %d bytes came where %d was due", n, len(e),
									taken[k])
							}
							taken[k]++
						})
					}
				}
			}
			if queued != taken {
				t.Fatalf("%v queued, %v taken", queued, taken)
			}
			t.Logf("lost %d of the packets", links[0].dropped+links[1].dropped)
		})
	}
}

func TestQueueBounds(t *testing.T) {
	p, _ := pair()
	for i, c := range []struct {
		size int
		want error
	}{{0, ErrMessageSize}, {1, nil}, {256, nil}, {257, ErrMessageSize}} {
		if err := p.QueueReliable(make([]byte, c.size)); err != c.want {
			t.Errorf("%d: reliable message of %d bytes: %v, want %v", i, c.size, err, c.want)
		}
	}
	for p.ReliablePending() < MaxReliable {
		if err := p.QueueReliable([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.QueueReliable([]byte{1}); err != ErrReliableFull {
		t.Errorf("reliable message 65: %v", err)
	}
	if got := p.AppendReliable(nil, 1000); got != nil {
		t.Errorf("reliable messages before the first packet: %x", got)
	}
}

// A reliable message that does not fit waits whole, a section that would be empty is not
// written, and a small reliable message does not overtake.
func TestReliableBudget(t *testing.T) {
	p, _ := pair()
	_ = p.QueueReliable(bytes.Repeat([]byte{7}, 100))
	_ = p.QueueReliable([]byte{8})
	for i, c := range []struct{ budget, want int }{{0, 0}, {4, 0}, {104, 0}, {105, 105}} {
		p.Append(time.Duration(i), nil)
		if got := p.AppendReliable(nil, c.budget); len(got) != c.want {
			t.Errorf("budget %d: %d bytes, want %d", c.budget, len(got), c.want)
		}
	}
	p.Append(time.Millisecond, nil)
	if got := p.AppendReliable(nil, 1000); !bytes.Equal(got, []byte{1, 1, 1, 0, 0, 8}) {
		t.Errorf("the second reliable message: %x", got)
	}
}

// Reliable messages are not repeated in every packet: they are sent again when an ack is overdue,
// and at once when their packet is lost.
func TestReliableResend(t *testing.T) {
	server, client := pair()
	_ = server.QueueReliable([]byte("x"))
	carried := 0
	send := func(now time.Duration, arrives bool) {
		d, _ := server.Append(now, nil)
		n := len(d)
		if d = server.AppendReliable(d, 100); len(d) > n {
			carried++
		}
		if arrives {
			if _, err := client.Receive(now, d); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(0, false)
	for now := 16 * time.Millisecond; now < 250*time.Millisecond; now += 16 * time.Millisecond {
		send(now, true)
	}
	if carried != 1 {
		t.Fatalf("carried %d times before an ack was due", carried)
	}
	send(251*time.Millisecond, false) // overdue
	send(252*time.Millisecond, true)
	if carried != 2 {
		t.Fatalf("carried %d times when the ack was overdue, want 2", carried)
	}
	now := 505 * time.Millisecond // the second copy is 254 ms older than this one, which arrives
	server.out.reliable.at[0] = 251 * time.Millisecond
	d, _ := server.Append(now, nil)
	if _, err := client.Receive(now, d); err != nil {
		t.Fatal(err)
	}
	answer, _ := client.Append(now, nil)
	if _, err := server.Receive(now, answer); err != nil {
		t.Fatal(err)
	}
	if server.out.reliable.at[0] != never {
		t.Fatal("a lost packet did not make its reliable message due")
	}

	server, client = pair()
	_ = server.QueueReliable([]byte("x"))
	carried = 0
	send(0, false)
	send(251*time.Millisecond, false) // overdue: a second copy, under way when the first is known to be lost
	send(260*time.Millisecond, true)
	answer, _ = client.Append(now, nil)
	if _, err := server.Receive(265*time.Millisecond, answer); err != nil || server.InFlight() != 0 {
		t.Fatal(err)
	}
	send(270*time.Millisecond, true)
	if carried != 2 {
		t.Fatalf("carried %d times while a copy was under way, want 2", carried)
	}
}

// Reliable messages added to a packet in two calls, with an ack between them that moves the
// oldest, are acked as what they are.
func TestReliableAddedTwice(t *testing.T) {
	server, client := pair()
	deliver := func(now time.Duration, d []byte) {
		payload, err := client.Receive(now, d)
		for err == nil && len(payload) > 0 {
			payload, err = client.reliableIn.parse(payload)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	answer := func(now time.Duration) {
		d, _ := client.Append(now, nil)
		if _, err := server.Receive(now, d); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = server.QueueReliable([]byte{0}), server.QueueReliable([]byte{1})
	first, _ := server.Append(0, nil)
	deliver(0, server.AppendReliable(first, 100))
	second, _ := server.Append(time.Second, nil)
	second = server.AppendReliable(second, 100) // 0 and 1 again
	answer(time.Second)
	_ = server.QueueReliable([]byte{2})
	deliver(time.Second, server.AppendReliable(second, 100))
	answer(time.Second)
	if server.ReliablePending() != 0 || server.out.reliable.acked != 0 {
		t.Fatalf("%d reliable messages queued, acked bits %b", server.ReliablePending(),
			server.out.reliable.acked)
	}
}

func TestBadReliable(t *testing.T) {
	for i, c := range []struct {
		name    string
		section []byte
		rest    int
		err     error
	}{
		0:  {"nothing", nil, 0, DropMessage},
		1:  {"section only", []byte{1}, 0, DropMessage},
		2:  {"another section", []byte{2, 1, 0, 0, 0, 9}, 0, DropMessage},
		3:  {"none", []byte{1, 0}, 0, DropMessage},
		4:  {"65", append([]byte{1, 65}, make([]byte, 400)...), 0, DropMessage},
		5:  {"no bytes", []byte{1, 1, 0, 0, 0}, 0, DropMessage},
		6:  {"longer than the rest", []byte{1, 1, 0, 0, 1, 9}, 0, DropMessage},
		7:  {"second cut short", []byte{1, 2, 0, 0, 0, 9, 1}, 0, DropMessage},
		8:  {"same id twice", []byte{1, 2, 0, 0, 0, 9, 0, 0, 0, 9}, 0, DropMessage},
		9:  {"descending", []byte{1, 2, 1, 0, 0, 9, 0, 0, 0, 9}, 0, DropMessage},
		10: {"64 apart", []byte{1, 2, 0xff, 0xff, 0, 9, 63, 0, 0, 9}, 0, DropMessage},
		11: {"beyond the window", []byte{1, 1, 64, 0, 0, 9}, 0, DropMessage},
		12: {"far ahead", []byte{1, 1, 0xff, 0x7f, 0, 9}, 0, DropMessage},
		13: {"good, then bad", []byte{1, 2, 0, 0, 0, 9, 70, 0, 0, 9}, 0, DropMessage},
		14: {"an old one", []byte{1, 1, 0xff, 0xff, 0, 9, 3, 4}, 2, nil},
		15: {"the last that fits", []byte{1, 1, 63, 0, 0, 9}, 0, nil},
		16: {"good, and a rest", []byte{1, 2, 0, 0, 0, 9, 5, 0, 1, 8, 8, 2, 1}, 2, nil},
	} {
		_, p := pair()
		rest, err := p.reliableIn.parse(c.section)
		if err != c.err || len(rest) != c.rest {
			t.Errorf("%d %s: rest %x, %v; want %d bytes, %v", i, c.name, rest, err, c.rest, c.err)
		}
		if e, ok := p.NextReliable(); err != nil && ok {
			t.Errorf("%d %s: gave %x all the same", i, c.name, e)
		}
	}
}

// slowReliable is the slow twin of the receiver: a map of all reliable messages.
type slowReliable struct {
	next uint16
	held map[uint16][]byte
}

func (q *slowReliable) parse(src []byte) (rest []byte, ok bool) {
	if len(src) < 2 || src[0] != 1 || src[1] < 1 || src[1] > 64 {
		return nil, false
	}
	type event struct {
		id   uint16
		body []byte
	}
	var all []event
	r := src[2:]
	for range src[1] {
		if len(r) < 3 || len(r)-3 < int(r[2])+1 {
			return nil, false
		}
		e := event{binary.LittleEndian.Uint16(r), r[3 : 4+int(r[2])]}
		if ahead := e.id - q.next; ahead < 1<<15 && ahead >= 64 {
			return nil, false
		}
		if n := len(all); n > 0 && (e.id-all[0].id >= 64 || e.id-all[0].id <= all[n-1].id-all[0].id) {
			return nil, false
		}
		all = append(all, e)
		r = r[3+len(e.body):]
	}
	for _, e := range all {
		if _, have := q.held[e.id]; e.id-q.next < 64 && !have {
			q.held[e.id] = slices.Clone(e.body)
		}
	}
	return r, true
}

func (q *slowReliable) pop() ([]byte, bool) {
	e, ok := q.held[q.next]
	if ok {
		delete(q.held, q.next)
		q.next++
	}
	return e, ok
}

// Any bytes as sections: result, rest and reliable messages equal the twin's.
func FuzzReliable(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 0, 9}, uint64(0))
	f.Add([]byte{1, 2, 0, 0, 0, 9, 1, 0, 1, 8, 8, 1, 1, 2, 0, 0, 7}, uint64(0))
	f.Add([]byte{1, 2, 1, 0, 0, 9, 63, 0, 0, 9, 1, 1, 0, 0, 0, 5}, uint64(0))
	f.Add([]byte{1, 2, 255, 255, 0, 9, 0, 0, 0, 9}, uint64(65535))
	f.Add([]byte{1, 1, 64, 0, 0, 9}, uint64(0))
	// the same id with other bytes
	f.Add([]byte{1, 1, 1, 0, 0, 9, 1, 1, 1, 0, 0, 8, 1, 1, 0, 0, 0, 5}, uint64(0))
	f.Fuzz(func(t *testing.T, src []byte, next uint64) {
		fast, slow := reliableReceiver{next: next},
			slowReliable{next: uint16(next), held: map[uint16][]byte{}}
		for len(src) > 0 {
			rest, err := fast.parse(src)
			want, ok := slow.parse(src)
			if ok != (err == nil) || !bytes.Equal(rest, want) {
				t.Fatalf("%x: rest %x, %v; the twin says %x, %v", src, rest, err, want, ok)
			}
			for {
				e, some := fast.pop()
				w, wanted := slow.pop()
				if some != wanted || !bytes.Equal(e, w) {
					t.Fatalf("reliable message %x %v, the twin says %x %v", e, some, w, wanted)
				}
				if !some {
					break
				}
			}
			if !ok {
				return
			}
			src = rest
		}
	})
}
