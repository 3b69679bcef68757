package client

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/netstate"
)

// slowPredictor keeps everything and plays everything again from the newest row whenever it is asked.
type slowPredictor struct {
	p    *predictor // for play only
	cmds map[tick.Tick]sim.Command
	base state
	at   tick.Tick
}

func (s *slowPredictor) state(t tick.Tick) state {
	now := s.base
	for at := s.at + 1; at <= t; at++ {
		c := s.cmds[at]
		s.p.play(&now, &c)
	}
	return now
}

func newPredictor(t testing.TB) *predictor {
	a, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	kit, err := sim.Rules{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return &predictor{arena: a, kit: kit}
}

func spawnRow(p *predictor) netstate.Self {
	return netstate.Self{Self: sim.Self{Motion: move.Round(move.Motion{Pos: p.arena.Spawns[0].Pos}), Abilities: p.kit.Heroes[0].NewState()}}
}

func commandOf(t tick.Tick, in Intent) sim.Command {
	c, _ := sim.Command{Tick: t, Yaw: in.Yaw, Pitch: in.Pitch, MoveYaw: in.MoveYaw, MoveMag: in.MoveMag, Buttons: in.Buttons}.Sanitize()
	return c
}

// TestReplayAgreesWithTwin: rows arrive late, some are not what was predicted, some tell of a death; after each the
// prediction is what playing everything again would give, and exactly what must be played again was.
func TestReplayAgreesWithTwin(t *testing.T) {
	total := Prediction{}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := newPredictor(t)
		slow := &slowPredictor{p: p, cmds: map[tick.Tick]sim.Command{}}
		row := spawnRow(p)
		p.correct(10, &row)
		slow.base, slow.at = stateOf(&row), 10
		think := wander(seed)
		var wrong, lives, replayed uint64
		for n := range 2000 {
			at := p.newest + 1
			c := commandOf(at, think(n))
			slow.cmds[at] = c
			p.push(c, tick.View{})
			if rng.IntN(3) == 0 && p.newest > slow.at+20 {
				old := slow.at + 1 + tick.Tick(rng.IntN(int(min(p.newest-slow.at, 100))))
				truth := slow.state(old)
				row := netstate.Self{Self: truth.Self, Pushes: truth.pushes}
				if truth.dead {
					row.RespawnTicks = 5
				}
				switch {
				case rng.IntN(10) != 0:
				case truth.dead:
					row, lives, replayed = spawnRow(p), lives+1, replayed+uint64(p.newest-old)
				case rng.IntN(4) == 0:
					row.RespawnTicks, row.Motion.Loco, lives = 60, move.Dead, lives+1
				default:
					row.Motion.Vel.X += 1
					wrong, replayed = wrong+1, replayed+uint64(p.newest-old)
				}
				p.correct(old, &row)
				slow.base, slow.at = stateOf(&row), old
			}
			if got, want := *p.state(p.newest), slow.state(p.newest); got != want {
				t.Fatalf("seed %d tick %d: %+v, want %+v", seed, p.newest, got, want)
			}
		}
		got := p.count
		if got.Mispredictions != wrong || got.Lives != lives || got.Replayed != replayed {
			t.Errorf("seed %d: %+v, want %d mispredictions, %d lives, %d replayed", seed, got, wrong, lives, replayed)
		}
		total.Mispredictions += wrong
		total.Lives += lives
	}
	if total.Mispredictions < 100 || total.Lives < 50 {
		t.Errorf("too little happened: %+v", total)
	}
}

func TestRowsOutOfReach(t *testing.T) {
	p := newPredictor(t)
	row := spawnRow(p)
	p.correct(5, &row)
	for i := range tick.Tick(300) {
		p.push(sim.Command{Tick: 6 + i, MoveMag: 255}, tick.View{})
	}
	before, was := *p.at(p.newest), *p.state(p.newest)
	p.correct(4, &row) // older than the newest row
	p.correct(6, &row) // not in the ring any more
	if got := *p.at(p.newest); got != before || *p.state(p.newest) != was || p.count.Beyond != 1 || p.count.Mispredictions != 0 {
		t.Errorf("%+v", p.count)
	}
	old := p.newest
	p.skip(old + 5000)
	row.Motion.Vel.X++
	p.correct(old, &row) // still in the ring's memory, but nothing leads from there to the newest
	if p.count.Beyond != 2 || p.count.Replayed != 0 || p.state(p.newest).known {
		t.Errorf("%+v", p.count)
	}
	p.correct(p.newest+1000, &row) // far ahead: there is nothing to be carried over
	if got := p.at(p.newest); p.newest != 5+300+5000+1000 || *p.state(p.newest) != stateOf(&row) || got.made {
		t.Errorf("newest %d: %+v", p.newest, *got)
	}
}

// TestSkipIsWhatTheInboxDoes: over ticks without a command the predictor substitutes what the server does.
func TestSkipIsWhatTheInboxDoes(t *testing.T) {
	for given := range 6 {
		p := newPredictor(t)
		row := spawnRow(p)
		p.correct(5, &row)
		var in sim.CommandBuffer
		think := wander(uint64(given))
		for i := range tick.Tick(given) {
			c := commandOf(6+i, think(int(i)))
			c.Buttons |= sim.Fire
			c.MoveMag = 200
			p.push(c, tick.View{})
			in.Offer(c)
			in.Take(6 + i)
		}
		p.skip(p.newest + 10)
		for at := 6 + tick.Tick(given); at <= p.newest; at++ {
			if want, _ := in.Take(at); p.at(at).cmd != want {
				t.Errorf("%d given, tick %d: %+v, the inbox gives %+v", given, at, p.at(at).cmd, want)
			}
		}
	}
}
