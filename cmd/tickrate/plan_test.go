package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallLevel is a service level that holds for a few players on a busy machine too: it has no elapsed
// time. p50 of a tick of four players was 0.1 ms of 1.67, and a client got 11 kbit/s.
const smallLevel = "p50(cpu) < 0.1*period && kbps(down) > 4 && kbps(down) < 20"

// tiny returns the flags of the smallest plan, into dir.
func tiny(dir string, players int) []string {
	return []string{"plan", "--slo", smallLevel, "--start", fmt.Sprint(players), "--max",
		fmt.Sprint(players), "--duration", "500ms", "--warmup", "200ms", "--out", dir}
}

// readPlan reads a plan.json by its documented names.
func readPlan(t *testing.T, dir string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return p
}

// field returns the value at a path of names.
func field[T any](t *testing.T, in any, path string) (v T) {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		m, ok := in.(map[string]any)
		if !ok {
			t.Fatalf("%s: nothing holds %s", path, name)
		}
		if in, ok = m[name]; !ok {
			t.Fatalf("%s: there is no %s", path, name)
		}
	}
	v, ok := in.(T)
	if !ok {
		t.Fatalf("%s is %v, a %T", path, in, in)
	}
	return v
}

func TestPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of real sockets")
	}
	checkPlan(t, 4)
}

// checkPlan plans for a number of players. A busy machine can void each step; the figures of a void
// step are there all the same.
func checkPlan(t *testing.T, players int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	code, out, errs := result(t, tiny(dir, players)...)
	if code != 0 && code != exitVoid {
		t.Fatalf("code %d, %s\n%s", code, errs, out)
	}
	p := readPlan(t, dir)
	steps := field[[]any](t, p, "steps")
	if len(steps) == 0 || field[bool](t, p, "partial") {
		t.Fatalf("%d steps, partial %v", len(steps), field[bool](t, p, "partial"))
	}
	knee := field[float64](t, p, "knee.players")
	voids := 0
	for i, s := range steps {
		if n := field[float64](t, s, "players"); n != float64(players) {
			t.Errorf("step %d: %v players", i, n)
		}
		switch void := field[bool](t, s, "void"); {
		case void && !strings.HasPrefix(field[string](t, s, "void_reason"), "the swarm did not keep its schedule"):
			t.Errorf("step %d is void: %v", i, field[string](t, s, "void_reason"))
		case void:
			voids++
		case !field[bool](t, s, "pass"):
			t.Errorf("step %d fails %s: %v", i, smallLevel, s)
		}
		for _, path := range []string{"tick_cpu_ms.p50", "tick_cpu_ms.p99",
			"tick_cpu_ms.p999", "server_cores", "kbps_down_per_client", "snapshot_age_ms.p99"} {
			if v := field[float64](t, s, path); v <= 0 {
				t.Errorf("step %d: %s is %v", i, path, v)
			}
		}
		bits := 0.0
		for _, c := range field[[]any](t, s, "bytes.cells") {
			bits += field[float64](t, c, "bits")
		}
		if got := field[float64](t, s, "bytes.received_bytes"); got == 0 || bits != 8*got ||
			field[float64](t, s, "bytes.clients") != float64(players) {
			t.Errorf("step %d: the account has %v bits, %v bytes were received", i, bits, got)
		}
	}
	if all := voids == len(steps); all != (code == exitVoid) || !all && knee != float64(players) || all && knee != 0 {
		t.Errorf("%d of %d steps are void: code %d, the knee is %v", voids, len(steps), code, knee)
	}
	for _, name := range []string{"index.html", "bench.txt"} {
		if f, err := os.Stat(filepath.Join(dir, name)); err != nil || f.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	wants := []string{"service level:", "players", "knee: ", "report: " + filepath.Join(dir, "index.html")}
	if knee != 0 { // else every step was void, on a machine that is busy with something else
		wants = append(wants, "bytes down, "+several(players, "player")+": ",
			fmt.Sprintf(" datagrams/s a client (%d sampled)", players), "  player ", "  seal ", "tag ")
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("it printed no %q:\n%s", want, out)
		}
	}
}

