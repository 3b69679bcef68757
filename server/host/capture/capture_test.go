package capture

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/internal/textlog"
	"github.com/tickrate/tickrate/server/metrics"
)

// recorder returns a recorder that runs, and its thread, which the test's goroutine stands for.
func recorder(t *testing.T, cfg Config) (*Recorder, *Thread) {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.Most = max(cfg.Most, 1)
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Skip(err) // of the test itself
	}
	t.Cleanup(r.Close)
	th := r.NewThread()
	th.Bind()
	t.Cleanup(th.Close)
	return r, th
}

// play plays a tick as a worker does, with all stages, and captures it if it is to be captured.
func play(th *Thread, l *Lobby, n tick.Tick, k Tick) (captured bool) {
	th.BeginRound(0)
	for s := range metrics.StageIdle + 1 {
		l.Enter(s)
		if s == metrics.StageSnapshot {
			l.Conn(3)
			l.Conn(5)
		}
	}
	th.EndRound()
	k.Lobby, k.Last, k.Ticks, k.Period = l, n, 1, 16*time.Millisecond
	why := th.Tick(&k)
	if why != "" {
		th.Capture(why, &k, Facts{Name: "0", Conns: []Conn{{Slot: 5, Name: "ada"}}})
	}
	return why != ""
}

// waitFor polls until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 20 s: " + what)
		}
	}
}

func captures(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "tick-*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A tick is captured if it missed its deadline or exceeds the limit, and no other; there is at most one
// a minute.
func TestTickIsCaptured(t *testing.T) {
	when, err := slo.CompileTick("tick > 0.5*period && players > 3")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		tick Tick
		want string
	}{
		{Tick{Over: -time.Millisecond, Elapsed: 15 * time.Millisecond}, ""},
		{Tick{Over: -time.Millisecond, Elapsed: 7 * time.Millisecond, Players: 4}, ""},
		{Tick{Over: -time.Millisecond, Elapsed: 9 * time.Millisecond, Players: 4},
			"exceeded tick > 0.5*period && players > 3"},
		{Tick{Over: 1}, "missed its deadline"},
		{Tick{Over: 1, Idle: true}, ""},
	} {
		r, th := recorder(t, Config{When: when})
		l := th.Lobby(0)
		if got := play(th, l, 8, c.tick); got != (c.want != "") {
			t.Errorf("%d: captured %v", i, got)
		}
		if c.want != "" {
			waitFor(t, "a capture", func() bool { return len(captures(t, r.cfg.Dir)) == 1 })
			if report := read(t, captures(t, r.cfg.Dir)[0]); report.Why != c.want {
				t.Errorf("%d: captured since it %q, want %q", i, report.Why, c.want)
			}
			if play(th, l, 9, c.tick) {
				t.Errorf("%d: another one in the same minute", i)
			}
		}
		th.Close()
		r.flight.Stop() // the next case starts another
	}
}

func read(t *testing.T, path string) (r Report) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path, "tick.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A recorder that awaits its permission captures nothing before.
func TestRecorderAwaitsPermission(t *testing.T) {
	r, th := recorder(t, Config{Await: true})
	l := th.Lobby(0)
	if play(th, l, 1, Tick{Over: 1}) {
		t.Error("captured before it was allowed")
	}
	r.Allow()
	if !play(th, l, 2, Tick{Over: 1}) {
		t.Error("not captured though it was allowed")
	}
	r.Allow()
	if play(th, l, 3, Tick{Over: 1}) {
		t.Error("a second capture in the same minute")
	}
	(*Recorder)(nil).Allow()
}

