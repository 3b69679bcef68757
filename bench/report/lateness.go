package report

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/capacity"
)

// latenessTable is what came late in one step, beside what the machine itself took.
type latenessTable struct {
	Players int
	Rows    []latenessRow
}

type latenessRow struct {
	Name string
	capacity.Quantiles
}

// lateness is of the step at the knee or, where none passed, of the last one that is not void; empty if there is neither.
func lateness(p capacity.Plan) (t latenessTable) {
	s, ok := p.AtKnee()
	for i := len(p.Steps) - 1; i >= 0 && !ok; i-- {
		s = p.Steps[i]
		ok = !s.Void
	}
	if !ok || s.LatenessRaw == (capacity.Quantiles{}) {
		return t
	}
	t = latenessTable{s.Players, []latenessRow{
		{"ticks that were played", s.LatenessRaw}, {"with those given up, from the schedule", s.LatenessMicros}, {"a thread that only sleeps, in the server", s.HiccupMicros},
		{"what the swarm sent", s.SwarmRaw}, {"with what it left out, from the schedule", s.SwarmLateness}, {"a thread that only sleeps, in the swarm", s.SwarmHiccup},
	}}
	if k := s.SwarmTaken; k != nil {
		name := fmt.Sprintf("what the swarm sent, without the %s ms that the machine took from it (%d bursts, the longest %s ms)", number(k.Millis), k.Bursts, number(k.LongestMillis))
		t.Rows = append(t.Rows, latenessRow{name, s.SwarmOwn})
	}
	return t
}

// repeated says what measuring the knee several times gave.
func repeated(r *capacity.Repeats) string {
	text := fmt.Sprintf("%d players were measured %d times and held %d times; means with the 95 %% interval: p99 tick %s ± %s ms CPU, %s ± %s cores, %s ± %s kbit/s a client, p99 age %s ± %s ms",
		r.Players, r.Steps, r.Held, number(r.TickMillis.Mean), number(r.TickMillis.Half), number(r.Cores.Mean), number(r.Cores.Half),
		number(r.KbpsDown.Mean), number(r.KbpsDown.Half), number(r.AgeMillis.Mean), number(r.AgeMillis.Half))
	if doubt := r.Doubt(); doubt != "" {
		text += ". " + doubt
	}
	return text
}
