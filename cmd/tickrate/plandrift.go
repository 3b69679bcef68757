package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/tickrate/tickrate/bench/capacity"
)

// Recordings are gone on with on other days, when the machine has other neighbours: so plain lobbies of these sizes, which are timed already and fitted, are timed anew first, and
// say by how much each stage's times are to be taken back.
var driftSizes = []int{10, 16, 32, 64, 112, 160}

func drifts(l lesson) bool {
	return !l.held && l.unlike == "" && l.hz == 60 && l.every == 3 && slices.Contains(driftSizes, l.players)
}

// driftSince is how the machine is beside what is recorded. Measure times a lesson. Where nothing of it is recorded, there is no drift.
func driftSince(m capacity.Measurements, measure func(lesson) (capacity.Step, error), w io.Writer) (capacity.Drift, error) {
	var recorded, now []capacity.Step
	for _, l := range lessons() {
		if !drifts(l) {
			continue
		}
		name := l.scenario(matchSeconds).Name
		for i := range m.Steps {
			if s := &m.Steps[i]; s.Timed != nil && s.Facts.Scenario == name {
				step, err := measure(l)
				if err != nil {
					return capacity.Drift{}, err
				}
				recorded, now = append(recorded, s.Step), append(now, step)
			}
		}
	}
	d := capacity.NewDrift(recorded, now)
	if n := len(now); n > 0 {
		fmt.Fprintf(w, "drift of %d lobbies since they were recorded, per stage, with %d and %d players:", n, now[0].Players, now[n-1].Players)
		for _, st := range recorded[n-1].StageCPUMicros {
			if st.Mean > driftShown*1000*recorded[n-1].TickCPUMillis.Mean {
				fmt.Fprintf(w, " %s %+.1f %+.1f %%", st.Name, 100*(d.Of(st.Name, now[0].Players)-1), 100*(d.Of(st.Name, now[n-1].Players)-1))
			}
		}
		fmt.Fprintln(w)
	}
	return d, nil
}

// driftShown is the share of a tick that a stage takes whose drift is printed.
const driftShown = 0.03
