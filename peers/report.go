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
)

// row is a side at a size, with the figures of each turn.
type row struct {
	Server  string    `json:"server"`
	Beside  string    `json:"beside"`
	Tick    int       `json:"tick_hz"`
	Rate    int       `json:"snapshots_hz"`
	Players int       `json:"players"`
	Turns   []figures `json:"turns"`
}

// report is all that was measured.
type report struct {
	Type    string  `json:"type"`
	Version int     `json:"version"`
	Date    string  `json:"date"`
	Kernel  string  `json:"kernel"`
	Pinned  bool    `json:"pinned"` // servers on the first processor, clients on the others
	Socket  string  `json:"socket"` // back end of ours
	Window  float64 `json:"window_s"`
	Rows    []*row  `json:"rows"`
}

func newReport(p *plan) *report {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return &report{
		Type: "peers", Version: 1, Date: time.Now().UTC().Format(time.DateOnly), Kernel: strings.TrimSpace(string(kernel)),
		Pinned: p.servers != nil, Socket: p.socket, Window: p.window.Seconds(),
	}
}

func (r *report) add(s side, n int, f figures) {
	for _, row := range r.Rows {
		if row.Server == s.name && row.Beside == s.beside && row.Players == n {
			row.Turns = append(row.Turns, f)
			return
		}
	}
	r.Rows = append(r.Rows, &row{s.name, s.beside, s.tick, s.snapshots, n, []figures{f}})
}

// spread is the median of a figure over the turns, and its least and most.
func (r *row) spread(of func(figures) float64) (median, least, most float64) {
	var values []float64
	for _, f := range r.Turns {
		values = append(values, of(f))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]
}

// cells are what the table says of a row.
func (r *row) cells() []string {
	cpu, least, most := r.spread(func(f figures) float64 { return 100 * f.Cores })
	one := func(format string, of func(figures) float64) string {
		median, _, _ := r.spread(of)
		return fmt.Sprintf(format, median)
	}
	return []string{
		fmt.Sprint(r.Players), r.Server, fmt.Sprintf("%.1f (%.1f to %.1f)", cpu, least, most),
		fmt.Sprintf("%.2f", cpu/float64(r.Players)),
		one("%.0f", func(f figures) float64 { return 1e6 * f.Cores / f.Snapshots }),
		one("%.1f", func(f figures) float64 { return f.PlayerBytes }),
		one("%.0f", func(f figures) float64 { return f.RSS }),
		one("%.1f", func(f figures) float64 { return 100 * f.Arrived }) + r.mark(),
	}
}

// mark stars a row whose snapshots were not all there.
func (r *row) mark() string {
	if arrived, _, _ := r.spread(func(f figures) float64 { return f.Arrived }); arrived < 0.95 {
		return " *"
	}
	return ""
}

var heads = []string{"players", "server", "CPU, %", "% each", "µs/snap", "B/player", "MB", "arrived %"}

// notComparable stands below the table.
const notComparable = `CPU is what all threads of the server ran, in percent of one core: median of the
turns and their range. B/player: UDP payload to a client over its snapshots and
the other players in each. "tickrate 60/20" is ours at 60 ticks and 20 snapshots
a second. At 60 ticks ours cannot send 25 a second, so it sends 30 beside DDNet.

* fewer than 95 % of the snapshots that were due arrived: the machine was too
busy for this server, whose CPU would be higher with all of them.

What is not comparable: ours encrypts and authenticates every datagram, the
peers do neither. The games differ: physics, hits (ours rewinds), maps, what a
player's state is; OpenArena also sends items and missiles, DDNet scores and
names as items. Clients of ours send 60 (or the tick rate) commands a second,
of OpenArena 60, of DDNet 50. Loopback bills the kernel's receiving of a
datagram to its sender, so no server pays for what arrives.
`

// write prints the table and leaves it in files.
func (r *report) write(w io.Writer, dir string) error {
	slices.SortStableFunc(r.Rows, func(a, b *row) int { return a.Players - b.Players })
	text := &strings.Builder{}
	line := func(c []string) {
		fmt.Fprintf(text, "%7s  %-14s %-19s %6s %7s %8s %4s %s\n", c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7])
	}
	line(heads)
	for _, row := range r.Rows {
		line(row.cells())
	}
	fmt.Fprintf(w, "\n%s\n%s", text, notComparable)

	page := &strings.Builder{}
	fmt.Fprintf(page, "# Beside peers people know\n\n%s, kernel %s, socket back end %s, window %g s.\n\n", r.Date, r.Kernel, r.Socket, r.Window)
	fmt.Fprintf(page, "| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	for _, row := range r.Rows {
		fmt.Fprintf(page, "| %s |\n", strings.Join(row.cells(), " | "))
	}
	fmt.Fprintf(page, "\n%s", notComparable)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "peers.md"), []byte(page.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "peers.json"), append(data, '\n'), 0o644)
}
