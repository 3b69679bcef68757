package netcode

import (
	"testing"
	"time"
)

// More than a hundred forgeries a second for five seconds are reported once, and do not affect the
// session.
func TestThreat14FloodOfForgeriesIsFlagged(t *testing.T) {
	for _, c := range []struct {
		name      string
		perSecond int
		seconds   float64
		pause     time.Duration // after three seconds
		path      bool
		want      bool
	}{
		{"a hundred a second", 100, 20, 0, false, false},
		{"more, for less than five seconds", 500, 4.9, 0, false, false},
		{"more, for longer", 125, 6.1, 0, false, true},
		{"many more", 5000, 6, 0, false, true},
		{"path datagrams", 500, 6, 0, true, true},
		{"with a pause", 500, 5.5, 1100 * time.Millisecond, false, false},
		{"with a long pause", 500, 5.5, time.Minute, false, false},
	} {
		s := newServer(t, nil)
		p, q := connected(t, s, 1), connected(t, s, 2)
		forged := p.seal(KindPayload, []byte("x"))
		if c.path {
			forged = s.sealer.sealPath(p.c.seal, nil, p.c.sequence, 0, []byte{pathHello})
		}
		forged[len(forged)-1] ^= 1
		start, paused := p.now, false
		var out Outbox
		total := int(float64(c.perSecond) * c.seconds)
		for n := range total {
			if !paused && n == 3*c.perSecond {
				paused = true
				start += c.pause
			}
			now := start + time.Duration(n)*time.Second/time.Duration(c.perSecond)
			if _, err := s.Receive(now, testUnix, p.at, append([]byte(nil), forged...),
				&out); err != DropAuth {
				t.Fatalf("%s: %v", c.name, err)
			}
			p.now = now
		}
		v, ok := s.Session(int(p.c.Index()))
		w, _ := s.Session(int(q.c.Index()))
		want := uint64(0)
		if c.want {
			want = 1
		}
		if !ok || v.AuthFlood != c.want || w.AuthFlood || s.counters.AuthFloods != want ||
			v.AuthFailures != uint64(total) || out.Len() != 0 {
			t.Errorf("%s: connected %v, attacked %v, %d flagged, %d forged", c.name, ok, v.AuthFlood,
				s.counters.AuthFloods, v.AuthFailures)
		}
		p.refuse(p.at, forged, DropAuth) // and its payloads arrive
	}
}
