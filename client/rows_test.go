package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// TestRow38ThreeClocks is row 38 of docs/features.md: the render clock never passes the server's
// clock nor the newest snapshot. In a steady state the predicted clock is ahead of the server's by
// the path and the buffer, to a tick.
func TestRow38ThreeClocks(t *testing.T) {
	for _, oneWay := range []time.Duration{0, 20 * time.Millisecond, 75 * time.Millisecond,
		150 * time.Millisecond} {
		for _, jitter := range []time.Duration{0, 10 * time.Millisecond} {
			l := newTestServer(t, testServerConfig{seed: 38, extras: 3})
			s := l.addClient(l.config(), link{delay: oneWay, jitter: jitter})
			period := l.rules.Rate.Period()
			frames, off := 0, time.Duration(0)
			lastRender := time.Duration(-1)
			s.afterFrame = func(now time.Duration, s *testClient) {
				server, predicted, render := s.client.Clocks()
				if server == 0 {
					return
				}
				if render > now || render > l.rules.Rate.At(s.client.Newest()) || render < lastRender {
					t.Fatalf("%v: rendered %v of a server at %v, newest snapshot %v, before %v",
						oneWay, render, now, l.rules.Rate.At(s.client.Newest()), lastRender)
				}
				lastRender = render
				if now < 6*time.Second {
					return
				}
				frames++
				// A command made now should arrive when the server's clock is want before its tick.
				lead := predicted - (now + oneWay + jitter/2)
				off = max(off, (lead - s.client.clock.Predicted.Want()).Abs())
				if d := (server - now).Abs(); d > jitter/2+2*time.Millisecond {
					t.Fatalf("%v, jitter %v: the server's clock is thought %v off", oneWay, jitter, d)
				}
			}
			l.run(16 * time.Second)
			if frames < 500 || off > period+jitter/2 {
				t.Errorf("%v, jitter %v: the predicted clock is up to %v off what is wanted, in %d frames",
					oneWay, jitter, off, frames)
			}
			if st := s.client.Stats(); st.HardResets+st.RenderResets != 0 ||
				st.RenderStalls != 0 && jitter == 0 {
				t.Errorf("%v, jitter %v: %+v", oneWay, jitter, st)
			}
		}
	}
}

// TestRow40JitterWithoutAFreeze is row 40 of docs/features.md: over a path with 0 to 50 ms of
// jitter, the picture of other players never freezes or jumps, and is where they were at the shown
// instant, as far as a straight line between two snapshots can be.
func TestRow40JitterWithoutAFreeze(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 40, extras: 8})
	s := l.addClient(l.config(), link{delay: 30 * time.Millisecond, jitter: 50 * time.Millisecond})
	truth := map[tick.Tick][]geom.Vec3{}
	last, lastAt := map[int]rig.Pose{}, time.Duration(0)
	frozen, frames, compared, worst, step := 0, 0, 0, float32(0), float32(0)
	s.afterFrame = func(now time.Duration, s *testClient) {
		var at []geom.Vec3
		for _, p := range l.match.Poses() {
			at = append(at, p.Pos)
		}
		truth[l.match.Tick()] = at
		if now < 5*time.Second {
			return
		}
		frames++
		_, _, render := s.client.Clocks()
		if render == lastAt {
			frozen++
		}
		whole, _ := l.rules.Rate.Since(render)
		for slot := range 9 {
			p, ok := s.client.Pose(slot)
			if !ok || p.ID == uint32(s.client.ID()) || !p.Alive() {
				continue
			}
			if was, had := last[slot]; had && was.Flags == p.Flags {
				step = max(step, p.Pos.Sub(was.Pos).Len())
			}
			last[slot] = p
			if a, b := truth[whole], truth[whole+1]; a != nil && b != nil {
				compared++
				near := min(p.Pos.Sub(a[slot]).Len(), p.Pos.Sub(b[slot]).Len())
				worst = max(worst, near)
			}
		}
		lastAt = render
	}
	l.run(25 * time.Second)
	st := s.client.Stats()
	if frozen != 0 || frames < 1100 || st.RenderResets != 0 {
		t.Errorf("the picture stood in %d of %d frames; %+v", frozen, frames, st)
	}
	// A player that runs at 8 to 12 m/s and turns about between two snapshots, 50 ms apart, is cut
	// short by half of that way at most.
	if compared < 2000 || worst > 0.4 {
		t.Errorf("up to %v m beside the truth in %d poses", worst, compared)
	}
	if step > 0.5 {
		t.Errorf("a step of %v m in the picture", step)
	}
	t.Logf("%d frames, %d poses up to %v m beside the truth, steps up to %v m, %d stalls, "+
		"interpolation delay %v", frames, compared, worst, step, st.RenderStalls, st.InterpDelay)
}

// TestRow40StillPeriodsDoNotSnap: a player that stood for seconds starts to walk, and its first
// step is no longer than the others. The reference, whose buffer has no samples of an unchanged
// player, shows most of the walk in one frame.
func TestRow40StillPeriodsDoNotSnap(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 41})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	walker := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	walker.brain = func(n int) Intent {
		if n/180%2 == 0 {
			return Intent{}
		}
		return Intent{MoveMag: 128, Yaw: geom.Angle(n / 360 * 16384)}
	}
	slot, still, moved := -1, 0, 0
	var was geom.Vec3
	var first, most float32
	s.afterFrame = func(now time.Duration, s *testClient) {
		if walker.client.ID() == 0 || now < 3*time.Second {
			return
		}
		slot = walker.client.ID().Index()
		p, ok := s.client.Pose(slot)
		if !ok {
			return
		}
		if d := p.Pos.Sub(was).Len(); was == (geom.Vec3{}) || d > 2 {
		} else if d == 0 {
			still++
		} else {
			if most = max(most, d); still > 60 {
				first, moved = max(first, d), moved+1
			}
			still = 0
		}
		was = p.Pos
	}
	l.run(30 * time.Second)
	if moved < 3 || first > most/2 || most == 0 {
		t.Errorf("after %d rests the first step is %v m, the longest of all %v m", moved, first, most)
	}
}

