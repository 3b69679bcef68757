package capacity

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Limits of the gate.
const (
	GateP      = 0.05 // chance at most that two equal builds differ so much
	GateChange = 0.05 // and the relative change at least
	GateRounds = 6    // of each side that are played, and the fewest: fewer prove nothing about one of a dozen stages

	fewestRounds = GateRounds
	smallStage   = 0.01 // a stage below this part of its tick is not judged by itself
)

// Change is one quantity on both sides, lower is better.
type Change struct {
	Scenario string  `json:"scenario"`
	Of       string  `json:"of"` // "tick", "bytes" or a stage
	Unit     string  `json:"unit"`
	Old      float64 `json:"old"` // medians
	New      float64 `json:"new"`
	P        float64 `json:"p"` // two-sided Mann-Whitney; of stages, corrected for how many there are (Holm)
	N        [2]int  `json:"n"`
	Worse    bool    `json:"worse"`
}

// Percent is how much more New is.
func (c Change) Percent() float64 { return 100 * (c.New/c.Old - 1) }

// String is a line of a table.
func (c Change) String() string {
	return fmt.Sprintf("%s, %s: %.4g to %.4g %s, %+.1f %% (p=%.3f, n=%d+%d)", c.Scenario, c.Of, c.Old, c.New, c.Unit, c.Percent(), c.P, c.N[0], c.N[1])
}

// GateKey names the steps that are rounds of the same work.
func (f Facts) GateKey() string {
	if f.Lobbies > 1 {
		return fmt.Sprintf("%s with %d lobbies of %d", f.Scenario, f.Lobbies, f.PerLobby)
	}
	return fmt.Sprintf("%s with %d players", f.Scenario, f.PerLobby)
}

// Gate compares rounds of the same work by two builds on one machine. It refuses what cannot be compared: other machines, other kinds of
// measurement, work that only one side did or that differs between the two, and too few rounds.
func Gate(old, now Measurements) ([]Change, error) {
	if old.Machine.CPU != now.Machine.CPU || old.Machine.Arch != now.Machine.Arch || old.Machine.Cores != now.Machine.Cores {
		return nil, fmt.Errorf("a baseline of this machine (%s, %d processors), not of %s, %d", now.Machine.CPU, now.Machine.Cores, old.Machine.CPU, old.Machine.Cores)
	}
	before, order := rounds(old)
	after, _ := rounds(now)
	var all []Change
	for _, key := range order {
		a, b := before[key], after[key]
		if len(b) == 0 {
			return nil, fmt.Errorf("%s to be measured on both sides", key)
		}
		if err := sameRounds(a, b); err != nil {
			return nil, err
		}
		if len(a) < fewestRounds || len(b) < fewestRounds {
			return nil, fmt.Errorf("%d rounds of %s at least on both sides, got %d and %d", fewestRounds, key, len(a), len(b))
		}
		all = append(all, compareRounds(key, a, b)...)
	}
	return all, nil
}

func rounds(m Measurements) (by map[string][]Step, order []string) {
	by = map[string][]Step{}
	for _, s := range m.Steps {
		key := s.Facts.GateKey()
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], s.Step)
	}
	return by, order
}

// compareRounds compares the tick, the bytes, and every stage that is worth it.
func compareRounds(key string, a, b []Step) []Change {
	change := func(of, unit string, value func(Step) float64) Change {
		x, y := sample(a, value), sample(b, value)
		c := Change{Scenario: key, Of: of, Unit: unit, N: [2]int{len(a), len(b)}, Old: x.Values[len(a)/2], New: y.Values[len(b)/2], P: 1}
		if x.Values[0] != y.Values[len(b)-1] || x.Values[len(a)-1] != y.Values[0] { // else all are equal, and no test is needed
			c.P = benchmath.AssumeNothing.Compare(x, y).P
		}
		return c
	}
	all := []Change{
		change("tick", "µs", func(s Step) float64 { return s.stages() }),
		change("bytes", "B/s a client", func(s Step) float64 { return s.Facts.Bytes }),
	}
	var stages []Change
	for _, st := range a[0].StageCPUMicros {
		c := change(st.Name, "µs", func(s Step) float64 { return s.stage(st.Name) })
		if max(c.Old, c.New) >= smallStage*all[0].Old {
			stages = append(stages, c)
		}
	}
	all = append(all, holm(stages)...)
	for i := range all {
		c := &all[i]
		c.Worse = c.P < GateP && c.New >= c.Old*(1+GateChange)
	}
	return all
}

func sample(steps []Step, value func(Step) float64) *benchmath.Sample {
	var values []float64
	for _, s := range steps {
		values = append(values, value(s))
	}
	return benchmath.NewSample(values, &benchmath.DefaultThresholds) // which sorts them
}

// holm corrects p for how many questions are asked at once.
func holm(all []Change) []Change {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case all[i].P < all[j].P:
			return -1
		case all[i].P > all[j].P:
			return 1
		}
		return 0
	})
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, all[i].P*float64(len(all)-rank)))
		all[i].P = least
	}
	return all
}

// stages is the CPU time of all stages, µs a tick.
func (s Step) stages() (sum float64) {
	for _, st := range s.StageCPUMicros {
		sum += st.Mean
	}
	return sum
}

func (s Step) stage(name string) float64 {
	for _, st := range s.StageCPUMicros {
		if st.Name == name {
			return st.Mean
		}
	}
	return 0
}

// Regressed are the changes for the worse.
func Regressed(all []Change) (worse []Change) {
	for _, c := range all {
		if c.Worse {
			worse = append(worse, c)
		}
	}
	return worse
}
