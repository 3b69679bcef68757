package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// A server changes its map over HTTP while a swarm plays. All clients follow and fetch what they
// lack. A missing map, or a file outside the folder, is refused with a reason.
func TestServeChangesItsMap(t *testing.T) {
	if testing.Short() {
		t.Skip("real sockets")
	}
	cmd, errs, line := serving(t, "--ready", "--map", "arena-16", "--players",
		"8", "--spectators", "1", "--rate", "60", "--snapshot-rate", "20", "--max-steps", "4")
	var r ready
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if s := figures(t, r.HTTP); s.Phase != "" && s.Phase != "idle" || s.Interval != 3 {
		t.Errorf("%+v", s)
	}
	swarm := command(t, "swarm", "--http", r.HTTP, "--players", "5", "--duration", "0", "--json")
	var out, stderr bytes.Buffer
	swarm.Stdout, swarm.Stderr = &out, &stderr
	if err := swarm.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func(metrics.Report) bool) {
		t.Helper()
		for end := time.Now().Add(waitLimit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if ok(figures(t, r.HTTP)) {
				return
			}
		}
		t.Errorf("not within %v: %s: %+v", waitLimit, what, figures(t, r.HTTP))
	}
	until("all play", func(s metrics.Report) bool { return s.Players == 5 && s.Phase == "active" })
	for i, c := range []struct{ line, want string }{
		{"map /etc/passwd", `"output":["loading deathmatch on /etc/passwd`},
		{"map ../arena", `"output":["loading`},
		{"mode football", `"output":["loading football on arena-16`},
	} {
		if got := console(t, r.HTTP, c.line); !strings.Contains(got, c.want) {
			t.Errorf("%d: %s", i, got)
		}
		until("refused", func(s metrics.Report) bool { return s.Counts["map_changes_failed"] == uint64(i+1) })
	}
	if got := console(t, r.HTTP, "status"); !strings.Contains(got,
		"the last change of the map failed: football on arena-16: pack") {
		t.Errorf("status: %s", got)
	}
	if got := console(t, r.HTTP, "map gen:24:9"); !strings.Contains(got, "loading deathmatch on gen:24:9") {
		t.Error(got)
	}
	until("on the new map", func(s metrics.Report) bool {
		return s.Map == "gen:24:9" && s.Phase == "active" && s.Counts["map_changes"] == 1
	})
	time.Sleep(time.Second) // play there
	if err := swarm.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = swarm.Wait() // a run may be void
	var s swarmSummary
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || s.Players != 5 ||
		s.mispredicted() {
		t.Errorf("the swarm: %v: %s%s", err, &out, &stderr)
	}
	f := figures(t, r.HTTP)
	if f.Counts["joined"] != 5 || f.Counts["disconnected"] != 0 ||
		f.Counts["timed_out"] != 0 || f.LoadLevels["normal"] == 0 {
		t.Errorf("%+v", f)
	}
	until("nobody", func(s metrics.Report) bool { return s.Phase == "idle" && s.Counts["ticks_slept"] > 0 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil ||
		!strings.Contains(errs.String(), "map is now gen:24:9, deathmatch") ||
		!strings.Contains(errs.String(),
			"map stays: deathmatch on /etc/passwd: map /etc/passwd: expected a name") {
		t.Errorf("%v, %s", err, errs.String())
	}
}

func figures(t *testing.T, addr string) (r metrics.Report) {
	t.Helper()
	resp, err := http.Get("http://" + addr + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func console(t *testing.T, addr, line string) string {
	t.Helper()
	resp, err := http.Post("http://"+addr+"/v1/console", "text/plain", strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, _ := io.ReadAll(resp.Body)
	return string(out)
}

// Invalid flags are refused before anything is opened.
func TestLifecycleFlags(t *testing.T) {
	for i, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--snapshot-rate", "20", "--send-interval", "3"}, "exclude each other"},
		{[]string{"--snapshot-rate", "61"}, "61 snapshots a second at 60 Hz: expected 3, 4, 5"},
		{[]string{"--max-steps", "17"}, "17 steps a frame: expected 1 to 16"},
		{[]string{"--max-batch", "5"}, "batches of 5 steps: expected 1 to 4"},
		{[]string{"--spectators", "-1"}, "-1 spectators beside 64 players"},
		{[]string{"--rotate", "nowhere"}, "arena nowhere: no such file"},
		{[]string{"--rotate", "/etc/passwd"}, "expected a name, or a file below"},
		{[]string{"--rotate", "arena-64=football"}, `no mode "football"`},
	} {
		if code, _, errs := result(t, append([]string{"serve", "--http", "", "--listen", "127.0.0.1:0"},
			c.args...)...); code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%d: %d, %q", i, code, errs)
		}
	}
}
