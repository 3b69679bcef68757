// Progress of plan and swarm on the terminal.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// screen shows progress: notes that overwrite one another on a terminal, and rows of a table.
type screen struct {
	w     io.Writer
	live  bool          // w is a terminal: notes are shown
	shown time.Time     // of the last note
	json  bool          // rows are lines of JSON, and there are no notes
	began time.Time     // of the search; zero before
	limit time.Duration // of the search; 0 for none
}

// newScreen returns a screen that writes to w.
func newScreen(w io.Writer, json bool) *screen {
	f, ok := w.(*os.File)
	return &screen{w: w, live: !json && ok && term.IsTerminal(int(f.Fd())), json: json}
}

// left formats the time that the search may still take, empty without a limit.
func (s *screen) left() string {
	if s.limit == 0 || s.began.IsZero() {
		return ""
	}
	return fmt.Sprintf("; at most %.0f s to go until the knee", max(0,
		(s.limit-time.Since(s.began)).Seconds()))
}

// ready reports whether a note would be shown, so that callers can skip computing its text. Notes
// are at least 200 ms apart.
func (s *screen) ready() bool { return s.live && time.Since(s.shown) >= 200*time.Millisecond }

// note shows the current activity until the next note or row overwrites it.
func (s *screen) note(format string, args ...any) {
	if !s.ready() {
		return
	}
	s.shown = time.Now()
	fmt.Fprintf(s.w, "\r\x1b[K  "+format+s.left(), args...)
}

// begin prints the machine, the terms of the service level and the head of the table of steps.
func (s *screen) begin(machine string, o *slo.Objective) {
	if s.json {
		return
	}
	fmt.Fprintln(s.w, machine)
	fmt.Fprintln(s.w, "service level:")
	for _, term := range o.Terms() {
		fmt.Fprintf(s.w, "  %s\n", term)
	}
	fmt.Fprintln(s.w)
	fmt.Fprintf(s.w, "%8s %10s %10s %10s %8s %12s %11s %9s\n",
		"players", "tick p50", "p99", "p99.9", "server", "down/client", "age p99", "")
	fmt.Fprintf(s.w, "%8s %10s %10s %10s %8s %12s %11s %9s\n", "", "ms CPU", "ms CPU", "ms CPU", "cores",
		"kbit/s", "ms", "")
}

// clear removes the last note from the terminal.
func (s *screen) clear() {
	if s.live {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}

// row prints a measured step: its costs, and whether it holds the service level.
func (s *screen) row(p measure.Step) {
	if s.json {
		_ = json.NewEncoder(s.w).Encode(p) // the report has the step too
		return
	}
	s.clear()
	verdict := "holds"
	switch {
	case p.Void:
		verdict = "void: " + p.VoidReason
	case !p.Pass:
		verdict = "fails: " + p.Failed[0]
	}
	fmt.Fprintf(s.w, "%8d %10.2f %10.2f %10.2f %8.2f %12.1f %11.1f  %s\n", p.Players,
		p.TickCPUMillis.P50, p.TickCPUMillis.P99, p.TickCPUMillis.P999, p.ServerCores, p.KbpsDownPerClient,
		p.SnapshotAgeMillis.P99, verdict)
}
