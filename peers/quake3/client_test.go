package quake3

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// What Debian's server sent to one of four players: gamestate in fragments, then snapshots.
func TestRecordedServer(t *testing.T) {
	c := New(3)
	if err := crowd.Replay("testdata/server.txt", c); err != nil {
		t.Fatal(err)
	}
	s := c.Stats()
	if s.Errors > 0 || s.LastError != nil {
		t.Fatalf("%d messages could not be read: %v", s.Errors, s.LastError)
	}
	if s.Snapshots < 20 || s.Deltas < 10 || c.state.ServerID == 0 || c.state.Feed == 0 {
		t.Errorf("%d snapshots, %d deltas, server id %d, feed %d", s.Snapshots, s.Deltas, c.state.ServerID, c.state.Feed)
	}
	if mean := float64(s.Players) / float64(s.Snapshots); mean < 2 || mean > 3 {
		t.Errorf("%.1f other players in a snapshot, expected up to three", mean)
	}
}

// A server reads a client's commands: a slow reader of the same layout has them back.
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

func TestScrambleTwice(t *testing.T) {
	m := []byte("a message that is covered")
	scramble(m, clientClear, 77, "print %x")
	if string(m) == "a message that is covered" || string(m[:clientClear]) != "a message th" {
		t.Errorf("covered: %q", m)
	}
	scramble(m, clientClear, 77, "print %x")
	if string(m) != "a message that is covered" {
		t.Errorf("uncovered: %q", m)
	}
}

// No datagram of a server makes a client panic or keep more than its bounds.
func FuzzClient(f *testing.F) {
	f.Add([]byte("\xff\xff\xff\xffchallengeResponse 5 0 71"), []byte{1, 0, 0, 0, 2, 3})
	f.Add([]byte("\xff\xff\xff\xffprint\n"), []byte{1, 0, 0, 0x80, 0, 0, 2, 0, 9, 9})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		c := New(0)
		c.connected = true
		for i, d := range [][]byte{first, second} {
			c.Receive(append([]byte(nil), d...), time.Duration(i)*time.Second)
			c.Update(nil, time.Duration(i)*time.Second)
		}
		r := State{}
		_, _ = r.Parse(7, first, func(int32, string) {})
		if len(c.channel.fragments) > MaxMessage {
			t.Fatalf("%d bytes of fragments", len(c.channel.fragments))
		}
	})
}
