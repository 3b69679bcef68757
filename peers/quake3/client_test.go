package quake3

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// recorded returns what a server sent to one of four players: gamestate in fragments, then
// snapshots.
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
	if s.Snapshots < 20 || s.Deltas < 10 || c.state.ServerID == 0 || c.state.Feed == 0 {
		t.Errorf("%d snapshots, %d deltas, server id %d, feed %d", s.Snapshots, s.Deltas, c.state.ServerID, c.state.Feed)
	}
	if mean := float64(s.Players) / float64(s.Snapshots); mean < 2 || mean > 3 {
		t.Errorf("%.1f other players in a snapshot, expected 2 to 3", mean)
	}
}

// A command that was written comes back from a plain reader of the same layout.
func TestCommandDelta(t *testing.T) {
	from := UserCommand{Time: 1000, Angles: [3]uint16{1, 2, 3}, Weapon: 2}
	for _, to := range []UserCommand{
		{Time: 1016, Angles: [3]uint16{1, 2, 3}, Weapon: 2},
		{Time: 1255, Angles: [3]uint16{0, 65535, 3}, Forward: 127, Right: -127, Up: 1, Buttons: 1, Weapon: 5},
		{Time: 90000, Angles: [3]uint16{7, 2, 9}, Weapon: 2},
		{Time: 2, Forward: -1},
	} {
		for _, key := range []int32{0, 1, -1, 0x5a5a1234} {
			w := NewWriter()
			writeCommand(w, key, from, to)
			r := NewReader(w.Bytes())
			if got := readCommand(r, key, from); got != to || r.Over() {
				t.Errorf("key %x: %+v came back as %+v", key, to, got)
			}
		}
	}
}

func readCommand(r *Reader, key int32, c UserCommand) UserCommand {
	if r.Bits(1) == 1 {
		c.Time += int32(r.Bits(8))
	} else {
		c.Time = r.Long()
	}
	if r.Bits(1) == 0 {
		return c
	}
	key ^= c.Time
	field := func(old uint32, width int) uint32 {
		if r.Bits(1) == 0 {
			return old
		}
		return r.Bits(width) ^ uint32(key)&(1<<width-1)
	}
	for i := range c.Angles {
		c.Angles[i] = uint16(field(uint32(c.Angles[i]), 16))
	}
	c.Forward = int8(field(uint32(uint8(c.Forward)), 8))
	c.Right = int8(field(uint32(uint8(c.Right)), 8))
	c.Up = int8(field(uint32(uint8(c.Up)), 8))
	c.Buttons = uint16(field(uint32(c.Buttons), 16))
	c.Weapon = uint8(field(uint32(c.Weapon), 8))
	return c
}

func FuzzBits(f *testing.F) {
	f.Add(uint32(0x12345678), 32, uint32(5), 3)
	f.Fuzz(func(t *testing.T, a uint32, na int, b uint32, nb int) {
		na, nb = 1+int(uint(na)%32), 1+int(uint(nb)%32)
		w := NewWriter()
		w.Bits(a, na)
		w.Bits(b, nb)
		r := NewReader(w.Bytes())
		wantA, wantB := a&(1<<na-1), b&(1<<nb-1)
		if na == 32 {
			wantA = a
		}
		if nb == 32 {
			wantB = b
		}
		if gotA, gotB := r.Bits(na), r.Bits(nb); gotA != wantA || gotB != wantB || r.Over() {
			t.Fatalf("%x in %d bits, %x in %d bits came back as %x, %x", wantA, na, wantB, nb, gotA, gotB)
		}
	})
}

// Scrambled twice, a message is as before.
func TestScrambleTwice(t *testing.T) {
	m := []byte("a message that is hidden")
	scramble(m, clientClear, 77, "print %x")
	if string(m) == "a message that is hidden" || string(m[:clientClear]) != "a message th" {
		t.Errorf("scrambled: %q", m)
	}
	scramble(m, clientClear, 77, "print %x")
	if string(m) != "a message that is hidden" {
		t.Errorf("scrambled twice: %q", m)
	}
}

// No datagrams of a server make a client panic, keep more fragments than MaxMessage, or send more than a
// datagram. The input is messages, each behind its length in two bytes. One client gets them as they
// are, another one scrambled, as a server sends them.
func FuzzClient(f *testing.F) {
	seed, reader := []byte(nil), New(3)
	for _, d := range recorded(f) {
		before := reader.channel.Sequence
		message := append([]byte(nil), d.Data...)
		reader.Receive(d.Data, d.At)
		if len(message) > 4 && reader.channel.Sequence != before && message[3]&0x80 == 0 {
			message = message[4:]
			scramble(message, serverClear, reader.key^int32(reader.channel.Sequence), "")
		}
		seed = append(binary.LittleEndian.AppendUint16(seed, uint16(len(message))), message...)
	}
	f.Add(seed)
	f.Add([]byte("\x1a\x00\xff\xff\xff\xffchallengeResponse 5 0 71"))
	f.Add([]byte("\x0a\x00\x01\x00\x00\x80\x00\x00\x02\x00\x09\x09"))
	f.Fuzz(func(t *testing.T, input []byte) {
		raw, second := New(0), New(1)
		raw.connected, second.connected = true, true
		for n := uint32(1); len(input) >= 2; n++ {
			size := min(int(binary.LittleEndian.Uint16(input)), len(input)-2)
			message := input[2 : 2+size]
			input = input[2+size:]
			now := time.Duration(n) * time.Millisecond
			raw.Receive(append([]byte(nil), message...), now)
			scrambled := append([]byte(nil), message...)
			scramble(scrambled, serverClear, second.key^int32(n), "")
			second.Receive(append(binary.LittleEndian.AppendUint32(nil, n), scrambled...), now)
			for _, c := range []*Client{raw, second} {
				if sent := c.Update(nil, now); len(sent) > 4096 {
					t.Fatalf("a datagram of %d bytes to send", len(sent))
				}
				if len(c.channel.fragments) > MaxMessage {
					t.Fatalf("%d bytes of fragments", len(c.channel.fragments))
				}
			}
		}
	})
}

// A message whose fragments pass MaxMessage is dropped, and the next message arrives.
func TestFragmentLimit(t *testing.T) {
	c := Channel{}
	for start := 0; start < 2*MaxMessage; start += fragmentSize {
		d := binary.LittleEndian.AppendUint32(nil, 1|fragmentBit)
		d = binary.LittleEndian.AppendUint16(d, uint16(start))
		d = binary.LittleEndian.AppendUint16(d, fragmentSize)
		if got := c.Receive(append(d, make([]byte, fragmentSize)...)); got != nil || len(c.fragments) > MaxMessage {
			t.Fatalf("at %d: %d bytes received, %d kept", start, len(got), len(c.fragments))
		}
	}
	if got := c.Receive([]byte("\x02\x00\x00\x00next")); string(got) != "next" {
		t.Errorf("after that: %q", got)
	}
}

// Text ends at its limit, however long the text of a server is.
func TestTextLimit(t *testing.T) {
	w := NewWriter()
	w.Text(strings.Repeat("x", 5000))
	if got := NewReader(w.Bytes()).Text(1024); len(got) != 1024 {
		t.Errorf("%d bytes of a text whose limit is 1024", len(got))
	}
}
