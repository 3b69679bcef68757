package netcode

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
)

// region is a host behind a bad link, in virtual time. It reads its socket once a tick.
type region struct {
	at       netip.AddrPort
	server   *Server // nil: the host is gone
	up, down *impair.Link
	out      Outbox
}

// regions is one client and the hosts that its token names.
type regions struct {
	t     *testing.T
	now   time.Duration
	c     *Client
	hosts []*region
	out   Outbox
}

const regionTick = 16 * ms

// newRegions makes a host for each link, and a client with a token for all of them.
func newRegions(t *testing.T, links ...impair.Profile) *regions {
	w, all := &regions{t: t}, addresses(len(links))
	for i, p := range links {
		s := newServer(t, func(c *ServerConfig) {
			c.Addresses, c.Entropy = []netip.AddrPort{all[i]}, [32]byte{1, byte(i)}
		})
		w.hosts = append(w.hosts, &region{at: all[i], server: s,
			up: impair.New(p, uint64(2*i)), down: impair.New(p, uint64(2*i+1))})
	}
	w.c = NewClient(mint(t, 7, func(m *Mint) { m.Servers = all }), ClientConfig{Nearest: true})
	return w
}

// step plays a millisecond.
func (w *regions) step() {
	w.now += ms
	for _, h := range w.hosts {
		for d, _, ok := h.down.Pop(w.now); ok; d, _, ok = h.down.Pop(w.now) {
			_, _ = w.c.Receive(w.now, w.c.Server(), bytes.Clone(d), &w.out)
		}
	}
	w.c.Update(w.now, &w.out)
	for i := range w.out.Len() {
		to, d := w.out.At(i)
		h := w.hosts[slices.IndexFunc(w.hosts, func(h *region) bool { return h.at == to })]
		h.up.Push(w.now, d, 0)
	}
	w.out.Reset()
	for _, h := range w.hosts {
		if h.server != nil && w.now%regionTick == 0 {
			h.tick(w.now)
		}
	}
}

func (h *region) tick(now time.Duration) {
	for d, _, ok := h.up.Pop(now); ok; d, _, ok = h.up.Pop(now) {
		_, _ = h.server.Receive(now, testUnix+int64(now/time.Second), host(1), bytes.Clone(d), &h.out)
	}
	h.server.Update(now, testUnix+int64(now/time.Second), &h.out)
	for i := range h.out.Len() {
		_, d := h.out.At(i)
		h.down.Push(now, d, 0)
	}
	h.out.Reset()
}

// until plays until the client is connected.
func (w *regions) untilConnected() {
	for end := w.now + time.Minute; w.c.State() != Connected && w.now < end; {
		w.step()
	}
	if w.c.State() != Connected {
		w.t.Fatalf("the client is %v after %v: %+v", w.c.State(), w.now, w.c.Pings())
	}
}

func delay(roundTrip time.Duration) impair.Profile { return impair.Profile{Delay: roundTrip / 2} }

// Of hosts at 200, 80 and 20 ms, one that loses everything and one that is gone, a client joins that
// at 20 ms. No other host hears more than pings of it.
func TestRow80ClientJoinsTheNearestHost(t *testing.T) {
	w := newRegions(t, delay(200*ms), impair.Profile{Loss: 1}, delay(80*ms), delay(20*ms), delay(10*ms))
	w.hosts[4].server = nil
	w.untilConnected()
	if w.c.Server() != w.hosts[3].at || w.hosts[3].server.Connected() != 1 {
		t.Fatalf("joined %v: %+v", w.c.Server(), w.c.Pings())
	}
	joined := w.now
	for w.now < 2*time.Second {
		w.step()
	}
	for i, want := range []time.Duration{200 * ms, 0, 80 * ms, 20 * ms, 0} {
		p, answered := w.c.Pings()[i], 0
		if want > 0 {
			answered = PingRounds
		}
		if p.Address != w.hosts[i].at || p.Answered != answered || p.Best < want || p.Best > want+regionTick ||
			want == 0 && p.Best != 0 {
			t.Errorf("host %d: %+v, want %d answers in %v", i, p, answered, want)
		}
		s := w.hosts[i].server
		if s != nil && i != 3 && (s.counters.Received != s.counters.Accepted[KindPing] ||
			s.PendingHandshakes() != 0) {
			t.Errorf("host %d: %+v", i, s.counters)
		}
	}
	// the rounds, the best round trip, and what reading once a tick adds; then a handshake of two trips
	if most := 2*PingEvery + 20*ms + regionTick; w.c.ChoiceTime() > most || joined > most+2*(20*ms+regionTick)+2*ms {
		t.Errorf("chosen after %v, joined after %v", w.c.ChoiceTime(), joined)
	}
}

// Loss of a third, each way, hardly ever hides the nearest host, and never the choice.
func TestLossyLinksStillChoose(t *testing.T) {
	nearest := 0
	for seed := range 40 {
		far, near := impair.Profile{Delay: 40 * ms, Loss: 0.33}, impair.Profile{Delay: 10 * ms, Loss: 0.33}
		w := newRegions(t, far, near, far)
		for i, h := range w.hosts {
			p := []impair.Profile{far, near, far}[i]
			h.up, h.down = impair.New(p, uint64(10*seed+i)), impair.New(p, uint64(1000+10*seed+i))
		}
		w.untilConnected()
		if w.c.ChoiceTime() > PingWait {
			t.Errorf("chosen after %v", w.c.ChoiceTime())
		}
		if w.c.Server() == w.hosts[1].at {
			nearest++
		}
	}
	if nearest < 30 { // all three pings of one host are lost in 1 of 6
		t.Errorf("%d of 40 clients joined the nearest host", nearest)
	}
}

// A client whose chosen host is gone after its pings goes on to the next nearest, not to the next of
// the token.
func TestNextNearestHostFollows(t *testing.T) {
	w := newRegions(t, delay(200*ms), delay(20*ms), delay(80*ms))
	for w.c.ChoiceTime() == 0 {
		w.step()
	}
	w.hosts[1].server = nil
	w.untilConnected()
	if w.c.Server() != w.hosts[2].at {
		t.Errorf("joined %v: %+v", w.c.Server(), w.c.Pings())
	}
}

// Hosts that know no pings are dialled in the token's order, PingWait later.
func TestHostsWithoutPings(t *testing.T) {
	w := newRegions(t, delay(80*ms), delay(20*ms))
	for _, h := range w.hosts {
		h.server.pings.all.SetRate(1)
		for h.server.pings.allow(0, host(1)) {
		}
	}
	w.untilConnected()
	if w.c.Server() != w.hosts[0].at || w.c.ChoiceTime() != PingWait {
		t.Errorf("joined %v after %v: %+v", w.c.Server(), w.c.ChoiceTime(), w.c.Pings())
	}
}

// A host that falls silent once it has the client's response may have sealed datagrams of a session. No
// other host may seal with the same keys and sequences, so the attempt ends.
func TestNoSecondHostAfterAResponse(t *testing.T) {
	w := newRegions(t, delay(80*ms), delay(20*ms))
	for w.c.State() != SendingResponse && w.now < time.Minute {
		w.step()
	}
	w.hosts[1].server = nil // its keep-alive is lost
	for w.c.State() == SendingResponse && w.now < time.Minute {
		w.step()
	}
	if n := w.hosts[0].server.counters.Accepted[KindRequest]; w.c.State() != ResponseTimedOut || n != 0 {
		t.Errorf("the client is %v, the other host has %d requests", w.c.State(), n)
	}
}
