package swarm

import (
	"testing"

	"github.com/tickrate/tickrate/bench/trace"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// body plays the decisions of a brain alone on a map and sums up what it did.
type body struct {
	metres       float64
	fired, jumps int
	still        int
	yaws         map[geom.Angle]bool
}

func walk(t *testing.T, b Brain, a *arena.Arena, ticks int) body {
	t.Helper()
	hero := move.DefaultParams().MustCompile()
	m := move.Round(move.Motion{Pos: a.Spawns[0].Pos})
	done := body{yaws: map[geom.Angle]bool{}}
	s := &Observation{Rate: 60, Arena: a, Tick: 2}
	for n := range ticks {
		s.Tick = tick.Tick(n + 2)
		s.Self.Motion = m
		in := b.Decide(s)
		next := hero.Step(m, move.Input{Yaw: in.Yaw, MoveYaw: in.MoveYaw, MoveMag: in.MoveMag,
			Buttons: uint16(in.Buttons) & 3}, move.NoTeam, a, arena.Moment{Tick: s.Tick, Rate: 60})
		d := next.Pos.Sub(m.Pos)
		d.Y = 0
		done.metres += float64(d.Len())
		if d.Len() < 0.01 {
			done.still++
		}
		if in.Buttons&sim.Fire != 0 {
			done.fired++
		}
		if next.Loco == move.Jumping && m.Loco != move.Jumping {
			done.jumps++
		}
		done.yaws[in.Yaw] = true
		m = next
	}
	return done
}

// The generator's players run, jump, shoot and look about as people do, and do not get stuck.
func TestBotIsPlausible(t *testing.T) {
	a := arena.Generate(16, 5)
	for n := range 8 {
		d := walk(t, NewBot(9, n), a, 60*60)
		speed := d.metres / 60
		if speed < 3 || speed > 8.5 {
			t.Errorf("bot %d ran %.1f m/s on average", n, speed)
		}
		if d.still > 60*60/4 || d.jumps < 5 || d.fired < 60 || len(d.yaws) < 500 {
			t.Errorf("bot %d: still for %d ticks, %d jumps, %d ticks of fire, %d directions",
				n, d.still, d.jumps, d.fired, len(d.yaws))
		}
	}
}

// The same number and seed play the same game; others play others.
func TestBotIsSeeded(t *testing.T) {
	a := arena.Generate(16, 5)
	one, again := walk(t, NewBot(9, 1), a, 600), walk(t, NewBot(9, 1), a, 600)
	other := walk(t, NewBot(10, 1), a, 600)
	if one.metres != again.metres || one.fired != again.fired {
		t.Error("one seed, two games")
	}
	if one.metres == other.metres {
		t.Error("two seeds, one game")
	}
}

// The bot covers much of the ground of recorded people and shoots when they did.
func TestFollowRecordedPlay(t *testing.T) {
	tr, err := trace.Open("../trace/testdata/people_duel.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	a := arena.Generate(64, 5)
	for n := range 4 {
		d := walk(t, NewTraceBot(tr, 3, n), a, 60*60)
		if d.metres/60 < 2 || d.fired == 0 || len(d.yaws) < 300 {
			t.Errorf("copy %d: %.1f m/s, %d ticks of fire, %d directions",
				n, d.metres/60, d.fired, len(d.yaws))
		}
		t.Logf("copy %d: %.1f m/s, still for %.0f %% of the time, %d jumps, %d ticks of fire",
			n, d.metres/60, float64(d.still)/36, d.jumps, d.fired)
	}
}
