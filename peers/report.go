//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
)

// row is a side at a size, with the figures of each turn.
type row struct {
	Server  string    `json:"server"`
	Beside  string    `json:"beside"`
	Tick    int       `json:"tick_hz"`
	Rate    int       `json:"snapshots_hz"`
	Players int       `json:"players"`
	Turns   []figures `json:"turns"` // void ones as well

	label string
}

// report is all that was measured.
type report struct {
	Type    string          `json:"type"`
	Version int             `json:"version"`
	Date    string          `json:"date"`
	Machine measure.Machine `json:"machine"`
	Pinned  bool            `json:"pinned"` // servers on the first processor, clients on the others
	Socket  string          `json:"socket"` // back end of ours
	Window  float64         `json:"window_s"`
	Turns   int             `json:"turns"`
	Repeats int             `json:"repeats"` // of void turns
	Rows    []*row          `json:"rows"`
}

func newReport(p *plan) *report {
	return &report{
		Type: "peers", Version: 2, Date: time.Now().UTC().Format(time.DateOnly), Machine: measure.Here(),
		Pinned: p.servers != nil, Socket: p.socket, Window: p.window.Seconds(), Turns: p.turns,
	}
}

func (r *report) add(s side, n int, f figures) {
	for _, row := range r.Rows {
		if row.label == s.label() && row.Beside == s.beside && row.Players == n {
			row.Turns = append(row.Turns, f)
			return
		}
	}
	r.Rows = append(r.Rows, &row{s.name, s.beside, s.tick, s.snapshots, n, []figures{f}, s.label()})
}

// missing is how many rows have void turns alone.
func (r *report) missing() (n int) {
	for _, row := range r.Rows {
		if len(row.valid()) == 0 {
			n++
		}
	}
	return n
}

// valid are the turns that are not void.
func (r *row) valid() (valid []figures) {
	for _, f := range r.Turns {
		if f.Void == "" {
			valid = append(valid, f)
		}
	}
	return valid
}

// spread is the median of a figure over the turns, at least one, and its least and most.
func spread(turns []figures, of func(figures) float64) (median, least, most float64) {
	var values []float64
	for _, f := range turns {
		values = append(values, of(f))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]
}

// heads are the columns on a terminal, aligned as layout says; pageHeads those in peers.md.
var (
	heads     = []string{"players", "server", "CPU, % of a core", "µs", "bytes", "MB", "arrived, %"}
	pageHeads = []string{
		"players", "server", "CPU, % of a core", "CPU a player and snapshot, µs", "a player in a snapshot, bytes",
		"memory, MB", "snapshots arrived, %",
	}
)

const layout = "%7s  %-15s  %-20s %5s %6s %5s  %s"

// fewArrived is the share of arrived snapshots below which a row has a star.
const fewArrived = 0.95

func (r *row) cells() []string {
	turns := r.valid()
	if len(turns) == 0 {
		return []string{fmt.Sprint(r.Players), r.label, "void", "-", "-", "-", "-"}
	}
	one := func(format string, of func(figures) float64) string {
		median, _, _ := spread(turns, of)
		return fmt.Sprintf(format, median)
	}
	cpu, least, most := spread(turns, func(f figures) float64 { return 100 * f.Cores })
	cores := fmt.Sprintf("%.1f", cpu)
	if len(turns) > 1 {
		cores += fmt.Sprintf(" (%.1f to %.1f)", least, most)
	}
	arrived := one("%.1f", func(f figures) float64 { return 100 * f.Arrived })
	if r.few() {
		arrived += " *"
	}
	return []string{
		fmt.Sprint(r.Players), r.label, cores,
		one("%.0f", func(f figures) float64 { return 1e6 * f.Cores / f.Snapshots }),
		one("%.1f", func(f figures) float64 { return f.PlayerBytes }),
		one("%.0f", func(f figures) float64 { return f.RSS }), arrived,
	}
}

