package crowd

import (
	"math"
	"testing"
)

// Walkers turn, fire and jump as often as the swarm's blind bots, at any rate.
func TestWalker(t *testing.T) {
	const seconds = 2000
	for _, rate := range []int{50, 60} {
		w := NewWalker(3, rate)
		fired, bursts, jumps, goals, goal, burst := 0, 0, 0, 0, w.goal, false
		fastest, before := 0.0, w.yaw
		for range seconds * rate {
			s := w.Step()
			if s.Yaw < 0 || s.Yaw >= 1 || s.Pitch < 0 || s.Pitch >= 1 {
				t.Fatalf("yaw %v, pitch %v", s.Yaw, s.Pitch)
			}
			fastest = max(fastest, math.Abs(wrap(s.Yaw-before)))
			before = s.Yaw
			if s.Fire {
				fired++
				if !burst {
					bursts++
				}
			}
			if burst = s.Fire; s.Jump {
				jumps++
			}
			if w.goal != goal {
				goal = w.goal
				goals++
			}
		}
		between := func(what string, got, least, most float64) {
			if got < least || got > most {
				t.Errorf("%d Hz: %s %.3f, expected %.3f to %.3f", rate, what, got, least, most)
			}
		}
		between("seconds to a direction", seconds/float64(goals), 1.9, 2.1) // 0.5 to 3.5
		between("jumps a second", float64(jumps)/seconds, 0.3, 0.4)
		between("bursts a second", float64(bursts)/seconds, 0.11, 0.17) // none begins within one
		between("seconds of a burst", float64(fired)/float64(bursts*rate), 0.5, 0.55)
		between("turns of the fastest step", fastest, 0.01, 2.2/float64(rate))
	}
}

// A walker's steps depend on its number alone.
func TestWalkersDiffer(t *testing.T) {
	a, same, other := NewWalker(1, 60), NewWalker(1, 60), NewWalker(2, 60)
	equal := 0
	for range 1000 {
		step := a.Step()
		if step != same.Step() {
			t.Fatal("walkers of one number differ")
		}
		if step.Yaw == other.Step().Yaw {
			equal++
		}
	}
	if equal > 10 {
		t.Errorf("%d of 1000 directions are those of another walker", equal)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range [][2]float64{{0, 0}, {0.5, -0.5}, {-0.5, -0.5}, {0.75, -0.25}, {-0.75, 0.25}, {3.25, 0.25}} {
		if got := wrap(c[0]); got != c[1] {
			t.Errorf("wrap(%v) = %v, want %v", c[0], got, c[1])
		}
	}
}
