package main

import "github.com/tickrate/tickrate/bench/scenario"

// window is the part of a match that is measured, in virtual seconds: so many, after so many.
type window struct{ warm, seconds float64 }

// A match is dearest soon after it begins, when all are in and most alive. Later, players die and come back in waves, each match in its own until nothing is left
// of its beginning: of 12 to 100 players who meet, around half are alive from about 20 s on, for as long as was looked at (90 s), and bytes are a third fewer.
var (
	opening = window{2, matchSeconds}
	longRun = window{20, 40}
)

// settle has a match measured in a window. In virtual time all come in at once: who arrives later is not waited for.
func settle(s *scenario.Scenario, w window) {
	s.Measure = scenario.Measure{WarmSeconds: w.warm, Seconds: w.seconds}
	s.Play.ArrivalSeconds = 0
}

// windowOf is the window that a scenario was settled to.
func windowOf(s scenario.Scenario) window { return window{s.Measure.WarmSeconds, s.Measure.Seconds} }

// sure is the standard error of the bytes that a prediction is verified with: a match's long run takes ten times as long to play.
func (w window) sure() float64 {
	if w == longRun {
		return 2 * verifySure
	}
	return verifySure
}

// share is how many of so many matches are to be played where each takes as long as it does in this window.
func (w window) share(matches int) int {
	return max(2, int(float64(matches)*(opening.warm+opening.seconds)/(w.warm+w.seconds)))
}
