package search

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// steady is a machine without noise.
func steady(knee float64) *machine {
	m := newMachine(1, knee, curves(3))
	m.steady, m.scale = true, 10/m.cost(knee)
	return m
}

// A search ends when its interval is narrow, and says which term limits.
func TestSearchEndsNarrow(t *testing.T) {
	s := &Search{Start: 100}
	steps := run(s, steady(700))
	k := s.Knee()
	if len(steps) > 20 || k.Bound != Measured || k.Low > 700 || k.High < 700 || k.High-k.Low > 71 ||
		!strings.HasPrefix(k.Term, "p99(tick)") || k.FailedAt <= 700 || len(k.Failed) == 0 || k.OutOfTime {
		t.Errorf("%d steps: %+v", len(steps), k)
	}
	least := 0.0
	for _, term := range k.Terms {
		least += term.Least
	}
	if len(k.Terms) != 4 || math.Abs(least-1) > 0.01 {
		t.Errorf("terms %+v", k.Terms)
	}
	again := KneeOf(s.Objective, steps, 1, nil)
	if math.Abs(float64(again.Players-k.Players)) > 15 {
		t.Errorf("judged again %+v, at first %+v", again, k)
	}
	strict := slo.MustCompile(slo.Level{Expr: "p99(tick) <= 5"})
	if half := KneeOf(strict, steps, 1, nil); half.Players >= k.Players {
		t.Errorf("a stricter level carries more: %+v", half)
	}
}

// Each end of a search has its bound and its reason.
func TestSearchEnds(t *testing.T) {
	tooSlow := steady(700)
	tooSlow.cost = func(float64) float64 { return 20 / tooSlow.scale } // whatever the size
	weak := steady(700)
	weak.roof = 300
	void := steady(700)
	void.void = 1
	for _, c := range []struct {
		name    string
		search  Search
		machine *machine
		steps   int // at most
		players int // 0: none
		bound   Bound
		reason  string
	}{
		{"largest size", Search{Max: 300}, steady(4000), 8, 300, AtLeast, "300 players is the largest size"},
		{"a tick that no size holds", Search{Start: 400}, tooSlow, 6, 0, Measured, "not even 1 players held"},
		{"a small one that no size holds", Search{Start: 3, Max: 3}, tooSlow, 6, 0, Measured, "not even 1 players held"},
		{"out of time", Search{Limit: 8 * time.Second}, steady(4000), 2, 64, AtLeast, "from 1 step, then the time was over"},
		{"void", Search{Start: 64, Limit: time.Minute}, void, 10, 0, NotFound, "could not be measured: the swarm was late"},
		{"start above max", Search{Start: 100, Max: 50}, steady(4000), 4, 50, AtLeast, "largest size"},
		{"swarm", Search{}, weak, 20, 200, AtLeast, "could not be measured: the swarm was late"},
	} {
		steps := run(&c.search, c.machine)
		k := c.search.Knee()
		if len(steps) > c.steps || k.Bound != c.bound || !strings.Contains(k.Reason, c.reason) ||
			(k.Players == 0) != (c.players == 0) || k.Players > max(c.players, 300) ||
			c.name != "swarm" && c.name != "out of time" && k.Players != c.players ||
			k.Swarm != (c.name == "swarm" || c.name == "void") {
			t.Errorf("%s: %d steps, %+v", c.name, len(steps), k)
		}
	}
	if k := (&Search{}).Knee(); k.Reason != "nothing was measured" || k.Bound != NotFound {
		t.Errorf("untouched search: %+v", k)
	}
}

// Void steps have no weight, whatever they measured.
func TestVoidStepsHaveNoWeight(t *testing.T) {
	s := &Search{Start: 500}
	steps := run(s, steady(700))
	bad := healthy(100)
	bad.Void, bad.InputsLost, bad.Fault = true, 9, "it died"
	with := KneeOf(s.Objective, append(steps, bad), 1, nil)
	if without := KneeOf(s.Objective, steps, 1, nil); fmt.Sprint(with) != fmt.Sprint(without) {
		t.Errorf("%+v, without the void step %+v", with, without)
	}
}

// Wrong figures and stalls are not the swarm's fault.
func TestBlame(t *testing.T) {
	for _, stalled := range []bool{true, false} {
		s := &Search{Start: 100, Max: 800, Limit: 10 * time.Minute}
		n := 0
		for players, ok := s.Next(0); ok && n < 50; players, ok = s.Next(0) {
			step := healthy(players)
			step.Void = players > 200
			step.Invalid, step.Stalled, step.VoidReason = step.Void && !stalled, step.Void && stalled, "of a reason"
			s.Record(step)
			n++
		}
		k := s.Knee()
		if k.Swarm || k.Stalled != stalled || k.Bound != AtLeast || !strings.Contains(k.Reason, "of a reason") || n > 20 {
			t.Errorf("%d steps, %+v", n, k)
		}
	}
}

// Sizes of a search for lobbies are whole lobbies; they grow as the processor has room.
func TestSearchAddsLobbies(t *testing.T) {
	for _, carries := range []int{1, 7, 33} {
		s := &Search{Each: 10, Start: 20, Max: 640, Words: func(n int) string { return fmt.Sprint(n/10, " lobbies") }}
		n := 0
		for players, ok := s.Next(0); ok && n < 60; players, ok = s.Next(0) {
			if players%10 != 0 || players < 10 || players > 640 {
				t.Fatalf("%d players are no whole lobbies of ten", players)
			}
			step := healthy(players)
			step.LoopCallMillis = make([]measure.Quantiles, 1)
			step.TickWallMillis.P99 = 10 * math.Pow(float64(players)/float64(carries*10+5), 1.5)
			step.ServerCores = 0.02 * float64(players/10)
			s.Record(step)
			n++
		}
		k := s.Knee()
		if n == 60 && carries > 1 || k.Players < carries*10*8/10-10 || k.Players > carries*10*12/10+10 || k.Players%10 != 0 || k.Low%10 != 0 {
			t.Errorf("%d lobbies, %d steps: knee %+v", carries, n, k)
		}
	}
}

func TestSizesReadWell(t *testing.T) {
	s := &Search{}
	for x, want := range map[float64]int{163.84: 164, 409.6: 410, 656: 655, 1056: 1060, 2048: 2040, 7.3: 7, 0.3: 1} {
		if got := s.round(x); got != want {
			t.Errorf("round(%v) = %d, want %d", x, got, want)
		}
	}
}
