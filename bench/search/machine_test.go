package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
)

// machine is a made-up server whose knee is known, with the noise of the virtual machines where
// tickrate is measured (docs/decisions/0067, 0068): the processor is slow for about a tenth of the
// ticks, in spells; steps minutes apart differ by some percent; some steps are void.
type machine struct {
	cost   func(players float64) float64 // CPU of an undisturbed tick, ms
	scale  float64                       // brings the median p99 at the knee to the limit
	loses  float64                       // size at which half of the steps lose inputs; 0: none does
	void   float64                       // share of steps that are void
	roof   int                           // larger sizes are void; 0: none
	rng    *rand.Rand
	drift  float64 // of the step, as a factor's logarithm
	wait   float64 // of the step: elapsed time of a tick by its CPU time
	steady bool    // no noise
}

// ticksOfStep is the number of ticks in a step of four seconds.
const ticksOfStep = 240

// p99 is that of the ticks of a step, as a multiple of the undisturbed tick.
func (m *machine) p99() float64 {
	if m.steady {
		m.wait = 1
		return 1
	}
	m.drift = 0.5*m.drift + 0.04*m.rng.NormFloat64()
	var ticks [ticksOfStep]float64
	slow, factor, share := false, 1.0, 0.05+0.1*m.rng.Float64() // of ticks that are slow
	for i := range ticks {
		if slow && m.rng.Float64() < 1.0/7 {
			slow = false
		} else if !slow && m.rng.Float64() < share/(1-share)/7 {
			slow, factor = true, 1.5+0.25*m.rng.Float64()
		}
		ticks[i] = 1 + 0.1*m.rng.NormFloat64()
		if slow {
			ticks[i] *= factor
		}
	}
	slices.Sort(ticks[:])
	if m.rng.Float64() < 0.1 { // other threads ran on the processor
		m.wait = 1.1 + 0.3*m.rng.Float64()
	} else {
		m.wait = 1.03
	}
	return math.Exp(m.drift) * ticks[ticksOfStep*99/100] * m.wait
}

// newMachine returns a machine whose p99 of a tick has its median at the limit of 10 ms with knee
// players.
func newMachine(seed uint64, knee float64, cost func(float64) float64) *machine {
	m := &machine{cost: cost, scale: 1, rng: rand.New(rand.NewPCG(seed, 1))}
	var all []float64
	for range 400 {
		all = append(all, m.p99())
	}
	slices.Sort(all)
	m.scale = 10 / (cost(knee) * all[len(all)/2])
	return m
}

func (m *machine) measure(players int) measure.Step {
	s := healthy(players)
	ms := m.scale * m.cost(float64(players)) * m.p99()
	s.TickCPUMillis.P99, s.TickWallMillis.P99 = ms/m.wait, ms
	if m.loses > 0 && m.rng.Float64() > 1/(1+math.Pow(float64(players)/m.loses, 12)) {
		s.InputsLost = 3
	}
	if m.rng.Float64() < m.void || m.roof > 0 && players > m.roof {
		s.Void, s.VoidReason = true, "the swarm was late"
	}
	return s
}

// run searches on a machine whose steps take six and a half seconds.
func run(s *Search, m *machine) (steps []measure.Step) {
	for elapsed := time.Duration(0); len(steps) < 200; elapsed += 6500 * time.Millisecond {
		players, ok := s.Next(elapsed)
		if !ok {
			break
		}
		steps = append(steps, s.Record(m.measure(players)))
	}
	return steps
}

// curves are costs of a tick by players: a line with an offset, a parabola, and a server that sends
// less from 640 players on.
func curves(i int) func(float64) float64 {
	return [...]func(float64) float64{
		func(n float64) float64 { return 0.5 + 0.008*n },
		func(n float64) float64 { return 0.3 + 0.004*n + 0.000006*n*n },
		func(n float64) float64 {
			if n > 640 {
				return 0.3 + 0.004*n + 0.000006*640*640 + 0.003*(n-640)
			}
			return 0.3 + 0.004*n + 0.000006*n*n
		},
		func(n float64) float64 { return 0.01 * n },
	}[i%4]
}
