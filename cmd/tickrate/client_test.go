//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The word client is one whole headless player: it predicts, and its link is played in it. Servers are
// listed on this machine with what they play, while they run.
func TestRow12ClientJoinsAListedServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a server, a client, two seconds")
	}
	run := "XDG_RUNTIME_DIR=" + t.TempDir()
	c := command(t, "serve", "--ready", "--map", "arena-16", "--players", "8", "--name", "here \"x\"", "--prefault=false",
		"--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--journal", "none")
	c.Env = append(c.Env, run)
	server, r := readyServer(t, c)
	listed := func() (l localServers) {
		t.Helper()
		q := command(t, "query", "--local", "--json")
		q.Env = append(q.Env, run)
		out, err := q.Output()
		if err == nil {
			err = json.Unmarshal(out, &l)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return l
	}
	if l := listed(); len(l.Servers) != 1 || l.Servers[0].UDP != r.UDP || l.Servers[0].HTTP != r.HTTP ||
		l.Servers[0].Name != `here "x"` || len(l.Servers[0].Lobbies) != 1 || l.Servers[0].Lobbies[0].Map != "arena-16" ||
		l.Servers[0].Lobbies[0].Mode != "deathmatch" || l.Servers[0].Lobbies[0].Slots != 8 || l.Servers[0].Silent {
		t.Errorf("listed %+v", l)
	}
	player := command(t, "client", "--http", r.HTTP, "--duration", "3s", "--warmup", "500ms", "--link", "delay=40ms", "--json",
		"--huge-pages=false")
	var errs strings.Builder
	player.Stderr = &errs
	out, err := player.Output()
	var s swarmSummary
	if bad := json.Unmarshal(out, &s); bad != nil {
		t.Fatalf("%v, %v: %s %s", err, bad, out, &errs)
	}
	if s.Players != 1 || s.Link == nil || s.Link.Profile != "delay=40ms" || s.Link.Down.Sent == 0 || s.Link.Down.Lost != 0 ||
		s.RTTP50 < 80 || s.TicksPerPlayer < 30 {
		t.Errorf("%+v, link %+v", s, s.Link)
	}
	if !strings.Contains(errs.String(), "rtt") {
		t.Errorf("no quality of the connection: %s", &errs)
	}
	for end := time.Now().Add(waitLimit); listed().Servers[0].Lobbies[0].Players > 1; { // of the client that has left
		if time.Now().After(end) {
			t.Fatal("the client does not leave")
		}
	}
	// A server that was stopped is silent; one that was killed is gone, and its entry is removed.
	if err := server.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	entries, err := filepath.Glob(filepath.Join(strings.TrimPrefix(run, "XDG_RUNTIME_DIR="), "tickrate", "*.json"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %q: %v", entries, err)
	}
	text, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	var entry map[string]any
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	entry["updated"] = time.Now().Add(-time.Minute) // in place of a minute's wait
	if text, err = json.Marshal(entry); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entries[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	if l := listed(); len(l.Servers) != 1 || !l.Servers[0].Silent || l.Servers[0].Age < 59 {
		t.Errorf("listed while it is stopped: %+v", l)
	}
	_ = server.Process.Kill()
	_ = server.Wait()
	if l := listed(); len(l.Servers) != 0 || l.Left != 1 {
		t.Errorf("listed after it was killed: %+v", l)
	}
	q := command(t, "query", "--local")
	q.Env = append(q.Env, run)
	if out, err := q.Output(); err != nil || !strings.Contains(string(out), "no server of this user runs here") {
		t.Errorf("%v: %s", err, out)
	}
}
