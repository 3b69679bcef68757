package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
)

// A round that this build plays is one that a baseline of it may be compared with; of another scenario of that name it is not.
func TestPlayable(t *testing.T) {
	s := gated()[0]
	var m capacity.Measurements
	step, err := rehearse(t.Context(), s, 1, roundPlays, slowdown{})
	if err != nil {
		t.Fatal(err)
	}
	m.Steps = []capacity.Measurement{{Step: step}}
	raw, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rounds.json")
	if m, err = capacity.ParseMeasurements(path, raw); err != nil {
		t.Fatal(err)
	}
	if err := playable(path, m); err != nil {
		t.Errorf("a round of this build: %v", err)
	}
	m.Steps[0].Facts.Side *= 2
	if err := playable(path, m); err == nil || !strings.HasPrefix(err.Error(), path+": expected duel with 10 players to be the same scenario on both sides: side_m is ") {
		t.Errorf("on twice the ground: %v", err)
	}
}
