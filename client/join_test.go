package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

// A map change is checked: the next epoch, our version, and a tick that does not go back. A
// malformed one changes nothing. A server that changes its map all the time is left.
func TestHostileMapChanges(t *testing.T) {
	about := func(world uint8, event []byte) []byte {
		return append(protocol.AppendMapChange(nil, world), event...)
	}
	for i, c := range []struct {
		say   func(w *protocol.Welcome) [][]byte // behind the Welcome
		state State
		world uint8
		bad   bool
	}{
		0: {func(w *protocol.Welcome) [][]byte {
			return [][]byte{about(1, w.Append(nil))}
		}, Joined, 1, false},
		1: {func(w *protocol.Welcome) [][]byte { return [][]byte{about(2, w.Append(nil))} }, Joined, 0, true},
		2: {func(w *protocol.Welcome) [][]byte {
			return [][]byte{about(1, w.Append(nil)), about(1, w.Append(nil))}
		}, Joined, 1, true},
		3: {func(w *protocol.Welcome) [][]byte {
			return [][]byte{about(1, w.Append(nil)[:20])}
		}, Joined, 0, true},
		4: {func(w *protocol.Welcome) [][]byte {
			return [][]byte{{protocol.MessageMapChange, 0, 1}}
		}, Joined, 0, true},
		5: {func(w *protocol.Welcome) [][]byte {
			r := protocol.Ready{Version: protocol.Version}
			return [][]byte{about(1, r.Append(nil))}
		}, Joined, 0, true},
		6: {func(w *protocol.Welcome) [][]byte {
			other := *w
			other.ArenaHash[3]++
			return [][]byte{about(1, other.Append(nil))}
		}, Denied, 1, false},
		7: {func(w *protocol.Welcome) [][]byte {
			other := *w
			other.TickRate = 7
			return [][]byte{about(1, other.Append(nil))}
		}, Denied, 1, false},
		8: {func(w *protocol.Welcome) (all [][]byte) {
			for n := range 20 {
				all = append(all, about(uint8(n+1), w.Append(nil)))
			}
			return all
		}, Lost, changeBurst, true},
	} {
		l := newTestServer(t, testServerConfig{seed: 71})
		l.greet = func(w *protocol.Welcome) [][]byte {
			w.Tick = 0
			return append([][]byte{w.Append(nil)}, c.say(w)...)
		}
		s := l.addClient(l.config(), link{delay: 5 * time.Millisecond})
		l.run(time.Second)
		state, _ := s.client.State()
		if st := s.client.Stats(); state != c.state || s.client.MapEpoch() != c.world ||
			(st.Packets.Drops[packet.DropMessage] > 0) != c.bad {
			t.Errorf("%d: %v (%v), world %d, %+v", i, state, s.client.Err(), s.client.MapEpoch(), st.Packets)
		}
	}
}

// Server time that runs slower scales the clocks: neither they nor the picture have to jump or
// wait.
func TestTimescale(t *testing.T) {
	c := &Client{}
	take := func(now time.Duration, raw []byte) bool { return c.readMessage(now, raw) == nil }
	at := c.clock.Timescale.At
	if !take(10*time.Second, protocol.AppendTimescale(nil, 500)) || at(12*time.Second) != 11*time.Second {
		t.Errorf("at half speed: %v", at(12*time.Second))
	}
	if !take(14*time.Second, protocol.AppendTimescale(nil, 1000)) || at(15*time.Second) != 13*time.Second {
		t.Errorf("at full speed: %v", at(15*time.Second))
	}
	for i, raw := range [][]byte{protocol.AppendTimescale(nil, 100), protocol.AppendTimescale(nil, 1001),
		{protocol.MessageTimescale}, {protocol.MessageViewpoint, 3, 0, 0, 0, 0}} {
		if take(16*time.Second, raw) || at(15*time.Second) != 13*time.Second {
			t.Errorf("%d: %x was taken", i, raw)
		}
	}
}
