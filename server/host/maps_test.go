package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// sharedBuffer is a log that two goroutines use.
type sharedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sharedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *sharedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// A host loads maps on a goroutine of its own while it ticks. A map that is missing, or whose
// loading panics, is logged and changes nothing.
func TestHostChangesItsMap(t *testing.T) {
	t.Parallel() // it waits
	game := sim.DefaultGame()
	find := func(c server.MapSpec) (g server.LoadedMap, err error) {
		switch c.Map {
		case "gone":
			return g, errors.New("it is gone")
		case "bad":
			panic("it is bad")
		}
		g.Arena, err = arena.Open(c.Map)
		g.Name, g.Game = c.Map, game
		return g, err
	}
	typed, keys := io.Pipe()
	var log sharedBuffer
	cfg := Config{UDP: UDPConfig{Listen: "127.0.0.1:0"}, HTTP: HTTPConfig{Listen: "127.0.0.1:0"},
		Console: ConsoleConfig{Input: typed}, Log: logTo(&log), Maps: find, MaxSteps: 4, MaxBatch: 2,
		Lobby: server.Config{Arena: simtest.Arena(), ArenaName: "arena-16", Players: 4,
			SleepWhenEmpty: true, Rules: sim.Rules{Game: game}}}
	cfg.Lobby.Netcode.PrivateKey = labKey
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	for _, c := range []struct{ line, want string }{
		{"map gone", "map stays: deathmatch on gone: it is gone"},
		{"map bad", "map stays: deathmatch on bad: load: it is bad"},
		{"map arena-64", "map is now arena-64"}, {"map town:16:3", "map is now town:16:3"},
	} {
		if _, err := io.WriteString(keys, c.line+"\n"); err != nil {
			t.Fatal(err)
		}
		for range 400 {
			if strings.Contains(log.String(), c.want) {
				break
			}
			// meanwhile others may look
			for _, page := range []string{"/healthz/ready", "/metrics", "/stats", "/v1/bandwidth"} {
				if status, body := ask(t, "GET", "http://"+h.HTTPAddr()+page); status != 200 &&
					!strings.Contains(body, `"starting"`) {
					t.Fatalf("%s: %s: %d %.200s", c.line, page, status, body)
				}
			}
			time.Sleep(25 * time.Millisecond)
		}
		if logged := log.String(); !strings.Contains(logged, c.want) {
			t.Fatalf("%s: %s", c.line, logged)
		}
	}
	if p := h.initial().status.Load(); p.Map != "town:16:3" ||
		p.Mode != "deathmatch" || p.Phase != server.PhaseIdle {
		t.Errorf("%+v", p)
	}
	if r := figures(t, "http://"+h.HTTPAddr()); r.Counts["map_changes"] != 2 ||
		r.Counts["map_changes_failed"] != 2 || r.Counts["ticks_slept"] == 0 ||
		r.Map != "town:16:3" || r.LoadLevels["normal"] == 0 {
		t.Errorf("%+v", r)
	}
	cancel()
	_ = keys.Close() // a pipe's Close has no error
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
