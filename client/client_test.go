package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

func TestCleanLinkNeverMispredicts(t *testing.T) {
	for _, rate := range []tick.Rate{20, 60, 128} {
		l := newTestServer(t, testServerConfig{rules: sim.Rules{Rate: rate,
			RespawnMillis: 1000, Mix: true, Game: damage(30)}, seed: 1, extras: 4})
		for range 4 {
			s := l.addClient(l.config(), link{delay: 25 * time.Millisecond})
			s.brain = aimBot(s.client, s.brain)
		}
		l.run(20 * time.Second)
		lives, pushes, used := uint64(0), uint64(0), [2]int{}
		for i, s := range l.clients {
			if state, why := s.client.State(); state != Joined {
				t.Fatalf("%d Hz client %d: %v %v %v", rate, i, state, why, s.client.Err())
			}
			st, in := s.client.Stats(), l.inbox(s)
			if p := st.Prediction; p.Mispredictions != 0 || p.Rows < 300 {
				t.Errorf("%d Hz client %d: %+v", rate, i, p)
			}
			if in.Missing != 0 || in.Conflict != 0 || in.Future != 0 || in.Used < uint64(rate)*19 {
				t.Errorf("%d Hz client %d: inbox %+v", rate, i, *in)
			}
			if st.HardResets != 0 || st.Undecoded != 0 || st.RenderStalls != 0 || st.Snapshots < 380 {
				t.Errorf("%d Hz client %d: %+v", rate, i, st)
			}
			lives += st.Prediction.Lives
			pushes += st.Prediction.Pushes
			used[s.client.replica.self.Hero]++
			t.Logf("%d Hz: lead %d wanted %v, age %v, lives %d, replayed %d",
				rate, st.Lead, st.LeadWanted, st.SnapshotAge, st.Prediction.Lives, st.Prediction.Replayed)
		}
		if lives < 2 || pushes < 10 || used[0] == 0 || used[1] == 0 {
			t.Errorf("%d Hz: only %d deaths and respawns, %d knock-backs, heroes %v",
				rate, lives, pushes, used)
		}
	}
}

var paths = []struct {
	name   string
	link   link
	used   float64 // least share of ticks that ran with the player's own command, after the first seconds
	stalls float64 // greatest share of frames in which the render clock waited
}{
	{"lan", link{}, 1, 0},
	{"50 ms", link{delay: 50 * time.Millisecond}, 1, 0},
	{"150 ms", link{delay: 150 * time.Millisecond}, 1, 0},
	{"jitter 10", link{delay: 30 * time.Millisecond, jitter: 10 * time.Millisecond}, 0.999, 0},
	{"jitter 50", link{delay: 30 * time.Millisecond, jitter: 50 * time.Millisecond}, 0.999, 0.01},
	{"loss 5, dup 2, reorder 5", link{delay: 30 * time.Millisecond,
		jitter: 5 * time.Millisecond, loss: 0.05, dup: 0.02, swap: 0.05}, 0.999, 0.02},
	{"loss 20", link{delay: 30 * time.Millisecond, loss: 0.20}, 0.999, 0.04},
}

