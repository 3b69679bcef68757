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

// Given sizes are measured in rounds, and all steps go into the estimate.
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
		players      int // most and least
		least        int
		bound        Bound
		failed, void []int
	}{
		{0, func(n, _ int) measure.Step { return healthy(n) }, rounds, 800, 400, AtLeast, nil, nil},
		{0, func(n, _ int) measure.Step {
			if n == 800 {
				return slow(n)
			}
			return healthy(n)
		}, rounds, 800, 400, Measured, []int{800}, nil},
		{0, func(n, _ int) measure.Step { return slow(n) }, rounds, 0, 0, NotFound, []int{200, 400, 800}, nil},
		{0, func(n, _ int) measure.Step {
			if n == 800 {
				return void(n)
			}
			return healthy(n)
		}, []int{200, 400, 800, 800, 200, 400, 800, 800}, 400, 200, AtLeast, nil, []int{800}},
		{35 * time.Second, func(n, _ int) measure.Step { return void(n) }, []int{200, 200, 400}, 0, 0, NotFound,
			nil, []int{200, 400}},
	} {
		s := sizes(c.limit)
		if got := measureAll(s, c.step); !slices.Equal(got, c.measured) {
			t.Errorf("%d: measured %v, want %v", i, got, c.measured)
		}
		if k := s.Knee(); k.Bound != c.bound || k.Players > c.players || k.Players < c.least || k.OutOfTime != (c.limit > 0) {
			t.Errorf("%d: %+v", i, k)
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
