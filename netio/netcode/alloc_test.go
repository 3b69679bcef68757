package netcode

import (
	"bytes"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// No valid or invalid datagram allocates.
func TestPacketPathsAllocateNothing(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.HandshakesPerSecond = 1 << 24 })
	p := connected(t, s, 1)
	var out Outbox
	buf := make([]byte, 0, 2048)
	payload := pattern(make([]byte, 300), 3, 1)
	forged := p.seal(KindPayload, payload)
	forged[40] ^= 1
	token := mint(t, 2, nil)
	again, bad := request(token), request(token)
	bad[500] ^= 1
	ping := appendPing(nil, testProtocol, 7)
	s.Receive(p.now, testUnix, host(2), bytes.Clone(again), &out)
	work := make([]byte, 2048)
	give := func(n int, d []byte) {
		out.Reset()
		s.Receive(p.now, testUnix, host(n), work[:copy(work, d)], &out)
	}
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"server receives a payload", func() {
			d := p.c.sealNext(p.now, KindPayload, payload, buf)
			give(1, d)
		}},
		{"server receives a keep-alive", func() {
			d := p.c.sealNext(p.now, KindKeepAlive, zeros[:8], buf)
			give(1, d)
		}},
		{"server seals", func() { s.Seal(p.now, 0, payload, buf) }},
		{"server sends", func() { out.Reset(); s.Send(p.now, 0, payload, &out) }},
		{"server rejects a forged datagram", func() { give(1, forged) }},
		{"server rejects an unknown address", func() { give(3, forged) }},
		{"server rejects a forged token", func() { give(2, bad) }},
		{"server answers a repeated request", func() { give(2, again) }},
		{"server answers a ping", func() { give(3, ping) }},
		{"server updates", func() {
			out.Reset()
			p.now += 50 * time.Millisecond
			s.Update(p.now, testUnix, &out)
			s.slots[0].received = p.now
		}},
		{"client receives a payload", func() {
			d, _ := s.Seal(p.now, 0, payload, buf)
			p.c.Receive(p.now, testServer, d, &out)
		}},
		{"client seals", func() { p.c.Seal(p.now, payload, buf) }},
		{"client updates", func() {
			out.Reset()
			p.now += 50 * time.Millisecond
			p.c.received = p.now
			p.c.Update(p.now, &out)
		}},
	} {
		for range 10 {
			c.run()
		}
		if n := alloctest.In(200, c.run); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	if s.counters.Accepted[KindPayload] < 200 || s.counters.Accepted[KindRequest] < 200 ||
		s.counters.Accepted[KindPing] < 200 || s.counters.Drops[DropReqToken] < 200 ||
		s.counters.Drops[DropAuth] < 200 || s.counters.Drops[DropUnknown] < 200 ||
		p.c.counters.Accepted[KindPayload] < 200 {
		t.Errorf("not what was meant to happen: %+v", s.counters)
	}
}
