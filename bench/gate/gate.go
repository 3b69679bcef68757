package gate

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Limits of the gate.
const (
	MaxP      = 0.05 // largest chance that equal builds differ as much
	MinChange = 0.05 // smallest relative change that counts
	MinRounds = 6    // of each side: fewer prove nothing about one of a dozen stages

	// MinInstructions is MinChange for instructions, which do not shake with what else the machine does.
	MinInstructions = 0.01

	smallStage = 0.01 // a stage below this part of its tick is not judged by itself
)

// Change is one quantity on both sides; lower is better.
type Change struct {
	Scenario string  `json:"scenario"`
	Of       string  `json:"of"` // "tick", "bytes", Instructions or a stage
	Unit     string  `json:"unit"`
	Old      float64 `json:"old"` // medians
	New      float64 `json:"new"`
	// Two-sided Mann-Whitney; of stages, corrected for their number (Holm).
	P     float64 `json:"p"`
	N     [2]int  `json:"n"`
	Worse bool    `json:"worse"`
}

// Percent is the relative change.
func (c Change) Percent() float64 { return 100 * (c.New/c.Old - 1) }

// String is a line of a table.
func (c Change) String() string {
	return fmt.Sprintf("%s, %s: %.4g to %.4g %s, %+.1f %% (p=%.3f, n=%d+%d)", c.Scenario, c.Of, c.Old,
		c.New, c.Unit, c.Percent(), c.P, c.N[0], c.N[1])
}

// Compare compares rounds of the same work by two builds on one machine. It refuses other machines,
// work that only one side did, and too few rounds.
func Compare(old, now Samples) ([]Change, error) {
	if old.Machine.CPU != now.Machine.CPU || old.Machine.Arch != now.Machine.Arch ||
		old.Machine.Cores != now.Machine.Cores {
		return nil, fmt.Errorf("samples of one machine: expected %s with %d processors, got %s with %d",
			now.Machine.CPU, now.Machine.Cores, old.Machine.CPU, old.Machine.Cores)
	}
	before, order := byScenario(old)
	after, _ := byScenario(now)
	var all []Change
	for _, key := range order {
		a, b := before[key], after[key]
		if len(a) < MinRounds || len(b) < MinRounds {
			return nil, fmt.Errorf("%w of %s: expected %d on both sides, got %d and %d", errFew, key,
				MinRounds, len(a), len(b))
		}
		all = append(all, compareRounds(key, a, b)...)
	}
	return all, nil
}

// byScenario groups rounds, and returns the names in the order of their first round.
func byScenario(s Samples) (by map[string][]Round, order []string) {
	by = map[string][]Round{}
	for _, r := range s.Rounds {
		if by[r.Scenario] == nil {
			order = append(order, r.Scenario)
		}
		by[r.Scenario] = append(by[r.Scenario], r)
	}
	return by, order
}

// compareRounds compares the tick, the bytes, and every stage that is large enough.
func compareRounds(key string, a, b []Round) []Change {
	change := func(of, unit string, value func(Round) float64) Change {
		x, y := sample(a, value), sample(b, value)
		c := Change{Scenario: key, Of: of, Unit: unit, N: [2]int{len(a), len(b)}, Old: x.Values[len(a)/2],
			New: y.Values[len(b)/2], P: 1}
		// Otherwise all are equal.
		if x.Values[0] != y.Values[len(b)-1] || x.Values[len(a)-1] != y.Values[0] {
			c.P = benchmath.AssumeNothing.Compare(x, y).P
		}
		return c
	}
	all := []Change{
		change("tick", "µs", func(s Round) float64 { return s.stages() }),
		change("bytes", "B/s a client", func(s Round) float64 { return s.BytesPerClient }),
	}
	var stages []Change
	for _, st := range a[0].Stages {
		c := change(st.Name, "µs", func(s Round) float64 { return s.stage(st.Name) })
		if max(c.Old, c.New) >= smallStage*all[0].Old {
			stages = append(stages, c)
		}
	}
	all = append(all, holm(stages)...)
	for i := range all {
		c := &all[i]
		c.Worse = c.P < MaxP && c.New >= c.Old*(1+MinChange)
	}
	if counted(a) && counted(b) {
		c := change(Instructions, "a player and tick", func(s Round) float64 { return s.Events.Instructions })
		c.Worse = c.P < MaxP && c.New >= c.Old*(1+MinInstructions)
		all = append(all, c)
	}
	return all
}

// Instructions is what Change.Of says of instructions.
const Instructions = "instructions"

// counted reports whether all rounds have events of the processor.
func counted(rounds []Round) bool {
	return !slices.ContainsFunc(rounds, func(r Round) bool { return r.Events == nil })
}

// By is which changes fail a gate.
type By string

// The values of By.
const (
	ByAll          By = "all"          // those of time, and of instructions where both sides have them
	ByTime         By = "time"         // those of ticks, stages and bytes
	ByInstructions By = "instructions" // those of instructions alone
)

// ParseBy reads a By.
func ParseBy(text string) (By, error) {
	if b := By(text); slices.Contains([]By{ByAll, ByTime, ByInstructions}, b) {
		return b, nil
	}
	return "", fmt.Errorf("%q: expected all, time or instructions", text)
}

// Choose returns the changes that are judged. It refuses a gate by instructions without any.
func (b By) Choose(all []Change, old, now Samples) (judged []Change, err error) {
	for _, c := range all {
		if instructions := c.Of == Instructions; b == ByAll || instructions == (b == ByInstructions) {
			judged = append(judged, c)
		}
	}
	if len(judged) > 0 || b != ByInstructions {
		return judged, nil
	}
	why := cmp.Or(now.NotCounted, old.NotCounted, "an older build has recorded one side")
	return nil, fmt.Errorf("no instructions on both sides to compare: %s", why)
}

// sample is one quantity of all rounds, sorted.
func sample(rounds []Round, value func(Round) float64) *benchmath.Sample {
	var values []float64
	for _, s := range rounds {
		values = append(values, value(s))
	}
	return benchmath.NewSample(values, &benchmath.DefaultThresholds) // which sorts them
}

// holm corrects p for the number of comparisons (Holm-Bonferroni).
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

// Regressed are the changes for the worse.
func Regressed(all []Change) (worse []Change) {
	for _, c := range all {
		if c.Worse {
			worse = append(worse, c)
		}
	}
	return worse
}
