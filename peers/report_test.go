//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tickrate/tickrate/bench/measure"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct{ turns, want [3]float64 }{
		{[3]float64{3, 1, 2}, [3]float64{2, 1, 3}}, {[3]float64{5, 5, 1}, [3]float64{5, 1, 5}},
	} {
		var turns []figures
		for _, v := range c.turns {
			turns = append(turns, figures{Cores: v})
		}
		cores := func(f figures) float64 { return f.Cores }
		median, least, most := spread(turns, cores)
		if got := [3]float64{median, least, most}; got != c.want {
			t.Errorf("%v: %v, want %v", c.turns, got, c.want)
		}
		if median, _, _ = spread(turns[:2], cores); median != (c.turns[0]+c.turns[1])/2 {
			t.Errorf("median of two of %v: %v", c.turns, median)
		}
	}
}

// sample is a report of all sides at two sizes. Its longest cells are as long as cells get.
func sample() *report {
	r := &report{
		Type: "peers", Version: 2, Date: "2026-11-29", Pinned: true, Socket: "gnet", Window: 6, Turns: 3, Repeats: 2,
		Machine: measure.Machine{CPU: "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", Cores: 128, Kernel: "6.12.48+deb13-cloud-amd64"},
	}
	for _, n := range []int{16, 64} {
		for i, s := range sides {
			for turn := range 3 {
				r.add(s, n, figures{
					Cores: 0.25 + float64(turn)/10, Snapshots: 1000, Arrived: 1, Players: float64(n - 1), PlayerBytes: 18, RSS: 114,
				})
			}
			if i == 1 && n == 64 {
				last := r.Rows[len(r.Rows)-1]
				for turn := range last.Turns {
					last.Turns[turn].Arrived = 0.9
					last.Turns[turn].Cores += 1.5
				}
				last.Turns[1].Void = "the swarm did not keep its schedule: 12.3 % of passes were over half a tick late"
				last.Turns[1].Cores = 99
			}
			if i == 2 && n == 64 {
				last := r.Rows[len(r.Rows)-1]
				for turn := range last.Turns {
					last.Turns[turn].Void = "2 of 64 clients were lost (<nil>)"
				}
			}
		}
	}
	return r
}

func TestReport(t *testing.T) {
	dir, out := t.TempDir(), &strings.Builder{}
	r := sample()
	if err := r.write(out, dir); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	table := text[strings.Index(text, "players  server"):]
	for i, want := range []string{
		"players  server           CPU, % of a core        µs  bytes    MB  arrived, %",
		"     64  OpenArena 20/20  35.0 (25.0 to 45.0)    350   18.0   114  100.0",
		"     64  tickrate 20/20   185.0 (175.0 to 195.0)  1850   18.0   114  90.0 *",
		"     64  tickrate 60/20   void                     -      -     -  -",
		"     64  DDNet 50/25      35.0 (25.0 to 45.0)    350   18.0   114  100.0",
	} {
		if got := strings.Split(table, "\n")[i]; got != want {
			t.Errorf("line %d is\n%q, want\n%q", i, got, want)
		}
	}
	for _, want := range []string{
		"void and repeated once: 2", "- tickrate 20/20, 64 players: the swarm did not keep", "* Below 95 %", "Not comparable:",
		"- tickrate 60/20, 64 players: 2 of 64 clients were lost", "Intel(R) Xeon(R) Platinum 8481C", "The server on the first",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if r.missing() != 1 {
		t.Errorf("%d rows without figures", r.missing())
	}

	page, err := os.ReadFile(filepath.Join(dir, "peers.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, rows, ok := strings.Cut(string(page), "--- |\n"); !ok || !strings.HasPrefix(rows, "| 64 | OpenArena 20/20 | 35.0 (25.0 to 45.0) | 350 |") {
		t.Errorf("peers.md is\n%s", page)
	}
	data, err := os.ReadFile(filepath.Join(dir, "peers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 12 || got.Rows[0].Players != 64 || got.Rows[1].Turns[1].Void == "" || got.Repeats != 2 {
		t.Errorf("peers.json has %d rows, the first %+v", len(got.Rows), got.Rows[0])
	}
}

// A report without void turns or missing snapshots has no notes of such, and one turn has no range.
func TestQuietReport(t *testing.T) {
	out := &strings.Builder{}
	r := &report{Turns: 1}
	r.add(sides[0], 16, figures{Cores: 0.083, Snapshots: 320, Arrived: 1.001, PlayerBytes: 15.8, RSS: 130})
	if err := r.write(out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "void") || strings.Contains(text, "* Below") || strings.Contains(text, "8.3 (") ||
		!strings.Contains(text, "  8.3 ") || !strings.Contains(text, "One turn") {
		t.Errorf("%s", text)
	}
}
