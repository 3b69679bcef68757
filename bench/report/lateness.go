package report

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// latenessTable compares the lateness of ticks and sends in one step with the delay that the
// machine itself adds, as threads that only sleep measure it.
type latenessTable struct {
	Players int
	Rows    []latenessRow
}

// latenessRow is one distribution of lateness, ms.
type latenessRow struct {
	Name string
	measure.Quantiles
}

// lateness makes the table of the step at the knee or, where none passed, of the last one that is
// not void. It is empty without such a step, and for plans of versions that did not measure
// lateness.
func lateness(p Plan) (t latenessTable) {
	s, ok := p.AtKnee()
	for i := len(p.Steps) - 1; i >= 0 && !ok; i-- {
		s = p.Steps[i]
		ok = !s.Void
	}
	if !ok || s.LatenessRaw == (measure.Quantiles{}) {
		return t
	}
	t = latenessTable{s.Players, []latenessRow{
		{"ticks that ran", s.LatenessRaw}, {"ticks, skipped ones included", s.LatenessMillis},
		{"a thread that only sleeps, in the server", s.HiccupMillis},
		{"sends of the swarm", s.SwarmRaw}, {"sends, skipped ones included", s.SwarmLateness},
		{"a thread that only sleeps, in the swarm", s.SwarmHiccup},
	}}
	if k := s.SwarmRunDelay; k != nil {
		name := fmt.Sprintf("sends, corrected for the %s ms of run delay that the machine caused "+
			"(%d bursts, the longest %s ms)", number(k.Millis), k.Bursts, number(k.LongestMillis))
		t.Rows = append(t.Rows, latenessRow{name, s.SwarmCorrected})
	}
	return t
}

// words sums up the steps near the knee.
func (n *Near) words() string {
	mean := func(i measure.Interval) string { return number(i.Mean) + " ± " + number(i.HalfWidth) }
	return fmt.Sprintf("%d steps within the interval, held %d times; "+
		"means with the 95 %% interval: p99 tick %s ms, %s cores, %s kbit/s a client, p99 age %s ms",
		n.Steps, n.Held, mean(n.TickMillis), mean(n.Cores), mean(n.KbpsDown), mean(n.AgeMillis))
}
