//go:build linux && !portable

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/clock"
)

// serveArgs are the arguments of a server on free ports of the loopback.
func serveArgs(more ...string) []string {
	return append([]string{"serve", "--ready", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, more...)
}

// needsTwoProcessors skips a benchmark on a machine with one.
func needsTwoProcessors(b *testing.B) {
	b.Helper()
	if len(clock.CPUs()) < 2 {
		b.Skip("one processor: the generator would measure itself")
	}
}

// serverApart starts a server on the first processor, and leaves the others, if there are any, to
// this process until the test ends.
func serverApart(t testing.TB, cmd *exec.Cmd) (r ready) {
	t.Helper()
	all := clock.CPUs()
	own := all
	if len(all) > 1 {
		own = all[:1]
		if err := clock.SetProcessAffinity(all[1:]); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = clock.SetProcessAffinity(all) }) // as it was
	}
	if err := clock.WithAffinity(own, func() error { cmd, r = readyServer(t, cmd); return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	return r
}

// openSwarm opens a swarm until the benchmark ends.
func openSwarm(b *testing.B, cfg swarm.Config) *swarm.Swarm {
	b.Helper()
	s, err := swarm.Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// connectSwarm connects all players of a swarm, which then play for a second: clocks settle.
func connectSwarm(b *testing.B, s *swarm.Swarm, players int) {
	b.Helper()
	if err := runner.Connect(b.Context(), s, players, 0); err != nil {
		b.Fatal(err)
	}
	playFor(b, s, time.Second)
}

func playFor(b *testing.B, s *swarm.Swarm, d time.Duration) {
	b.Helper()
	if err := s.Run(b.Context(), d, nil); err != nil {
		b.Fatal(err)
	}
}

// request sends a request to the HTTP port of a server and decodes the answer into reply, unless
// that is nil. body is JSON.
func (r *ready) request(b *testing.B, method, path, body string, reply any) {
	b.Helper()
	url := "http://" + r.HTTP + path
	req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		b.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if reply == nil {
		return
	}
	if err := json.NewDecoder(resp.Body).Decode(reply); err != nil {
		b.Fatalf("%s %s: %v", method, path, err)
	}
}

// latePart is the share of its passes that a swarm was late for, since its last reset.
func latePart(s *swarm.Swarm) float64 {
	return float64(s.Figures.LatePasses) / float64(max(s.Figures.Passes, 1))
}

// waits returns the run delay of all threads of a process.
func waits(pid int) (sum time.Duration) {
	// The pattern is valid.
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range files {
		var run, wait int64
		if raw, err := os.ReadFile(name); err == nil { // the thread may have ended
			_, _ = fmt.Sscan(string(raw), &run, &wait)
		}
		sum += time.Duration(wait)
	}
	return sum
}
