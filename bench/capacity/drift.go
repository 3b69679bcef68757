package capacity

import (
	"math"
	"slices"
)

// Drift is how many times as long as recorded the stages of a tick take on a machine as it is now. A machine that has other work beside is not slower in all alike: what lies in
// memory suffers more than what computes, and lobbies differ in that by their size. So each stage's ratio is a line over the logarithm of the players.
type Drift struct {
	stages map[string]driftLine
}

// driftLine is at + slope*ln(players/driftPlayers).
type driftLine struct{ at, slope float64 }

const (
	driftPlayers = 48
	driftMost    = 2 // times, either way: lines end there
)

// NewDrift fits lines to lobbies that are timed now and were recorded: pairs of the same scenarios. Where all are of one size, lines have no slope. Stages that took no time, and
// those that are not among the pairs, take as long as recorded.
func NewDrift(recorded, now []Step) Drift {
	d := Drift{stages: map[string]driftLine{}}
	type point struct{ x, ratio float64 }
	points := map[string][]point{}
	for i, r := range recorded {
		for _, st := range r.StageCPUMicros {
			for _, o := range now[i].StageCPUMicros {
				if o.Name == st.Name && st.Mean > 0 && o.Mean > 0 {
					points[st.Name] = append(points[st.Name], point{driftAt(r), o.Mean / st.Mean})
				}
			}
		}
	}
	for name, all := range points { // the medians of slopes and of what is left (Theil and Sen): one lobby of six that was disturbed bends no line
		var slopes, rest []float64
		for i, p := range all {
			for _, o := range all[:i] {
				if apart := p.x - o.x; math.Abs(apart) > 1e-9 {
					slopes = append(slopes, (p.ratio-o.ratio)/apart)
				}
			}
		}
		var l driftLine
		if len(slopes) > 0 {
			l.slope = median(slopes)
		}
		for _, p := range all {
			rest = append(rest, p.ratio-l.slope*p.x)
		}
		l.at = median(rest)
		d.stages[name] = l
	}
	return d
}

// median is that of some values, of an even number the mean of the two in the middle. It sorts them.
func median(all []float64) float64 {
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

func driftAt(s Step) float64 { return math.Log(float64(max(s.Players, 1)) / driftPlayers) }

// Of is how many times as long as recorded a stage takes in a lobby of so many players, 0.5 to 2.
func (d Drift) Of(stage string, players int) float64 {
	l, known := d.stages[stage]
	if !known {
		return 1
	}
	return min(max(l.at+l.slope*driftAt(Step{Players: players}), 1.0/driftMost), driftMost)
}

// Undone is s as it would have been recorded: each stage by its own ratio, and the whole tick by what that makes of their sum.
func (d Drift) Undone(s Step) Step {
	before, after := 0.0, 0.0
	stages := make([]Stage, len(s.StageCPUMicros))
	for i, st := range s.StageCPUMicros {
		by := 1 / d.Of(st.Name, s.Players)
		stages[i] = Stage{st.Name, st.Mean * by, st.P99 * by}
		before, after = before+st.Mean, after+stages[i].Mean
	}
	if before > 0 {
		s.TickCPUMillis = s.TickCPUMillis.times(after / before)
	}
	s.StageCPUMicros = stages
	return s
}