func TestClocksConverge(t *testing.T) {
	for _, p := range paths {
		t.Run(p.name, func(t *testing.T) {
			l := newTestServer(t, testServerConfig{seed: 3, extras: 3})
			s := l.addClient(l.config(), p.link)
			l.run(4 * time.Second)
			before := *l.inbox(s)
			low, high, over, frames := int8(127), int8(-128), time.Duration(0), 0
			s.afterFrame = func(now time.Duration, s *testClient) {
				lead := s.client.replica.self.Lead
				low, high = min(low, lead), max(high, lead)
				over = max(over, time.Duration(lead)*l.rules.Rate.Period()-s.client.clock.Predicted.Want())
				frames++
			}
			l.run(26 * time.Second)
			st, in := s.client.Stats(), l.inbox(s)
			used, missing := in.Used-before.Used, in.Missing-before.Missing
			share := float64(used) / float64(used+missing)
			t.Logf("lead %d..%d wanted %v, %.4f of %d used, age %v, interp %v, jitter %v, loss %.3f, "+
				"rtt %v, stalls %d, mispredicted %d",
				low, high, st.LeadWanted, share, used+missing, st.SnapshotAge,
				st.InterpDelay, st.Jitter, st.Loss, st.RTT, st.RenderStalls, st.Prediction.Mispredictions)
			if share < p.used || used < 1400 || st.HardResets != 0 || in.Conflict != 0 {
				t.Errorf("%.5f of %d ticks used, want %.4f; resets %d, conflicts %d",
					share, used+missing, p.used, st.HardResets, in.Conflict)
			}
			if over > 4*l.rules.Rate.Period() {
				t.Errorf("lead up to %v more than wanted", over)
			}
			if p.used == 1 && (low < 1 || high > 3) {
				t.Errorf("lead %d..%d, want 1..3", low, high)
			}
			if share := float64(st.RenderStalls) / float64(frames); share > p.stalls {
				t.Errorf("render clock waited in %.4f of %d frames, want %v", share, frames, p.stalls)
			}
		})
	}
}

// TestRow23CommandsSurviveLoss: at 20 % loss each way more than 999 of 1000 ticks run with the
// player's own command.
func TestRow23CommandsSurviveLoss(t *testing.T) {
	var used, missing uint64
	for seed := range uint64(4) {
		l := newTestServer(t, testServerConfig{seed: 100 + seed})
		s := l.addClient(l.config(),
			link{delay: 40 * time.Millisecond, jitter: 4 * time.Millisecond, loss: 0.2})
		l.run(3 * time.Second)
		before := *l.inbox(s)
		l.run(60 * time.Second)
		in := l.inbox(s)
		used, missing = used+in.Used-before.Used, missing+in.Missing-before.Missing
		if in.Conflict != 0 || in.Future != 0 {
			t.Errorf("seed %d: %+v", seed, *in)
		}
	}
	if used < 14000 || missing*1000 > used+missing {
		t.Errorf("%d ticks with the command, %d without", used, missing)
	}
	t.Logf("%d ticks with the command, %d without", used, missing)
}

// TestOwnClock: the client's clock starts at another value and runs a thousandth too fast or too
// slow.
func TestOwnClock(t *testing.T) {
	for _, clock := range []func(time.Duration) time.Duration{
		func(now time.Duration) time.Duration { return now + 500*time.Hour + now/1000 },
		func(now time.Duration) time.Duration { return now - 500*time.Hour - now/1000 },
	} {
		l := newTestServer(t, testServerConfig{seed: 13, extras: 2})
		s := l.addClient(l.config(), link{delay: 30 * time.Millisecond, jitter: 3 * time.Millisecond})
		s.clock = clock
		l.run(30 * time.Second)
		st, in := s.client.Stats(), l.inbox(s)
		if in.Missing != 0 || in.Used < 29*60 || st.HardResets != 0 ||
			st.RenderStalls != 0 || st.Prediction.Mispredictions != 0 {
			t.Errorf("inbox %+v, %+v", *in, st)
		}
		if st.Lead < 1 || st.Lead > 4 || st.SnapshotAge > 150*time.Millisecond {
			t.Errorf("lead %d, age %v", st.Lead, st.SnapshotAge)
		}
	}
}

func TestRow39RoundTripStep(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 4, extras: 3})
	s := l.addClient(l.config(), link{delay: 25 * time.Millisecond, jitter: 2 * time.Millisecond})
	l.run(5 * time.Second)
	for _, delay := range []time.Duration{75 * time.Millisecond, 25 * time.Millisecond} {
		s.up.delay, s.down.delay = delay, delay
		l.run(5 * time.Second) // settles in these
		before := *l.inbox(s)
		l.run(5 * time.Second)
		st, in := s.client.Stats(), l.inbox(s)
		if st.HardResets != 0 || st.RenderResets != 0 {
			t.Errorf("%v: %d hard resets, %d of the render clock", delay, st.HardResets, st.RenderResets)
		}
		if missing := in.Missing - before.Missing; missing != 0 {
			t.Errorf("%v: %d ticks without a command after 5 s", delay, missing)
		}
		if lead := time.Duration(st.Lead); lead < 1 || lead > st.LeadWanted/l.rules.Rate.Period()+2 {
			t.Errorf("%v: lead %d, wanted %v", delay, lead, st.LeadWanted)
		}
		t.Logf("%v: lead %d wanted %v, %d inputs missing in all",
			delay, st.Lead, st.LeadWanted, st.InputsMissing)
	}
}

