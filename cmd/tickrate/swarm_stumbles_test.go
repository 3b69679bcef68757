package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// What a new user of swarm trips over: a full lobby, another rate than the server's, spectators, and
// a flag with its value after a space.
func TestSwarmOnAFullLobby(t *testing.T) {
	if testing.Short() {
		t.Skip("processes")
	}
	cmd, r := readyServer(t, keyless(t, nil, "serve", "--ready", "--players", "3", "--spectators", "2",
		"--map", "gen:16:1", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--private-key-hex", secretKey,
		"--journal", filepath.Join(t.TempDir(), "a.tokens")))
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}()
	swarm := func(args string) (int, swarmSummary, string) {
		code, out, errs := result(t, append([]string{"swarm", "--json", "--duration", "500ms", "--warmup", "0s",
			"--http", r.HTTP}, strings.Fields(args)...)...)
		var s swarmSummary
		if out != "" {
			if err := json.Unmarshal([]byte(out), &s); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
		}
		return code, s, errs
	}
	code, s, errs := swarm("--players 5")
	whole := 4 // players that decode all: the first four, without those of them that are refused
	for n := range whole {
		if strings.Contains(errs, fmt.Sprintf("player %d was refused: ", n)) {
			whole--
		}
	}
	if code != exitFailed && code != exitVoid || s.Players != 3 || s.TicksPerPlayer < 10 || len(s.Netgraphs) != 3 ||
		s.Bytes.Clients != whole || !strings.Contains(errs, " was refused: ") ||
		!strings.Contains(errs, "2 players refused, the figures are of the others: ") {
		t.Errorf("two players too many: code %d, %+v, %s", code, s, errs)
	}
	code, s, errs = swarm("--players 2 --spectators 2 --netgraph 1")
	if perSecond := 1000 * s.TicksPerPlayer / s.Elapsed; code != 0 && code != exitVoid || s.Players != 2 || s.Spectators != 2 ||
		math.Abs(perSecond-60) > 6 && s.Void == "" {
		t.Errorf("with spectators: code %d, %v ticks a second, %+v, %s", code, perSecond, s, errs)
	}
	if code, _, errs = swarm("--players 1 --rate 30"); code != exitUsage ||
		!strings.Contains(errs, "--rate 30: the server plays 60 ticks a second") {
		t.Errorf("another rate: code %d, %s", code, errs)
	}
	if code, s, errs = swarm("--players 1 --rate 60"); code != 0 && code != exitVoid || s.Players != 1 {
		t.Errorf("the server's rate: code %d, %s", code, errs)
	}
}
