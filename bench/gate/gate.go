package gate

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"
)

// These are the limits of the gate.
const (
	MaxP      = 0.05 // significance level: p of a change must be below it
	MinChange = 0.02 // smallest relative change that counts
	MinRounds = 6    // of each side: with fewer, the least time of a tick is still a disturbed one

	// MinLive is MinChange for a server on sockets: no two of its runs play the same match.
	MinLive = 0.05

	// MinInstructions is MinChange for instructions, which do not vary with the load of the machine.
	MinInstructions = 0.01

	// MinSmall is MinChange for a small stage, one whose change is less than MinOfTick of its tick: the
	// linker's order of functions changes such stages by 2 to 3 %.
	MinSmall  = 0.05
	MinOfTick = 0.005

	smallStage = 0.01 // a stage below this part of its tick is not judged by itself
)

// Change is one quantity on both sides; lower is better.
type Change struct {
	Scenario string  `json:"scenario"`
	Of       string  `json:"of"` // "tick", "bytes", Instructions, Floors or a stage
	Unit     string  `json:"unit"`
	Old      float64 `json:"old"` // median of the old build's samples
	New      float64 `json:"new"`
	// P is that of a two-sided Mann-Whitney test. Those of stages are corrected for their number (Holm).
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

// Compare compares measurements of the same work by two builds on one machine. It refuses measurements
// of two machines, a lobby that only one side played, and rounds that are too few or not equally many.
func Compare(old, now Samples) (all []Change, err error) {
	if old.Machine.CPU != now.Machine.CPU || old.Machine.Arch != now.Machine.Arch ||
		old.Machine.Cores != now.Machine.Cores {
		return nil, fmt.Errorf("samples of one machine: expected %s with %d processors, got %s with %d",
			now.Machine.CPU, now.Machine.Cores, old.Machine.CPU, old.Machine.Cores)
	}
	after := map[string]Lobby{}
	for _, l := range now.Lobbies {
		after[l.String()] = l
	}
	for _, a := range old.Lobbies {
		b, ok := after[a.String()]
		if !ok {
			return nil, fmt.Errorf("%v: expected it on both sides, got it on the old one only", a)
		}
		if a.Rounds() != b.Rounds() || a.Rounds() < MinRounds {
			return nil, fmt.Errorf("%v: expected as many rounds on both sides, %d or more, got %d and %d", a, MinRounds,
				a.Rounds(), b.Rounds())
		}
		all = append(all, compareLobby(a.String(), a.figures(), b.figures())...)
	}
	if len(old.Lobbies) != len(now.Lobbies) {
		return nil, fmt.Errorf("expected the same lobbies on both sides, got %d and %d", len(old.Lobbies), len(now.Lobbies))
	}
	live, err := compareLive(old.Live, now.Live)
	return append(all, live...), err
}

// compareLive compares steps on sockets.
func compareLive(a, b []Live) ([]Change, error) {
	if len(a)+len(b) == 0 {
		return nil, nil
	}
	if len(a) < MinRounds || len(b) < MinRounds {
		return nil, fmt.Errorf("live steps: expected %d or more on both sides, got %d and %d", MinRounds, len(a), len(b))
	}
	key := a[0].String()
	for _, l := range slices.Concat(a, b) {
		if l.String() != key {
			return nil, fmt.Errorf("live steps: expected all of %s, got one of %v", key, l)
		}
	}
	all := []Change{
		compare(key, Floors, "times the floor", a, b, func(l Live) float64 { return l.Floors }),
		compare(key, "bytes", "kbit/s a client", a, b, func(l Live) float64 { return l.KbpsDown }),
	}
	for i := range all {
		all[i].judge(MinLive * all[i].Old)
	}
	return all, nil
}

// compare compares one quantity of all samples.
func compare[T any](key, of, unit string, a, b []T, value func(T) float64) Change {
	x, y := sample(a, value), sample(b, value)
	c := Change{Scenario: key, Of: of, Unit: unit, N: [2]int{len(a), len(b)}, Old: middle(x.Values),
		New: middle(y.Values), P: 1}
	// Equal values have no test: P stays 1.
	if x.Values[0] != y.Values[len(b)-1] || x.Values[len(a)-1] != y.Values[0] {
		c.P = benchmath.AssumeNothing.Compare(x, y).P
	}
	return c
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// judge marks a change as worse if it is significant and the quantity has grown by least or more.
func (c *Change) judge(least float64) { c.Worse = c.P < MaxP && c.New-c.Old >= least }

// compareLobby compares the tick, the bytes, every stage that is large enough, and instructions.
func compareLobby(key string, a, b []figures) []Change {
	all := []Change{
		compare(key, "tick", "µs", a, b, func(f figures) float64 { return f.tick }),
		compare(key, "bytes", "B/s a client", a, b, func(f figures) float64 { return f.bytes }),
	}
	var stages []Change
	for _, st := range a[0].stages {
		c := compare(key, st.Name, "µs", a, b, func(f figures) float64 { return f.stage(st.Name) })
		if max(c.Old, c.New) >= smallStage*all[0].Old {
			stages = append(stages, c)
		}
	}
	all = append(all, holm(stages)...)
	for i := range all {
		least := MinChange * all[i].Old
		if i >= 2 { // a stage
			least = max(least, min(MinSmall*all[i].Old, MinOfTick*all[0].Old))
		}
		all[i].judge(least)
	}
	if counted(a) && counted(b) {
		c := compare(key, Instructions, "a player and tick", a, b, func(f figures) float64 { return f.events.Instructions })
		c.judge(MinInstructions * c.Old)
		all = append(all, c)
	}
	return all
}

// These values of Change.Of are no stages.
const (
	Instructions = "instructions"
	Floors       = "floors" // CPU time of a tick, as a multiple of what its datagrams cost alone
)

// counted reports whether all samples have the counters of the processor.
func counted(all []figures) bool {
	return !slices.ContainsFunc(all, func(f figures) bool { return f.events == nil })
}

// By selects the changes that can fail a gate.
type By string

// These are the values of By.
const (
	ByAll          By = "all"          // selects all changes
	ByTime         By = "time"         // selects all but those of instructions
	ByInstructions By = "instructions" // selects those of instructions alone
)

// ParseBy reads a By.
func ParseBy(text string) (By, error) {
	if b := By(text); slices.Contains([]By{ByAll, ByTime, ByInstructions}, b) {
		return b, nil
	}
	return "", fmt.Errorf("%q: expected all, time or instructions", text)
}

// Choose returns the changes that b selects. ByInstructions without any is an error.
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

// sample is one quantity of all samples, sorted.
func sample[T any](all []T, value func(T) float64) *benchmath.Sample {
	var values []float64
	for _, s := range all {
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

// Regressed returns the changes that are marked as worse.
func Regressed(all []Change) (worse []Change) {
	for _, c := range all {
		if c.Worse {
			worse = append(worse, c)
		}
	}
	return worse
}
