package packet

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// With 30 % loss, duplicates and reordering every client gets its Welcome and every server its
// Ready within the 10 s that a server waits. Each arrives once, as the first reliable message of
// its direction.
func TestRow27WelcomeAndReadyAtThirtyPercentLoss(t *testing.T) {
	const tick, timeout = 16 * time.Millisecond, 10 * time.Second
	var slowest, sum time.Duration
	const clients = 500
	for n := range uint64(clients) {
		server, client := pair()
		down, up := newLink(2*n), newLink(2*n+1)
		for _, l := range []*link{down, up} {
			l.loss, l.dup, l.delay, l.jitter = .3, .1, 40*time.Millisecond, 30*time.Millisecond
		}
		// as long as a Welcome and a Ready
		welcome, answer := fmt.Appendf(nil, "welcome %62d", n), fmt.Appendf(nil, "ready %11d", n)
		_, _ = server.QueueReliable(welcome), server.QueueReliable([]byte{0x80})
		welcomes, ready := 0, time.Duration(0)
		for now := tick; now < ready+time.Second || ready == 0; now += tick {
			if now > timeout {
				t.Fatalf("client %d is not ready after %v: %d welcomes", n, now, welcomes)
			}
			for _, e := range []struct {
				p         *Peer
				out, back *link
			}{{server, down, up}, {client, up, down}} {
				d, _ := e.p.Append(now, nil)
				e.out.push(now, e.p.AppendReliable(d, MaxSectionBytes))
				for f, ok := e.back.pop(now); ok; f, ok = e.back.pop(now) {
					rest, err := e.p.Receive(now, f.data)
					if err != nil {
						continue
					}
					if _, err = e.p.Sections(rest); err != nil {
						t.Fatal(err)
					}
					drain(e.p, func(event []byte) {
						switch again := bytes.Equal(event, welcome); {
						case e.p == client && welcomes == 0:
							if !again {
								t.Fatalf("client %d: the first reliable message is %q", n, event)
							}
							welcomes++
							_ = client.QueueReliable(answer)
						case again:
							t.Fatalf("client %d was welcomed twice", n)
						case e.p == server:
							if ready != 0 || !bytes.Equal(event, answer) {
								t.Fatalf("client %d: %q, ready since %v", n, event, ready)
							}
							ready = now
						}
					})
				}
			}
		}
		slowest, sum = max(slowest, ready), sum+ready
	}
	t.Logf("ready after %v in the mean, the slowest of %d after %v", sum/clients, clients, slowest)
}

// ReliableDue says that there is something to write when AppendEvents writes something, whatever
// was queued, sent, acked and lost before.
func TestDueAgreesWithAppendReliable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server, client := pair()
		now := time.Duration(0)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 120).Draw(t, "ms")) * time.Millisecond
			for range rapid.IntRange(0, 3).Draw(t, "queued") {
				_ = server.QueueReliable(make([]byte, rapid.IntRange(1, MaxMessageSize).Draw(t, "size")))
			}
			due := server.ReliableDue(now)
			d, _ := server.Append(now, nil)
			if server.ReliableDue(now) != due {
				t.Fatalf("at %v: due %v, but not for the packet just begun", now, due)
			}
			n := len(d)
			budget := rapid.SampledFrom([]int{0, 4, 300, MaxSectionBytes}).Draw(t, "budget")
			d = server.AppendReliable(d, budget)
			wrote := len(d) > n
			if wrote && !due || !wrote && due && budget >= 2+3+MaxMessageSize {
				t.Fatalf("at %v: due %v, wrote %d bytes", now, due, len(d)-n)
			}
			if rapid.IntRange(0, 2).Draw(t, "fate") == 0 {
				continue
			}
			rest, err := client.Receive(now, d)
			if err == nil {
				_, err = client.Sections(rest)
			}
			if err != nil {
				t.Fatal(err)
			}
			drain(client, func([]byte) {})
			if a, _ := client.Append(now, nil); rapid.Bool().Draw(t, "acked") {
				if _, err := server.Receive(now+time.Millisecond, a); err != nil {
					t.Fatal(err)
				}
			}
		}
		if server.ReliablePending() == 0 && server.ReliableDue(now+time.Hour) {
			t.Fatal("due with nothing queued")
		}
		if server.ReliablePending() > 0 && !server.ReliableDue(now+time.Hour) {
			t.Fatal("not due an hour after the last packet")
		}
	})
}

// A reliable message falls due at the very instant at which its ack is overdue, for Due and for
// AppendEvents alike.
func TestDueAtTheInstant(t *testing.T) {
	for i, c := range []struct {
		now time.Duration
		due bool
	}{{0, false}, {250*time.Millisecond - 1, false}, {250 * time.Millisecond, true}, {time.Hour, true}} {
		p, _ := pair()
		if p.ReliableDue(0) {
			t.Fatal("due with nothing queued")
		}
		_ = p.QueueReliable([]byte("x"))
		if !p.ReliableDue(0) {
			t.Fatal("not due when it was never sent")
		}
		p.Append(0, nil)
		p.AppendReliable(nil, 100)
		due := p.ReliableDue(c.now)
		p.Append(c.now, nil)
		if wrote := len(p.AppendReliable(nil, 100)) > 0; due != c.due || wrote != c.due {
			t.Errorf("%d: after %v due %v and written %v, want %v", i, c.now, due, wrote, c.due)
		}
	}
}
