package crowd

import "math/rand/v2"

// Step is what a walker does in one tick.
type Step struct {
	Yaw, Pitch float64 // turns, 0 to 1
	Fire, Jump bool
}

// Walker moves like the blind bots of the swarm: it runs, takes a new direction every half to
// three and a half seconds, turns there smoothly, fires bursts and jumps at random.
type Walker struct {
	rng              *rand.Rand
	rate             float64
	yaw, pitch, goal float64
	ticks, turn      int
	burst            int
}

// NewWalker returns walker n, which decides rate times a second.
func NewWalker(n, rate int) Walker {
	w := Walker{rng: rand.New(rand.NewPCG(1, uint64(n))), rate: float64(rate)}
	w.yaw = w.rng.Float64()
	return w
}

const (
	burstRate = 0.15 // bursts of fire a second
	jumpRate  = 0.35 // jumps a second
)

func wrap(x float64) float64 {
	for x >= 0.5 {
		x--
	}
	for x < -0.5 {
		x++
	}
	return x
}

// Step decides about the next tick.
func (w *Walker) Step() Step {
	if w.ticks++; w.ticks >= w.turn {
		w.turn = w.ticks + int(w.rate/2+w.rng.Float64()*3*w.rate)
		w.goal = w.rng.Float64() - 0.5
	}
	w.yaw = wrap(w.yaw + wrap(w.goal-w.yaw)*4/w.rate + (w.rng.Float64()-0.5)*0.002)
	w.pitch = w.pitch*(1-4/w.rate) + (w.rng.Float64()-0.5)*0.001
	if w.burst == 0 && w.rng.Float64() < burstRate/w.rate {
		w.burst = int(w.rate / 2)
	}
	s := Step{Yaw: w.yaw, Pitch: w.pitch, Fire: w.burst > 0, Jump: w.rng.Float64() < jumpRate/w.rate}
	w.burst = max(w.burst-1, 0)
	if s.Yaw < 0 {
		s.Yaw++
	}
	if s.Pitch < 0 {
		s.Pitch++
	}
	return s
}
