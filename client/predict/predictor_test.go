package predict

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/netstate"
)

// slowPredictor keeps everything and plays all ticks since the newest row for each query.
type slowPredictor struct {
	p    *Predictor // for play only
	cmds map[tick.Tick]sim.Command
	base State
	at   tick.Tick
}

func (s *slowPredictor) state(t tick.Tick) State {
	now := s.base
	for at := s.at + 1; at <= t; at++ {
		c := s.cmds[at]
		s.p.play(&now, &c)
	}
	return now
}

func newPredictor(t testing.TB) *Predictor {
	a, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	kit, err := sim.Rules{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return &Predictor{Arena: a, Kit: kit}
}

func spawnRow(p *Predictor) netstate.Self {
	return netstate.Self{Self: sim.Self{Motion: move.Round(move.Motion{Pos: p.Arena.Spawns[0].Pos}),
		Abilities: p.Kit.Heroes[0].NewState()}}
}

// wander returns random commands for consecutive ticks: turns, walks, shots, jumps.
func wander(seed uint64) func(tick.Tick) sim.Command {
	rng := rand.New(rand.NewPCG(seed, 7))
	var c sim.Command
	turn := 0
	return func(t tick.Tick) sim.Command {
		if rng.IntN(20) == 0 {
			turn = rng.IntN(2000) - 1000
			c.MoveYaw, c.MoveMag = uint8(rng.IntN(256)), uint8(rng.IntN(2)*255)
			c.Buttons = sim.Buttons(rng.Uint32()) & (sim.Sprint | sim.Fire | sim.Throw)
		}
		c.Buttons &^= sim.Jump | sim.Reload
		if rng.IntN(30) == 0 {
			c.Buttons |= sim.Jump
		}
		if rng.IntN(200) == 0 {
			c.Buttons |= sim.Reload
		}
		c.Tick, c.Yaw, c.Pitch = t, c.Yaw+geom.Angle(turn), geom.Angle(uint16(rng.IntN(2000)-1000))
		clean, _ := c.Sanitize()
		return clean
	}
}

// TestReplayAgreesWithTwin: rows arrive late, some differ from the prediction, and some are of a
// death. After each row the prediction equals that of playing everything again, and only the
// necessary ticks are played.
func TestReplayAgreesWithTwin(t *testing.T) {
	total := Stats{}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := newPredictor(t)
		slow := &slowPredictor{p: p, cmds: map[tick.Tick]sim.Command{}}
		row := spawnRow(p)
		p.Reconcile(10, &row)
		slow.base, slow.at = stateOf(&row), 10
		think := wander(seed)
		var wrong, lives, replayed uint64
		for range 2000 {
			at := p.Newest + 1
			c := think(at)
			slow.cmds[at] = c
			p.Push(c, tick.View{})
			if rng.IntN(3) == 0 && p.Newest > slow.at+20 {
				old := slow.at + 1 + tick.Tick(rng.IntN(int(min(p.Newest-slow.at, 100))))
				truth := slow.state(old)
				row := netstate.Self{Self: truth.Self, Pushes: truth.Pushes}
				if truth.Dead {
					row.RespawnTicks = 5
				}
				switch {
				case rng.IntN(10) != 0:
				case truth.Dead:
					row, lives, replayed = spawnRow(p), lives+1, replayed+uint64(p.Newest-old)
				case rng.IntN(4) == 0:
					row.RespawnTicks, row.Motion.Loco, lives = 60, move.Dead, lives+1
				default:
					row.Motion.Vel.X += 1
					wrong, replayed = wrong+1, replayed+uint64(p.Newest-old)
				}
				p.Reconcile(old, &row)
				slow.base, slow.at = stateOf(&row), old
			}
			if got, want := *p.State(p.Newest), slow.state(p.Newest); got != want {
				t.Fatalf("seed %d tick %d: %+v, want %+v", seed, p.Newest, got, want)
			}
		}
		got := p.Stats
		if got.Mispredictions != wrong || got.Lives != lives || got.Replayed != replayed {
			t.Errorf("seed %d: %+v, want %d mispredictions, %d lives, %d replayed",
				seed, got, wrong, lives, replayed)
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
	p.Reconcile(5, &row)
	for i := range tick.Tick(300) {
		p.Push(sim.Command{Tick: 6 + i, MoveMag: 255}, tick.View{})
	}
	before, was := *p.at(p.Newest), *p.State(p.Newest)
	p.Reconcile(4, &row) // older than the newest row
	p.Reconcile(6, &row) // not in the ring any more
	if got := *p.at(p.Newest); got != before || *p.State(p.Newest) != was ||
		p.Stats.Beyond != 1 || p.Stats.Mispredictions != 0 {
		t.Errorf("%+v", p.Stats)
	}
	old := p.Newest
	p.Skip(old + 5000)
	row.Motion.Vel.X++
	p.Reconcile(old, &row) // still in the ring's memory, but nothing leads from there to the newest
	if p.Stats.Beyond != 2 || p.Stats.Replayed != 0 || p.State(p.Newest).Known {
		t.Errorf("%+v", p.Stats)
	}
	p.Reconcile(p.Newest+1000, &row) // far ahead: there is nothing to be carried over
	if got := p.at(p.Newest); p.Newest != 5+300+5000+1000 || *p.State(p.Newest) != stateOf(&row) ||
		got.issued {
		t.Errorf("newest %d: %+v", p.Newest, *got)
	}
}

// TestSkipIsWhatTheInboxDoes: for ticks without a command, the predictor substitutes what the
// server does.
func TestSkipIsWhatTheInboxDoes(t *testing.T) {
	for given := range 6 {
		p := newPredictor(t)
		row := spawnRow(p)
		p.Reconcile(5, &row)
		var in sim.CommandBuffer
		think := wander(uint64(given))
		for i := range tick.Tick(given) {
			c := think(6 + i)
			c.Buttons |= sim.Fire
			c.MoveMag = 200
			p.Push(c, tick.View{})
			in.Offer(c)
			in.Take(6 + i)
		}
		p.Skip(p.Newest + 10)
		for at := 6 + tick.Tick(given); at <= p.Newest; at++ {
			if want, _ := in.Take(at); p.at(at).Command != want {
				t.Errorf("%d given, tick %d: %+v, the inbox gives %+v", given, at, p.at(at).Command, want)
			}
		}
	}
}

// TestRow43ReplaysNoMoreThanItMust: an owner row that equals the prediction plays no tick again,
// and one that differs exactly the ticks since.
func TestRow43ReplaysNoMoreThanItMust(t *testing.T) {
	p := newPredictor(t)
	row := spawnRow(p)
	p.Reconcile(10, &row)
	think := wander(3)
	for range 60 {
		p.Push(think(p.Newest+1), tick.View{})
	}
	for at := tick.Tick(11); at <= 40; at++ { // all as predicted
		row.Self = p.State(at).Self
		p.Reconcile(at, &row)
	}
	if p.Stats.Replays != 0 || p.Stats.Replayed != 0 || p.Stats.Rows != 31 {
		t.Fatalf("%+v", p.Stats)
	}
	for i, at := range []tick.Tick{41, 50, 69, 70} {
		row.Self = p.State(at).Self
		row.Motion.Vel.X++ // not as predicted
		before := p.Stats
		p.Reconcile(at, &row)
		if got, want := p.Stats.Replayed-before.Replayed, uint64(p.Newest-at); got != want ||
			p.Stats.Mispredictions != uint64(i+1) {
			t.Errorf("row of tick %d of %d: %d ticks played again, want %d; %+v",
				at, p.Newest, got, want, p.Stats)
		}
	}
}
