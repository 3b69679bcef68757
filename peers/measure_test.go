//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*math.Abs(b)+1e-12 }

func TestFromSwarm(t *testing.T) {
	s := side{tick: 60, snapshots: 20}
	const fine = `{"players":3,"kbps_down_per_client":16,"netgraphs":[{"elapsed_ms":4000,"snapshots":80},{"elapsed_ms":4000,"snapshots":40}]}`
	f := figures{}
	if err := f.fromSwarm([]byte(fine), s, 3); err != nil || f.Void != "" {
		t.Fatalf("%v, void %q", err, f.Void)
	}
	// 15 snapshots a second to a player, 2000 bytes in these, two other players in each.
	if !near(f.Snapshots, 45) || !near(f.Arrived, 0.75) || !near(f.Players, 2) || !near(f.PlayerBytes, 2000.0/15/2) || f.Deltas != 1 {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct{ name, text, before, want string }{
		{"late", `{"players":3,"void":"the swarm was late","netgraphs":[{"elapsed_ms":1,"snapshots":1}]}`, "", "the swarm was late"},
		{"late, by its exit code", `{"players":3,"void":"the swarm was late"}`, "exit status 4", "the swarm was late"},
		{"exit code alone", fine, "exit status 1: 2 players refused", "exit status 1: 2 players refused"},
		{"player lost", strings.Replace(fine, `"players":3`, `"players":2`, 1), "", "2 players, expected 3"},
		{"no netgraph", `{"players":3}`, "", "no snapshots"},
		{"no time", `{"players":3,"netgraphs":[{"elapsed_ms":0,"snapshots":5}]}`, "", "no snapshots"},
		{"killed", "", "signal: killed", "signal: killed"},
	} {
		f := figures{Void: c.before}
		if err := f.fromSwarm([]byte(c.text), s, 3); err != nil || !strings.Contains(f.Void, c.want) {
			t.Errorf("%s: %v, void %q", c.name, err, f.Void)
		}
		for _, v := range []float64{f.Snapshots, f.Arrived, f.PlayerBytes} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
	}
	if err := new(figures).fromSwarm([]byte("no json"), s, 3); err == nil {
		t.Error("a swarm that ended well and said nothing has no error")
	}
}

func TestFromCrowd(t *testing.T) {
	s := side{snapshots: 25}
	fine := crowd.Stats{Snapshots: 190, Deltas: 95, Players: 190, Bytes: 1900, Updates: 400, Late: 4}
	f := figures{}
	f.fromCrowd(fine, 2, 4*time.Second, s, 2)
	if f.Void != "" || !near(f.Snapshots, 47.5) || !near(f.Arrived, 0.95) || f.Players != 1 || f.PlayerBytes != 10 || f.Deltas != 0.5 {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct {
		name, want string
		change     func(*crowd.Stats) (playing int)
	}{
		{"late", "did not keep their schedule", func(s *crowd.Stats) int { s.Late = 5; return 2 }},
		{"lost", "1 of 2 clients were lost", func(*crowd.Stats) int { return 1 }},
		{"unreadable", "3 messages", func(s *crowd.Stats) int { s.Errors, s.LastError = 3, errors.New("bad"); return 2 }},
		{"silent", "no snapshot", func(s *crowd.Stats) int { s.Snapshots, s.Players = 0, 0; return 0 }},
		{"alone", "no snapshot with other players", func(s *crowd.Stats) int { s.Players = 0; return 2 }},
		{"idle", "sent nothing", func(s *crowd.Stats) int { s.Updates, s.Late = 0, 0; return 2 }},
	} {
		got, f := fine, figures{}
		playing := c.change(&got)
		f.fromCrowd(got, playing, 4*time.Second, s, 2)
		if !strings.Contains(f.Void, c.want) || math.IsNaN(f.PlayerBytes) || math.IsInf(f.PlayerBytes, 0) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// A program's exit code, the end of its output and its CPU time are known; waiting for one that has
// ended does not take the whole time.
func TestProcess(t *testing.T) {
	p, err := launch([]string{"/bin/sh", "-c", "echo first; echo last >&2; exit 4"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if p.err == nil || p.err.Error() != "exit status 4" || !p.ended() || p.said() != "first; last" {
		t.Errorf("%v, ended %v, said %q", p.err, p.ended(), p.said())
	}
	err = wait(t.Context(), p, func() (bool, error) { return false, fmt.Errorf("0 of 2 clients play") })
	if err == nil || err.Error() != "0 of 2 clients play; the server said: first; last" {
		t.Errorf("wait: %v", err)
	}
	if _, _, err := p.cpu(); err == nil {
		t.Error("a program that has ended has threads")
	}
	p.stop()

	if p, err = launch([]string{"/bin/sh", "-c", "while :; do :; done"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		ran, _, err := p.cpu()
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("ran for %v, %v", ran, err)
		}
		if ran > 20*time.Millisecond {
			break
		}
	}
	if rss, err := p.rss(); err != nil || rss < 1<<16 {
		t.Errorf("%d bytes resident, %v", rss, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx, p, func() (bool, error) { return false, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A tail keeps the newest bytes alone.
func TestTail(t *testing.T) {
	out := &tail{}
	for range 100 {
		_, _ = out.Write([]byte(strings.Repeat("x", 999) + "\n"))
	}
	_, _ = out.Write([]byte("end\n"))
	if len(out.data) > 4096 || !strings.HasSuffix(string(out.data), "\nend\n") {
		t.Errorf("%d bytes", len(out.data))
	}
}