// Client hit prediction equals the server's result, down to the bone. Shots of players that a
// knockback moved before its snapshot arrived are left out.
func TestVerdictIsOurs(t *testing.T) {
	l := newTestServer(t,
		testServerConfig{rules: sim.Rules{RespawnMillis: 500, Game: damage(1)}, seed: 5, extras: 10})
	type key struct {
		tick tick.Tick
		id   uint32
	}
	claims, left := map[key]Shot{}, map[key]geom.Vec3{}
	for range 4 {
		s := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
		var from uint64
		s.brain = aimBot(s.client, s.brain)
		s.afterFrame = func(time.Duration, *testClient) {
			for _, shot := range l.match.Outcome().Shots {
				left[key{l.match.Tick(), shot.Shooter}] = shot.Ray.Origin
			}
			var new [maxShots]Shot
			n, next := s.client.Shots.Since(from, new[:])
			from = next
			for _, shot := range new[:n] {
				if shot.Hit != 0 {
					claims[key{shot.Tick, uint32(s.client.ID())}] = shot
				}
			}
		}
	}
	l.run(75 * time.Second)
	missed, seen := 0, map[key]bool{}
	rounds, thrown := 0, 0
	for _, e := range l.hits {
		if e.Part == rig.NoPart { // what flew, or a fist
			continue
		}
		rounds++
		k := key{e.Tick, uint32(e.Actor)}
		seen[k] = true
		shot, ok := claims[k]
		if ok && shot.Ray.Origin != left[k] {
			thrown++
			continue
		}
		if !ok || shot.Hit != e.Victim || shot.Part != e.Part {
			t.Errorf("tick %d: server has %v hit %v (%v), client said %v (%v)",
				e.Tick, e.Actor, e.Victim, e.Part, shot.Hit, shot.Part)
		}
	}
	for k := range claims {
		if !seen[k] && k.tick < l.match.Tick() {
			missed++ // the victim died in the meantime: a few shots each time
		}
	}
	if rounds < 100 || missed > rounds/25 || thrown > rounds/10 {
		t.Errorf("%d hits, %d more claimed, %d of the thrown about", rounds, missed, thrown)
	}
	t.Logf("%d hits agreed, %d claims on the dead", rounds, missed)
}

// aimBot looks at the nearest player in its view.
func aimBot(c *Client, idle func(int) Intent) func(int) Intent {
	return func(n int) Intent {
		in := idle(n)
		now, _, ok := c.Predicted()
		best := float32(1e9)
		for slot := range int(c.welcome.MaxPlayers) {
			p, seen := c.Pose(slot)
			if !seen || !ok || p.ID == c.welcome.NetID || !p.Alive() {
				continue
			}
			d := p.Pos.Sub(now.Motion.Pos)
			if dist := d.Len(); dist < best {
				best = dist
				in.Yaw = yawTo(d)
				in.Pitch = pitchTo(d, dist)
				in.Buttons |= sim.Fire
			}
		}
		return in
	}
}

func TestDecodeOwnPredictsAsWell(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 6, extras: 8})
	own := l.config()
	own.Decode = DecodeOwn
	a, b := l.addClient(own, link{delay: 20 * time.Millisecond}),
		l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	l.run(8 * time.Second)
	for _, s := range []*testClient{a, b} {
		st := s.client.Stats()
		if st.Prediction.Mispredictions != 0 || st.Snapshots < 140 || st.Undecoded != 0 ||
			l.inbox(s).Missing != 0 {
			t.Errorf("decode %v: %+v", s.client.cfg.Decode, st)
		}
	}
	if _, ok := a.client.Pose(0); ok {
		t.Error("thin client has poses")
	}
	if p, ok := b.client.Pose(0); !ok || p.ID == 0 {
		t.Error("full client has none")
	}
}

