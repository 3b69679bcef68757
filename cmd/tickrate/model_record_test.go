package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/itr"
)

// A lobby is recorded, and every codec gives it back.
func TestModelRecord(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.itr"), filepath.Join(dir, "b.itr")
	for path, seed := range map[string]string{a: "1", b: "2"} {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs([]string{"model", "record", "--players", "4", "--seconds", "3", "--seed", seed, "--out", path})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, "60 snapshots of 4 players, 20 a second") {
			t.Errorf("it says %q", got)
		}
	}
	tr, err := itr.Open(a)
	if err != nil || len(tr.Snapshots) != 60 || tr.Entities != 4 {
		t.Fatalf("%v: %d snapshots of %d players", err, len(tr.Snapshots), tr.Entities)
	}
	root := newRoot()
	var out strings.Builder
	root.SetOut(&out)
	root.SetArgs([]string{"model", "eval", "--train", a, "--test", b, "--delay", "2"})
	if err := root.Execute(); err != nil || !strings.Contains(out.String(), "4 entities of 12 fields") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestModelRecordRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "give --out"},
		{"--out x.itr --players 0", "0 players"},
		{"--out x.itr --seconds 0", "0 seconds"},
		{"--out x.itr --hz 7", "--hz 7"},
		{"--out x.itr --idle --trace nowhere.csv", "expected one of them"},
		{"--out x.itr --trace nowhere.csv", "nowhere.csv"},
	} {
		root := newRoot()
		root.SetArgs(append([]string{"model", "record"}, strings.Fields(c.args)...))
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
		if got := run(append([]string{"model", "record"}, strings.Fields(c.args)...)); got != 2 {
			t.Errorf("%s: exit code %d, want 2", c.args, got)
		}
	}
}
