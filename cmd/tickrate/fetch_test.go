package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/cmd/internal/assets"
)

// A server has a map and a model as files that the swarm lacks. The swarm joins, is told no folder
// of the server, and plays without a misprediction.
func TestServeSendsMapAndModel(t *testing.T) {
	if testing.Short() {
		t.Skip("real sockets")
	}
	dir := t.TempDir()
	model, world := filepath.Join(dir, "mine.tkm"), filepath.Join(dir, "arena-64")
	if code, _, errs := result(t, "codec", "train", "--players", "4", "--duration",
		"5s", "--seed", "9", "--out", model); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs := result(t, "map", "generate", "--players", "20", "--seed",
		"77", "--out", world); code != 0 {
		t.Fatal(errs)
	}
	cmd, errs, line := serving(t, "--ready", "--map", world, "--model", model, "--players", "6")
	var r ready
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	s := playSwarm(t, "--http", r.HTTP, "--players", "4", "--duration", "0.5s")
	if s.Players != 4 || s.KbpsDown <= 0 || s.mispredicted() {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.errs, "the server sent what is not here") || strings.Contains(s.errs, dir) {
		t.Errorf("the swarm says %q", s.errs)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || unexpected(errs.String()) != "" {
		t.Errorf("%v, %q", err, errs)
	}
	for name, want := range map[string]string{"arena-64": "arena-64",
		"gen:4:1": "gen:4:1", world: "arena-64", "/x/" + strings.Repeat("ä", 60): strings.Repeat("ä", 32)} {
		if got := assets.MapName(name); got != want {
			t.Errorf("%s is called %q", name, got)
		}
	}
}
