package netcode

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

// airborne is a datagram on its way.
type airborne struct {
	at   time.Duration
	from netip.AddrPort
	to   netip.AddrPort
	data []byte
}

// A session moves over any path shorter than a challenge's life, however many challenges that
// path holds at a time.
func TestThreat17MigrationOverALongPath(t *testing.T) {
	for _, way := range []time.Duration{time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond,
		200 * time.Millisecond, 300 * time.Millisecond, 450 * time.Millisecond} {
		s := newServer(t, nil)
		c := NewClient(mint(t, 1, nil), ClientConfig{Roam: true})
		at, now := host(1), time.Duration(0)
		var air []airborne
		moved := time.Duration(0)
		run := func(d time.Duration) {
			for end := now + d; now < end; now += 10 * time.Millisecond {
				var up, down Outbox
				var rest []airborne
				for _, f := range air {
					switch {
					case f.at > now:
						rest = append(rest, f)
					case f.to == testServer:
						if e, _ := s.Receive(now, testUnix, f.from, f.data,
							&down); e.Kind == EventMigrated && moved == 0 {
							moved = now
						}
					case f.to == at:
						c.Receive(now, testServer, f.data, &up)
					}
				}
				air = rest
				c.Update(now, &up)
				s.Update(now, testUnix, &down)
				for i := range up.Len() {
					_, d := up.At(i)
					air = append(air, airborne{now + way, at, testServer, bytes.Clone(d)})
				}
				for i := range down.Len() {
					to, d := down.At(i)
					air = append(air, airborne{now + way, testServer, to, bytes.Clone(d)})
				}
			}
		}
		run(3 * time.Second)
		if c.State() != Connected || c.roaming.id == 0 {
			t.Fatalf("%v: %v", way, c.State())
		}
		at = host(2)
		begun := now
		run(4 * time.Second)
		if v, ok := s.Session(0); !ok || v.Address != at || c.State() != Connected ||
			s.counters.Migrations != 1 {
			t.Errorf("%v one way: session at %v, client %v, %d moves", way, v.Address, c.State(),
				s.counters.Migrations)
		} else if took := moved - begun; took > 4*way+250*time.Millisecond+200*time.Millisecond {
			t.Errorf("%v one way: moved after %v", way, took)
		}
	}
}

// The bytes of a challenge are the same for one address while they are good, others for another,
// and new when they are stale.
func TestThreat17ChallengesDiffer(t *testing.T) {
	s := newServer(t, nil)
	p := newRebindingClient(t, s, mint(t, 1, nil), host(1))
	p.run(time.Second)
	ask := func(from netip.AddrPort) [proofSize]byte {
		probe := make([]byte, 200)
		probe[0] = pathProbe
		d := s.sealer.sealPath(p.c.seal, nil, p.c.sequence, p.c.roaming.id, probe)
		p.c.sequence++
		if _, err := s.Receive(p.now, testUnix, from, d, &Outbox{}); err != nil {
			t.Fatal(err)
		}
		p.now += challengeGap
		return s.paths[0].proof
	}
	first := ask(host(2))
	if again := ask(host(2)); again != first {
		t.Errorf("an echo under way is worthless")
	}
	other := ask(host(3))
	if back := ask(host(2)); other == first || back == other || back == first {
		t.Errorf("addresses share a proof")
	}
	fresh := ask(host(2))
	p.now += challengeLife
	if stale := ask(host(2)); stale == fresh {
		t.Errorf("a proof outlives its second")
	}
}
