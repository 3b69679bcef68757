package ddnet

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// What Debian's server sent to one of four players: the handshake, then snapshots, each with a
// checksum.
func TestRecordedServer(t *testing.T) {
	c := New(3)
	if err := crowd.Replay("testdata/server.txt", c); err != nil {
		t.Fatal(err)
	}
	s := c.Stats()
	if s.Errors > 0 || s.LastError != nil {
		t.Fatalf("%d messages could not be read: %v", s.Errors, s.LastError)
	}
	if s.Snapshots < 20 || s.Deltas < 15 || !c.joined {
		t.Errorf("%d snapshots, %d deltas, joined %v", s.Snapshots, s.Deltas, c.joined)
	}
	if mean := float64(s.Players) / float64(s.Snapshots); mean < 2 || mean > 3 {
		t.Errorf("%.1f other players in a snapshot, expected up to three", mean)
	}
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte("some bytes\x00\x00\x01\xff"))
	f.Fuzz(func(t *testing.T, src []byte) {
		src = src[:min(len(src), maxPacket)]
		if got, err := Decompress(nil, Compress(nil, src)); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%x came back as %x, %v", src, got, err)
		}
		_, _ = Decompress(nil, src)
	})
}

func FuzzInt(f *testing.F) {
	for _, v := range []int32{0, 63, 64, -1, -64, -65, 1<<31 - 1, -1 << 31} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v int32) {
		u := unpacker{data: AppendInt(nil, v)}
		if got := u.int(); got != v || u.failed || len(u.data) > 0 {
			t.Fatalf("%d came back as %d, %d bytes left", v, got, len(u.data))
		}
	})
}

func TestIntBytes(t *testing.T) {
	for _, c := range []struct {
		v    int32
		want []byte
	}{{0, []byte{0}}, {63, []byte{0x3f}}, {64, []byte{0x80, 1}}, {-1, []byte{0x40}}, {-65, []byte{0xc0, 1}}} {
		if got := AppendInt(nil, c.v); !bytes.Equal(got, c.want) {
			t.Errorf("%d: %x, want %x", c.v, got, c.want)
		}
	}
}

func TestChunks(t *testing.T) {
	chunks := []chunk{
		{vital: true, sequence: 1023, data: bytes.Repeat([]byte{7}, 700)}, {data: []byte{1}},
		{vital: true, sequence: 256, data: nil},
	}
	var body []byte
	for _, k := range chunks {
		body = k.append(body)
	}
	for i, want := range chunks {
		got, rest, err := nextChunk(body)
		if err != nil || got.vital != want.vital || got.sequence != want.sequence || !bytes.Equal(got.data, want.data) {
			t.Fatalf("chunk %d: %+v, %v", i, got, err)
		}
		body = rest
	}
}

// A snapshot is what its parts are, in whatever order they come.
func TestParts(t *testing.T) {
	whole := make([]byte, 2*partSize+5)
	for i := range whole {
		whole[i] = byte(i * 7)
	}
	for _, order := range [][]int32{{0, 1, 2}, {2, 0, 1}, {1, 1, 2, 0}} {
		p, got := parts{}, []byte(nil)
		for _, i := range order {
			got = p.add(9, 3, i, whole[i*partSize:min((i+1)*partSize, int32(len(whole)))])
		}
		if !slices.Equal(got, whole) {
			t.Errorf("order %v: %d bytes, want %d", order, len(got), len(whole))
		}
	}
}

// No datagram of a server makes a client panic or keep more than its bounds.
func FuzzClient(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 3, 1}, []byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, message, delta []byte) {
		c := New(0)
		c.token = []byte("abcd")
		c.Receive(message, 0)
		c.Receive(appendPacket(nil, 0, 0, 3, append(message, c.token...)), 0)
		c.Receive(appendPacket(nil, 0, 0, 1, append(chunk{data: message}.append(nil), c.token...)), 0)
		c.Update(nil, time.Second)
		if next, _, err := (items{itemCharacter << 16: make([]int32, 22)}).apply(delta); err == nil {
			next.sum()
			next.others()
			if len(next) > maxItems {
				t.Fatalf("%d items", len(next))
			}
		}
	})
}
