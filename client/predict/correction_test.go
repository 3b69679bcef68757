package predict

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
)

// lossyServer plays a player's commands as a match does that some of them never reach.
type lossyServer struct {
	p    *Predictor
	in   sim.CommandBuffer
	row  State
	lost []tick.Tick
}

func (s *lossyServer) tick(t tick.Tick) {
	before := s.in.Count.Missing
	c, _ := s.in.Take(t)
	if s.in.Count.Missing > before {
		s.lost = append(s.lost, t)
	}
	var acts ability.Actions
	s.p.Kit.StepPlayer(&s.row.Self, &c, s.p.Arena, &acts)
}

// TestRow74LostCommandsAreNamed: where some commands do not reach the server, each misprediction is
// explained by ticks without a command that lead to the server's state. Most are those that
// were lost; for others either tick leads to the same state.
func TestRow74LostCommandsAreNamed(t *testing.T) {
	found, exact := 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := newPredictor(t)
		log := ringbuf.New[Correction](16)
		p.Log = &log
		row := spawnRow(p)
		p.Reconcile(10, &row)
		s := lossyServer{p: p, row: stateOf(&row)}
		s.in.Take(10)
		think, since := wander(seed), 0
		for range 600 {
			c := think(p.Newest + 1)
			p.Push(c, tick.View{})
			if rng.IntN(12) != 0 || c.Tick < 20 {
				s.in.Offer(c)
			}
			s.tick(c.Tick)
			if since++; since < 3+rng.IntN(3) {
				continue
			}
			since = 0
			row.Self, row.Starved = s.row.Self, uint8(s.in.Count.Missing)
			p.Reconcile(c.Tick, &row)
			for got, ok := log.Pop(); ok; got, ok = log.Pop() {
				found++
				named, ok := got.Lost(p.Kit, p.Arena)
				if !ok || got.Cause != Misprediction || len(named) != got.Starved {
					t.Fatalf("seed %d, tick %d: %v, %v of %v lost, %d starved", seed, got.Tick, ok, named,
						s.lost, got.Starved)
				}
				if slices.Equal(named, s.lost) {
					exact++
				}
			}
			s.lost = s.lost[:0]
		}
	}
	if found < 200 || exact < found*4/5 {
		t.Errorf("%d mispredictions, %d with the commands that were lost", found, exact)
	}
}

// A difference that no lost command explains is not explained by one, and its field is named.
func TestRow74UnexplainedDifferences(t *testing.T) {
	p := newPredictor(t)
	log := ringbuf.New[Correction](4)
	p.Log = &log
	row := spawnRow(p)
	p.Reconcile(10, &row)
	think := wander(3)
	for range 20 {
		p.Push(think(p.Newest+1), tick.View{})
	}
	row.Self = p.State(20).Self
	row.Motion.Vel.X++
	row.Starved = 1
	p.Reconcile(20, &row)
	c, ok := log.Pop()
	if _, explained := c.Lost(p.Kit, p.Arena); !ok || explained || c.Tick != 20 || c.Since != 10 ||
		c.Newest != 30 || c.Led < 10 || c.All()[c.Led-1].Tick != 20 || !c.All()[c.Led-1].Issued {
		t.Errorf("%v explained: %+v", explained, c)
	}
	var differ []string
	for _, f := range c.Fields(p.Kit) {
		if f.Differs() {
			differ = append(differ, f.Name)
		}
	}
	if !slices.Equal(differ, []string{"vel.x"}) {
		t.Errorf("fields that differ: %v", differ)
	}
	row.Pushes++ // a knock-back is no misprediction
	p.Reconcile(21, &row)
	if c, ok := log.Pop(); !ok || c.Cause != Push {
		t.Errorf("%v %+v", ok, c)
	}
	row.RespawnTicks = 9
	p.Reconcile(22, &row)
	if c, ok := log.Pop(); !ok || c.Cause != Life || !c.Server.Dead {
		t.Errorf("%v %+v", ok, c)
	}
}
