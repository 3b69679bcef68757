package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// TestRow12OneBinary is row 12 of docs/features.md: one binary is the server, the client, thin
// clients and a preview, by its first argument.
func TestRow12OneBinary(t *testing.T) {
	_, r := readyServer(t, command(t, "serve", "--ready", "--players", "8", "--map",
		"gen:8:3", "--mode", "assault", "--listen", "127.0.0.1:0",
		"--http", "127.0.0.1:0", "--journal", "none"))
	// clients that decode all, thin ones beside one, and those that predict nothing
	for _, decode := range [][]string{{"--full", "4"}, {"--full", "1"}, {"--decode", "acks"}} {
		cmd := command(t, append([]string{"swarm", "--http", r.HTTP, "--players", "4",
			"--duration", "1s", "--json"}, decode...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.Env = append(cmd.Env, keyVariable+"=")
		_ = cmd.Run() // a run may be void
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != exitVoid ||
			!strings.Contains(out.String(), `"players"`) {
			t.Fatalf("swarm %v: code %d\n%s%s", decode, code, &out, &errs)
		}
	}
}

// TestRow12Preview: server and clients in one process end with the same hashes, and the same flags
// give the same match.
func TestRow12Preview(t *testing.T) {
	verdict := regexp.MustCompile(`server [0-9a-f]{16} after tick 1200; ` +
		`[0-9]{4} snapshots of 6 clients compared, [0-9]{5} rows, hash [0-9a-f]{16}: all agree` +
		"\n0 mispredictions, 0 rows")
	var last []string
	for i, args := range []string{"--mode deathmatch", "--mode deathmatch",
		"--mode deathmatch --seed 2", "--mode assault --map town:6:1"} {
		code, out, errs := result(t, strings.Fields("sim preview --players 6 --duration 20s "+args)...)
		found := verdict.FindString(out)
		if code != 0 || found == "" || errs != "" || strings.Count(out, "\n1     bot ") != 3 ||
			strings.Count(out, "\n2     bot ") != 3 {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, errs)
		}
		if assault := strings.Contains(out, "points captured"); assault != (i == 3) {
			t.Errorf("%s:\n%s", args, out)
		}
		last = append(last, found)
	}
	if last[0] != last[1] || last[0] == last[2] || last[0] == last[3] {
		t.Errorf("twice the same flags, and two others: %q", last)
	}
	for args, want := range map[string]string{
		"--players 0": "0 players: expected 1 to 256", "--duration 1ms": "--duration 1ms",
		"--rate 9": "rate 9 Hz", "--loss 1": "--loss 1: expected 0 to 0.5",
		"--delay -1ms": "--delay -1ms", "--map nowhere": "nowhere",
		"--mode chess": "only assault, deathmatch",
	} {
		if code, _, errs := result(t, strings.Fields("sim preview "+args)...); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}
