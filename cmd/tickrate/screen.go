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

// screen shows a plan's progress: in place on a terminal, plain lines elsewhere.
type screen struct {
	w     io.Writer
	live  bool
	shown time.Time
	json  bool // lines for programs: a step each
	began time.Time
	limit time.Duration // 0: none
}

// newScreen makes a screen. It overwrites its notes where w is a terminal.
func newScreen(w io.Writer, json bool) *screen {
	f, ok := w.(*os.File)
	return &screen{w: w, live: !json && ok && term.IsTerminal(int(f.Fd())), json: json}
}

// left says how much time a search may still take.
func (s *screen) left() string {
	if s.limit == 0 || s.began.IsZero() {
		return ""
	}
	return fmt.Sprintf("; at most %.0f s to go until the knee", max(0,
		(s.limit-time.Since(s.began)).Seconds()))
}

// ready reports whether a note would be shown: what is costly to say need not be worked out for
// nobody.
func (s *screen) ready() bool { return s.live && time.Since(s.shown) >= 200*time.Millisecond }

// note shows what is being done; it is overwritten by the next note or row.
func (s *screen) note(format string, args ...any) {
	if !s.ready() {
		return
	}
	s.shown = time.Now()
	fmt.Fprintf(s.w, "\r\x1b[K  "+format+s.left(), args...)
}

// begin prints the head of the table of steps.
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

// clear takes the last note off a terminal.
func (s *screen) clear() {
	if s.live {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}

// row shows a measured step.
func (s *screen) row(p measure.Step) {
	if s.json {
		_ = json.NewEncoder(s.w).Encode(p) // an error is no loss: the report is written, too
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
