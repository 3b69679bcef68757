package capacity

import (
	"math"
	"strings"
	"testing"
)

func TestRepeats(t *testing.T) {
	var steps []Step
	for i, p99 := range []float64{4, 5, 6, 99} {
		s := healthy(100)
		s.TickCPUMillis.P99, s.ServerCores, s.KbpsDownPerClient, s.Pass, s.Void = p99, 0.5, 80, i != 2, i == 3
		steps = append(steps, s)
	}
	r := RepeatsAt(100, append(steps, healthy(200)))
	// Student's t for two degrees of freedom: 4.3027 times the deviation 1 over the root of 3.
	if r == nil || r.Steps != 3 || r.Held != 2 || r.TickMillis.Mean != 5 || math.Abs(r.TickMillis.Half-4.3027/math.Sqrt(3)) > 1e-4 || r.Cores != (Interval{0.5, 0}) {
		t.Errorf("%+v", r)
	}
	if RepeatsAt(200, append(steps, healthy(200))) != nil {
		t.Error("one step is repeated")
	}
}

// A size that held as often as not, or less, is nothing to rely on.
func TestRepeatsDoubt(t *testing.T) {
	for _, c := range []struct {
		held, steps int
		doubt       string
	}{{2, 3, ""}, {3, 3, ""}, {1, 1, ""}, {2, 4, "900 players held in 2 of 4 measurements only"}, {1, 4, "900 players held in 1 of 4 measurements only"}, {0, 2, "900 players held in 0 of 2"}} {
		r := Repeats{Players: 900, Held: c.held, Steps: c.steps}
		if got := r.Doubt(); (got == "") != (c.doubt == "") || !strings.HasPrefix(got, c.doubt) {
			t.Errorf("held %d of %d: %q, expected %q", c.held, c.steps, got, c.doubt)
		}
	}
}

// Sizes of a search for lobbies are whole lobbies, and it finds their knee.
func TestSearchAddsLobbies(t *testing.T) {
	for _, carries := range []int{1, 7, 33} {
		s := &Search{Each: 10, Start: 20, Max: 640}
		steps := 0
		for {
			players, ok := s.Next(0)
			if !ok {
				break
			}
			if players%10 != 0 || players < 10 || players > 640 {
				t.Fatalf("%d players are no whole lobbies of ten", players)
			}
			step := healthy(players)
			if players > carries*10 {
				step.TickWallMillis.P99 = 30
			}
			s.Record(step)
			if steps++; steps > 40 {
				t.Fatalf("%d lobbies: no end", carries)
			}
		}
		if k := s.Knee(); k.Players != carries*10 && float64(k.Players) < float64(carries*10)/1.08 || k.Players > carries*10 {
			t.Errorf("%d lobbies: knee %+v", carries, k)
		}
	}
}
