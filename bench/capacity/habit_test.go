package capacity

import (
	"math"
	"testing"
)

// What is learned of a habit is off by about what it says it is: of each lesson that is left out, in towns and in the open.
func TestLearnedIsAsUnsureAsItSays(t *testing.T) {
	_, ms := recordedModel(t)
	var fit lot
	for _, s := range ms.Steps {
		if !s.HeldOut {
			fit = append(fit, s)
		}
	}
	fit = fit.firstSeconds()
	for i := range habits {
		k := &habits[i]
		var squares, of [2]float64
		for j, s := range fit {
			f, place := *s.Facts, 0
			if f.Walls {
				place = 1
			}
			y, ok := k.log(f)
			if !ok || place == 0 && j%5 != 0 && f.Far == 0 { // one in five of the many
				continue
			}
			h := newHabit(k, append(append(lot{}, fit[:j]...), fit[j+1:]...))
			squares[place] += sq(h.sum(f)+h.near.off(f)-y) / (sq(h.near.unsure(f)) + sq(k.off(f)) + sq(max(k.unsure*f.Unsure, habitLeast)))
			of[place]++
		}
		for place, n := range of {
			if off := math.Sqrt(squares[place] / n); n < 6 || off > 1.5 {
				t.Errorf("%s, houses %v: off by %.2f times what is said, %g lessons", k.name, place == 1, off, n)
			} else {
				t.Logf("%s, houses %v: off by %.2f times what is said, %g lessons", k.name, place == 1, off, n)
			}
		}
	}
}

// Where the play of a scenario is known, the less is made of what was learned the less sure that is.
func TestPlayedWeighs(t *testing.T) {
	m, ms := recordedModel(t)
	for _, s := range ms.Steps {
		f := *s.Facts
		if f.Played.Matches == 0 || !f.Walls && f.Far == 0 {
			continue
		}
		h := &m.Sight
		y, unsure, ok := h.played(f)
		if !ok {
			continue
		}
		learned, at := h.sum(f)+h.near.off(f), h.at(f)
		mixed := math.Log(at / (1 - at))
		share := (mixed - learned) / (y - learned)
		if f.LongRun {
			if !near(mixed, y, 1e-9) {
				t.Errorf("%s: %.2f played, %.2f in all", f.Scenario, y, mixed)
			}
			continue
		}
		here := math.Hypot(h.near.unsure(f), h.kind.off(f))
		if math.Abs(y-learned) > 1e-3 && !near(share, sq(here)/(sq(here)+sq(unsure)), 1e-6) || f.Walls && unsure < 0.1 && share < 0.9 {
			t.Errorf("%s: %.2f learned, %.2f ± %.2f played, %.2f in all", f.Scenario, learned, y, unsure, mixed)
		}
	}
}

// The long run is no first seconds: nothing is learned from it of those, and of it nothing but what was played of it counts.
func TestLongRunIsPlayed(t *testing.T) {
	m, ms := recordedModel(t)
	var fit lot
	for _, s := range ms.Steps {
		if !s.HeldOut && !s.Facts.LongRun {
			f := s.Facts.sighted()
			s.Facts = &f
			fit = append(fit, s)
		}
	}
	var long, living, launching float64
	for i, h := range m.habits() {
		alone := newHabit(&habits[i], fit)
		for k, term := range alone.Terms {
			if h.Terms[k] != term {
				t.Errorf("%s: %v, without the long run %v", h.Name, h.Terms[k], term)
			}
		}
	}
	for _, s := range ms.Steps {
		f := *s.Facts
		if !f.LongRun {
			continue
		}
		if m.live(&f); !near(f.Alive, f.Played.Alive, 1e-9) {
			t.Errorf("%s: %.3f alive, played %.3f", f.Scenario, f.Alive, f.Played.Alive)
		}
		long++
		living, launching = living+math.Log(f.Alive/s.Facts.Alive), launching+math.Log(f.Launches/s.Facts.Launches)
	}
	// What is played is what is measured, on the whole: single matches differ by much.
	if t.Logf("%g lobbies: %+.1f %% alive, %+.1f %% set out", long, 100*living/long, 100*launching/long); long < 20 || math.Abs(living/long) > 0.01 || math.Abs(launching/long) > 0.03 {
		t.Errorf("of %g lobbies in the long run %+.1f %% more are alive than measured, and %+.1f %% more sets out", long, 100*living/long, 100*launching/long)
	}
}
