package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A plan plays its steps with two agents, processes of their own; its report has both of them.
func TestPlanWithAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of real sockets")
	}
	dir := t.TempDir()
	key, out := filepath.Join(dir, "fleet.key"), filepath.Join(dir, "report")
	if err := os.WriteFile(key, []byte(strings.Repeat("5a", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, append(tiny(out, 5), "--agents", "2", "--nats-listen", "127.0.0.1:0", "--fleet-key", key)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	logs := map[string]*lockedLog{}
	var stops []func()
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		at := regexp.MustCompile(`nats://\S+`).FindString(lines.Text())
		if at == "" {
			continue
		}
		for name, format := range map[string]string{"left": "text", "right": "json"} {
			a := command(t, "swarm", "agent", "--nats", at, "--fleet-key", key, "--name", name, "--log", format)
			logs[format] = &lockedLog{}
			a.Stderr = logs[format]
			if err := a.Start(); err != nil {
				t.Fatal(err)
			}
			stop := sync.OnceFunc(func() { _ = a.Process.Signal(os.Interrupt); _ = a.Wait() })
			stops = append(stops, stop)
			defer stop()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	for _, stop := range stops {
		stop()
	}
	checkAgentLogs(t, logs)
	// On a busy machine a step is void, and the search goes on below it.
	first := field[[]any](t, readPlan(t, out), "steps")[0]
	players, agents := 0.0, field[[]any](t, first, "agents")
	for _, a := range agents {
		players += field[float64](t, a, "players")
	}
	if len(agents) != 2 || players != 5 {
		t.Errorf("%d agents with %v players\n%s", len(agents), players, text.String())
	}
	for _, path := range []string{"tick_cpu_ms.p99", "kbps_down_per_client", "rtt_ms.p99", "snapshot_age_ms.p99"} {
		if v := field[float64](t, first, path); v <= 0 {
			t.Errorf("%s is %v\n%s", path, v, text.String())
		}
	}
}

// An agent's log has a record when it waits, and when its players connect and leave.
func checkAgentLogs(t *testing.T, logs map[string]*lockedLog) {
	t.Helper()
	messages := []string{"agent: waits for a plan", "agent: players connect", "agent: players leave"}
	for format, log := range logs {
		seen := map[string]bool{}
		for line := range strings.Lines(log.String()) {
			var r struct{ Time, Level, Msg string }
			if format == "text" {
				m := textRecord.FindStringSubmatch(line)
				if m == nil {
					t.Errorf("%q is no record", line)
					continue
				}
				r.Msg = m[2]
			} else if err := json.Unmarshal([]byte(line), &r); err != nil || r.Time == "" || r.Level == "" {
				t.Errorf("%q is no record: %v", line, err)
			}
			for _, m := range messages {
				seen[m] = seen[m] || strings.HasPrefix(r.Msg, m)
			}
		}
		for _, m := range messages {
			if !seen[m] {
				t.Errorf("--log %s: no %q in\n%s", format, m, log.String())
			}
		}
	}
}

func TestPlanAgentsFlags(t *testing.T) {
	for i, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--agents", "2"}, "--fleet-key"},
		{[]string{"--agents", "-1"}, "--agents -1"},
		{[]string{"--agents", "2", "--agents-wait", "0s"}, "--agents-wait 0s"},
		{[]string{"--agents", "2", "--trace", "x.csv"}, "trace"},
	} {
		code, _, errs := result(t, append([]string{"plan", "--out", t.TempDir()}, c.args...)...)
		if code != 2 && code != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%d: code %d, %s; want %q", i, code, errs, c.want)
		}
	}
	code, _, errs := result(t, "swarm", "agent", "--name", "a.b", "--fleet-key", "x")
	if code != 2 || !strings.Contains(errs, `--name "a.b"`) {
		t.Errorf("code %d, %s", code, errs)
	}
}
