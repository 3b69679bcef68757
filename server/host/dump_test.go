package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
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

// A lobby that panics leaves a dump that names its seed, tick, map and recording, and its last seconds,
// which play to the same panic; its neighbour goes on. A folder keeps the newest dumps.
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
	var at tick.Tick
	const system = 9
	_ = h.doFor(x)(context.Background(), func(_ time.Duration, l *server.Lobby) {
		at = l.Match().Tick() + 5
		l.Timer().OnStage = func(s metrics.Stage) {
			if s == metrics.StageSystems+system && l.Match().Tick() == at {
				panic("planted fault")
			}
		}
	})
	neighbour := (*h.list.Load())[0]
	eventually(t, "the dump", func() bool { return strings.Contains(log.String(), "lobby 1: dump in") })
	from := neighbour.schedule.Wall.Count()
	eventually(t, "more ticks of the neighbour", func() bool { return neighbour.schedule.Wall.Count() > from+20 })
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
		if rest, ok := strings.CutPrefix(line, "recording  "); ok {
			recorded, _, _ = strings.Cut(rest, ",")
		}
	}
	for _, want := range []string{"lobby      1, \"dumped\"", "planted fault", "seed       ",
		"arena-16, sha256 ",
		"config     sha256 ", "dump_test.go", "commands that wait", fmt.Sprintf("to %d, the one of the fault", at)} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the dump lacks %q:\n%s", want, text)
		}
	}
	if found, err := filepath.Glob(recorded); err != nil || len(found) != 1 {
		t.Errorf("recording %q: %v %v", recorded, found, err)
	}
	playDump(t, recordingOf(all[len(all)-1]), at, func(p *replay.Player) func(int) {
		return func(s int) {
			if s == system && p.Match.Tick() == at {
				panic("planted fault")
			}
		}
	})
}

// playDump plays the recording of a dump, which panics in a tick.
func playDump(t *testing.T, path string, at tick.Tick, enter func(*replay.Player) func(int)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := replay.NewPlayer(&r.Head, sim.DefaultGame(), simtest.Arena())
	if err != nil {
		t.Fatal(err)
	}
	p.EnterSystem = enter(p)
	for chunk, err := r.Next(); err != io.EOF; chunk, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Load(chunk); err != nil {
			t.Fatal(err)
		}
		for !p.Done() {
			found := (*replay.Panic)(nil)
			switch err := p.Step(); {
			case err == nil:
			case errors.As(err, &found) && found.Tick == at && found.Value == "planted fault":
				return
			default:
				t.Fatal(err)
			}
		}
	}
	t.Errorf("no panic up to tick %d", p.Match.Tick())
}
