package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
	"time"
)

// waitLimit bounds every wait for a process: a busy machine may stall for seconds.
const waitLimit = 30 * time.Second

// busyLines matches what a server logs when the machine kept it from running.
var busyLines = regexp.MustCompile(`(?m)^\S+ WARN  (stalled \d+ ms, skipped \d+ ticks?|load level changed ).*\n`)

// lateRepeats matches what a server logs when repeats of a disconnect come seconds after the first.
var lateRepeats = regexp.MustCompile(`(?m)^\S+ WARN  refused: .* \[drop_unknown\].*\n`)

// unexpected returns what a server logged without the lines of a busy machine.
func unexpected(log string) string {
	if !busyLines.MatchString(log) {
		return log
	}
	return lateRepeats.ReplaceAllString(busyLines.ReplaceAllString(log, ""), "")
}

// stopwatch measures elapsed time without the stalls of the machine.
type stopwatch struct {
	began   time.Time
	stop    chan struct{}
	stalled chan time.Duration
}

// startWatch starts a stopwatch; took stops it.
func startWatch() *stopwatch {
	w := &stopwatch{time.Now(), make(chan struct{}), make(chan time.Duration)}
	go func() {
		const nap, stall = 5 * time.Millisecond, 50 * time.Millisecond
		sum, last := time.Duration(0), time.Now()
		for {
			select {
			case <-w.stop:
				w.stalled <- sum
				return
			case <-time.After(nap):
			}
			now := time.Now()
			if d := now.Sub(last); d > stall {
				sum += d
			}
			last = now
		}
	}()
	return w
}

// took stops the watch and returns the elapsed time without the stalls.
func (w *stopwatch) took() time.Duration {
	all := time.Since(w.began)
	close(w.stop)
	return all - <-w.stalled
}

// endsInTime signals a server and checks that it ends with exit code 0 within two seconds.
func endsInTime(t *testing.T, cmd *exec.Cmd, sig os.Signal) {
	t.Helper()
	watch := startWatch()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if took := watch.took(); err != nil || took > 2*time.Second {
		t.Errorf("%v: %v after %v", sig, err, took)
	}
}

// played is the result of a swarm.
type played struct {
	swarmSummary
	out  string // standard output
	errs string // standard error
	runs int    // until one was undisturbed
}

// disturbed reports whether the machine kept the swarm or the server from its schedule: only
// figures that do not depend on time are valid then.
func (s *swarmSummary) disturbed() bool {
	return s.Void != "" || slices.ContainsFunc(s.Netgraphs,
		func(g netgraphFigures) bool { return g.InputsMissing > 0 })
}

// mispredicted reports whether players were mispredicted although the server lacked no input of
// those that have a netgraph. That does not depend on time.
func (s *swarmSummary) mispredicted() bool {
	return s.Mispredictions != 0 && !slices.ContainsFunc(s.Netgraphs,
		func(g netgraphFigures) bool { return g.InputsMissing > 0 })
}

// playSwarm runs swarm --json with args, again if the machine disturbed it. Its last run counts.
func playSwarm(t *testing.T, args ...string) (p played) {
	t.Helper()
	for p.runs < 5 {
		code, out, errs := result(t, append([]string{"swarm", "--json"}, args...)...)
		p = played{out: out, errs: errs, runs: p.runs + 1}
		if err := json.Unmarshal([]byte(out), &p.swarmSummary); err != nil ||
			code != 0 && code != exitVoid || (code == exitVoid) != (p.Void != "") {
			t.Fatalf("swarm: code %d, %v, %q\n%s", code, err, errs, out)
		}
		if !p.disturbed() {
			return p
		}
	}
	t.Logf("the machine disturbed %d runs: void %q", p.runs, p.Void)
	return p
}