// A plan that is killed leaves the report of its finished steps, and no server process.
func TestPlanKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("several seconds of real sockets")
	}
	dir := filepath.Join(t.TempDir(), "report")
	cmd := command(t, append(tiny(dir, 2), "--max", "64")...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var servers []string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		// The first step is over, and the next begins.
		if !strings.Contains(lines.Text(), "       2 ") {
			continue
		}
		for try := 0; len(servers) == 0 && try < 200; try++ {
			time.Sleep(10 * time.Millisecond)
			servers = childrenOf(cmd.Process.Pid)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		break
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	p := readPlan(t, dir)
	if n := len(field[[]any](t, p, "steps")); n == 0 || !field[bool](t, p, "partial") {
		t.Errorf("%d steps, partial %v", n, field[bool](t, p, "partial"))
	}
	if text, err := os.ReadFile(filepath.Join(dir, "index.html")); err != nil ||
		!strings.Contains(string(text), "partial") || !strings.Contains(string(text), "</html>") {
		t.Errorf("page of %d bytes: %v", len(text), err)
	}
	for _, pid := range servers {
		for try := 0; stillThere(pid); try++ {
			if try == 1000 {
				t.Fatalf("server %s lives on", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// A plan that is killed in its first step leaves a report that says that nothing was measured yet.
// An earlier report in the folder stays as it was.
func TestPlanKilledInItsFirstStep(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of real sockets")
	}
	dir := filepath.Join(t.TempDir(), "report")
	killInFirstStep(t, dir)
	p := readPlan(t, dir)
	if n := len(field[[]any](t, p, "steps")); n != 0 || !field[bool](t, p, "partial") || field[string](t, p,
		"knee.reason") != "nothing was measured" {
		t.Errorf("%d steps, partial %v, knee %v", n, p["partial"], p["knee"])
	}
	names := []string{"plan.json", "index.html", "bench.txt"}
	for i, want := range []string{"nothing was measured", "Nothing was measured yet: no step of the " +
		"plan has come to its end", "commit: "} {
		if text, err := os.ReadFile(filepath.Join(dir, names[i])); err != nil ||
			!strings.Contains(string(text), want) {
			t.Errorf("%s: %v, no %q in %s", names[i], err, want, text)
		}
	}
	const earlier = "of another plan"
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(earlier), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	killInFirstStep(t, dir)
	for _, name := range names {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != earlier {
			t.Errorf("%s of an earlier report: %v, %s", name, err, text)
		}
	}
}

// killInFirstStep runs a plan with a report in dir, and kills it before its first step has ended.
func killInFirstStep(t *testing.T, dir string) {
	t.Helper()
	cmd := command(t, append(tiny(dir, 2), "--duration", "1m")...) // longer than the machine stalls
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.Contains(lines.Text(), "ms CPU") { // the head of the table: no step has ended
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
}

// childrenOf returns the child processes of a process, none where the kernel does not tell.
func childrenOf(pid int) []string {
	var all []string
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, at := range tasks {
		text, _ := os.ReadFile(at)
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// stillThere reports whether a process exists and has not ended.
func stillThere(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	rest := string(text[bytes.LastIndexByte(text, ')')+1:])
	return !strings.HasPrefix(strings.TrimSpace(rest), "Z")
}

// An interrupt, or the end of the terminal, leaves a valid report that is marked as partial, and exits
// with a code of its own, before the first step is over and after it.
func TestPlanInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("several seconds of real sockets")
	}
	for i, c := range []struct {
		until    string // the line of the table after which the interrupt comes
		steps    int
		duration string // of a step
		signal   os.Signal
		knee     string
	}{{"ms CPU", 0, "1m", os.Interrupt, "knee: not found (nothing was measured)"},
		{"       2 ", 1, "500ms", syscall.SIGHUP, "knee: "}} {
		dir := filepath.Join(t.TempDir(), "report")
		cmd := command(t, append(tiny(dir, 2), "--max", "64", "--duration", c.duration)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		seen, lines := false, bufio.NewScanner(stdout)
		var stderr strings.Builder
		for lines.Scan() {
			stderr.WriteString(lines.Text() + "\n")
			if !seen && strings.Contains(lines.Text(), c.until) {
				seen = true
				if c.steps == 0 {
					time.Sleep(300 * time.Millisecond) // into the first step
				}
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
		}
		begin := time.Now()
		_ = cmd.Wait() // the exit code says it
		if code := cmd.ProcessState.ExitCode(); code != exitStopped || !seen || time.Since(begin) > 5*time.Second {
			t.Fatalf("%d: code %d after %v, %s\n%s", i, code, time.Since(begin), &errs, &stderr)
		}
		p := readPlan(t, dir)
		if n := len(field[[]any](t, p, "steps")); n < c.steps || c.steps == 0 && n != 0 || !field[bool](t,
			p, "partial") {
			t.Errorf("%d: %d steps, partial %v", i, n, field[bool](t, p, "partial"))
		}
		if field[float64](t, p, "knee.players") < 0 || !strings.Contains(stderr.String(), "partial") ||
			!strings.Contains(stderr.String(), c.knee) || !strings.Contains(errs.String(), "interrupted after ") {
			t.Errorf("%d: it said\n%s", i, &stderr)
		}
		if f, err := os.Stat(filepath.Join(dir, "index.html")); err != nil || f.Size() == 0 {
			t.Errorf("%d: page: %v", i, err)
		}
	}
}

// A lobby of one player is the smallest.
func TestPlanForOne(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of real sockets")
	}
	checkPlan(t, 1)
}

// A folder that is not writable is an error of one line.
func TestPlanCannotWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of real sockets")
	}
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs := result(t, tiny(filepath.Join(file, "report"), 2)...)
	if code == 0 || !strings.Contains(errs, file) || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %q", code, errs)
	}
}

// serving starts serve and reads the first line that it prints.
func serving(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer, string) {
	t.Helper()
	cmd := command(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"},
		args...)...)
	errs, line := started(t, cmd, regexp.MustCompile("\n"))
	return cmd, errs, line
}

// serve ends with 0 within two seconds of either signal, and prints its addresses for programs.
func TestRow59ServeAndSwarm(t *testing.T) {
	if testing.Short() {
		t.Skip("three seconds of real sockets")
	}
	for i, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, errs, line := serving(t, "--ready", "--map", "gen:4:1", "--players", "4", "--socket",
			[]string{"gnet", "mmsg"}[i])
		var r ready
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.PID != cmd.Process.Pid {
			t.Fatalf("%q: %v", line, err)
		}
		resp, err := http.Get("http://" + r.HTTP + "/healthz")
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("health: %v", err)
		}
		resp.Body.Close()
		// Tokens made with the key, or asked for.
		with := [][]string{{"--server", r.UDP}, {"--http", r.HTTP}}[i]
		s := playSwarm(t, with[0], with[1], "--players", "3", "--duration", "0.5s")
		if s.Players != 3 || s.KbpsDown <= 0 || s.Bytes.Clients != 3 || s.Bytes.Received == 0 ||
			s.Bytes.Check() != nil || s.TicksPerPlayer <= 0 || s.TicksPerPlayer < 10 && !s.disturbed() || s.mispredicted() {
			t.Errorf("swarm: %+v", s)
		}
		endsInTime(t, cmd, sig)
		if log := unexpected(errs.String()); log != "" {
			t.Errorf("%v: %q", sig, log)
		}
	}
	cmd := command(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--map", "arena-16",
		"--players", "16", "--rate", "128")
	_, line := started(t, cmd, regexp.MustCompile("tokens: .*\n")) // the last line
	for _, want := range []string{"lobby: of 16, ", "arena-16", "128 Hz\n", "\nplayers: udp 127.0.0.1:",
		"\nlive page: http://127.0.0.1:", "\ntokens: POST http://"} {
		if !strings.Contains(line, want) {
			t.Errorf("it says %q, without %q", line, want)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
