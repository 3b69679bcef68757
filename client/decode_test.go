package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

// The commands of a client with DecodeAcks reach the server in time and unchanged, on a clean path
// and on a bad one. It knows its clocks by arrivals and round trips alone. It acknowledges what
// arrives and decodes none of it.
func TestDecodeAcksInputsArrive(t *testing.T) {
	for i, c := range []struct {
		path link
		miss float64 // share of ticks that may run without a command
	}{
		{link{}, 0},
		{link{delay: 20 * time.Millisecond}, 0},
		{link{delay: 75 * time.Millisecond, jitter: 4 * time.Millisecond}, 0.001},
		{link{delay: 40 * time.Millisecond, loss: 0.05}, 0.005},
	} {
		l := newTestServer(t, testServerConfig{seed: uint64(30 + i), players: 16, extras: 12})
		cfg := l.config()
		cfg.Decode = DecodeAcks
		s := l.addClient(cfg, c.path)
		seen := map[tick.Tick]bool{}
		var played, other int
		s.afterFrame = func(time.Duration, *testClient) {
			now := l.match.Tick()
			cmd, ok := s.client.Issued(now)
			if v := l.match.Vital(s.client.ID()); !ok || seen[now] || v == nil || v.Health <= 0 {
				return
			}
			seen[now] = true
			// as it is rounded to be seen
			if played++; l.match.Poses()[s.client.ID().Index()].Yaw != (cmd.Yaw+8)&^15 {
				other++
			}
		}
		l.run(2 * time.Second)
		before := *l.inbox(s)
		l.run(20 * time.Second)
		n, st := *l.inbox(s), s.client.Stats()
		used, missing := n.Used-before.Used, n.Missing-before.Missing
		if used < 1190 || float64(missing) > c.miss*float64(used) || n.Conflict != 0 ||
			n.Future != 0 || n.Clamped != 0 {
			t.Errorf("%d: %d ticks with a command, %d without: %+v", i, used, missing, n)
		}
		if played < 600 || float64(other) > (c.miss+0.001)*float64(played) {
			t.Errorf("%d: of %d ticks %d were played with other commands than given", i, played, other)
		}
		rtt := 2*c.path.delay + c.path.jitter
		t.Logf("%d: %d of %d ticks without the command, %d played with another, round trip %v",
			i, missing, used+missing, other, st.RTT)
		if off := (st.RTT - rtt).Abs(); off > 20*time.Millisecond || st.Snapshots < 380 ||
			st.HardResets != 0 {
			t.Errorf("%d: round trip %v of %v, %d snapshots", i, st.RTT, rtt, st.Snapshots)
		}
		g := l.conns[0]
		if late := int(time.Duration(l.rules.Rate) * (rtt + 150*time.Millisecond) /
			time.Second); g.peer.InFlight() > late {
			t.Errorf("%d: %d packets that the client has not acknowledged", i, g.peer.InFlight())
		}
		if c.path.loss == 0 && (st.Loss != 0 || g.tracker.Baseline(0) == 0) {
			t.Errorf("%d: loss %v on a clean path, base %d", i, st.Loss, g.tracker.Baseline(0))
		}
		if g.resyncs != 0 || st.Undecoded != 0 || st.Stale > uint64(played)/10 {
			t.Errorf("%d: %+v", i, st)
		}
	}
}

// A client with DecodeAcks reports undecoded state as unknown and keeps no memory for it.
func TestDecodeAcksKnowsNothing(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 40, players: 16, extras: 12})
	cfg := l.config()
	cfg.Decode = DecodeAcks
	s := l.addClient(cfg, link{delay: 20 * time.Millisecond})
	s.client.Meter = NewMeter()
	l.run(3 * time.Second)
	c := s.client
	if _, _, ok := c.Predicted(); ok {
		t.Error("it predicts itself")
	}
	if _, ok := c.Present(Intent{}); ok {
		t.Error("it presents itself")
	}
	for slot := range 16 {
		if _, ok := c.Pose(slot); ok {
			t.Errorf("it sees slot %d", slot)
		}
	}
	if st := c.Stats(); st.Prediction.Rows != 0 || st.Shots != 0 || st.Snapshots < 40 ||
		c.replica.decoder != nil || c.interp.Decoder != nil {
		t.Errorf("%+v", st)
	}
}
