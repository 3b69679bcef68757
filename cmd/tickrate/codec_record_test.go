package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/itr"
)

// A lobby is recorded, and every codec gives it back.
func TestCodecRecord(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.itr"), filepath.Join(dir, "b.itr")
	for path, seed := range map[string]string{a: "1", b: "2"} {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs([]string{"codec", "record", "--players", "4", "--duration",
			"3s", "--seed", seed, "--out", path})
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
	root.SetArgs([]string{"codec", "eval", "--train", a, "--test", b, "--delay", "2"})
	if err := root.Execute(); err != nil || !strings.Contains(out.String(), "4 entities of 12 fields") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestCodecRecordRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "give --out"},
		{"--out x.itr --players 0", "--players 0"},
		{"--out x.itr --duration 0s", "--duration 0s"},
		{"--out x.itr --hz 7", "--hz 7"},
		{"--out x.itr --idle --trace nowhere.csv", "expected one of them"},
		{"--out x.itr --trace nowhere.csv", "nowhere.csv"},
	} {
		root := newRoot()
		root.SetArgs(append([]string{"codec", "record"}, strings.Fields(c.args)...))
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
		if got := run(append([]string{"codec", "record"}, strings.Fields(c.args)...)); got != 2 {
			t.Errorf("%s: exit code %d, want 2", c.args, got)
		}
	}
}

// Models are trained on both lobbies. If a recording of people is missing, the file stays as it
// is.
func TestTrainOnPeople(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "m.tkm")
	run := func(args ...string) string {
		t.Helper()
		var printed strings.Builder
		c := newCodec()
		c.SetOut(&printed)
		c.SetArgs(append([]string{"train", "--players", "4", "--duration", "20s", "--out", out}, args...))
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return printed.String() + string(file)
	}
	_, alone, _ := strings.Cut(run(), "\n")
	if printed, file, _ := strings.Cut(run("--people", filepath.Join(dir, "none.csv")),
		"\n"); file != alone ||
		!strings.Contains(printed, "none.csv is not here") {
		t.Errorf("without recordings: %q", printed)
	}
	track := filepath.Join(dir, "play.csv")
	var play strings.Builder
	play.WriteString("tick,t_ms,player,x,y,z,pitch,yaw,alive,fire\n")
	for ms := 0; ms < 20000; ms += 13 {
		fmt.Fprintf(&play, "%d,%d,0,%d,0,0,0,%d,1,0\n", ms/13, ms, ms%4000/10, ms/50%360-180)
	}
	if err := os.WriteFile(track, []byte(play.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if printed, file, _ := strings.Cut(run("--people", track), "\n"); file == alone ||
		!strings.Contains(printed, "and of as many moving by recorded") {
		t.Errorf("with recordings: %q", printed)
	}
}
