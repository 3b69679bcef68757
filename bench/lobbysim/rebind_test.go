package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// probeAfter is netcode's: a client that hears nothing for this time probes whether its address
// changed.
const probeAfter = 250 * time.Millisecond

// The address of every client changes every ten seconds for half a minute. Every session and player
// survives, and on a lossless link the gap is two round trips and the time until the client probes.
func TestRebind(t *testing.T) {
	skipUnderRace(t)
	const rtt = 60 * time.Millisecond
	for _, c := range []struct {
		name string
		link impair.Profile
		gap  time.Duration
	}{
		// Four steps, and each waits for the next tick of the other end.
		{"clean", impair.Profile{Delay: rtt / 2}, probeAfter + 2*rtt + 4*time.Second/60},
		{"bad", bad, 2 * time.Second}, // and starts over when any of the four is lost
	} {
		if testing.Short() && c.link != bad {
			continue
		}
		t.Run(c.name, func(t *testing.T) { rebind(t, c.link, c.gap) })
	}
}

func rebind(t *testing.T, link impair.Profile, most time.Duration) {
	b := open(t, 32, 9, link)
	b.step(t, 5*time.Second)
	n := len(b.Clients)
	ids := make([]netid.ID, n)
	for i, c := range b.Clients {
		ids[i] = c.ID()
	}
	heard, since := make([]uint64, n), make([]time.Duration, n)
	var gap, quiet time.Duration // between two datagrams heard, in the two seconds after a move, and else
	moves := 0
	for tick := range 30 * int(b.rate) {
		for i := range b.Clients {
			if tick%(10*int(b.rate)) == 7*i {
				b.Rebind(i)
				moves++
			}
		}
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		for i, c := range b.Clients {
			all := c.Stats().Datagrams.Accepted // path challenges do not count
			if got := all[netcode.KindPayload] + all[netcode.KindKeepAlive]; got != heard[i] {
				heard[i], since[i] = got, b.Now()
			}
			if after := (tick - 7*i) % (10 * int(b.rate)); after >= 0 && after < 2*int(b.rate) {
				gap = max(gap, b.Now()-since[i])
			} else {
				quiet = max(quiet, b.Now()-since[i])
			}
		}
	}
	b.step(t, time.Second)
	for i, c := range b.Clients {
		if state, why := c.State(); state != client.Joined || c.ID() != ids[i] ||
			b.Lobby.Match().Vital(ids[i]) == nil {
			t.Errorf("client %d, %v, was %v: %v, %v, %v", i, c.ID(), ids[i], state, why, c.Err())
		}
		if st := c.Stats(); st.Undecoded != 0 || !st.Datagrams.Balanced() || st.SnapshotAge > time.Second {
			t.Errorf("client %d: %+v", i, st)
		}
	}
	s := &b.Lobby.Stats
	for _, none := range []metrics.Count{metrics.Left, metrics.TimedOut, metrics.Disconnected,
		metrics.Reconnected, metrics.UnbalancedTicks} {
		if n := s.Count[none].Load(); n != 0 {
			t.Errorf("%v: %d", none, n)
		}
	}
	nc := b.Lobby.Netcode().Counters()
	if s.Count[metrics.Joined].Load() != uint64(n) || moves != 3*n || nc.Migrations < uint64(moves) ||
		nc.Takeovers != 0 {
		t.Errorf("%d joined, %d moves, netcode counted %d",
			s.Count[metrics.Joined].Load(), moves, nc.Migrations)
	}
	if gap > most || gap < probeAfter || quiet > probeAfter {
		t.Errorf("silence of up to %v, expected %v at most; of %v at other times", gap, most, quiet)
	}
	t.Logf("%d moves, silence of up to %v after one, %v else", moves, gap, quiet)
}

// standardClient is a plain netcode 1.02 client, which cannot keep its session when its address
// changes.
type standardClient struct {
	b       *Sim
	place   int
	dial    *netcode.Client
	peer    *packet.Peer
	out     netcode.Outbox
	welcome protocol.Welcome
	heard   time.Duration // the newest snapshot
}

