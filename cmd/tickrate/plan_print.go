// The summary of a plan on the terminal. The report in its folder has everything.

package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/search"
)

// printPlan prints the summary of a plan.
func printPlan(w io.Writer, p report.Plan) {
	printKnee(w, p)
	if p.Games != nil {
		printGames(w, p.Games)
	} else if len(p.Units) > 0 {
		printUnits(w, several(p.Nearest(), "player"), p.Units, p.SLO.SendEvery)
	}
	printEvents(w, p)
	if s, ok := p.Accounted(); ok {
		printBytes(w, several(s.Players, "player"), s.Bytes)
	}
	if p.Codecs != nil {
		printCodecs(w, p.Codecs)
	}
	if p.Partial {
		fmt.Fprintln(w, "partial: interrupted")
	}
}

// printReportPath says where the report is. kept: the folder dir has the report of an earlier plan still.
func printReportPath(w io.Writer, dir string, kept bool) {
	if kept {
		fmt.Fprintf(w, "nothing was measured; the report of an earlier plan stays in %s\n", dir)
		return
	}
	// The absolute path can be pasted into a browser.
	at, err := filepath.Abs(filepath.Join(dir, report.PageFile))
	if err != nil {
		at = filepath.Join(dir, report.PageFile)
	}
	fmt.Fprintf(w, "report: %s\n", at)
}

// printKnee prints the knee with its interval, the knee of each term, and figures of the steps near it.
func printKnee(w io.Writer, p report.Plan) {
	k, name := p.Knee, "knee"
	if k.Swarm {
		name = "knee of the swarm, not of the server"
	}
	fmt.Fprintln(w)
	switch {
	case k.Players == 0 && k.Bound == search.Measured:
		printWrapped(w, fmt.Sprintf("%s: none (%s)", name, k.Reason))
	case k.Players == 0 && k.Below > 0:
		printWrapped(w, fmt.Sprintf("%s: not found below %s (%s)", name, p.Growth(k.Below), k.Reason))
	case k.Players == 0:
		printWrapped(w, fmt.Sprintf("%s: not found (%s)", name, k.Reason))
	case k.Bound == search.AtLeast:
		printWrapped(w, fmt.Sprintf("%s: at least %s (95 %%, %s)", name, p.Growth(k.Players), k.Reason))
	default:
		printWrapped(w, fmt.Sprintf("%s: %s, %s with 90 %% (%s)", name, p.Growth(k.Players), p.KneeInterval(), k.Reason))
		printWrapped(w, "  limited by "+k.Term)
	}
	if len(k.Terms) > 1 {
		for _, t := range k.Terms {
			printWrapped(w, fmt.Sprintf("  %s: %s", t.Term, p.Interval(t.Low, t.High)))
		}
	}
	if k.Bound != search.Measured || k.Players == 0 {
		for _, why := range k.Failed {
			printWrapped(w, fmt.Sprintf("  at %s: %s", p.Growth(k.FailedAt), why))
		}
	}
	if p.Floor != nil {
		printWrapped(w, "  "+p.Floor.Words())
	}
	s, ok := p.AtKnee()
	if !ok {
		return
	}
	// Encryption grows with datagrams, whatever they hold.
	if _, percent, ok := s.Encryption(); ok {
		fmt.Fprintf(w, "  encryption: %.1f %% of the tick at %s\n", percent, several(s.Players, "player"))
	}
	if n := p.Near; n != nil {
		printWrapped(w, fmt.Sprintf("  %s within the interval, held %d: p99 tick %.2f ± %.2f ms, "+
			"%.2f ± %.2f cores, %.1f ± %.1f kbit/s a client (95 %%)", several(n.Steps, "step"), n.Held,
			n.TickMillis.Mean, n.TickMillis.HalfWidth, n.Cores.Mean, n.Cores.HalfWidth,
			n.KbpsDown.Mean, n.KbpsDown.HalfWidth))
	}
}

// printEvents prints what the processor counted at the knee, or why it did not.
func printEvents(w io.Writer, p report.Plan) {
	if s, ok := p.AtKnee(); ok && s.Events != nil {
		printWrapped(w, fmt.Sprintf("  %v, at %s", s.Events, several(s.Players, "player")))
		return
	}
	for _, c := range p.Config {
		if c.Name == runner.HardwareCounters {
			printWrapped(w, "  hardware counters "+c.Value)
		}
	}
}

// printGames prints how many games a core carries, and where the time of a tick goes.
func printGames(w io.Writer, g *report.Games) {
	for _, line := range g.Words() {
		printWrapped(w, line)
	}
	fmt.Fprintf(w, "  %-9s %8s %8s   µs a tick and game\n", "", "live", "alone")
	for _, st := range g.Stages {
		fmt.Fprintf(w, "  %-9s %8.1f %8.1f\n", st.Name, 1e3*st.Live, 1e3*st.Warm)
	}
	fmt.Fprintf(w, "  %-9s %8.1f %8.1f\n", "in all", 1e3*g.TickMillis, 1e3*g.WarmMillis)
}

// printUnits prints the CPU time that the running server spent on each unit of work, such as a
// datagram or a command. A connection is sent a snapshot once in every ticks.
func printUnits(w io.Writer, size string, units []measure.UnitCost, every int) {
	fmt.Fprintf(w, "what the server paid with %s, CPU time of the live tick:\n", size)
	for _, u := range units {
		fmt.Fprintf(w, "  %-8s %8.1f ns per %-25s %8.1f a tick %8.1f µs\n", u.Stage, 1e6*u.Millis, u.Unit,
			u.Units, 1e3*u.StageMillis)
	}
	if every > 1 {
		fmt.Fprintf(w, "  a connection gets a snapshot every %d ticks, and counts in pairs then\n", every)
	}
}

// printCodecs prints bytes and CPU time of each codec, in percent of the first.
func printCodecs(w io.Writer, all *measure.Codecs) {
	fmt.Fprintf(w, "codecs, one simulated lobby of %s; percent of %s:\n",
		several(all.Players, "player"), all.Each[0].Name)
	for i, c := range all.Each {
		bytes, time := all.Against(i)
		fmt.Fprintf(w, "  %-12s %9.0f B/s a client %5.1f %%  tick %6.0f µs %4.0f %%\n", c.Name,
			c.BytesPerSecond, bytes, 1e3*c.TickMillis, time)
	}
}
