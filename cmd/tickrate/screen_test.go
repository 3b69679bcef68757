package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
)

// A terminal shows the remaining time and the figures so far in place. Pipes and files get
// neither.
func TestScreenShowsFiguresInPlace(t *testing.T) {
	g := swarm.Figures{Age: meter.NewHistogram(0, meter.Fine), BytesDown: 32 * 2 * 5000, Shots: 7}
	g.Age.Record(int64(50 * time.Millisecond))
	line := progress(&g, 32, 2*time.Second, 6*time.Second)
	for _, want := range []string{"32 players, 2 s, 4 s to go", "40.0 kbit/s down", "age p99 5", "7 shots"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q has no %q", line, want)
		}
	}
	var there, elsewhere bytes.Buffer
	live := &screen{w: &there, live: true}
	live.note("%s", line)
	if live.ready() {
		t.Error("a second note at once would be shown")
	}
	newScreen(&elsewhere, false).note("%s", line)
	if got := there.String(); got != "\r\x1b[K  "+line || elsewhere.Len() > 0 {
		t.Errorf("on a terminal %q, elsewhere %q", got, elsewhere.String())
	}
}

// Notes and rows fit 80 columns, the reason of a failed step included, and the limit of the search
// is not mentioned once it is past.
func TestScreenFits80Columns(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, live: true, began: time.Now(), limit: time.Minute}
	s.note("%s", strings.Repeat("é", 200))
	note := strings.TrimPrefix(out.String(), "\r\x1b[K")
	if n := utf8.RuneCountInString(note); n != 79 || !strings.Contains(note, "; knee within ") {
		t.Errorf("%d columns: %q", n, note)
	}
	if s.began = time.Now().Add(-time.Hour); s.left() != "" {
		t.Errorf("beyond the limit: %q", s.left())
	}
	out.Reset()
	s = &screen{w: &out}
	s.begin("a machine", slo.Default())
	out.Reset() // the service level is as long as it is
	step := measure.Step{Players: 4096, ServerCores: 12.34, KbpsDownPerClient: 123456.7}
	for _, p := range []*float64{&step.TickCPUMillis.P50, &step.TickCPUMillis.P99, &step.TickCPUMillis.P999,
		&step.SnapshotAgeMillis.P99} {
		*p = 12345.67
	}
	step.Void, step.VoidReason = true, strings.Repeat("the swarm was late, ", 12)
	s.row(step)
	for _, line := range strings.Split(out.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 || strings.HasSuffix(line, "  ") {
			t.Errorf("%q", line)
		}
	}
}

// The table shows p99 of the tick as it is judged, the longer of CPU and elapsed time, and CPU beside it.
func TestScreenShowsTheJudgedTick(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out}
	s.begin("a machine", slo.Default())
	step := measure.Step{Players: 64, TickCPUMillis: measure.Quantiles{P50: 3, P99: 5, P999: 6},
		TickWallMillis: measure.Quantiles{P50: 2, P99: 15, P999: 16}, Failed: []string{"p99(tick) is 15"}}
	s.row(step)
	if !strings.Contains(out.String(), "     3.00     15.00      5.00") {
		t.Errorf("no p50 of 3, p99 of 15 and CPU of 5 ms:\n%s", out.String())
	}
}
