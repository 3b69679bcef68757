package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestRow72SwarmNetgraph: --netgraph prints a line a second about one player's connection, and the
// figures at the end have a netgraph of each player, by the same names.
func TestRow72SwarmNetgraph(t *testing.T) {
	if testing.Short() {
		t.Skip("real sockets")
	}
	cmd, _, first := serving(t, "--ready", "--map", "arena-16", "--players", "4")
	var r ready
	if err := json.Unmarshal([]byte(first), &r); err != nil {
		t.Fatalf("%q: %v", first, err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // how it ends is other tests' matter
	}()
	s := playSwarm(t, "--http", r.HTTP, "--players", "2", "--duration", "2.5s", "--netgraph=1")
	line := regexp.MustCompile(`(?m)^ +(\d+) s  rtt [\d.]+ ms  jitter [\d.]+ ms  loss [\d.]+ %  ` +
		`buffer -?\d+ of [\d.]+ ms  interp \d+ ms  age \d+ ms  mispredicted \d+ .*` +
		`down [\d.]+ kbit/s \(rows [\d.]+, objects [\d.]+, own [\d.]+, messages [\d.]+, ` +
		`headers [\d.]+\)  up [\d.]+`)
	var seconds []string
	for _, found := range line.FindAllStringSubmatch(s.errs, -1) {
		seconds = append(seconds, found[1])
	}
	// A run of 2.5 seconds on a busy machine may be late for one of them.
	if want := []string{"1", "2"}; !slices.Equal(seconds, want) && (!s.disturbed() || len(seconds) == 0 ||
		!slices.IsSorted(seconds)) || len(seconds) != len(regexp.MustCompile(`(?m)^ *\d+ s  `).FindAllString(s.errs, -1)) {
		t.Errorf("lines of seconds %v, want %v, in\n%s", seconds, want, s.errs)
	}
	var figures struct {
		Netgraphs []map[string]any `json:"netgraphs"`
	}
	if err := json.Unmarshal([]byte(s.out), &figures); err != nil || len(figures.Netgraphs) != 2 {
		t.Fatalf("%v: %d netgraphs in\n%s", err, len(figures.Netgraphs), s.out)
	}
	for _, name := range []string{"rtt_ms", "jitter_ms", "loss", "buffer_ticks",
		"interp_ms", "mispredictions", "down_bytes", "up_bytes"} {
		if _, ok := figures.Netgraphs[1][name]; !ok {
			t.Errorf("a netgraph has no %s", name)
		}
	}
	down, _ := figures.Netgraphs[1]["down_bytes"].(map[string]any)
	for _, section := range []string{"session", "seal", "header", "messages",
		"owner", "rows", "objects", "refused"} {
		if _, ok := down[section]; !ok {
			t.Errorf("a netgraph has no bytes of %s", section)
		}
	}
}
