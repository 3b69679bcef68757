package ddnet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// recorded returns what a server sent to one of four players: the handshake, then snapshots,
// each with a checksum.
func recorded(t testing.TB) []crowd.Datagram {
	all, err := crowd.ReadRecording("testdata/server.txt")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRecordedServer(t *testing.T) {
	c := New(3)
	for _, d := range recorded(t) {
		c.Receive(d.Data, d.At)
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

// No datagrams of a server make a client panic or keep more than its bounds. Datagrams of the
// input, each behind its length in two bytes, arrive as they are, as packets of one message, and as
// snapshots.
func FuzzClient(f *testing.F) {
	var seed []byte
	for _, d := range recorded(f) {
		seed = append(binary.LittleEndian.AppendUint16(seed, uint16(len(d.Data))), d.Data...)
	}
	f.Add(seed)
	f.Add(append([]byte{5, 0}, AppendInt(AppendInt(nil, systemMapChange<<1|1), 1000)...))
	f.Add([]byte{7, 0, 1, 0, 1, 9, 5, 7, 1})
	f.Fuzz(func(t *testing.T, input []byte) {
		c := New(0)
		var base items
		for n := 1; len(input) >= 2; n++ {
			size := min(int(binary.LittleEndian.Uint16(input)), len(input)-2)
			data := input[2 : 2+size]
			input = input[2+size:]
			now := time.Duration(n) * 20 * time.Millisecond
			c.Receive(data, now)
			if c.token != nil {
				k := chunk{vital: n%2 > 0, sequence: (c.ack + 1) % sequences, data: data[:min(size, 1023)]}
				c.Receive(appendPacket(nil, flagResend, 0, 1, append(k.append(nil), c.token...)), now)
			}
			if next, _, err := base.apply(data); err == nil {
				base = next
				base.sum()
				base.others()
				base.check(t)
			}
			for _, k := range c.snapshots.ring {
				k.items.check(t)
			}
			if len(c.unacked) > maxUnacked || len(c.queue) > maxQueue+maxUnacked {
				t.Fatalf("%d chunks unacked, %d queued", len(c.unacked), len(c.queue))
			}
			if n%3 == 0 {
				if sent := c.Update(nil, now); len(sent) > maxPacket {
					t.Fatalf("a packet of %d bytes to send", len(sent))
				}
			}
		}
	})
}

func (s *items) check(t *testing.T) {
	numbers := int32(0)
	for i, item := range s.index {
		numbers += item.size
		if i > 0 && s.index[i-1].key >= item.key {
			t.Fatalf("key %x behind %x", item.key, s.index[i-1].key)
		}
	}
	if len(s.index) > maxItems || len(s.numbers) > maxNumbers || int(numbers) != len(s.numbers) {
		t.Fatalf("%d items, %d numbers, %d of items", len(s.index), len(s.numbers), numbers)
	}
}

// A server that adds the largest items one by one is stopped by the size of a whole snapshot.
func TestSnapshotLimit(t *testing.T) {
	base := items{}
	for id := range int32(100) {
		data := AppendInt(AppendInt(AppendInt(nil, 0), 1), 0)
		data = AppendInt(AppendInt(AppendInt(data, 99), id), 5000)
		data = append(data, make([]byte, 5000)...)
		next, _, err := base.apply(data)
		if (err != nil) != (id >= maxNumbers/5000) {
			t.Fatalf("after %d items: %v", id, err)
		}
		if err == nil {
			base = next
		}
	}
}

// A server that never acknowledges gets no more than the bound of vital chunks.
func TestVitalLimit(t *testing.T) {
	c := New(0)
	for range 3 * maxUnacked {
		c.vital([]byte{1})
	}
	if len(c.unacked) != maxUnacked || c.stats.LastError == nil {
		t.Errorf("%d unacked chunks, error %v", len(c.unacked), c.stats.LastError)
	}
}

// The only vital chunk that is out is sent again until the server has it.
func TestResend(t *testing.T) {
	c := New(0)
	c.token = []byte("abcd")
	c.vital([]byte("hello"))
	holds := func(now time.Duration) bool {
		p, err := parsePacket(c.Update(nil, now), make([]byte, maxPacket))
		return err == nil && bytes.Contains(p.data, []byte("hello"))
	}
	if !holds(0) || holds(500*time.Millisecond) || !holds(1600*time.Millisecond) {
		t.Error("expected the chunk at once and again after a second")
	}
	c.acked(c.sequence)
	if holds(4 * time.Second) {
		t.Error("the chunk is sent though the server has it")
	}
}

// The code is the wire format's: checksums of snapshots in testdata hold by it.
func TestCode(t *testing.T) {
	const want = "1cc5dab573141d71026dd6a3a4e206"
	if got := hex.EncodeToString(Compress(nil, []byte("a name, \x00\x00\x01\xff"))); got != want {
		t.Errorf("compressed: %s, want %s", got, want)
	}
}
