package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// tickrateOnPath returns an environment in which a shell finds tickrate: this test binary.
func tickrateOnPath(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "tickrate")); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), asCommand+"=1", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// The line of a capture's README plays the captured tick, of a match on a map and of a content pack
// that are files in folders with odd names. Its trace opens in go tool trace.
func TestCaptureReplaysItsTick(t *testing.T) {
	if testing.Short() {
		t.Skip("a server, a shell, go tool trace")
	}
	dir := filepath.Join(t.TempDir(), "it's a folder")
	pack, captures, ground := filepath.Join(dir, "pack"), filepath.Join(dir, "missed"), filepath.Join(dir, "my map.json")
	if err := os.CopyFS(pack, os.DirFS("../../sim/content/default")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../sim/arena/maps/arena-16.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ground, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, r := readyServer(t, command(t, "serve", "--ready", "--players", "4", "--map", ground, "--content", pack,
		"--prefault=false", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--record", filepath.Join(dir, "matches"),
		"--capture", captures, "--capture-when", "players >= 1 && tick > 0.01*p50(tick)"))
	player := command(t, "client", "--http", r.HTTP, "--content", pack, "--huge-pages=false")
	if err := player.Start(); err != nil {
		t.Fatal(err)
	}
	folder := ""
	for end := time.Now().Add(waitLimit); folder == "" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if all, _ := filepath.Glob(filepath.Join(captures, "tick-*")); len(all) > 0 {
			folder = all[0]
		}
	}
	if folder == "" {
		t.Fatal("no capture")
	}
	checkServedStages(t, r.HTTP)
	_ = player.Process.Kill()
	_ = player.Wait()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	text, err := os.ReadFile(filepath.Join(folder, "README.txt"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^tickrate replay .*--at (\d+) --profile .*$`).FindSubmatch(text)
	if line == nil {
		t.Fatalf("no line that replays the tick:\n%s", text)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", string(line[0]))
	shell.Dir, shell.Env = folder, tickrateOnPath(t)
	out, err := shell.CombinedOutput()
	if want := fmt.Sprintf("tick %s with ", line[1]); err != nil || !strings.HasPrefix(string(out), want) ||
		!strings.Contains(string(out), "played 200 times from the state before it, the same each time") {
		t.Errorf("%s: %v:\n%s", line[0], err, out)
	}
	if s, err := os.Stat(filepath.Join(folder, "tick.pprof")); err != nil || s.Size() == 0 {
		t.Errorf("profile: %v", err)
	}
	checkCapturedStages(t, folder, goToolTrace(t, filepath.Join(folder, "trace.out")))
}

// goToolTrace has go tool trace parse an execution trace, which must hold the stages of a lobby.
func goToolTrace(t *testing.T, path string) []byte {
	t.Helper()
	parse := exec.CommandContext(t.Context(), "go", "tool", "trace", "-d=parsed", path)
	var errs bytes.Buffer
	parse.Stderr = &errs
	out, err := parse.Output()
	if err != nil {
		t.Fatalf("go tool trace: %v: %s", err, &errs)
	}
	for _, region := range []string{"lobby 0 tick", "lobby 0 receive", "lobby 0 capture"} {
		if !strings.Contains(string(out), region) {
			t.Errorf("go tool trace shows no region %q", region)
		}
	}
	return out
}
