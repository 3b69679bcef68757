package agent

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/sim/arena"
)

// runHost runs a lobby on loopback until the test ends.
func runHost(t *testing.T, players int) Server {
	t.Helper()
	ground, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	var key netcode.Key
	_, _ = rand.Read(key[:]) // does not fail: it stops the program
	h, err := host.New(host.Config{Name: "test", UDP: host.UDPConfig{Listen: "127.0.0.1:0"},
		HTTP: host.HTTPConfig{Listen: "127.0.0.1:0"},
		Lobby: server.Config{Arena: ground, ArenaName: "arena-64", Players: players,
			Netcode: netcode.ServerConfig{PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return Server{At: h.Addr(), Token: h.Addr(), Key: key}
}

// starve lets a load's thread have no processor for 40 ms of each tick.
func starve(l *load) {
	run := l.run
	l.run = func(ctx context.Context, d time.Duration, stop func() bool) error {
		return run(ctx, d, func() bool {
			time.Sleep(40 * time.Millisecond)
			return stop != nil && stop()
		})
	}
}

// hall is a bus with a pool and agents, all in this process.
type hall struct {
	t    *testing.T
	pool *Pool
	kill map[string]func() // ends an agent as a killed process ends: it says nothing
}

// newHall starts agents on an embedded bus; change may alter each.
func newHall(t *testing.T, names []string, change func(*AgentConfig)) *hall {
	t.Helper()
	b, err := bus.Open(bus.Config{Name: "test", Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	w := &hall{t: t, kill: map[string]func(){}}
	key := Key{1, 2, 3}
	w.pool, err = NewPool(PoolConfig{Bus: b, Key: key, Build: "b1", Least: len(names),
		machine: Config{DeadAfter: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pool.Close)
	for _, name := range names {
		own, err := bus.Open(bus.Config{Name: name, URL: b.URL()})
		if err != nil {
			t.Fatal(err)
		}
		cfg := AgentConfig{Bus: own, Key: key, Name: name, Build: "b1"}
		if change != nil {
			change(&cfg)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, cfg) }()
		w.kill[name] = func() { own.Conn.Close() } // it no longer hears nor says anything
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			own.Close()
		})
	}
	if err := w.pool.Await(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// short is a step of a number of players.
func short(players int) scenario.Scenario {
	sc := scenario.Default().At(players)
	sc.Measure.Duration = scenario.Duration(1500 * time.Millisecond)
	sc.Measure.Warmup = scenario.Duration(500 * time.Millisecond)
	return sc
}

// Four agents play on a real host over the bus. One is killed while it plays, one has a clock 300 ms
// off, one gets too little processor: all three are named, and the figures that stand are of the
// others.
func TestFourAgentsOnARealHost(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of real sockets")
	}
	at := runHost(t, 8)
	w := newHall(t, []string{"good", "killed", "off", "starved"}, func(cfg *AgentConfig) {
		switch cfg.Name {
		case "off":
			cfg.Now = func() int64 { return Clock() + 300*milli }
		case "starved":
			cfg.open = func(o *order) (*load, error) {
				l, err := openSwarm(o)
				if err == nil {
					starve(l)
				}
				return l, err
			}
		}
	})
	v, err := w.pool.Play(t.Context(), Step{Scenario: short(8), Servers: []Server{at},
		Begin: func() { w.kill["killed"]() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", v.Text())
	if len(v.Agents) != 4 || v.Merged.Figures.RTT.Count() == 0 || v.Merged.Figures.Sends == 0 {
		t.Fatalf("%d agents", len(v.Agents))
	}
	late := uint64(0)
	for player, n := range v.Merged.Figures.LateOf {
		if late += n; player >= swarm.NewLobbySlot(0, 8) {
			t.Errorf("late ticks of player %#x, in a lobby of 8", player)
		}
	}
	if late != v.Merged.Figures.LateTicks {
		t.Errorf("%d late ticks of single players, %d of all", late, v.Merged.Figures.LateTicks)
	}
	for _, s := range v.Agents {
		wrong := map[string]string{"killed": "died", "off": "clock is off by +", "starved": "schedule"}
		if want := wrong[s.Name]; want != "" && !strings.Contains(s.Wrong(), want) {
			t.Errorf("%s: %q, want %q", s.Name, s.Wrong(), want)
		} else if want == "" && s.Dead+s.Fault+s.Clock != "" { // a busy machine may starve it, too
			t.Errorf("%s: %q, want nothing but a schedule that was not kept", s.Name, s.Wrong())
		}
		if s.Players != 2 {
			t.Errorf("%s: %d players, want 2", s.Name, s.Players)
		}
		if s.Name == "off" && (s.Ahead-300*time.Millisecond).Abs() > s.Bound {
			t.Errorf("clock ahead by %v, wrong by %v at most; want 300ms", s.Ahead, s.Bound)
		}
	}
	for _, f := range v.Figures { // of the others, who may be none on a busy machine
		if slices.Contains(f.Of, "killed") || slices.Contains(f.Of, "starved") || f.Void == "" ||
			f.Name == "snapshot age" && slices.Contains(f.Of, "off") {
			t.Errorf("%s stands for %s, void because %q", f.Name, f.Of, f.Void)
		}
	}
	if len(v.Figures) != 3 {
		t.Errorf("%d figures, want 3", len(v.Figures))
	}
	for _, name := range []string{"agent killed died", "agent starved"} {
		if !strings.Contains(v.Void, name) {
			t.Errorf("void because %q: expected %q", v.Void, name)
		}
	}
}

// All players of two agents play on the host at once, in two steps, and their bits add up.
func TestTwoAgentsPlayTwoSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of real sockets")
	}
	at := runHost(t, 8)
	w := newHall(t, []string{"a", "b"}, nil)
	for players := 5; players <= 8; players += 3 {
		begun, ended := 0, 0
		v, err := w.pool.Play(t.Context(), Step{Scenario: short(players), Servers: []Server{at},
			Begin: func() { begun++ }, End: func() { ended++ }})
		if err != nil {
			t.Fatal(err)
		}
		if begun != 1 || ended != 1 {
			t.Errorf("begun %d times, ended %d times", begun, ended)
		}
		sum := 0
		for _, s := range v.Agents {
			if sum += s.Players; s.Dead != "" || s.Fault != "" || s.Clock != "" {
				t.Errorf("agent %s: %s", s.Name, s.Wrong())
			}
		}
		if err := v.Merged.Account.Check(); sum != players || err != nil || v.Merged.Account.Received == 0 {
			t.Errorf("%d players, want %d; %v", sum, players, err)
		}
	}
	refused := w.pool.Refused()
	delete(refused, ErrUnasked.Error()) // answers to a ping that took over a second on a busy machine
	if len(refused) != 0 {
		t.Errorf("refused %v", refused)
	}
}

// A pool names how many agents are there, where a step has too few.
func TestStepWithoutAgentsFails(t *testing.T) {
	w := newHall(t, []string{"alone"}, nil)
	w.pool.cfg.Least, w.pool.cfg.Wait = 3, 100*time.Millisecond
	_, err := w.pool.Play(t.Context(), Step{Scenario: short(4)})
	if err == nil || !strings.Contains(err.Error(), "1 of 3 agents") {
		t.Errorf("%v", err)
	}
}
