package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/server/httpapi"
)

// shots runs inspect shots in this process.
func shots(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newInspectShots())
	root.SetOut(&out)
	root.SetArgs(append([]string{"shots"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func shotRecordsOf(t *testing.T, text string) (all []lagcomp.ShotRecord) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var r lagcomp.ShotRecord
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		r.Nanos = 0
		all = append(all, r)
	}
	return all
}

// A simulated match has the same shot records each time, filtered and drawn.
func TestInspectShotsOfAPreview(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "shot.svg")
	text, err := shots(t, "preview", "--json", "--last", "0")
	if err != nil {
		t.Fatal(err)
	}
	all := shotRecordsOf(t, text)
	hit := func(r lagcomp.ShotRecord) bool { return r.Verdict == lagcomp.HitPlayer }
	first := slices.IndexFunc(all, hit)
	if len(all) < 50 || first < 0 {
		t.Fatalf("%d shots", len(all))
	}
	who := all[first]
	text, err = shots(t, "preview", "--json", "--last", "0", "--verdict", "hit",
		"--shooter", inspect.ShotName(who.Shooter), "--svg", svg)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(slices.Clone(all), func(r lagcomp.ShotRecord) bool {
		return !hit(r) || r.Shooter != who.Shooter
	})
	if got := shotRecordsOf(t, text); !slices.Equal(got, want) {
		t.Errorf("%d hits of %s, want %d", len(got), inspect.ShotName(who.Shooter), len(want))
	}
	if drawn, err := os.ReadFile(svg); err != nil || !bytes.HasPrefix(drawn, []byte("<svg ")) ||
		!bytes.Contains(drawn, []byte(inspect.ShotName(who.Shooter)+" hit ")) {
		t.Errorf("%v %.200s", err, drawn)
	}
	table, err := shots(t, "preview", "--last", "3")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(table, "\n"); len(lines) != 7 ||
		!strings.HasPrefix(lines[0], "shot  tick") || !strings.HasPrefix(lines[5], "3 of ") {
		t.Errorf("%q", table)
	}
}

// A server is asked with its secret, and its refusal is printed.
func TestInspectShotsOfAServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/shots" || r.Header.Get("Authorization") != "Bearer s" {
			http.Error(w, "not for you", http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(httpapi.ShotList{Rate: 60, Count: 9,
			Shots: []lagcomp.ShotRecord{{Number: 8, Tick: 3},
				{Number: 9, Tick: 4, Verdict: lagcomp.HitWall}}})
	}))
	defer s.Close()
	text, err := shots(t, s.URL, "--http-token", "s", "--verdict", "wall")
	if err != nil || !strings.Contains(text, "1 of 9 shots fired are shown") ||
		!strings.Contains(text, "wall") {
		t.Errorf("%v %s", err, text)
	}
	if _, err := shots(t, s.URL); err == nil || !strings.Contains(err.Error(), "not for you") {
		t.Errorf("without the secret: %v", err)
	}
}

func TestInspectShotsBadUse(t *testing.T) {
	for _, args := range [][]string{
		{"a", "b"}, {"--verdict", "grazed"}, {"--clamp", "x"}, {"--shooter", "x.1"},
		{"--shooter", "1.300"}, {"--shooter", "16777216.1"}, {"--from", "5", "--to", "4"},
		{"--last", "-1"}, {"no-such-file"}, {"preview", "--players", "0"},
	} {
		if _, err := shots(t, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// A recording has shot records: of a part the same as of the whole, and of a damaged one those
// before the damage.
func TestInspectShotsOfARecording(t *testing.T) {
	path, file := recorded(t)
	text, err := shots(t, path, "--json", "--last", "0")
	if err != nil {
		t.Fatal(err)
	}
	all := shotRecordsOf(t, text)
	hits := 0
	for i := range all {
		if all[i].Verdict == lagcomp.HitPlayer {
			hits++
		}
		if r := &all[i]; r.Number != uint64(i+1) ||
			r.ClampReason == lagcomp.ClampNone && r.Subject != 0 && r.Seen != r.Rewound {
			t.Fatalf("%+v", *r)
		}
	}
	if hits < 10 || len(all) < 100 {
		t.Fatalf("%d hits of %d shots", hits, len(all))
	}
	middle := all[len(all)/2].Tick
	text, err = shots(t, path, "--json", "--last", "0", "--to", strconv.Itoa(int(middle)))
	if got := shotRecordsOf(t, text); err != nil || !slices.Equal(got, all[:len(got)]) ||
		len(got) == len(all) || got[len(got)-1].Tick != middle {
		t.Errorf("%v: %d shots until tick %d, of %d", err, len(got), middle, len(all))
	}
	if err := os.WriteFile(path, file[:len(file)-50], 0o644); err != nil {
		t.Fatal(err)
	}
	text, err = shots(t, path, "--json", "--last", "0")
	if got := shotRecordsOf(t, text); err == nil || len(got) == 0 || !slices.Equal(got, all[:len(got)]) {
		t.Errorf("a damaged file: %v, %d shots", err, len(got))
	}
}
