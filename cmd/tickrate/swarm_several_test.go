package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/server/metrics"
)

// One swarm plays on several lobbies at once, by their HTTP ports and by their addresses with the
// key, with full decoding and with acks only.
func TestSwarmOnSeveralLobbies(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of real sockets")
	}
	var http, udp []string
	var at []ready
	for range 2 {
		cmd, _, line := serving(t, "--ready", "--map", "gen:24:1", "--players", "24", "--journal", "none")
		var r ready
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		http, udp, at = append(http, "--http", r.HTTP), append(udp, "--server", r.UDP), append(at, r)
		defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	}
	runs := 0
	for i, with := range [][]string{http, udp, append([]string{"--decode", "acks"}, http...)} {
		s := playSwarm(t, append([]string{"--players", "42", "--full", "10", "--arrival", "0.2s",
			"--duration", "0.5s"}, with...)...)
		runs += s.runs
		if s.Players != 42 || s.CPUPerTick <= 0 || len(s.Netgraphs) != 8 ||
			s.TicksPerPlayer <= 0 || s.TicksPerPlayer < 10 && !s.disturbed() {
			t.Errorf("%d: %+v", i, s)
		}
		if s.RunDelay != nil && (s.RunDelay.LateP999 > s.LateP999*1.001 || s.RunDelay.LateP999 <= 0 ||
			s.RunDelay.InBursts > s.RunDelay.Millis || s.RunDelay.LongestMs > s.RunDelay.Millis) {
			t.Errorf("%d: late by %v ms; run delay of the machine %+v", i, s.LateP999, *s.RunDelay)
		}
		for _, g := range s.Netgraphs {
			if g.Snapshots == 0 || g.Down.Rows == 0 {
				t.Errorf("%d: a full player got nothing: %+v", i, g)
			}
		}
		for k := range at { // half of each, whoever was there before
			joined := figures(t, at[k].HTTP).Counts[metrics.Joined.String()]
			if want := uint64(21 * runs); joined != want {
				t.Errorf("%d: lobby %d had %d players, want %d", i, k, joined, want)
			}
			if n := figures(t, at[k].HTTP).Counts[metrics.InputsUsed.String()]; n < uint64(21*(i+1)) ||
				n < uint64(21*10*(i+1)) && !s.disturbed() {
				t.Errorf("%d: lobby %d played %d ticks with commands", i, k, n)
			}
		}
	}
	code, _, errs := result(t, append([]string{"swarm", "--server", at[0].UDP}, http...)...)
	if code != 2 || !strings.Contains(errs, "1 value of --server and 2 values of --http") {
		t.Errorf("code %d, %s", code, errs)
	}
}
