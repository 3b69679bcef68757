// The figures of a swarm as text and as JSON.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
)

// swarmSummary is the output of swarm --json. Keys name their units; see docs/json.md.
type swarmSummary struct {
	Type           string  `json:"type"` // "swarm"
	Version        int     `json:"version"`
	Players        int     `json:"players"` // that have joined
	Spectators     int     `json:"spectators"`
	Elapsed        float64 `json:"elapsed_ms"`       // measured, without the warm-up
	TicksPerPlayer float64 `json:"ticks_per_player"` // commands that a player issued
	KbpsDown       float64 `json:"kbps_down_per_client"`
	KbpsUp         float64 `json:"kbps_up_per_client"`
	AgeP50         float64 `json:"snapshot_age_ms_p50"`
	AgeP99         float64 `json:"snapshot_age_ms_p99"`
	RTTP50         float64 `json:"rtt_ms_p50"`
	RTTP99         float64 `json:"rtt_ms_p99"`
	Mispredictions uint64  `json:"mispredictions"`
	Shots          uint64  `json:"shots"`
	Said           uint64  `json:"chat_lines"`         // sent by players
	LateP999       float64 `json:"swarm_late_ms_p999"` // of sends, behind the swarm's schedule
	OnSchedule     bool    `json:"swarm_on_schedule"`  // LateP999 is below swarm.MaxLate
	// ByBackup is the share of passes that the second thread played because the first was stalled.
	ByBackup   float64   `json:"swarm_backup_share"`
	RunDelay   *runDelay `json:"swarm_run_delay"` // null where the system does not report it
	CPU        float64   `json:"swarm_cores"`     // CPU time by elapsed time
	CPUPerTick float64   `json:"swarm_ms_per_client_tick"`
	Void       string    `json:"void,omitempty"` // reason why the figures are worthless

	Choice *swarmChoice `json:"choice,omitempty"` // of players whose tokens name several servers

	Link *swarmLink `json:"link,omitempty"` // of --link; it has done so since the start

	Netgraphs []netgraphFigures `json:"netgraphs"` // of the first players, over the whole run

	Bytes *measure.Bytes `json:"bytes"` // received by a sample of the players, by purpose
}

// summaryVersion is the version of the JSON of a swarmSummary.
const summaryVersion = 3

// runDelay is the time in which the swarm was runnable and the machine ran something else, and the
// lateness of its sends without that time.
type runDelay struct {
	LateP999   float64 `json:"corrected_late_ms_p999"` // lateness without the run delay
	OnSchedule bool    `json:"corrected_on_schedule"`
	Millis     float64 `json:"ms"`        // all run delay
	Bursts     uint64  `json:"bursts"`    // delays of swarm.Burst or more
	InBursts   float64 `json:"bursts_ms"` // time in them
	LongestMs  float64 `json:"longest_ms"`
	// Timers that fired late by swarm.Burst or more, and by how much in all; not corrected for.
	LateWakes uint64  `json:"late_wakes"`
	Overslept float64 `json:"late_wakes_ms"`
	// Time that a hypervisor took, not corrected for; null where the system does not report it.
	Stolen *float64 `json:"stolen_ms"`
}

// runDelayOf returns the run delay in g, nil where the system does not report it.
func runDelayOf(g *swarm.Figures) *runDelay {
	d := &g.RunDelay
	if !d.Known {
		return nil
	}
	r := &runDelay{
		LateP999: millis(g.StealCorrected.Quantile(0.999)), OnSchedule: g.OnScheduleCorrected(),
		Millis: millis(d.All), Bursts: d.Bursts, InBursts: millis(d.InBursts), LongestMs: millis(d.Longest),
		LateWakes: d.LateWakes, Overslept: millis(d.Overslept),
	}
	if d.StolenKnown {
		stolen := millis(d.Stolen)
		r.Stolen = &stolen
	}
	return r
}

// millis converts nanoseconds to milliseconds.
func millis[T ~int64](ns T) float64 { return float64(ns) / 1e6 }

// summarize collects the figures of s for the output. Ticks are those of players; bytes and CPU time
// are divided by all clients, which spectators are, too.
func summarize(s *swarm.Swarm, p *swarmPlay, graphs []client.Netgraph) swarmSummary {
	g, sec, n := &s.Figures, s.Figures.Elapsed.Seconds(), float64(p.clients())
	age, rtt := g.Age.Summary(), g.RTT.Summary()
	return swarmSummary{
		Type: "swarm", Version: summaryVersion, Players: p.players, Spectators: p.spectators,
		Elapsed:        1000 * sec,
		TicksPerPlayer: float64(g.Ticks) / float64(max(p.players, 1)),
		KbpsDown:       float64(g.BytesDown) * 8 / 1000 / sec / n, KbpsUp: float64(g.BytesUp) * 8 / 1000 / sec / n,
		AgeP50: millis(age.P50), AgeP99: millis(age.P99), RTTP50: millis(rtt.P50), RTTP99: millis(rtt.P99),
		Mispredictions: g.Mispredictions, Shots: g.Shots, Said: g.Said,
		LateP999: millis(g.Late.Quantile(0.999)), OnSchedule: g.OnSchedule(),
		ByBackup: float64(g.ByBackup) / float64(max(g.Passes, 1)), RunDelay: runDelayOf(g),
		CPU: g.CPU.Seconds() / sec, CPUPerTick: g.CPU.Seconds() * 1e3 / (sec * float64(p.rate) * n),
		Void: g.Void(), Bytes: runner.Account(g), Netgraphs: netgraphsOf(graphs),
	}
}

