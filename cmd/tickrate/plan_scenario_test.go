package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
)

// Invalid files are refused with exit code 2, in one line with the position and what was expected.
func TestPlanRefusesFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--scenario", "none-such"}, "those of this build: duels,"},
		{[]string{"--scenario", file("a.toml", "[lobby]\nplayers = 0\n")},
			"a.toml:2: lobby.players: expected 1 to 4096 players"},
		{[]string{"--scenario", file("b.toml", "\n[lobby]\nplayer = 3\n")},
			"b.toml:3: lobby.player: expected no such key"},
		{[]string{"--scenario", "duels", "--max", "9999"}, "--max 9999: expected at most 256 lobbies"},
		{[]string{"--max", "99999"}, "--max 99999: expected at most 4096 players"},
		{[]string{"--max", "10", "--start", "20"}, "--max 10: expected at least the size to begin with"},
		{[]string{"--sizes", "200,5000"}, "--sizes: 5000: expected 1 to 4096 players"},
		{[]string{"--sizes", "200,x"}, `--sizes "200,x": expected whole numbers, such as 200,400`},
		{[]string{"--sizes", "2", "--max", "4"}, "--sizes and --max: expected one of them"},
		{[]string{"--scenario", "duels", "--sizes", "2,300"}, "--sizes: 300: expected 1 to 256 lobbies"},
		{[]string{"--slo", "1<2"}, "column 1: expected a measured figure, as in p99(tick) < 0.6*period"},
		{[]string{"--slo", "p99(tick)<5s or lost(input)==0"}, "times are milliseconds: expected 5000, got 5s"},
		{[]string{"--max", "0"}, "--max 0: expected 1 to 4096 players"},
		{[]string{"--slo", "p99(tick)<"},
			`service level "p99(tick)<", column 11: expected a figure or number`},
		{[]string{"--scenario", file("c.toml", "[measure]\nslo = \"p99(tock)<1\"\n")},
			"c.toml:2: measure.slo: service level \"p99(tock)<1\", column 5: expected a figure " +
				"of the list in tickrate plan --help: unknown name tock"},
		{[]string{"--scenario", file("d.toml", "\n[play]\ntraces = [\"none.csv\"]\n")},
			"d.toml:3: play.traces: trace: open none.csv"},
		{[]string{"--scenario", file("e.toml", "[lobby]\nmode = \"chess\"\n")},
			"e.toml:2: lobby.mode: pack default has no mode \"chess\""},
		{[]string{"--scenario", file("f.toml", "[lobby]\nmode = \"chess\"\n"), "--mode", "draughts"},
			"tickrate: pack default has no mode \"draughts\""},
		{[]string{"--slo", "p99(tick)<1/0"}, "column 12: expected a finite number"},
		{[]string{"--prices", "p.toml"}, "unknown flag: --prices"},
		{[]string{"predict", "--prices", file("p.toml", "host_cores = 4\nhost_hour = -1\n")},
			"p.toml:2: host_hour: expected a price"},
		{[]string{"predict", "--prices", file("q.toml", "host_core = 4\n")},
			"q.toml:1: host_core: expected no such key"},
		{[]string{"predict", "--headroom", "2"}, "--headroom 2: expected a share"},
		{[]string{"predict", "--size", "5000"}, "--size 5000: expected 1 to 4096 players"},
		{[]string{"predict", "--out", "x"}, "unknown flag: --out"},
		{[]string{"verify", "--repeats", "0"}, "--repeats 0: expected 1 to 100 matches"},
		{[]string{"verify", "--prices", "p.toml"}, "prices: open p.toml: no such file"},
		{[]string{"--limit", "-1s"}, "--limit -1s: expected a positive duration"},
	} {
		code, _, errs := result(t, append([]string{"plan"}, c.args...)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%d: code %d, %q, want %q", i, code, errs, c.want)
		}
	}
}

// Every scenario of this build is listed, and its text parses to the same scenario.
func TestScenarios(t *testing.T) {
	code, out, _ := result(t, "plan", "scenarios")
	if code != 0 {
		t.Fatal(out)
	}
	for _, name := range scenario.Names() {
		if !strings.Contains(out, name+" ") {
			t.Errorf("%s is not listed:\n%s", name, out)
		}
		_, text, _ := result(t, "plan", "scenarios", name)
		s, err := scenario.Parse(name+".toml", []byte(text))
		want, _ := scenario.Named(name)
		a, _ := json.Marshal(s)
		b, _ := json.Marshal(want)
		if err != nil || string(a) != string(b) {
			t.Errorf("%s: %v\n%s\n%s", name, err, a, b)
		}
		if got := len(runner.Settings(s)); got < 30 {
			t.Errorf("%s: %d settings for the report", name, got)
		}
	}
}

