package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
)

// A terminal shows the remaining time and the figures so far in place. Pipes and files get
// neither.
func TestScreenShowsFiguresInPlace(t *testing.T) {
	g := swarm.Figures{Age: meter.NewHistogram(0), BytesDown: 32 * 2 * 5000, Shots: 7}
	g.Age.Record(int64(50 * time.Millisecond))
	line := progress(&g, 32, 2*time.Second, 6*time.Second)
	for _, want := range []string{"32 players, 2 s, 4 s to go", "40.0 kbit/s down", "age p99 5", "7 shots"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q has no %q", line, want)
		}
	}
	var there, elsewhere bytes.Buffer
	live := &screen{w: &there, live: true}
	live.note("measuring %s", line)
	if live.ready() {
		t.Error("a second note at once would be shown")
	}
	newScreen(&elsewhere, false).note("measuring %s", line)
	if got := there.String(); got != "\r\x1b[K  measuring "+line || elsewhere.Len() > 0 {
		t.Errorf("on a terminal %q, elsewhere %q", got, elsewhere.String())
	}
}
