package packet

import (
	"testing"
	"time"
)

// When acks stall, only a probe each 0.3 s is sent. When the peer is heard again, sending goes on
// at once, and reliable messages queued meanwhile arrive.
func TestRow28AckStallAndRecovery(t *testing.T) {
	server, client := pair()
	const tick = 10 * time.Millisecond
	var sent, before, during, after int
	var pending [][]byte
	got := 0
	for now := tick; now < 25*time.Second; now += tick {
		dead := now > 5*time.Second && now <= 15*time.Second
		if server.CanSend(now) {
			d, _ := server.Append(now, nil)
			d = server.AppendReliable(d, 200)
			sent++
			switch {
			case now <= 5*time.Second:
				before++
			case now > 8*time.Second && dead:
				during++
			case now > 16*time.Second:
				after++
			}
			if !dead {
				pending = append(pending, d)
			}
		}
		if now == 9*time.Second {
			if !server.AckStalled(now) {
				t.Fatal("not stalled after 4 s of silence")
			}
			_ = server.QueueReliable([]byte("while you were away"))
		}
		if dead {
			continue
		}
		for _, d := range pending {
			payload, err := client.Receive(now, d)
			if err != nil {
				t.Fatal(err)
			}
			if SectionOf(payload) == SectionReliable {
				if _, err = client.reliableIn.parse(payload); err != nil {
					t.Fatal(err)
				}
				drain(client, func([]byte) { got++ })
			}
		}
		pending = pending[:0]
		if client.CanSend(now) {
			d, _ := client.Append(now, nil)
			if _, err := server.Receive(now, d); err != nil {
				t.Fatal(err)
			}
		}
	}
	if before != 500 || during < 22 || during > 24 || after < 890 || got != 1 {
		t.Fatalf("%d packets in 5 s, %d in 7 s of stall, %d in 9 s after it; %d reliable messages", before,
			during, after, got)
	}
}

// A fast sender stalls by the number of packets, a slow one by their time.
func TestAckStallLimits(t *testing.T) {
	for i, c := range []struct {
		every time.Duration
		want  int
	}{{5 * time.Millisecond, 128}, {50 * time.Millisecond, 41}, {time.Second, 3}} {
		p, _ := pair()
		n := 0
		for now := time.Duration(0); !p.AckStalled(now); now += c.every {
			p.Append(now, nil)
			n++
		}
		if n != c.want {
			t.Errorf("%d: a packet each %v: stalled after %d, want %d", i, c.every, n, c.want)
		}
	}
	p, _ := pair()
	if p.AckStalled(time.Hour) || !p.CanSend(time.Hour) {
		t.Error("stalled without a packet under way")
	}
}

func TestSilence(t *testing.T) {
	server, client := pair()
	if got := server.SinceReceive(4 * time.Second); got != 4*time.Second {
		t.Errorf("silent for %v, want 4 s: a new peer counts from its beginning", got)
	}
	d, _ := client.Append(0, nil)
	if _, err := server.Receive(7*time.Second, d); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Receive(9*time.Second, d); err != DropDuplicate {
		t.Fatal(err)
	}
	if got := server.SinceReceive(10 * time.Second); got != 3*time.Second {
		t.Errorf("silent for %v, want 3 s: a refused packet is no sign of life", got)
	}
}
