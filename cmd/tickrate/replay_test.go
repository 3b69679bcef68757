package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// recorded returns half a minute of a lobby of eight, as a file and its content.
func recorded(t *testing.T) (path string, file []byte) {
	t.Helper()
	move, err := assets.Bots(nil, 4)
	if err != nil {
		t.Fatal(err)
	}
	pack := replay.NewPacker()
	match := simulatedMatch{arena: "arena-16", players: 8, seed: 4, length: 30 * time.Second, bots: move}
	if err := match.record(t.Context(), func(f server.RecordingChunk) {
		if f.First && file == nil {
			file = f.Head.Append(nil)
		}
		file = pack.Append(file, f.Chunk)
	}); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "a.tkr")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, file
}

// replay prints the kills and scores of a recorded lobby. A truncated file is played up to its
// end, and one of another map is refused.
func TestReplayCommand(t *testing.T) {
	path, file := recorded(t)
	out, err := output(t, "replay", path)
	if err != nil || !strings.Contains(out, "deathmatch on arena-16, 60 Hz") ||
		!strings.Contains(out, " killed ") || !strings.Contains(out, " shots hit, snap ") ||
		!strings.Contains(out, "checksums equal: the same match\n") {
		t.Fatalf("%v: %s", err, out)
	}
	out, err = output(t, "replay", path, "--json", "--from", "300", "--to", "500")
	var got playback.Result
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || !got.Same ||
		got.From != 300 || got.To != 500 || len(got.Players) != 8 {
		t.Fatalf("%v: %+v", err, got)
	}
	for _, none := range [][]string{{"--from", "100000"}, {"--from", "100000", "--json"},
		{"--from", "1801", "--to", "1900"}} {
		code, out, errs := result(t, append([]string{"replay", path}, none...)...)
		if code != 2 || out != "" || !strings.Contains(errs, "has ticks 1 to 1800: expected some of them, not --from 1") {
			t.Errorf("%v: %d %q %q", none, code, out, errs)
		}
	}
	for n, want := range map[string]string{"1800": "", "1801": "--tick 1801: ", "99999": "ends with tick 18"} {
		if _, err := output(t, "inspect", "world", path, "--tick", n); want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("tick %s: %v, want %q", n, err, want)
		}
	}
	out, err = output(t, "inspect", "prediction", path)
	if err != nil || !strings.HasPrefix(out, "No prediction differed from the server's state.\n8 players, ") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = output(t, "replay", path, "--json")
	whole := playback.Result{}
	if err != nil || json.Unmarshal([]byte(out), &whole) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if rounds, some := rounds(whole.Players), rounds(got.Players); rounds == 0 || some >= rounds {
		t.Errorf("%d rounds of who hit somebody in all ticks, %d in 200 of them", rounds, some)
	}
	for _, p := range whole.Players {
		if a := p.Aim; a != nil && (a.Hits == 0 || a.Hits > a.Rounds || a.Snap > 180 ||
			a.Reaction > 500 || a.OnTarget != float32(a.Hits)/float32(a.Rounds)) {
			t.Errorf("%s aims as %+v", p.ID, *a)
		}
	}
	if err := os.WriteFile(path, file[:len(file)-50], 0o644); err != nil {
		t.Fatal(err)
	}
	out, err = output(t, "replay", path, "--check")
	if err == nil || !strings.Contains(err.Error(), "ends at byte") ||
		!strings.Contains(out, "the same match up to the error") {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err = output(t, "replay", path, "--map", "arena-64"); err == nil ||
		!strings.Contains(err.Error(), "map arena-16 has hash") {
		t.Fatal(err)
	}
	if _, err = output(t, "replay"); err == nil {
		t.Fatal("no file is no error")
	}
}

// replay --at plays one tick many times, with the same outcome, and profiles it.
func TestReplayOneTick(t *testing.T) {
	path, _ := recorded(t)
	profile := filepath.Join(t.TempDir(), "tick.pprof")
	out, err := output(t, "replay", path, "--at", "333", "--times", "20", "--profile", profile)
	if err != nil || !strings.Contains(out, "tick 333 with 8 players, played 20 times") ||
		!strings.Contains(out, "-tagfocus tick=333 "+profile) {
		t.Fatalf("%v: %s", err, out)
	}
	if raw, err := os.ReadFile(profile); err != nil || len(raw) == 0 {
		t.Errorf("profile of %d bytes: %v", len(raw), err)
	}
	for _, at := range []string{"1", "333", "1800"} { // the first and the last of the recording, too
		out, err = output(t, "replay", path, "--at", at, "--times", "3", "--json")
		var got playback.Repeated
		if err != nil || json.Unmarshal([]byte(out), &got) != nil || fmt.Sprint(got.Tick) != at || got.Times != 3 ||
			len(got.Systems) != len(sim.Systems()) || got.Total.Median <= 0 {
			t.Errorf("%v: %s", err, out)
		}
	}
	for args, want := range map[string]string{
		"--at 99999":        "the recording ends before it",
		"--profile x":       "expected a tick with --at",
		"--at 5 --to 7":     "leave out --from, --to",
		"--at 5 --times -1": "--times -1",
	} {
		if _, err := output(t, append([]string{"replay", path}, strings.Fields(args)...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// rounds sums the rounds fired by players that hit somebody.
func rounds(of []playback.PlayerScore) (n uint32) {
	for _, p := range of {
		if p.Aim != nil {
			n += p.Aim.Rounds
		}
	}
	return n
}

// output runs a command line and returns what it printed.
func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}
