package main

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
)

// What is recorded of plain lobbies is timed anew, nothing else, and says how the machine has changed.
func TestDriftSince(t *testing.T) {
	var m capacity.Measurements
	for _, l := range lessons() {
		s := capacity.Measurement{HeldOut: l.held, Step: capacity.Step{Players: l.players, Facts: &capacity.Facts{Scenario: l.scenario(matchSeconds).Name},
			StageCPUMicros: []capacity.Stage{{Name: "move", Mean: float64(l.players)}, {Name: "idle", Mean: 0.01}}}}
		s.TickCPUMillis.Mean = s.StageCPUMicros[0].Mean / 1000
		if l.players != 32 { // of those there are no times
			s.Timed = s.Facts
		}
		m.Steps = append(m.Steps, s)
	}
	asked := 0
	var said strings.Builder
	d, err := driftSince(m, func(l lesson) (capacity.Step, error) {
		asked++
		if l.held || l.unlike != "" || l.players == 32 {
			t.Errorf("%+v is timed", l)
		}
		return capacity.Step{Players: l.players, StageCPUMicros: []capacity.Stage{{Name: "move", Mean: float64(l.players) * (1.1 + 0.02*math.Log(float64(l.players)/48))}}}, nil
	}, &said)
	if err != nil || asked != len(driftSizes)-1 {
		t.Errorf("%v: %d lobbies timed, expected one of each of %d but 32", err, asked, driftSizes)
	}
	if got := d.Of("move", 96); math.Abs(got-1.1-0.02*math.Ln2) > 1e-9 {
		t.Errorf("%g times as long, expected %g", got, 1.1+0.02*math.Ln2)
	}
	if text := said.String(); !strings.Contains(text, "with 10 and 160 players: move +6.9 +12.4 %") || strings.Contains(text, "idle") {
		t.Errorf("%q", text)
	}

	broken := errors.New("broken")
	if _, err := driftSince(m, func(lesson) (capacity.Step, error) { return capacity.Step{}, broken }, &said); !errors.Is(err, broken) {
		t.Errorf("%v, expected the error of who times", err)
	}
	said.Reset()
	if d, err := driftSince(capacity.Measurements{}, nil, &said); err != nil || d.Of("move", 10) != 1 || said.Len() > 0 {
		t.Errorf("%v: %g times as long and %q, expected no drift of nothing", err, d.Of("move", 10), said.String())
	}
}
