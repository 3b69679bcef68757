package netcode

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

// newRebindingClient returns a pair whose client keeps its session when its address changes.
func newRebindingClient(t testing.TB, s *Server, token []byte, at netip.AddrPort) *rebindingClient {
	return &rebindingClient{pair: pair{t: t, s: s, c: NewClient(token, ClientConfig{Roam: true}), at: at}}
}

// rebindingClient is a pair that delivers to the client only what is sent to the address that it
// has now.
type rebindingClient struct {
	pair
	record *[][]byte
	gap    time.Duration // longest time in which the client heard nothing
	moved  int
}

func (p *rebindingClient) run(d time.Duration) {
	for end := p.now + d; p.now < end; p.now += 10 * time.Millisecond {
		var out Outbox
		p.c.Update(p.now, &out)
		for range 4 { // rounds of answers
			var back Outbox
			for i := range out.Len() {
				_, d := out.At(i)
				if p.record != nil {
					*p.record = append(*p.record, bytes.Clone(d))
				}
				e, _ := p.s.Receive(p.now, testUnix+int64(p.now/time.Second), p.at, bytes.Clone(d), &back)
				if e.Kind == EventMigrated {
					p.moved++
				}
			}
			out.Reset()
			for i := range back.Len() {
				if to, d := back.At(i); to == p.at {
					p.c.Receive(p.now, testServer, bytes.Clone(d), &out)
				}
			}
		}
		out.Reset()
		p.s.Update(p.now, testUnix+int64(p.now/time.Second), &out)
		for i := range out.Len() {
			var back Outbox
			if to, d := out.At(i); to == p.at {
				p.c.Receive(p.now, testServer, bytes.Clone(d), &back)
			}
		}
		p.gap = max(p.gap, p.now-p.c.received)
	}
}

func TestThreat17Migration(t *testing.T) {
	s := newServer(t, nil)
	p := newRebindingClient(t, s, mint(t, 1, nil), host(1))
	p.run(time.Second)
	if p.c.roaming.id == 0 || s.counters.Sent[KindPath] != 1 {
		t.Fatalf("%d path datagrams from the server", s.counters.Sent[KindPath])
	}
	p.gap = 0
	for n := range 6 {
		p.at = host(100 + n)
		p.run(3 * time.Second)
		if v, ok := s.Session(0); !ok || v.Address != p.at || p.c.State() != Connected {
			t.Fatalf("move %d: session %+v, client %v", n, v, p.c.State())
		}
	}
	if p.moved != 6 || s.counters.Migrations != 6 || p.gap > 400*time.Millisecond || s.slotAt.length != 1 {
		t.Errorf("%d moves, gap of %v, %d addresses", p.moved, p.gap, s.slotAt.length)
	}
}

// Servers and clients of the standard are not affected.
func TestThreat17MigrationWithOthers(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	p.run(10 * time.Second)
	if s.counters.Sent[KindPath] != 0 {
		t.Errorf("%d path datagrams to a client of the standard", s.counters.Sent[KindPath])
	}
	c := NewClient(mint(t, 2, nil), ClientConfig{Roam: true})
	c.state, c.started, c.received = Connected, true, time.Hour
	var out Outbox
	for now := time.Duration(0); now < 20*time.Second; now += 50 * time.Millisecond {
		c.Update(now, &out)
	}
	if c.counters.Sent[KindPath] != hellos {
		t.Errorf("%d hellos to a server that does not answer", c.counters.Sent[KindPath])
	}
}

