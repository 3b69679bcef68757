package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/netcode"
)

// start makes a server and clients on loopback, which close with the test.
func start(t *testing.T, n int) (s *server, clients []*client) {
	t.Helper()
	s, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := range n {
		c, err := dial(s.Token(uint64(i + 1)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		clients = append(clients, c)
	}
	return s, clients
}

// TestArena: two clients drive for a second, on sockets of this machine. Each sees both tanks where the
// server had them, to a step, and is told by a message of the flag that it took.
func TestArena(t *testing.T) {
	s, clients := start(t, 2)
	seen := 0
	for range 70 {
		if err := errors.Join(s.tick(), clients[0].tick(0, 127), clients[1].tick(0, 0)); err != nil {
			t.Fatal(err)
		}
		for i, p := range s.players {
			if p != nil && i == 0 && s.now == 40 {
				p.X, p.Z, p.Yaw = 0, -8, 0 // it drives through the middle
			}
			for _, c := range clients {
				at := c.decoder.Newest(i)
				got, ok := c.tank(i)
				if frame := s.ring.At(at); ok && frame != nil {
					row := codec.Capture(&got, schema.Everyone)
					want := make([]int32, len(row))
					if id := frame.Row(i, want); id == 0 || row[0] != want[0] || row[1] != want[1] || row[2] != want[2] {
						t.Fatalf("tick %d, tank %d: %v on a client, %v on the server (%v)", at, i, row, want, id)
					}
					seen++
				}
			}
		}
		time.Sleep(time.Second / rate)
	}
	if seen < 120 {
		t.Errorf("tanks were seen %d times", seen)
	}
	driven, parked := s.players[0], s.players[1]
	if driven == nil || parked == nil || driven.Flags != 1 || parked.Flags != 0 || parked.Yaw != 0 {
		t.Fatalf("players %+v and %+v, want a flag for the first, which drove", driven, parked)
	}
	if said := clients[0].said; len(said) != 2 || said[1] != "you have a flag" || len(clients[1].said) != 1 {
		t.Errorf("the server said %q and %q", said, clients[1].said)
	}
	if mine, ok := clients[1].tank(0); !ok || mine.Flags != 1 {
		t.Errorf("the other client sees %+v, %v", mine, ok)
	}

	// A client that leaves is gone for the others; the end of the server is an error with a name.
	if err := clients[0].Close(); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		if err := errors.Join(s.tick(), clients[1].tick(0, 0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, ok := clients[1].tank(0); ok || s.players[0] != nil {
		t.Error("the tank of a client that left is still there")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 50 {
		if err = clients[1].tick(0, 0); err != nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if !errors.Is(err, netcode.StateError(netcode.Disconnected)) {
		t.Errorf("after the server's end: %v", err)
	}
}

// TestOtherBuild: a client of a build with another schema ends with an error that names the field, and
// gets no snapshot that it cannot read.
func TestOtherBuild(t *testing.T) {
	type Tank struct {
		X     float32 `net:",quant=64,min=-50,max=50,predict=linear"`
		Z     float32 `net:",quant=64,min=-50,max=50,predict=linear"`
		Yaw   uint8   `net:",wrap=256"`
		Flags uint16  `net:",max=999"`
	}
	other, err := schema.Reflect[Tank]()
	if err != nil {
		t.Fatal(err)
	}
	s, clients := start(t, 1)
	c := clients[0]
	c.set = schema.SetOf(schema.DefaultModel(other.Schemas[schema.Everyone]))
	for range 100 {
		if err = errors.Join(s.tick(), c.tick(0, 0)); err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	var mismatch *schema.MismatchError
	if !errors.As(err, &mismatch) || mismatch.Field != "tank.yaw" || c.decoder.Newest(0) != 0 {
		t.Errorf("%v, snapshot %d", err, c.decoder.Newest(0))
	}
}

// The example stays short enough to be read at once.
func TestArenaIsShort(t *testing.T) {
	src, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(src, []byte("\n")); n > 200 {
		t.Errorf("main.go has %d lines, want at most 200", n)
	}
}
