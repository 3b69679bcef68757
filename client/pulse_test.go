package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// A Pulse equals Stats, and Due is the time of the next command: a client that calls Advance only
// then misses no command and issues none much earlier.
func TestPulseIsStatsAndTellsWhenToLook(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 4, players: 6})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond, jitter: 4 * time.Millisecond, loss: 0.01})
	period := time.Second / 60
	s.frame = 2 * time.Millisecond
	var due time.Duration
	var commands uint64
	asked, early := 0, 0
	s.afterFrame = func(now time.Duration, s *testClient) {
		c := s.client
		p, st := c.Pulse(), c.Stats()
		if p.Age != st.SnapshotAge || p.RTT != st.RTT || p.Snapshots != st.Snapshots ||
			p.Mispredictions != st.Prediction.Mispredictions ||
			p.Shots != st.Shots || p.Lead != st.Lead || p.Joined != (c.state == Joined) {
			t.Fatalf("%v: pulse %+v, stats %+v", now, p, st)
		}
		next := c.Due()
		if next < c.clock.Now || next > c.clock.Now+period+time.Millisecond {
			t.Fatalf("%v: due %v from now", now, next-c.clock.Now)
		}
		if n := uint64(s.commands); n > commands && due > 0 { // since the frame before, Advance has asked
			if asked++; now < due-period/16 {
				early++
			}
			commands = n
		} else if c.state == Joined && due > 0 && now > due+period/8 && asked > 60 {
			t.Fatalf("%v: nothing was asked for at %v", now, due)
		}
		due = next
	}
	l.run(6 * time.Second)
	if asked < 250 || early > asked/20 {
		t.Errorf("asked %d times, %d of them early", asked, early)
	}
	if n := alloctest.In(100, func() { s.client.Pulse(); s.client.Due() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