// few reports whether snapshots of a row that has figures are missing.
func (r *row) few() bool {
	turns := r.valid()
	if len(turns) == 0 {
		return false
	}
	arrived, _, _ := spread(turns, func(f figures) float64 { return f.Arrived })
	return arrived < fewArrived
}

// title says what was measured, and where.
func (r *report) title() string {
	pinned := "Server and clients on the same processors."
	if r.Pinned {
		pinned = "The server on the first, clients on the others."
	}
	turns := fmt.Sprintf("%d turns", r.Turns)
	if r.Turns == 1 {
		turns = "One turn"
	}
	return fold(fmt.Sprintf("%s: %s, %d processors, Linux %s.", r.Date, r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel)) +
		fmt.Sprintf("%s %s of %g s.\nSockets of tickrate: %s.\n", pinned, turns, r.Window, r.Socket)
}

const legend = `Server: ticks and snapshots a second behind its name.
CPU: time that all threads of the server ran, median and range of the turns.
µs: that time for each snapshot to a player. Bytes: UDP payload of a snapshot
for each other player in it. MB: resident memory. Arrived: of the snapshots due.
`

const notComparable = `Not comparable:
- tickrate encrypts and authenticates every datagram; the others do neither.
- The games: physics, hits (tickrate rewinds), maps, what a player's state is.
  OpenArena also sends items and missiles, DDNet scores and names.
- Rates: at 60 ticks tickrate cannot send 25 snapshots a second, so it sends 30
  beside DDNet. Clients send 60 commands a second to OpenArena, 50 to DDNet, and
  one a tick to tickrate.
- Loopback bills a datagram's receiving to its sender, so no server pays for it.
`

// notes are what a reader of the table must know of its rows: missing snapshots and void turns.
func (r *report) notes() string {
	text, void := "", ""
	for _, row := range r.Rows {
		if row.few() {
			text = "* Below 95 %: the machine was too busy. With all snapshots, CPU would be higher.\n"
		}
		for _, f := range row.Turns {
			if f.Void != "" {
				void += fold(fmt.Sprintf("- %s, %d players: %s", row.label, row.Players, f.Void))
			}
		}
	}
	if r.Repeats > 0 {
		text += fmt.Sprintf("Turns that were void and repeated once: %d.\n", r.Repeats)
	}
	if void != "" {
		text += "Left out, as they were void again:\n" + void
	}
	return text
}

// fold breaks a line at 80 columns, where it has spaces.
func fold(line string) string {
	out, width := strings.Builder{}, 0
	for i, word := range strings.Fields(line) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > 80:
			out.WriteString("\n  ")
			width = 2
		default:
			out.WriteByte(' ')
			width++
		}
		out.WriteString(word)
		width += n
	}
	return out.String() + "\n"
}

// write prints the table, the most players first, and leaves it in files.
func (r *report) write(w io.Writer, dir string) error {
	slices.SortStableFunc(r.Rows, func(a, b *row) int { return b.Players - a.Players })
	text := &strings.Builder{}
	line := func(c []string) {
		fmt.Fprintf(text, layout+"\n", c[0], c[1], c[2], c[3], c[4], c[5], c[6])
	}
	line(heads)
	for i, row := range r.Rows {
		if i > 0 && row.Players != r.Rows[i-1].Players {
			text.WriteByte('\n')
		}
		line(row.cells())
	}
	parts := []string{r.title(), text.String(), r.notes(), legend, notComparable}
	for _, part := range parts {
		if part != "" {
			fmt.Fprintf(w, "\n%s", part)
		}
	}

	table := &strings.Builder{}
	fmt.Fprintf(table, "| %s |\n|%s\n", strings.Join(pageHeads, " | "), strings.Repeat(" --- |", len(pageHeads)))
	for _, row := range r.Rows {
		fmt.Fprintf(table, "| %s |\n", strings.Join(row.cells(), " | "))
	}
	page := "# Beside servers that people know\n"
	parts[1] = table.String()
	for _, part := range parts {
		if part != "" {
			page += "\n" + part
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "peers.md"), []byte(page), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "peers.json"), append(data, '\n'), 0o644)
}