// A folder gets no more captures than it may have, those that are there already included.
func TestFolderIsBounded(t *testing.T) {
	dir, log := t.TempDir(), new(bytes.Buffer)
	if err := os.Mkdir(filepath.Join(dir, "tick-of-an-earlier-run"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, th := recorder(t, Config{Dir: dir, Most: 3, Every: 1, Log: slog.New(textlog.New(log, ""))})
	l := th.Lobby(0)
	for n := tick.Tick(1); n <= 4; n++ {
		waitFor(t, "a capture is written", func() bool { return play(th, l, n, Tick{Over: 1}) })
	}
	r.spare <- <-r.spare // the writer has ended with the last
	if all := captures(t, dir); len(all) != 3 {
		t.Errorf("captures %q", all)
	}
	if !strings.Contains(log.String(), "--capture-most") {
		t.Errorf("log:\n%s", log)
	}
	if rest, _ := filepath.Glob(filepath.Join(dir, ".*")); len(rest) > 0 {
		t.Errorf("left over: %q", rest)
	}
}

// A tick that is not captured allocates nothing, though the flight recorder runs and a limit is set.
func TestMarksAllocateNothing(t *testing.T) {
	when, err := slo.CompileTick("elapsed > period")
	if err != nil {
		t.Fatal(err)
	}
	_, th := recorder(t, Config{When: when})
	l := th.Lobby(0)
	if n := alloctest.In(2*maxMarks/30, func() { play(th, l, 1, Tick{Over: -1}) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// The report has the stages of the tick beside the medians of the ticks before, and the slowest
// connections by name.
func TestReportComparesWithTheTicksBefore(t *testing.T) {
	r := &Recorder{}
	e, at := evidence{why: missed, about: Facts{Name: "4", Conns: []Conn{{Slot: 5, Name: "ada"}}}}, time.Duration(0)
	const other = 9 // a lobby of the same thread
	var marks []mark
	add := func(lobby uint32, k kind, arg uint32, took time.Duration) {
		marks = append(marks, mark{at: at, lobby: lobby, arg: arg, kind: k})
		at += took * time.Microsecond
	}
	for n := range uint32(21) {
		slow := time.Duration(0)
		if n == 20 {
			slow = 30_000
		}
		add(4, kindStage, uint32(metrics.StageReceive), 100+time.Duration(n))
		add(4, kindStage, uint32(metrics.StageSnapshot), 10)
		add(4, kindConn, 3, 50)
		add(4, kindConn, 5, 60+slow)
		add(4, kindStage, uint32(metrics.StageIdle), 5)
		add(other, kindStage, uint32(metrics.StageReceive), 7000)
		add(other, kindStage, uint32(metrics.StageIdle), 1)
		add(other, kindTick, n, 1)
		add(4, kindTick, n, 900)
	}
	e.tick = Tick{Lobby: &Lobby{id: 4}, Last: 20, Ticks: 1, Period: 16 * time.Millisecond,
		Elapsed: 30240 * time.Microsecond}
	e.round = round{began: at - e.tick.Elapsed, elapsed: e.tick.Elapsed, cpu: e.tick.Elapsed}
	e.cpu = e.tick.Elapsed
	got := e.report(marks, disturbances{hiccups: r.hiccups.all()})
	if got.Compared != 20 || got.Tick != 20 || got.Times.Median < 0.22 || got.Times.Median > 0.24 {
		t.Errorf("compared with %d ticks of %v ms", got.Compared, got.Times.Median)
	}
	for _, s := range got.Stages {
		switch want := map[string][2]float64{"receive": {120, 110}, "snapshot": {30120, 120}}[s.Name]; {
		case s.Micros != want[0] || s.Median != want[1]:
			t.Errorf("stage %+v, want %v", s, want)
		}
	}
	if s := got.Slowest; len(s) != 2 || s[0].Conn != e.about.Conns[0] || s[0].Micros != 30060 || s[0].With != nil {
		t.Errorf("slowest %+v", s)
	}
	if c := got.Cause; c.Owner != ownerStage || c.Stage != "snapshot" || c.Conn == nil || c.Conn.Name != "ada" {
		t.Errorf("cause %+v", c)
	}
	if text := e.readme(&got, nil); !strings.Contains(text, "snapshot") || !strings.Contains(text, `slot 5, "ada"`) {
		t.Errorf("README:\n%s", text)
	}
}
