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
	"github.com/tickrate/tickrate/bench/report"
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
	// Ticks a second where lobbies of one process grow: rows are of lobbies. 0 for rows of players.
	gamesHz int
}

// newScreen returns a screen that writes to w.
func newScreen(w io.Writer, json bool) *screen {
	return &screen{w: w, live: !json && isTerminal(w), json: json}
}

// isTerminal reports whether a person sees at once what w gets.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// left formats the time that the search may still take, empty without a limit and beyond it.
func (s *screen) left() string {
	to := s.limit - time.Since(s.began)
	if s.limit == 0 || s.began.IsZero() || to <= 0 {
		return ""
	}
	return fmt.Sprintf("; knee within %.0f s", to.Seconds())
}

// ready reports whether a note would be shown, so that callers can skip computing its text. Notes
// are at least 200 ms apart.
func (s *screen) ready() bool { return s.live && time.Since(s.shown) >= 200*time.Millisecond }

// note shows the current activity until the next note or row overwrites it. It is cut to one row of
// the terminal, of 80 columns at most: only the row of the cursor can be cleared.
func (s *screen) note(format string, args ...any) {
	if !s.ready() {
		return
	}
	s.shown = time.Now()
	columns := s.columns() - 1
	left := s.left()
	text := []rune("  " + fmt.Sprintf(format, args...))
	text = text[:min(len(text), max(columns-len(left), 0))]
	fmt.Fprint(s.w, "\r\x1b[K"+string(text)+left)
}

// columns is the width of the terminal, helpColumns at most.
func (s *screen) columns() int {
	if f, ok := s.w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(width, helpColumns)
		}
	}
	return helpColumns
}

// begin prints the machine, the terms of the service level and the head of the table of steps.
func (s *screen) begin(machine string, o *slo.Objective) {
	if s.json {
		return
	}
	printWrapped(s.w, machine)
	fmt.Fprintln(s.w, "service level:")
	for _, must := range o.Terms() {
		printWrapped(s.w, "  "+must)
	}
	fmt.Fprintln(s.w)
	if s.gamesHz > 0 {
		fmt.Fprintf(s.w, "%8s %9s %9s %7s %7s %11s %8s\n", "lobbies", "tick CPU", "late p99", "server",
			"swarm", "down/client", "age p99")
		fmt.Fprintf(s.w, "%8s %9s %9s %7s %7s %11s %8s\n", "", "µs a game", "ms", "cores", "cores", "kbit/s",
			"ms")
		return
	}
	fmt.Fprintf(s.w, "%8s %9s %9s %9s %7s %11s %8s\n", "players", "tick p50", "p99", "p99", "server",
		"down/client", "age p99")
	fmt.Fprintf(s.w, "%8s %9s %9s %9s %7s %11s %8s\n", "", "ms", "ms", "ms CPU", "cores", "kbit/s",
		"ms")
}

// clear removes the last note from the terminal.
func (s *screen) clear() {
	if s.live {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}

// stepLine is a step as a line of JSON.
type stepLine struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
	measure.Step
}

// row prints a measured step: its costs, whether it holds the service level and, beneath, why not.
func (s *screen) row(p measure.Step) {
	if s.json {
		_ = json.NewEncoder(s.w).Encode(stepLine{"step", report.Version, p.Finite()}) // the report has it, too
		return
	}
	s.clear()
	verdict, why := "holds", ""
	switch {
	case p.Void:
		verdict, why = "void", p.VoidReason
	case !p.Pass:
		verdict, why = "fails", p.Failed[0]
	}
	tick := p.LongerTick()
	if s.gamesHz > 0 {
		micros := 1e6 * p.ServerCores / float64(max(p.Lobbies, 1)*s.gamesHz)
		fmt.Fprintf(s.w, "%8d %9.1f %9.2f %7.2f %7.2f %11.1f %8.1f  %s\n", p.Lobbies, micros,
			p.LatenessMillis.P99, p.ServerCores, p.SwarmCores, p.KbpsDownPerClient,
			p.SnapshotAgeMillis.P99, verdict)
	} else {
		fmt.Fprintf(s.w, "%8d %9.2f %9.2f %9.2f %7.2f %11.1f %8.1f  %s\n", p.Players,
			tick.P50, tick.P99, p.TickCPUMillis.P99, p.ServerCores, p.KbpsDownPerClient,
			p.SnapshotAgeMillis.P99, verdict)
	}
	for _, line := range []string{why, p.Cause} {
		if line != "" {
			printWrapped(s.w, "    "+line)
		}
	}
}
