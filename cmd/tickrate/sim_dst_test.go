package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/dst"
	"github.com/tickrate/tickrate/bench/dst/mutation"
)

// dst exits with 0 and one line without a violation. Cases that cannot be played are errors of
// use.
func TestDSTUse(t *testing.T) {
	code, out, errs := result(t, "sim", "dst", "--seed", "3", "--until", "2s")
	if code != 0 ||
		!regexp.MustCompile(
			`^--seed 3 --until 2s: no violation, final state [0-9a-f]{16}, \d+ x real time\n$`).MatchString(
			out) || errs != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	code, out, _ = result(t, "sim", "dst", "--seed", "3", "--list")
	first, _, _ := strings.Cut(out, "\n")
	if code != 0 || !strings.HasPrefix(first, "0\t") || strings.Count(out, "\n") < 5 {
		t.Errorf("exit code %d, %q", code, out)
	}
	if _, less, _ := result(t, "sim", "dst", "--seed", "3", "--list", "--without",
		"0-2"); strings.Count(less, "\n") != strings.Count(out, "\n")-3 {
		t.Errorf("without three of them: %q", less)
	}
	for i, c := range []struct {
		flags string
		names string // on the one line
	}{
		{"--seed x", `"x"`},
		{"--seed 3 --until 2h", "until 2h0m0s: expected 0 to 1m0s"},
		{"--seed 3 --until -1s", "until -1s"},
		{"--seed 3 --clients 99", "99 clients: expected 1 to"},
		{"--seed 3 --without 3-1", `--without: "3-1"`},
		{"--seed 3 --without 5000", "fault 5000: expected 0 to"},
		{"--seed 3 --seeds 1..2", "--seed, --seeds, --random and --for"},
		{"--seeds 1..2 --for 1s", "--seed, --seeds, --random and --for"},
		{"--random 3 --for 1s", "--seed, --seeds, --random and --for"},
		{"--random 0", "--random 0: expected at least 1"},
		{"--for 0s", "--for 0s: expected a positive duration"},
		{"--seeds 1..2 --base 4", "--base needs --random or --for"},
		{"--base 4", "--base needs --random or --for"},
		{"--until 1s", "need --seed"},
		{"--random 2 --lobbies 6", "--lobbies 6: expected 1 to 5"},
		{"--seeds 2..1", `--seeds "2..1": expected A..B`},
		{"--seeds 7", `--seeds "7": expected A..B`},
		{"--seeds 1..2 --until 1s", "need --seed"},
		{"--seed 3 more", "more"},
		{"--for=-5s", "--for -5s: expected a positive duration"},
		{"--seed 3 --shrink -1", "--shrink -1: expected 0 or more"},
		{"--sed 3", "--sed"},
	} {
		code, out, errs := result(t, append([]string{"sim", "dst"}, strings.Fields(c.flags)...)...)
		if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.names) {
			t.Errorf("%d: dst %s: exit code %d, %q, %q", i, c.flags, code, out, errs)
		}
	}
}

// Without flags dst plays one seed, another each time.
func TestDSTDrawsASeed(t *testing.T) {
	if testing.Short() {
		t.Skip("plays two virtual minutes")
	}
	says := regexp.MustCompile(`^--seed (\d+): no violation, final state [0-9a-f]{16}, \d+ x real time\n$`)
	var seeds [2]string
	for i := range seeds {
		code, out, errs := result(t, "sim", "dst")
		found := says.FindStringSubmatch(out)
		if code != 0 || found == nil || errs != "" {
			t.Fatalf("exit code %d, %q, %q", code, out, errs)
		}
		seeds[i] = found[1]
	}
	if seeds[0] == seeds[1] {
		t.Errorf("twice seed %s", seeds[0])
	}
}

// Many seeds are counted, with the time that their lobbies played. One base draws the same seeds again.
func TestDSTMany(t *testing.T) {
	if testing.Short() {
		t.Skip("plays two virtual minutes")
	}
	const rest = ` in \S+, 0\.03 lobby-hours, \d+ x real time, 0 with violations\n$`
	says := regexp.MustCompile(`^2 seeds from 1 on` + rest)
	if code, out, errs := result(t, "sim", "dst", "--seeds", "1..2"); code != 0 ||
		out != "" || !says.MatchString(errs) {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	base := "1"
	for ; ; base += "1" { // of two seeds without a host
		if draw := dst.Seeds(number(t, base)); draw()%4 != 3 && draw()%4 != 3 {
			break
		}
	}
	says = regexp.MustCompile(`^seeds are drawn with --base ` + base + `\n2 seeds drawn with --base ` + base + rest)
	if code, out, errs := result(t, "sim", "dst", "--random", "2", "--base", base); code != 0 ||
		out != "" || !says.MatchString(errs) {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// again matches the command that repeats a violation.
var again = regexp.MustCompile(
	`(?m)^\ttickrate sim dst (--seed \d+( --until \S+)?( --clients \d+)?( --without \S+)?)$`)

// With a bug in the server, dst exits with 1 and prints a smaller case as one command. That
// command violates the same invariant at the same instant, and nothing before.
func TestDSTViolation(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	bin := filepath.Join(t.TempDir(), "tickrate")
	overlay, err := mutation.WriteOverlay("../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay,
		"-buildvcs=false", "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	play := func(flags string) (code int, out, errs string) {
		c := exec.CommandContext(t.Context(), bin,
			append([]string{"sim", "dst"}, strings.Fields(flags)...)...)
		c.Env = append(os.Environ(), mutation.Variable+"="+mutation.ChallengeTwice.String())
		var o, e bytes.Buffer
		c.Stdout, c.Stderr = &o, &e
		if err := c.Run(); err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), o.String(), e.String()
	}
	code, out, errs := play("--seed 1")
	line := again.FindStringSubmatch(errs)
	if code != 1 || out != "" || line == nil || !strings.Contains(errs, "invariant 10 amplification, at ") {
		t.Fatalf("exit code %d, %q, %q", code, out, errs)
	}
	if !strings.Contains(line[1], "--until") || !strings.Contains(line[1], "--clients 1 ") ||
		!strings.Contains(line[1], "--without 0-") {
		t.Errorf("it was not made smaller: %q", line[1])
	}
	if code, _, same := play(line[1]); code != 1 || same != errs {
		t.Errorf("played again: exit code %d, %q instead of %q", code, same, errs)
	}
	_, at, _ := strings.Cut(errs, ", at ")
	at, _, _ = strings.Cut(at, ":")
	instant, err := time.ParseDuration(at)
	if err != nil {
		t.Fatal(err)
	}
	before := line[1] + " --until " + (instant - 17*time.Millisecond).String()
	if code, out, errs := play(before); code != 0 || !strings.Contains(out, "no violation") {
		t.Errorf("%s: exit code %d, %q", before, code, errs)
	}
	if code, out, errs := play("--seeds 1..2"); code != 1 || len(again.FindAllString(out, -1)) != 2 ||
		!strings.Contains(errs, "2 of 2 seeds violate an invariant") {
		t.Errorf("of many: exit code %d, %q, %q", code, out, errs)
	}
}