// TestPoseIsTheServers: the poses of a view equal those of the server's history.
func TestPoseIsTheServers(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 7, extras: 8})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond, loss: 0.1, jitter: 20 * time.Millisecond})
	compared := 0
	s.afterFrame = func(now time.Duration, s *testClient) {
		for slot := range l.players {
			got, ok := s.client.Pose(slot)
			want, held := l.match.History().At(s.client.View(), slot)
			if ok && held {
				compared++
				if got != want {
					t.Fatalf("%v view %v slot %d: %+v, server has %+v", now, s.client.View(), slot, got, want)
				}
			}
		}
	}
	l.run(5 * time.Second)
	if compared < 2000 {
		t.Errorf("only %d poses compared", compared)
	}
}

// TestLostGroup: a group that one snapshot of the view lacks is shown between the nearest two
// snapshots that have it.
func TestLostGroup(t *testing.T) {
	for i, c := range []struct {
		v        tick.View
		from, to tick.Tick
		want     uint8
	}{
		{tick.View{From: 12, To: 15, Frac: 128}, 12, 15, 128},
		{tick.View{From: 12, To: 15, Frac: 128}, 9, 15, 192},
		{tick.View{From: 12, To: 15, Frac: 128}, 12, 18, 64},
		{tick.View{From: 12, To: 15, Frac: 0}, 9, 18, 85},
		{tick.View{From: 15, To: 15, Frac: 0}, 9, 15, 255},
		{tick.View{From: 15, To: 15, Frac: 0}, 15, 15, 0},
	} {
		if got := lagcomp.BracketingTicks(c.v, c.from, c.to, 1000).Frac; got != c.want {
			t.Errorf("%d: %v between %d and %d: %d, want %d", i, c.v, c.from, c.to, got, c.want)
		}
	}
	// More than a datagram holds: with loss some snapshots hold a part of the groups only.
	l := newTestServer(t, testServerConfig{seed: 8, players: 1024, extras: 1000})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond, loss: 0.2})
	lacking, jumps := 0, 0
	last := map[int]rig.Pose{}
	s.afterFrame = func(now time.Duration, s *testClient) {
		v := s.client.View()
		for slot := 0; slot < l.players; slot += snapshotGroup {
			var row [netstate.PublicFields]int32
			_, a := s.client.Row(v.From, slot, row[:])
			_, b := s.client.Row(v.To, slot, row[:])
			p, ok := s.client.Pose(slot)
			if (!a || !b) && ok {
				lacking++
			}
			if was, had := last[slot]; ok && had && was.ID == p.ID &&
				was.Alive() == p.Alive() && p.Pos.Sub(was.Pos).Len() > 1.5 {
				jumps++
			}
			if ok {
				last[slot] = p
			}
		}
	}
	l.run(4 * time.Second)
	if lacking < 50 || jumps > lacking/20 {
		t.Errorf("%d poses shown without a group, %d jumps", lacking, jumps)
	}
	t.Logf("%d poses shown without a group, %d jumps", lacking, jumps)
}

// TestResync: a client that lost its baselines requests a resync once and recovers.
func TestResync(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 9, extras: 3})
	s := l.addClient(l.config(), link{delay: 30 * time.Millisecond, loss: 0.05})
	l.run(3 * time.Second)
	blank := *s.client
	blank.start()
	s.client.interp.Decoder, s.client.replica.decoder = blank.interp.Decoder, blank.replica.decoder
	l.run(2 * time.Second)
	before := s.client.Stats()
	l.run(2 * time.Second)
	after := s.client.Stats()
	if before.Resyncs == 0 || before.Resyncs > 3 || int(before.Resyncs) < l.conns[0].resyncs {
		t.Errorf("asked %d times, server heard %d", before.Resyncs, l.conns[0].resyncs)
	}
	if after.Undecoded != before.Undecoded || after.Snapshots-before.Snapshots < 30 {
		t.Errorf("not well again: %+v", after)
	}
	if state, _ := s.client.State(); state != Joined {
		t.Error(state)
	}
}

const snapshotGroup = 16
