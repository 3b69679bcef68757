package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// malformed are the drop reasons of packets that no honest peer sends: one of these means damage
// that authentication did not find.
var malformed = []packet.Drop{packet.DropSize, packet.DropFuture, packet.DropAck, packet.DropSection,
	packet.DropMessage, packet.DropVersion, packet.DropUnreliable,
	packet.DropFragment, packet.DropReason, packet.DropCommands, packet.DropSnapshot}

// step plays ticks for the time d.
func (b *Sim) step(t *testing.T, d time.Duration) {
	t.Helper()
	for end := b.Now() + d; b.Now() < end; {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// playing reports whether a client has joined and gets snapshots.
func playing(c *client.Client) bool {
	state, _ := c.State()
	return state == client.Joined && c.Newest() > 0
}

func profile(t *testing.T, name string) impair.Profile {
	t.Helper()
	p, err := impair.ParseProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// 64 clients join at once over the preset hell: a third of all datagrams are lost, some in bursts,
// many overtake others, and one in twenty is damaged. All are in, with Welcome and Ready, within
// three seconds, and no damaged packet is ever opened.
func TestJoinOverTheWorstLink(t *testing.T) {
	skipUnderRace(t)
	for seed := range uint64(4) {
		b := open(t, 64, seed, profile(t, "hell"))
		var slowest time.Duration
		for in := 0; in < len(b.Clients); {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			in = 0
			for i, c := range b.Clients {
				if state, why := c.State(); state > client.Joined {
					t.Fatalf("seed %d: client %d is %v: %v, %v", seed, i, state, why, c.Err())
				}
				if playing(c) {
					in++
				}
			}
			if slowest = b.Now(); slowest > 3*time.Second {
				t.Fatalf("seed %d: %d of %d are in after %v", seed, in, len(b.Clients), b.Now())
			}
		}
		b.step(t, 5*time.Second)
		hurt := uint64(0)
		for i := range b.links.up {
			hurt += b.links.up[i].Stats().Corrupted
		}
		s := &b.Lobby.Stats
		for _, d := range malformed {
			if n := s.PacketDrops[d].Load(); n != 0 {
				t.Errorf("seed %d: %d times at the server: %v", seed, n, d)
			}
			for i, c := range b.Clients {
				if n := c.Stats().Packets.Drops[d]; n != 0 {
					t.Errorf("seed %d: %d times at client %d: %v", seed, n, i, d)
				}
			}
		}
		if n := s.AuthDrops[netcode.DropAuth].Load(); n < hurt/2 || hurt < 500 {
			t.Errorf("seed %d: %d datagrams were damaged, %d did not open", seed, hurt, n)
		}
		if joined := s.Count[metrics.Joined].Load(); joined != 64 {
			t.Errorf("seed %d: %d players", seed, joined)
		}
		for i, c := range b.Clients {
			if st := c.Stats(); st.Undecoded != 0 || !playing(c) {
				t.Errorf("seed %d: client %d: %+v", seed, i, st)
			}
		}
		t.Logf("seed %d: the slowest is in after %v; %d datagrams damaged on the way to the server",
			seed, slowest, hurt)
	}
}

// The server has accepted a client, but its keep-alives are lost for three seconds: nothing is
// decided twice, and the first keep-alive that arrives is enough.
func TestLossyKeepAlive(t *testing.T) {
	b := open(t, 8, 6, impair.Profile{Delay: 20 * time.Millisecond})
	nc := b.Lobby.Netcode()
	for nc.PendingHandshakes() < len(b.Clients) { // until the challenges are on their way
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Clients {
		b.links.down[i].SetProfile(impair.Profile{Loss: 1})
	}
	b.step(t, 200*time.Millisecond)
	if nc.Connected() != len(b.Clients) {
		t.Fatalf("%d connected", nc.Connected())
	}
	spoken := nc.Counters().Sent[netcode.KindKeepAlive]
	b.step(t, 3*time.Second)
	for i, c := range b.Clients {
		if state, _ := c.State(); state != client.Connecting || c.Stats().Packets.Received != 0 {
			t.Errorf("client %d is %v", i, state)
		}
	}
	if n := nc.Counters().Sent[netcode.KindKeepAlive] - spoken; n < 8*29 {
		t.Errorf("only %d keep-alives in three seconds", n)
	}
	for i := range b.Clients {
		b.links.down[i].SetProfile(impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.5})
	}
	b.step(t, 3*time.Second)
	for i, c := range b.Clients {
		if state, why := c.State(); !playing(c) {
			t.Errorf("client %d is %v: %v, %v", i, state, why, c.Err())
		}
	}
	s := &b.Lobby.Stats
	if joined := s.Count[metrics.Joined].Load(); joined != 8 || s.Count[metrics.Reconnected].Load() != 0 ||
		nc.Counters().Takeovers != 0 {
		t.Errorf("%d players for 8 clients, %d of them came back",
			joined, s.Count[metrics.Reconnected].Load())
	}
}

// The player of a lost client stays for thirty seconds after the session's timeout, and a fresh
// token gets it back. Later there is a new player.
func TestReconnectGrace(t *testing.T) {
	const timeout = timeoutSeconds * time.Second
	for _, c := range []struct {
		away  time.Duration
		joins uint64 // players and sessions that the lobby counts: a takeover is no new one
		same  bool
	}{
		{2 * time.Second, 4, true},                               // the session is still there, and silent
		{timeout + 3*time.Second, 5, true},                       // it has just timed out
		{timeout + server.ReconnectGrace - time.Second, 5, true}, // the last moment
		{timeout + server.ReconnectGrace + time.Second, 5, false},
	} {
		b := open(t, 4, 8, impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.02})
		b.step(t, 3*time.Second)
		const i = 2
		id := b.Clients[i].ID()
		if !playing(b.Clients[i]) {
			t.Fatalf("client %d is not in", i)
		}
		b.Crash(i)
		b.step(t, c.away)
		if there := b.Lobby.Match().Vital(id) != nil; there != c.same {
			t.Errorf("after %v its player is there: %v", c.away, there)
		}
		if err := b.Connect(i); err != nil {
			t.Fatal(err)
		}
		b.step(t, 2*time.Second)
		back := b.Clients[i]
		if !playing(back) || (back.ID() == id) != c.same || back.Stats().Prediction.Rows == 0 {
			state, why := back.State()
			t.Errorf("after %v: %v, %v (%v, %v), it was %v", c.away, back.ID(), state, why, back.Err(), id)
		}
		s := &b.Lobby.Stats
		if n := s.Count[metrics.Joined].Load(); n != c.joins ||
			(s.Count[metrics.Reconnected].Load() == 1) != c.same ||
			s.Count[metrics.UnbalancedTicks].Load() != 0 {
			t.Errorf("after %v: %d joined, %d returned", c.away, n, s.Count[metrics.Reconnected].Load())
		}
	}
}
