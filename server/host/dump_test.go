package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
)

// Two lobbies may panic at once: each dump finds that the other one has removed the oldest files.
func TestOldDumpsAreGoneAlready(t *testing.T) {
	dir, old := t.TempDir(), make([]string, maxDumps+1)
	for i := range old {
		old[i] = filepath.Join(dir, fmt.Sprint(i))
	}
	if err := os.WriteFile(old[1], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeOldest(old); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d dumps are left", len(left))
	}
}

// A lobby that panics leaves a dump that names its seed, tick, map and recording, and the recording
// has the inputs until then. A folder keeps the newest dumps.
func TestThreat32PanicLeavesADump(t *testing.T) {
	cfg, log := lobbiesConfig("mmsg", 2, 2)
	dir := t.TempDir()
	cfg.Files.Recordings, cfg.Name = dir, "dumped"
	for i := range 2 * maxDumps {
		name := filepath.Join(dir, fmt.Sprintf("fault-20200101-%06d.000000-1-lobby0-tick1.txt", i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, stop := running(t, cfg)
	c := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 1}))
	c.until("a welcome", c.welcomed)
	defer c.Close()
	x := (*h.list.Load())[1]
	eventually(t, "some ticks", func() bool { return x.schedule.Wall.Count() > 200 })
	_ = h.doFor(x)(context.Background(), func(time.Duration, *server.Lobby) { panic("planted fault") })
	eventually(t, "the dump", func() bool { return strings.Contains(log.String(), "dump written lobby=1") })
	stop()
	all, err := filepath.Glob(filepath.Join(dir, "fault-*.txt"))
	if err != nil || len(all) != maxDumps {
		t.Fatalf("%d dumps: %v", len(all), err)
	}
	text, err := os.ReadFile(all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	recorded := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "inputs     "); ok {
			recorded, _, _ = strings.Cut(rest, ",")
		}
	}
	for _, want := range []string{"lobby      1, \"dumped\"", "planted fault", "seed       ",
		"arena-16, sha256 ",
		"config     sha256 ", "dump_test.go", "commands that wait"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the dump lacks %q:\n%s", want, text)
		}
	}
	if found, err := filepath.Glob(recorded); err != nil || len(found) != 1 {
		t.Errorf("recording %q: %v %v", recorded, found, err)
	}
}