// connectStandard begins a session with a fresh token for client i.
func (b *Sim) connectStandard(t *testing.T, i int) *standardClient {
	t.Helper()
	token, err := b.mint.token(uint64(i), b.unix())
	if err != nil {
		t.Fatal(err)
	}
	return &standardClient{b: b, place: i, dial: netcode.NewClient(token, netcode.ClientConfig{})}
}

// step plays for the time d.
func (s *standardClient) step(t *testing.T, d time.Duration) {
	t.Helper()
	b := s.b
	for end := b.Now() + d; b.Now() < end; {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		for data, binding, ok := b.links.down[s.place].Pop(b.now); ok; data, binding,
			ok = b.links.down[s.place].Pop(b.now) {
			if binding == b.links.binding[s.place] {
				s.receive(t, data)
			}
		}
		s.dial.Update(b.now, &s.out)
		if s.dial.State() == netcode.Connected && s.peer != nil {
			pkt, _ := s.peer.Append(b.now, nil)
			if err := s.dial.Send(b.now, s.peer.AppendReliable(pkt, 512), &s.out); err != nil {
				t.Fatal(err)
			}
		}
		for k := range s.out.Len() {
			_, data := s.out.At(k)
			b.links.up[s.place].Push(b.now, data, b.links.binding[s.place])
		}
		s.out.Reset()
	}
}

func (s *standardClient) receive(t *testing.T, data []byte) {
	t.Helper()
	pkt, err := s.dial.Receive(s.b.now, serverAddr, data, &s.out)
	if err != nil || pkt == nil {
		return
	}
	if s.peer == nil {
		s.peer = packet.NewPeer(s.b.now, packet.Config{})
	}
	rest, err := s.peer.Receive(s.b.now, pkt)
	if err == nil {
		rest, err = s.peer.Sections(rest)
	}
	if err != nil {
		t.Fatal(err)
	}
	for e, ok := s.peer.NextReliable(); ok; e, ok = s.peer.NextReliable() {
		w, err := protocol.ParseWelcome(e)
		if err != nil {
			continue // an event of the game
		}
		s.welcome = w
		r := protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(),
			Model: netstate.Trained().Hash()}
		if err := s.peer.QueueReliable(r.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if packet.SectionOf(rest) == packet.SectionSnapshot {
		s.heard = s.b.now
	}
}

// A client of the plain standard loses its session when its address changes. With a fresh token it
// gets its player back: as soon as the old session has been silent for a second, and also after
// both ends have timed out.
func TestRebindOfTheStandard(t *testing.T) {
	const timeout = timeoutSeconds * time.Second
	for _, away := range []time.Duration{1500 * time.Millisecond, timeout - time.Second,
		timeout + time.Second} {
		b := open(t, 4, 10, impair.Profile{Delay: 20 * time.Millisecond})
		const i = 3
		b.Crash(i)
		s := b.connectStandard(t, i)
		s.step(t, 3*time.Second)
		id := netid.ID(s.welcome.NetID)
		if id == 0 || b.Now()-s.heard > 100*time.Millisecond {
			t.Fatalf("%v, last heard at %v", id, s.heard)
		}
		b.Rebind(i)
		lost := b.Now()
		s.step(t, away)
		if s.heard > lost {
			t.Fatalf("it hears at its new address, %v after it moved", s.heard-lost)
		}
		if timedOut := s.dial.State() == netcode.ConnectionTimedOut; timedOut != (away > timeout) {
			t.Errorf("after %v: %v", away, s.dial.State())
		}
		again := b.connectStandard(t, i)
		again.step(t, time.Second)
		if got := netid.ID(again.welcome.NetID); got != id || b.Now()-again.heard > 100*time.Millisecond {
			t.Errorf("after %v it is %v, it was %v; last heard at %v", away, got, id, again.heard)
		}
		stats, nc := &b.Lobby.Stats, b.Lobby.Netcode().Counters()
		if n := stats.Count[metrics.Reconnected].Load(); n != 1 || nc.Migrations != 0 ||
			(nc.Takeovers == 1) != (away < timeout) {
			t.Errorf("after %v: %d came back, %d moved, %d took over",
				away, n, nc.Migrations, nc.Takeovers)
		}
	}
}