func TestThreat17MigrationRefused(t *testing.T) {
	s := newServer(t, nil)
	p := newRebindingClient(t, s, mint(t, 1, nil), host(1))
	p.run(time.Second)
	control := connected(t, s, 9)
	control.now = p.now
	id := p.c.roaming.id
	seal := func(id uint64, body []byte) []byte {
		d := s.sealer.sealPath(p.c.seal, nil, p.c.sequence, id, body)
		p.c.sequence++
		return d
	}
	probe := make([]byte, 200)
	probe[0] = pathProbe
	away := host(77)

	old := seal(id, probe)
	newer := p.seal(KindPayload, []byte("newer"))
	if _, err := s.Receive(p.now, testUnix, p.at, newer, &Outbox{}); err != nil {
		t.Fatal(err)
	}
	control.refuse(away, old, DropMigration) // not the newest sequence
	control.refuse(away, seal(id+1, probe), DropUnknown)
	control.refuse(away, seal(0, probe), DropUnknown)
	control.refuse(away, seal(id, probe[:50]), DropBody) // shorter than 192 B
	control.refuse(away, seal(id, []byte{pathHello}), DropMigration)
	control.refuse(away, seal(id, []byte{9}), DropBody)
	control.refuse(away, seal(id, make([]byte, 9)), DropBody)
	control.refuse(control.at, seal(id, probe), DropMigration) // another player's address
	control.refuse(p.at, seal(id, []byte{pathHello}), DropMigration)
	forged := seal(id, probe)
	forged[40] ^= 1
	control.refuse(away, forged, DropAuth)

	var out Outbox
	if _, err := s.Receive(p.now, testUnix, away, seal(id, probe), &out); err != nil || out.Len() != 1 {
		t.Fatalf("probe: %v, %d answers", err, out.Len())
	}
	to, d := out.At(0)
	if sent := 2 + 8 + 200 + 16; to != away || len(d) < 43 || len(d) > 50 ||
		float64(len(d)) > amplification*float64(sent) {
		t.Errorf("challenge of %d bytes to %v", len(d), to)
	}
	control.refuse(away, seal(id, probe), DropMigration) // a second within 250 ms
	wrong := make([]byte, 17)
	wrong[0] = pathEcho
	control.refuse(away, seal(id, wrong), DropMigration)
	right := append([]byte{pathEcho}, s.paths[0].proof[:]...)
	control.refuse(host(78), seal(id, right), DropMigration) // from elsewhere
	p.now += 1001 * time.Millisecond
	control.now = p.now
	control.refuse(away, seal(id, right), DropMigration) // too late
	if v, _ := s.Session(0); v.Address != host(1) || s.counters.Migrations != 0 {
		t.Errorf("the session went to %v", v.Address)
	}
	out.Reset()
	if _, err := s.Receive(p.now, testUnix, away, seal(id, probe), &out); err != nil {
		t.Fatal(err)
	}
	right = append([]byte{pathEcho}, s.paths[0].proof[:]...)
	echo := seal(id, right)
	e, err := s.Receive(p.now, testUnix, away, bytes.Clone(echo), &out)
	if v, _ := s.Session(0); err != nil || e.Kind != EventMigrated || v.Address != away {
		t.Errorf("echo: %v, %v, %v", err, e.Kind, v.Address)
	}
	control.refuse(away, echo, DropReplay)
	control.refuse(host(1), p.seal(KindPayload, []byte("from the old address")), DropUnknown)
}

// Path datagrams from unknown addresses take from the budget of unverified addresses.
func TestThreat17MigrationIsBudgeted(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.HandshakesPerSecond, c.HandshakesPerNetwork = 100, 1 })
	p := newRebindingClient(t, s, mint(t, 1, nil), host(1))
	p.run(time.Second)
	junk := append([]byte{0x10 | byte(KindPath), 250}, make([]byte, 8+1+16)...)
	for i := range 8 {
		junk[2+i] = byte(p.c.roaming.id >> (8 * i))
	}
	control := connected(t, s, 9*256)
	control.now = p.now
	control.refuse(netip.MustParseAddrPort("198.51.100.1:1"), junk, DropAuth)
	control.refuse(netip.MustParseAddrPort("198.51.100.2:1"), junk, DropReqPrefix)
}
