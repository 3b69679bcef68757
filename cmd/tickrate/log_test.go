package main

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// textRecord is a line of a log in text: its level and its message.
var textRecord = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\S* (INFO|WARN|ERROR) +(\S.*)`)

// Each line of a server's log has its time and level: for people, or as JSON, the addresses that it
// serves included.
func TestLogsHaveTimeAndLevel(t *testing.T) {
	for format, line := range map[string]*regexp.Regexp{
		"text": textRecord,
		"json": nil,
	} {
		cmd := command(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--map", "gen:4:1", "--players", "2",
			"--lobbies", "1:2", "--prefault=false", "--log", format, "--key-file", "new.key", "--console")
		cmd.Env = append(cmd.Env, keyVariable+"=")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		logged := &lockedLog{}
		cmd.Stderr = logged
		out := &lockedLog{}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		at := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/v1/connect`)
		await := func(holds func() bool) {
			t.Helper()
			for end := time.Now().Add(waitLimit); !holds(); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("--log %s: %s%s", format, out.String(), logged.String())
				}
			}
		}
		await(func() bool { return at.MatchString(out.String() + logged.String()) })
		url := "http://" + at.FindStringSubmatch(out.String() + logged.String())[1] + "/v1/lobbies"
		resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		_, _ = io.WriteString(in, "lobbies\n")
		await(func() bool { return strings.Contains(logged.String(), "lobby 1: 0 of 2 players") })
		endsInTime(t, cmd, syscall.SIGTERM)
		levels := map[string]int{}
		for l := range strings.Lines(logged.String()) {
			if strings.HasPrefix(l, "lobby ") && format == "text" {
				continue // an answer to a person
			}
			if line != nil {
				if m := line.FindStringSubmatch(l); m != nil {
					levels[m[1]]++
				} else {
					t.Errorf("--log %s: %q", format, l)
				}
				continue
			}
			var r struct{ Time, Level, Msg string }
			if err := json.Unmarshal([]byte(l), &r); err != nil || r.Time == "" || r.Level == "" || r.Msg == "" {
				t.Errorf("--log %s: %q: %v", format, l, err)
			}
			levels[r.Level]++
		}
		if levels["INFO"] < 2 { // a key made, a lobby made
			t.Errorf("--log %s: %v in\n%s", format, levels, logged.String())
		}
	}
	if code, _, errs := result(t, "serve", "--log", "xml"); code != 2 || !strings.Contains(errs, "expected text or json") {
		t.Errorf("--log xml: %d %q", code, errs)
	}
}