// The report repeats every key of the scenario under its own name.
func TestScenarioKeys(t *testing.T) {
	reported := map[string]bool{}
	for _, s := range runner.Settings(scenario.Default()) {
		reported[s.Name] = true
	}
	for _, key := range []string{
		"lobby.players", "lobby.lobbies", "lobby.process_per_lobby", "lobby.grow", "lobby.most",
		"lobby.map", "lobby.spread", "lobby.view_distance", "lobby.relevance", "lobby.mode", "lobby.spectators",
		"rates.tick_hz", "rates.send_every_ticks", "rates.kbps",
		"play.seed", "play.traces", "play.full", "play.decode", "play.arrival", "play.leaves_per_minute",
		"play.hot_spot", "play.hot_spot_metres", "play.bursts_per_second",
		"play.throws_per_second", "network.link", "network.socket", "network.encryption", "network.codec",
		"process.gomaxprocs", "process.gogc",
		"about", "measure.slo", "measure.duration", "measure.warmup", "measure.repeat",
	} {
		if !reported[key] {
			t.Errorf("%s is not in the report", key)
		}
		delete(reported, key)
	}
	if len(reported) > 0 {
		t.Errorf("new keys: %v; does a prediction play them?", reported)
	}
}

// Several lobbies with joins and leaves, a bad link and a byte budget, on real sockets.
func TestPlanLobbies(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of real sockets")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.toml")
	text := "[lobby]\nplayers = 3\nspectators = 1\nlobbies = 2\ngrow = \"lobbies\"\nmost = " +
		"2\n[play]\nleaves_per_minute = 6\narrival = \"300ms\"\n[network]\nlink = \"delay=5ms\"\n" +
		"[rates]\nkbps = 256\n[process]\ngogc = -1\ngomaxprocs = 2\n[measure]\nduration = " +
		"\"1s\"\nwarmup = \"300ms\"\nrepeat = 1\nslo = \"mean(tick)<period && kbps(down)<=256\"\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := result(t, "plan", "--scenario", path, "--out", dir, "--json")
	if code != 0 {
		t.Fatalf("code %d, %s\n%s", code, errs, out)
	}
	p := readPlan(t, dir)
	steps := field[[]any](t, p, "steps")
	if len(steps) == 0 {
		t.Fatalf("%v", p)
	}
	s := steps[0]
	if field[float64](t, s, "players") != 6 || field[float64](t, s, "lobbies") != 2 || field[float64](t, s,
		"memory_bytes") <= 0 || field[float64](t, s, "snapshots_per_tick") <= 0 {
		t.Errorf("%v", s)
	}
	if field[float64](t, s, "processes") != 1 || len(field[[]any](t, s, "loop_call_ms")) != 1 ||
		field[float64](t, p, "games.tick_ms") <= 0 || field[float64](t, p, "games.warm_ms") <= 0 {
		t.Errorf("lobbies in one process: %v, %v", s, p["games"])
	}
	reported := 0
	for _, c := range field[[]any](t, p, "config") {
		name, value := field[string](t, c, "name"), field[string](t, c, "value")
		if name == "network.link" && value == "delay=5ms" || name == "process.gogc" && value == "-1" ||
			name == "play.leaves_per_minute" && value == "6.0" {
			reported++
		}
	}
	if reported != 3 || !strings.Contains(out, `"players":6`) {
		t.Errorf("the scenario is not repeated in full: %v", field[[]any](t, p, "config"))
	}
}

// A prediction has the cost of a tick, a process and a client. verify prints its error beside a
// live run.
func TestPredictAndVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of real sockets")
	}
	common := []string{"--scenario", "duels", "--size", "1", "--repeats", "1", "--duration", "500ms",
		"--warmup", "500ms"}
	code, out, errs := result(t, append([]string{"plan", "predict", "--json", "--concurrent", "5000"},
		common...)...)
	if code != 0 {
		t.Fatalf("code %d, %s\n%s", code, errs, out)
	}
	var p simbench.Prediction
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Windows) != 2 || p.Windows[0].TickMillis.Mean <= 0 || p.Windows[1].ServerCores <= 0 ||
		p.MemoryBytes <= 0 || p.Hosts == nil || p.Hosts.Hosts < 1 || p.Windows[0].Processes <= 0 ||
		p.Memory.Process <= 0 || p.Intervals.Cores.High <= p.Intervals.Cores.Low ||
		p.Hosts.HostsRange.High <= p.Hosts.HostsRange.Low {
		t.Errorf("%s", out)
	}
	code, out, errs = result(t, append([]string{"plan", "verify"}, common...)...)
	if code != 0 || !strings.Contains(out, "resident memory") || !strings.Contains(out,
		"sent to a client") || !strings.Contains(out, "hosts") {
		t.Errorf("code %d, %s\n%s", code, errs, out)
	}
}
