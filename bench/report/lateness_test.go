package report

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
)

// The swarm's lateness corrected for run delay has a row of its own where run delay is known.
func TestLatenessShowsRunDelay(t *testing.T) {
	one := measure.Quantiles{P50: 1, P99: 2, P999: 3, Max: 4, Mean: 1}
	step := measure.Step{Players: 100, LatenessRaw: one, SwarmLateness: one}
	if rows := lateness(Plan{Steps: []measure.Step{step}}).Rows; len(rows) != 6 {
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	step.SwarmRunDelay = &measure.RunDelay{Millis: 143.2, Bursts: 21, LongestMillis: 7.9}
	step.SwarmCorrected = measure.Quantiles{P50: 0.5, P999: 1.5}
	rows := lateness(Plan{Steps: []measure.Step{step}}).Rows
	if len(rows) != 7 || rows[6].Quantiles != step.SwarmCorrected {
		t.Fatalf("%v", rows)
	}
	for _, want := range []string{"143 ms", "21 bursts", "7.9"} {
		if !strings.Contains(rows[6].Name, want) {
			t.Errorf("%q does not tell %s", rows[6].Name, want)
		}
	}
}
