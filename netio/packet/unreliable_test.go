package packet

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// Unreliable messages are sent once: at 30 % loss, with duplicates and reordering, exactly those
// arrive whose packet arrived, in the order of packets, never twice. They are not sent again and
// do not wait.
func TestRow21UnreliableMessagesAreNeverResent(t *testing.T) {
	server, client := pair()
	down, up := newLink(1), newLink(2)
	for _, l := range []*link{down, up} {
		l.loss, l.dup, l.delay, l.jitter = .3, .1, 40*time.Millisecond, 30*time.Millisecond
	}
	const notes = 20_000
	noted, carried, arrived, wanted := uint32(0), 0, 0, 0
	came := make([]int, notes)
	inPackage := map[uint16]int{} // by sequence
	for now := time.Duration(0); noted < notes || len(down.flight) > 0; now += 16 * time.Millisecond {
		for n := now / (16 * time.Millisecond) % 4; n > 0 && noted < notes; n-- {
			if err := server.QueueUnreliable(binary.LittleEndian.AppendUint32(nil, noted)); err != nil {
				t.Fatal(err)
			}
			noted++
		}
		if server.CanSend(now) {
			d, seq := server.Append(now, nil)
			d = server.AppendUnreliable(d, 300)
			if _, payload, _ := ParseHeader(d); len(payload) > 0 {
				inPackage[seq] = int(payload[1])
				carried += int(payload[1])
			}
			down.push(now, d)
		}
		d, _ := client.Append(now, nil)
		up.push(now, d)
		for f, ok := down.pop(now); ok; f, ok = down.pop(now) {
			payload, err := client.Receive(now, f.data)
			if err != nil {
				continue
			}
			h, _, _ := ParseHeader(f.data)
			wanted += inPackage[h.Sequence]
			if rest, err := client.Sections(payload); err != nil || len(rest) != 0 {
				t.Fatalf("%x: %v", payload, err)
			}
			last := -1
			for note, ok := client.NextUnreliable(); ok; note, ok = client.NextUnreliable() {
				n := int(binary.LittleEndian.Uint32(note))
				if n <= last {
					t.Fatalf("note %d came after %d in one packet", n, last)
				}
				last, arrived = n, arrived+1
				came[n]++
			}
		}
		for f, ok := up.pop(now); ok; f, ok = up.pop(now) {
			_, _ = server.Receive(now, f.data)
		}
	}
	for n, times := range came {
		if times > 1 {
			t.Fatalf("note %d came %d times", n, times)
		}
	}
	share := float64(arrived) / notes
	if carried != notes || arrived != wanted || share < .6 || share > .8 {
		t.Fatalf("%d noted, %d carried, %d arrived of %d that should have", noted, carried, arrived, wanted)
	}
}

func TestUnreliableBounds(t *testing.T) {
	p, _ := pair()
	for i, c := range []struct {
		size int
		want error
	}{{0, ErrMessageSize}, {257, ErrMessageSize}, {256, nil}, {256, nil}, {256, nil},
		{253, ErrUnreliableFull}, {252, nil}, {1, ErrUnreliableFull}} {
		if err := p.QueueUnreliable(make([]byte, c.size)); err != c.want {
			t.Errorf("%d: unreliable message of %d bytes: %v, want %v", i, c.size, err, c.want)
		}
	}
	for i, c := range []struct{ budget, want int }{{0, 0}, {258, 0}, {259, 259},
		{1000, 2 + 257 + 257 + 253}, {1000, 0}} {
		if got := p.AppendUnreliable(nil, c.budget); len(got) != c.want {
			t.Errorf("%d: budget %d: %d bytes, want %d", i, c.budget, len(got), c.want)
		}
	}
	for range 100 {
		_ = p.QueueUnreliable([]byte{7})
	}
	if got := p.AppendUnreliable(nil, 1000); got[1] != MaxUnreliable {
		t.Errorf("%d unreliable messages in a packet", got[1])
	}
}

// The unreliable messages of a packet are dropped with the next packet, read or not.
func TestUnreliableAreOfOnePacket(t *testing.T) {
	p, _ := pair()
	if _, err := p.Sections([]byte{4, 2, 0, 9, 0, 8}); err != nil {
		t.Fatal(err)
	}
	if n, ok := p.NextUnreliable(); !ok || n[0] != 9 {
		t.Fatalf("%x, %v", n, ok)
	}
	if _, err := p.Sections(nil); err != nil {
		t.Fatal(err)
	}
	if n, ok := p.NextUnreliable(); ok {
		t.Fatalf("%x came from the packet before", n)
	}
}

// Any bytes as a section of unreliable messages are refused whole, or are written back to the same
// bytes.
func FuzzUnreliable(f *testing.F) {
	f.Add([]byte{4, 1, 0, 9})
	f.Add([]byte{4, 2, 0, 9, 1, 8, 8, 5, 5})
	f.Add([]byte{4, 0})
	f.Add([]byte{4, 65, 0})
	f.Add([]byte{4, 2, 0, 9, 3, 1})
	f.Add(append([]byte{4, 1, 255}, make([]byte, 256)...))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, twin := pair()
		rest, err := p.unreliable.parse(src)
		if err != nil {
			if _, ok := p.NextUnreliable(); ok || err != DropUnreliable {
				t.Fatalf("%x: %v, and an unreliable message", src, err)
			}
			return
		}
		n := 0
		for note, ok := p.NextUnreliable(); ok; note, ok = p.NextUnreliable() {
			n++
			if twin.QueueUnreliable(note) != nil { // more than we send ourselves
				return
			}
		}
		if got := append(twin.AppendUnreliable(nil, 2000), rest...); n == 0 || !bytes.Equal(got, src) {
			t.Fatalf("%x was written again as %x", src, got)
		}
	})
}
