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
		here := math.Hypot(h.near.unsure(f), h.kind.off(f))
		if math.Abs(y-learned) > 1e-3 && !near(share, sq(here)/(sq(here)+sq(unsure)), 1e-6) || f.Walls && unsure < 0.1 && share < 0.9 {
			t.Errorf("%s: %.2f learned, %.2f ± %.2f played, %.2f in all", f.Scenario, learned, y, unsure, mixed)
		}
	}
}
