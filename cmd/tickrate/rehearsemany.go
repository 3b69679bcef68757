package main

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
)

// Matches of one scenario differ in their maps and in who meets whom, by more than the model may be off. So the mean of many is what is
// predicted: as many as it takes for the mean's standard error.
const (
	matchBatch  = 8 // played before it is looked at whether they are enough: their number does not follow from the processors there are
	leastPlayed = 16
)

// tell plays matches of a scenario, a seed after the other from s.Play.Seed on, until what they send is known to a relative error of sure, or
// most have been played. What was known of earlier ones counts; their seeds are not played again. No time is taken: matches are played
// side by side on all processors, and what they give does not depend on that.
func tell(ctx context.Context, s scenario.Scenario, known *capacity.Facts, sure float64, most int) (capacity.Step, error) {
	r := &rehearsal{s: s}
	cfg, err := r.lobby()
	if err != nil {
		return capacity.Step{}, err
	}
	if r.memory, err = memoryOf(cfg); err != nil {
		return capacity.Step{}, err
	}
	var t tale
	f := r.facts
	before := 0
	if known != nil && known.Matches > 0 && known.Seconds == s.Measure.Seconds {
		f, before = *known, known.Matches
	}
	for f.Matches < most && (f.Matches < leastPlayed || f.Unsure > sure) {
		all, err := playBatch(ctx, s, s.Play.Seed+uint64(f.Matches), min(matchBatch, most-f.Matches))
		if err != nil {
			return capacity.Step{}, err
		}
		for _, m := range all {
			t.add(m)
		}
		f = t.facts(r.facts)
		if before > 0 {
			meets := f.Meets
			f = known.Pool(f)
			f.Meets = meets
		}
	}
	f.Memory = r.memory
	return t.step(f), nil
}

// playBatch plays matches of so many seeds, side by side, and returns them in order.
func playBatch(ctx context.Context, s scenario.Scenario, seed uint64, count int) ([]match, error) {
	all, errs := make([]match, count), make([]error, count)
	sideBySide(count, func(i int) {
		one := s
		one.Play.Seed = seed + uint64(i)
		all[i], errs[i] = playMatch(ctx, one)
	})
	return all, errors.Join(errs...)
}

// sideBySide does n things on all processors.
func sideBySide(n int, do func(i int)) {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	wg.Wait()
}

func playMatch(ctx context.Context, s scenario.Scenario) (match, error) {
	cfg, _, err := lobbyOf(s)
	if err != nil {
		return match{}, err
	}
	g, err := newGame(s, cfg, true)
	if err != nil {
		return match{}, err
	}
	if err := g.warm(ctx); err != nil {
		return match{}, err
	}
	g.begin()
	for i := range g.ticks() {
		if err := g.step(ctx); err != nil {
			return match{}, err
		}
		g.look(i)
	}
	return g.end(), nil
}
