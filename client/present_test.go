package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/move"
)

// TestPresentIsContinuous: on a screen of 240 Hz with a server of 60 Hz, each tick is shown from
// where the one before ended to where the next begins, although it is shown before it is played.
func TestPresentIsContinuous(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 31, extras: 3})
	s := l.addClient(l.config(), link{delay: 30 * time.Millisecond})
	s.frame = time.Second / 240
	var wish Intent
	think, played := wander(4), 0
	s.brain = func(n int) Intent { // the wish of a tick is known since the tick before it
		is := wish
		wish = think(n)
		wish.Buttons &^= sim.Rocket
		played++
		return is
	}
	var last, end Presented
	var longest float32
	frames, parts, pushes := 0, map[int]int{}, uint64(0)
	s.afterFrame = func(time.Duration, *testClient) {
		p, ok := s.client.Present(wish)
		if pushed := s.client.Stats().Prediction.Pushes; !ok || pushed != pushes {
			pushes, last = pushed, Presented{}
			return
		}
		if at := s.client.predict.State(p.Tick).Motion.Pos; p.Frac == 0 && p.Pos != at {
			t.Fatalf("tick %d begins at %v, shown at %v", p.Tick, at, p.Pos)
		}
		if last.Tick != 0 && p.Tick-last.Tick <= 1 && p.Offset == (geom.Vec3{}) {
			longest = max(longest, p.Pos.Sub(last.Pos).Len())
		}
		// what would have been shown last is where it begins
		if p.Tick == end.Tick+1 && p.Offset == (geom.Vec3{}) && end.Tick != 0 {
			if at := s.client.predict.State(p.Tick).Motion.Pos; at.Sub(end.Pos).Len() > 1e-3 {
				t.Fatalf("tick %d begins %v m beside where it was shown to", p.Tick, at.Sub(end.Pos).Len())
			}
		}
		end = whole(s.client, wish)
		last = p
		frames++
		parts[int(p.Frac*8)]++
	}
	l.run(20 * time.Second)
	if st := s.client.Stats(); st.Prediction.Mispredictions != 0 || st.Errors.Snapped != 0 {
		t.Errorf("%+v", st)
	}
	// No player is faster than 30 m/s: in a frame of 1/240 s that is 13 cm, and clocks that steer
	// add a twentieth.
	if longest > 0.14 || longest == 0 {
		t.Errorf("shown to go %v m in a frame", longest)
	}
	if frames < 4000 || len(parts) != 8 || played < 1000 {
		t.Errorf("%d frames, at parts %v of a tick, %d ticks", frames, parts, played)
	}
}

// whole returns the state at the end of the tick after the newest.
func whole(c *Client, in Intent) Presented {
	s := *c.predict.State(c.predict.Newest)
	cmd := in.command(c.predict.Newest + 1)
	var actions ability.Actions
	c.predict.Kit.StepPlayer(&s.Self, &cmd, c.predict.Arena, &actions)
	return Presented{Tick: c.predict.Newest, Pos: s.Motion.Pos}
}

// TestPresentChangesNothing: a client that presents twenty times a tick sends the same as one that
// does not.
func TestPresentChangesNothing(t *testing.T) {
	var states [2]predict.State
	var stats [2]Stats
	for i := range states {
		l := newTestServer(t, testServerConfig{seed: 32, extras: 3})
		s := l.addClient(l.config(), link{delay: 30 * time.Millisecond, loss: 0.1})
		if i == 1 {
			s.afterFrame = func(time.Duration, *testClient) {
				for range 20 {
					s.client.Present(Intent{Yaw: 99, MoveMag: 255, Buttons: sim.Jump | sim.Fire | sim.Melee})
					for slot := range 8 {
						s.client.PresentedPose(slot)
					}
				}
			}
		}
		l.run(6 * time.Second)
		states[i], stats[i] = *s.client.predict.State(s.client.predict.Newest), s.client.Stats()
	}
	if states[0] != states[1] || stats[0] != stats[1] {
		t.Errorf("%+v\n%+v", stats[0], stats[1])
	}
}

// TestRow41KnockBacksConverge is the second half of row 41 of docs/features.md: hits knock players
// back, which no client can predict. One round trip, the buffer and two snapshots later at most,
// the prediction equals the server's state to the bit, and the shown position moved there
// smoothly.
func TestRow41KnockBacksConverge(t *testing.T) {
	l := newTestServer(t, testServerConfig{rules: sim.Rules{Game: damage(1), RespawnMillis: 500}, seed: 33})
	const oneWay = 50 * time.Millisecond
	s := l.addClient(l.config(), link{delay: oneWay})
	wish := Intent{MoveMag: 255, Yaw: 3000}
	s.brain = func(n int) Intent { wish.Yaw += 40; return wish }
	l.run(3 * time.Second)
	hunter := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	hunter.brain = aimBot(hunter.client, hunter.brain)

	type guess struct {
		at    time.Duration
		state predict.State
	}
	guesses := map[tick.Tick]guess{} // of each tick, as it was first predicted
	truth, hit, down := map[tick.Tick]move.Motion{}, map[tick.Tick]bool{}, false
	var last geom.Vec3
	var step float32
	snapped := uint64(0)
	s.afterFrame = func(now time.Duration, _ *testClient) {
		self, _, _ := l.match.Self(s.client.ID())
		truth[l.match.Tick()] = self
		if dead := self.Loco == move.Dead; dead || down {
			hit[l.match.Tick()], down = true, dead
		}
		newest := s.client.predict.Newest
		if _, had := guesses[newest]; !had {
			guesses[newest] = guess{now, *s.client.predict.State(newest)}
		}
		p, ok := s.client.Present(wish)
		if ok && last != (geom.Vec3{}) && s.client.predict.Error.Stats.Snapped == snapped {
			step = max(step, p.Pos.Sub(last).Len())
		}
		last = p.Pos
		if n := s.client.Stats().Errors.Snapped; !ok || n != snapped {
			last, snapped = geom.Vec3{}, n // dead, or thrown too far to be faded
		}
	}
	l.run(30 * time.Second)
	for _, e := range l.hits {
		if e.Victim == s.client.ID() {
			hit[e.Tick] = true
		}
	}
	compared, wrong := 0, 0
	late, _ := l.rules.Rate.Since(2*oneWay + s.client.clock.Predicted.Want())
	late += l.interval + 1 // its row waits for a snapshot, and that for a frame
	for at, g := range guesses {
		is, known := truth[at]
		thrown := false
		for back := tick.Tick(0); back <= late; back++ {
			thrown = thrown || hit[at-back]
		}
		if !known || thrown {
			continue
		}
		compared++
		if g.state.Motion != is {
			wrong++
		}
	}
	st := s.client.Stats()
	if compared < 300 || wrong != 0 || len(hit) < 20 {
		t.Errorf("%d of %d ticks were predicted otherwise, %d with blows", wrong, compared, len(hit))
	}
	if st.Prediction.Mispredictions != 0 || st.Prediction.Pushes < 20 ||
		st.Errors.Snapped > 2 || st.Errors.Smoothed < 20 {
		t.Errorf("%+v", st)
	}
	// In a frame of 1/60 s a knocked-back player moves at most half a metre, and of an error offset
	// a ninth fades.
	if most := 0.5 + st.Errors.Longest/8; step > most {
		t.Errorf("a step of %v m in the picture; corrections up to %v m", step, st.Errors.Longest)
	}
	t.Logf("%d ticks compared, %d with blows; steps of %v m in the picture, corrections up to %v m",
		compared, len(hit), step, st.Errors.Longest)
}