// TestDrawnGoesOn: without snapshots the view stays at the newest one, and drawn positions are
// extrapolated for 100 ms. When snapshots arrive again no player steps back.
func TestDrawnGoesOn(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 42})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	walker := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	walker.brain = func(n int) Intent { return Intent{MoveMag: 255, Yaw: geom.Angle(n / 120 * 32768)} }
	l.run(4*time.Second + 1200*time.Millisecond) // half way along
	s.down.loss = 1
	start, moved, stood := l.now, time.Duration(0), 0
	slot := walker.client.ID().Index()
	drawn, _ := s.client.PresentedPose(slot)
	was, back := drawn.Pos, float32(0)
	dir := geom.Vec3{}
	s.afterFrame = func(now time.Duration, s *testClient) {
		p, ok := s.client.Pose(slot)
		d, _ := s.client.PresentedPose(slot)
		if !ok {
			t.Fatal("not there")
		}
		way := d.Pos.Sub(was)
		if way.Len() > 1e-3 {
			if moved = now - start; dir == (geom.Vec3{}) {
				dir = way.Normalize()
			}
			back = min(back, way.Dot(dir))
		} else {
			stood++
		}
		if beyond := d.Pos.Sub(p.Pos).Len(); beyond > 1.2 { // 100 ms at 12 m/s
			t.Fatalf("drawn %v m beyond what is known", beyond)
		}
		was = d.Pos
	}
	l.run(400 * time.Millisecond)
	if over := s.client.clock.Render.Over; over != clock.MaxOver || stood == 0 ||
		moved < 150*time.Millisecond || moved > 260*time.Millisecond {
		t.Errorf("went on for %v, %v beyond, then stood for %d frames", moved, over, stood)
	}
	s.down.loss = 0
	l.run(300 * time.Millisecond)
	if back < -0.05 {
		t.Errorf("a step of %v m back", back)
	}
	l.run(3 * time.Second)
	if over := s.client.clock.Render.Over; over != 0 {
		t.Errorf("still %v beyond", over)
	}
}

// TestRow44BufferFollowsTheLink is row 44 of docs/features.md: the server's command buffer grows
// under bursts of loss and shrinks after them. Each tick without its command is reported to its
// client, and no command is used twice.
func TestRow44BufferFollowsTheLink(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 44, extras: 2})
	s := l.addClient(l.config(), link{delay: 30 * time.Millisecond})
	mean := func(d time.Duration) (lead float64, wanted time.Duration) {
		n := 0
		s.afterFrame = func(time.Duration, *testClient) { lead += float64(s.client.replica.self.Lead); n++ }
		l.run(d)
		s.afterFrame = nil
		return lead / float64(n), s.client.clock.Predicted.Want()
	}
	l.run(3 * time.Second)
	calm, calmWant := mean(4 * time.Second)
	bursts := func(d time.Duration) { // of 30 to 150 ms: 30 % of the time
		for end := l.now + d; l.now < end; {
			away := time.Duration(30+l.rng.IntN(120)) * time.Millisecond
			s.up.loss = 1
			l.run(away)
			s.up.loss = 0
			l.run(away * 7 / 3)
		}
	}
	first, told := l.inbox(s).Missing, s.client.Stats().InputsMissing
	bursts(8 * time.Second)
	before := *l.inbox(s)
	var rough float64
	n := 0
	s.afterFrame = func(time.Duration, *testClient) { rough += float64(s.client.replica.self.Lead); n++ }
	bursts(40 * time.Second)
	s.afterFrame = nil
	rough /= float64(n)
	roughWant := s.client.clock.Predicted.Want()
	in := *l.inbox(s)
	used, missing := in.Used-before.Used, in.Missing-before.Missing
	l.run(200 * time.Millisecond)
	told = s.client.Stats().InputsMissing - told
	l.run(60 * time.Second)
	again, againWant := mean(4 * time.Second)
	if share := float64(used) / float64(used+missing); share < 0.97 || used < 2300 {
		t.Errorf("%d of %d ticks ran with the player's own command", used, used+missing)
	}
	if !(rough > calm+1) || !(again < calm+1) || roughWant <= calmWant ||
		againWant > calmWant+l.rules.Rate.Period() {
		t.Errorf("buffer %.1f, under bursts %.1f, after them %.1f; wanted %v, %v, %v",
			calm, rough, again, calmWant, roughWant, againWant)
	}
	if starved := in.Missing - first; told != starved || starved == 0 ||
		in.Conflict != 0 || in.Used+in.Missing > uint64(l.match.Tick()) {
		t.Errorf("told of %d starved ticks of %d; %+v", told, in.Missing-first, in)
	}
	t.Logf("buffer %.1f, under bursts %.1f, after them %.1f ticks; %d of %d ticks starved, and %d "+
		"before the client had seen 8 s of them", calm, rough, again, missing,
		used+missing, before.Missing-first)
}