// printFigures prints the figures of s as text, or as JSON if f says so. Figures of a swarm that
// missed its own schedule are printed and marked VOID; the error is errVoid.
func printFigures(w io.Writer, s *swarm.Swarm, f swarmFlags, graphs []client.Netgraph) error {
	out := summarize(s, &f.play, graphs)
	out.Choice, out.Link = choiceOf(choices(s, f.asked)), linkOf(s, f.play.link)
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return errors.Join(e.Encode(out), out.void())
	}
	w = &wrapper{w: w}
	sec := out.Elapsed / 1000
	if out.Void != "" {
		printVoid(w, out.Void)
	}
	fmt.Fprintf(w, "%s, %.1f s, %.1f of %.0f ticks a player\n", f.play.people(), sec,
		out.TicksPerPlayer, sec*float64(f.play.rate))
	fmt.Fprintf(w, "  down %8.1f kbit/s a client    up %8.1f kbit/s a client\n", out.KbpsDown, out.KbpsUp)
	fmt.Fprintf(w, "  snapshot age  p50 %6.1f ms   p99 %6.1f ms\n", out.AgeP50, out.AgeP99)
	fmt.Fprintf(w, "  round trip    p50 %6.1f ms   p99 %6.1f ms, with the wait for a tick\n",
		out.RTTP50, out.RTTP99)
	out.Choice.print(w)
	out.Link.print(w)
	fmt.Fprintf(w, "  %s, %s\n", several(int(out.Shots), "shot"),
		several(int(out.Mispredictions), "misprediction"))
	fmt.Fprintf(w, "  the swarm itself: %.2f of a core, %.1f µs a client and tick,\n"+
		"    sends late by %.2f ms at p99.9 (limit %.0f ms, %s)\n",
		out.CPU, 1e3*out.CPUPerTick, out.LateP999, millis(swarm.MaxLate), keptOr(out.OnSchedule, "missed"))
	if out.ByBackup > 0 {
		fmt.Fprintf(w, "  %.2f %% of its passes were played by its backup thread, because the first\n"+
			"    was stalled\n", 100*out.ByBackup)
	}
	printRunDelay(w, out.RunDelay, sec)
	const indent = "    "
	if len(graphs) > 0 {
		graph := strings.ReplaceAll(graphs[0].String(), " (", "  (") // the shares are a group, too
		fmt.Fprintf(w, "  the first player:\n%s%s\n", indent, filled(strings.Split(graph, "  "), "  ", indent))
	}
	printBytes(w, f.play.people(), out.Bytes)
	return out.void()
}

// errVoid is the error of a swarm that missed its own schedule.
var errVoid = errors.New("void: do not use these figures")

// void returns an error that wraps errVoid and says why the figures are worthless, or nil.
func (s *swarmSummary) void() error {
	if s.Void == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", errVoid, s.Void)
}

// printVoid prints why the figures are worthless.
func printVoid(w io.Writer, why string) {
	words := strings.Fields("VOID: " + why + "; do not use these figures")
	fmt.Fprintln(w, filled(words, " ", ""))
}

// filled joins groups by sep, and begins a new line with indent before a group that would pass
// helpColumns. The caller has printed as many columns as indent has on the first line.
func filled(groups []string, sep, indent string) string {
	var b strings.Builder
	at := len(indent)
	for i, g := range groups {
		n := utf8.RuneCountInString(g)
		switch {
		case i == 0:
		case at+len(sep)+n+1 > helpColumns: // a comma may follow
			b.WriteString(strings.TrimRight(sep, " ") + "\n" + indent)
			at = len(indent)
		default:
			b.WriteString(sep)
			at += len(sep)
		}
		b.WriteString(g)
		at += n
	}
	return b.String()
}

// printRunDelay prints the time that the machine took from the swarm in sec seconds, and whether
// the swarm would have kept its schedule without that.
func printRunDelay(w io.Writer, r *runDelay, sec float64) {
	if r == nil {
		fmt.Fprintln(w, "  the machine: this system does not tell the run delay of the swarm")
		return
	}
	burst := millis(swarm.Burst)
	fmt.Fprintf(w, "  the machine took %.1f ms of %.1f s from it, %.1f of them in %s\n"+
		"    of %.1f ms or more, the longest %.1f;\n    without that late by %.2f ms at p99.9 (%s)\n",
		r.Millis, sec, r.InBursts, several(int(r.Bursts), "burst"), burst, r.LongestMs, r.LateP999,
		keptOr(r.OnSchedule, "missed by itself"))
	if r.LateWakes > 0 {
		fmt.Fprintf(w, "  its timer was late %s by %.1f ms or more, %.1f ms in all:\n"+
			"    interrupts or a hypervisor; not corrected for\n",
			several(int(r.LateWakes), "time"), burst, r.Overslept)
	}
	if r.Stolen != nil && *r.Stolen > 0 {
		fmt.Fprintf(w, "  a hypervisor took %.0f ms of the processors; not corrected for\n", *r.Stolen)
	}
}

// keptOr returns "kept", or missed for a schedule that was not kept.
func keptOr(kept bool, missed string) string {
	if kept {
		return "kept"
	}
	return missed
}

// people formats the numbers of players and spectators.
func (p *swarmPlay) people() string {
	switch {
	case p.spectators == 0:
		return several(p.players, "player")
	case p.players == 0:
		return several(p.spectators, "spectator")
	}
	return several(p.players, "player") + " and " + several(p.spectators, "spectator")
}

// clients is the number of players and spectators.
func (p *swarmPlay) clients() int { return p.players + p.spectators }

// joinAddresses formats addresses as a list of words.
func joinAddresses(at []netip.AddrPort) string {
	text := make([]string, len(at))
	for i := range at {
		text[i] = at[i].String()
	}
	return strings.Join(text, " and ")
}
