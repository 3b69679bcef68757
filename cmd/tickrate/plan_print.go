package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/search"
)

// printPlan says what a report says, in short.
func printPlan(w io.Writer, dir string, p report.Plan) {
	printKnee(w, p)
	if p.Units != nil {
		printUnits(w, p.Units)
	}
	if s, ok := p.Accounted(); ok {
		printBytes(w, s.Players, s.Bytes)
	}
	if p.Codecs != nil {
		printCodecs(w, p.Codecs)
	}
	if p.Partial {
		fmt.Fprintln(w, "partial: interrupted")
	}
	at, err := filepath.Abs(filepath.Join(dir, report.PageFile))
	if err != nil {
		at = filepath.Join(dir, report.PageFile)
	}
	fmt.Fprintf(w, "report: %s\n", at)
}

// printKnee prints the knee, why it is there, and how it repeated.
func printKnee(w io.Writer, p report.Plan) {
	name, bound := "knee", ""
	if p.Knee.Swarm {
		name = "knee of the swarm, not of the server"
	}
	if p.Knee.Bound == search.AtLeast {
		bound = "at least "
	}
	if len(p.Steps) == 0 {
		fmt.Fprintf(w, "\nknee: none yet (%s)\n", p.Knee.Reason)
	} else {
		fmt.Fprintf(w, "\n%s: %s%d players (%s)\n", name, bound, p.Knee.Players, p.Knee.Reason)
	}
	for _, why := range p.Knee.Binding {
		fmt.Fprintf(w, "  at %d players: %s\n", p.Knee.FirstFail, why)
	}
	if s, ok := p.AtKnee(); ok {
		if _, percent, ok := s.Encryption(); ok {
			fmt.Fprintf(w, "  encryption: %.1f %% of the tick at %d players\n", percent, s.Players)
		}
	}
	r := p.Repeats
	if r == nil {
		return
	}
	fmt.Fprintf(w, "  measured %d times, held %d: p99 tick %.2f ± %.2f ms CPU, %.2f ± %.2f cores, %.1f ± %.1f kbit/s a client (95 %%)\n",
		r.Steps, r.Held, r.TickMillis.Mean, r.TickMillis.HalfWidth, r.Cores.Mean, r.Cores.HalfWidth, r.KbpsDown.Mean,
		r.KbpsDown.HalfWidth)
	if doubt := r.Doubt(); doubt != "" {
		fmt.Fprintf(w, "  %s\n", doubt)
	}
}

// printUnits prints what the running server paid for each unit of work.
func printUnits(w io.Writer, units []measure.UnitCost) {
	fmt.Fprintln(w, "what the server paid at the knee, CPU time of the live tick:")
	for _, u := range units {
		fmt.Fprintf(w, "  %-9s %8.1f ns per %-25s %9.1f a tick, %8.1f µs\n", u.Stage, u.Nanos, u.Unit,
			u.Units, u.Micros)
	}
}

// printCodecs prints a line for each codec.
func printCodecs(w io.Writer, all *measure.Codecs) {
	fmt.Fprintf(w, "codecs, one simulated lobby of %d players:\n", all.Players)
	for i, c := range all.Each {
		bytes, time := all.Against(i)
		fmt.Fprintf(w, "  %-12s %9.0f B/s a client %5.1f %%  tick %6.0f µs %4.0f %%\n", c.Name,
			c.BytesPerSecond, bytes, c.TickMicros, time)
	}
}
