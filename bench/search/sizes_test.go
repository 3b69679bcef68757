package search

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// sizes returns a Sizes of three sizes that are measured twice.
func sizes(limit time.Duration) *Sizes {
	return &Sizes{Objective: slo.Default(), Players: []int{200, 400, 800}, Rounds: 2, Limit: limit,
		Words: func(n int) string { return fmt.Sprintf("%d players", n) }}
}

// measureAll measures all sizes in steps of ten seconds, each as step says.
func measureAll(s *Sizes, step func(players, round int) measure.Step) (measured []int) {
	for elapsed := time.Duration(0); ; elapsed += 10 * time.Second {
		players, round, ok := s.Next(elapsed)
		if !ok || len(measured) > 100 {
			return measured
		}
		measured = append(measured, players)
		s.Record(step(players, round))
	}
}

// Given sizes are measured in rounds. A size counts if it held in each measurement that is not void.
func TestGivenSizes(t *testing.T) {
	slow := func(players int) measure.Step {
		s := healthy(players)
		s.TickCPUMillis.P99 = 15
		return s
	}
	void := func(players int) measure.Step {
		s := healthy(players)
		s.Void, s.VoidReason = true, "the swarm was late"
		return s
	}
	rounds := []int{200, 400, 800, 200, 400, 800}
	for i, c := range []struct {
		limit        time.Duration
		step         func(players, round int) measure.Step
		measured     []int
		want         Knee // Binding and Cause left out
		failed, void []int
	}{
		{0, func(n, _ int) measure.Step { return healthy(n) }, rounds,
			Knee{Players: 800, Bound: AtLeast, Reason: "800 players is the largest size that was asked for"}, nil, nil},
		{0, func(n, round int) measure.Step {
			if n == 400 && round == 1 {
				return slow(n)
			}
			return healthy(n)
		}, rounds, Knee{Players: 200, Bound: Measured, FirstFail: 400,
			Reason: "400 players failed; the sizes were given"}, []int{400}, nil},
		{0, func(n, _ int) measure.Step { return slow(n) }, rounds, Knee{Bound: Measured, FirstFail: 200,
			Reason: "200 players failed, and no smaller size held"}, []int{200, 400, 800}, nil},
		{0, func(n, _ int) measure.Step {
			if n == 800 {
				return void(n)
			}
			return healthy(n)
		}, []int{200, 400, 800, 800, 200, 400, 800, 800}, Knee{Players: 400, Bound: AtLeast, Swarm: true,
			Reason: "800 players could not be measured: the swarm was late"}, nil, []int{800}},
		{35 * time.Second, func(n, _ int) measure.Step { return void(n) }, []int{200, 200, 400},
			Knee{Bound: NotFound, Below: 200, OutOfTime: true, Swarm: true,
				Reason: "out of time before all sizes were measured"}, nil, []int{200, 400}},
	} {
		s := sizes(c.limit)
		if got := measureAll(s, c.step); !slices.Equal(got, c.measured) {
			t.Errorf("%d: measured %v, want %v", i, got, c.measured)
		}
		k := s.Knee()
		k.Binding, k.Cause = nil, ""
		if fmt.Sprintf("%+v", k) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%d: %+v, want %+v", i, k, c.want)
		}
		failed, voids := Judged(s.Players, s.steps)
		if !slices.Equal(failed, c.failed) || !slices.Equal(voids, c.void) {
			t.Errorf("%d: failed %v, void %v", i, failed, voids)
		}
	}
}

// A search that ends before any size has held says below which size it found nothing.
func TestKneeNotFound(t *testing.T) {
	s := &Search{Start: 890, Limit: time.Second}
	players, _ := s.Next(0)
	step := healthy(players)
	step.Void, step.VoidReason = true, "the swarm was late"
	s.Record(step)
	if _, ok := s.Next(time.Minute); ok {
		t.Fatal("it goes on after its time")
	}
	if k := s.Knee(); k.Players != 0 || k.Bound != NotFound || k.Below != 890 || !k.OutOfTime {
		t.Errorf("%+v", k)
	}
}
