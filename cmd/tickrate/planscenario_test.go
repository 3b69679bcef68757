package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
)

// Files that are wrong are refused with exit code 2, in one line that says where and what was expected.
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
		{[]string{"--scenario", file("a.toml", "[lobby]\nplayers = 0\n")}, "a.toml:2: lobby.players: expected 1 to 4096 players"},
		{[]string{"--scenario", file("b.toml", "\n[lobby]\nplayer = 3\n")}, "b.toml:3: lobby.player: expected no such key"},
		{[]string{"--scenario", "duels", "--max", "9999"}, "9999"},
		{[]string{"--level", "p99(tick)<"}, `service level "p99(tick)<", column 10: expected an expression`},
		{[]string{"--scenario", file("c.toml", "[measure]\nlevel = \"p99(tock)<1\"\n")}, "c.toml:2: measure.level: service level \"p99(tock)<1\", column 1: p99: expected one of tick"},
		{[]string{"--scenario", file("d.toml", "\n[play]\ntraces = [\"none.csv\"]\n")}, "d.toml:3: play.traces: trace: open none.csv"},
		{[]string{"--scenario", file("e.toml", "[lobby]\nmode = \"chess\"\n")}, "e.toml:2: lobby.mode: pack default has no mode \"chess\""},
		{[]string{"--scenario", file("f.toml", "[lobby]\nmode = \"chess\"\n"), "--mode", "draughts"}, "tickrate: pack default has no mode \"draughts\""},
		{[]string{"--level", "p99(tick)<1/0"}, "column 12: expected a finite number"},
		{[]string{"--prices", "p.toml"}, "--prices: expected --predict or --verify beside it"},
		{[]string{"--against", "r.json"}, "--against: expected --baseline beside it"},
		{[]string{"--baseline", file("x.json", `{"version": 1, "steps": [{"facts": {"scenario": "wide", "lobbies": 1, "players_per_lobby": 9, "tick_hz": 60, "send_every_ticks": 3}}]}`)},
			"x.json: expected a file of plan rounds, got wide with 9 players"},
		{[]string{"--baseline", file("y.json", `{"version": 1, "steps": [{"facts": {"scenario": "duel", "virtual": true, "lobbies": 1, "players_per_lobby": 10, "tick_hz": 60, "send_every_ticks": 2}}]}`)},
			"y.json: expected duel with 10 players to be the same scenario on both sides: tick_hz is 60 in the baseline and 128 now"},
		{[]string{"--baseline", file("z.json", `{"version": 1, "steps": [{"facts": {"scenario": "duel", "lobbies": 1, "players_per_lobby": 10, "tick_hz": 128, "send_every_ticks": 2}}]}`)},
			"z.json: expected duel with 10 players to be measured in the same way on both sides: one is live"},
		{[]string{"selftest", "--slow", "nothing=10%"}, `--slow "nothing=10%": expected the name of a stage`},
		{[]string{"--baseline", file("v.json", "{\n \"version\": 9}")}, "v.json:2: expected version 1"},
		{[]string{"--baseline", file("w.json", "[]")}, "w.json:1: expected an object of measurements, got array"},
		{[]string{"--predict", "--prices", file("p.toml", "host_cores = 4\nhost_hour = -1\n")}, "p.toml:2: host_hour: expected a price"},
		{[]string{"--predict", "--prices", file("q.toml", "host_core = 4\n")}, "q.toml:1: host_core: expected no such key"},
		{[]string{"--predict", "--measurements", file("m.json", "{\n]")}, "m.json:2: expected JSON"},
		{[]string{"--predict", "--headroom", "2"}, "--headroom 2: expected a share"},
		{[]string{"--predict", "--mode", "assault"}, `lobby.mode "assault": expected deathmatch`},
		{[]string{"--predict", "--relevance", "grid"}, `lobby.relevance "grid": expected "auto"`},
		{[]string{"--predict", "--scenario", file("l.toml", "[network]\nlink = \"rate=20000\"\n")}, `network.link "rate=20000": expected links that`},
		{[]string{"calibrate", "--only", "packets"}, `--only "packets": expected bytes or cpu`},
		{[]string{"calibrate", "--unsure", "NaN"}, "--unsure NaN: expected 0.1 to 10"},
		{[]string{"--baseline", filepath.Join(dir, "no.json")}, "no such file"},
		{[]string{"--baseline", file("o.json", `{"version": 1, "steps": 3}`)}, "o.json:1: expected steps to be of type"},
		{[]string{"--baseline", file("r.json", "{}"), "--slow", "nothing=10%"}, "--slow"},
		{[]string{"rounds", "--only", "nobody", "--out", filepath.Join(dir, "x.json")}, `--only "nobody": expected duel, match or crowd`},
	} {
		code, _, errs := result(t, append([]string{"plan"}, c.args...)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%d: code %d, %q, want %q", i, code, errs, c.want)
		}
	}
}

// Every scenario of this build is listed, and printed so that it can be read again.
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
		if got := len(settings(s)); got < 30 {
			t.Errorf("%s: %d settings for the report", name, got)
		}
	}
}

// What a scenario may say, the report repeats in full, under the file's own names.
func TestScenarioKeys(t *testing.T) {
	said := map[string]bool{}
	for _, s := range settings(scenario.Default()) {
		said[s.Name] = true
	}
	for _, key := range []string{
		"lobby.players", "lobby.lobbies", "lobby.grow", "lobby.most", "lobby.map", "lobby.spread", "lobby.far_metres", "lobby.relevance", "lobby.mode", "lobby.spectators",
		"rates.tick_hz", "rates.send_every_ticks", "rates.kbps",
		"play.seed", "play.traces", "play.full", "play.arrival_seconds", "play.leaves_per_minute", "play.hot_spot", "play.hot_spot_metres", "play.bursts_per_second",
		"play.throws_per_second", "network.link", "network.socket", "network.encryption", "network.codec", "process.gomaxprocs", "process.gogc",
		"about", "measure.level", "measure.seconds", "measure.warm_seconds", "measure.repeat",
	} {
		if !said[key] {
			t.Errorf("%s is not in the report", key)
		}
		delete(said, key)
	}
	if len(said) > 0 {
		t.Errorf("new keys: %v; are they in the report, and in what a prediction goes by or refuses?", said)
	}
}

// Every lesson of a calibration is a scenario that may be, none is there twice, and more than one in five are held out; none shares a seed with another.
func TestLessons(t *testing.T) {
	names, seeds, held := map[string]bool{}, map[[2]uint64]bool{}, 0
	for _, l := range lessons() {
		s := l.scenario(matchSeconds)
		if block := [2]uint64{s.Play.Seed / heldSeed, s.Play.Seed % heldSeed / lessonSeeds}; seeds[block] || mostMatches(s) > lessonSeeds {
			t.Errorf("%s: seeds from %d on are another's", s.Name, s.Play.Seed)
		} else {
			seeds[block] = true
		}
		if err := s.Check(); err != nil || names[s.Name] || l.held != (s.Play.Seed >= heldSeed) || unmeasured(s) != nil {
			t.Errorf("%s: %v, there before: %v, seed %d", s.Name, err, names[s.Name], s.Play.Seed)
		}
		if names[s.Name] = true; l.held {
			held++
		}
	}
	if len(names) < 60 || held < 99 || 5*held < len(names) {
		t.Errorf("%d lessons, %d held out", len(names), held)
	}
}

// Matches that are added to those known make what all at once make; who looks on is sent something, too, and counted.
func TestTellSpectators(t *testing.T) {
	s := scenario.Default()
	s.Lobby.Players, s.Lobby.Spectators, s.Rates.TickHz, s.Rates.SendEvery = 4, 3, 30, 2
	s.Measure.Seconds, s.Measure.WarmSeconds = 0.5, 1
	whole, err := tell(t.Context(), s, nil, 1e-9, 24)
	if err != nil {
		t.Fatal(err)
	}
	part, err := tell(t.Context(), s, nil, 1e-9, 16)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := tell(t.Context(), s, part.Facts, 1e-9, 24)
	if err != nil {
		t.Fatal(err)
	}
	a, b := *whole.Facts, *rest.Facts
	if a.Matches != 24 || b.Matches != 24 || math.Abs(a.Bytes/b.Bytes-1) > 1e-9 || math.Abs(a.Unsure/b.Unsure-1) > 1e-9 || math.Abs(a.Flights-b.Flights) > 1e-9 {
		t.Errorf("at once and bit by bit:\n%+v\n%+v", a, b)
	}
	if math.Abs(a.Parts.Sum()/a.Bytes-1) > 1e-9 || math.Abs(a.Snapshots-15) > 0.5 {
		t.Errorf("%g bytes, of which %+v; %g snapshots a second to each of 7", a.Bytes, a.Parts, a.Snapshots)
	}
	s.Lobby.Spectators = 0
	alone, err := tell(t.Context(), s, nil, 1e-9, 24)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Facts.Flights != a.Flights || a.Visible < 2.9 || a.Bytes*7 < 1.3*4*alone.Facts.Bytes {
		t.Errorf("with spectators:\n%+v\nwithout:\n%+v", a, *alone.Facts)
	}
}

// A prediction says what it rests on, and its parts belong together.
func TestPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("matches of 20 seconds of CPU time, in a process of its own")
	}
	code, out, errs := result(t, "plan", "--predict", "--scenario", "duels", "--json", "--concurrent", "5000")
	var p prediction
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 0 {
		t.Fatalf("code %d, %v, %s", code, err, errs)
	}
	sum := 0.0
	for _, s := range p.Cost.Stages {
		sum += s.Mean
	}
	if p.Cost.TickMicros <= 0 || math.Abs(sum/p.Cost.TickMicros-1) > 1e-9 || p.Cost.KbpsDown <= 0 || p.Model.Steps < 20 || p.Model.HeldOut < 10 {
		t.Errorf("%+v", p)
	}
	if m := p.Money; m == nil || m.Hosts < 1 || m.Hosts*m.PlayersPerHost < 5000 || m.Binding == "" {
		t.Errorf("%+v, %s", p.Money, p.Refused)
	}
}

// A scenario is the same match again in virtual time: bytes to the last, and what one stage burns is that stage's.
func TestRehearsalRepeats(t *testing.T) {
	s := gated()[0]
	s.Measure.Seconds, s.Measure.WarmSeconds = 0.5, 1
	play := func(slow slowdown) capacity.Step {
		step, err := rehearse(t.Context(), s, 1, 2, slow)
		if err != nil {
			t.Fatal(err)
		}
		return step
	}
	a, b := play(slowdown{}), play(slowdown{})
	if a.Facts.Bytes != b.Facts.Bytes || a.Facts.Shots != b.Facts.Shots || a.Facts.Visible != b.Facts.Visible || a.Facts.Bytes == 0 {
		t.Errorf("two rehearsals of one match:\n%+v\n%+v", a.Facts, b.Facts)
	}
	burn, err := parseSlow("snapshot=300%")
	if err != nil {
		t.Fatal(err)
	}
	c := play(burn)
	stage := func(s capacity.Step, name string) float64 {
		for _, st := range s.StageCPUMicros {
			if st.Name == name {
				return st.Mean
			}
		}
		return 0
	}
	before := min(stage(a, "snapshot"), stage(b, "snapshot")) // a busy machine may have been slower in one
	if stage(c, "snapshot") < 2*before || c.Facts.Bytes != a.Facts.Bytes {
		t.Errorf("slowed fourfold: %g µs, before %g", stage(c, "snapshot"), before)
	}
}

// Whatever part of a tick is entered, its time is some stage's that is measured: none is lost to a part that only profilers know.
func TestStagesAreWhole(t *testing.T) {
	s := gated()[1]
	s.Measure.Seconds, s.Measure.WarmSeconds = 0.5, 1
	step, err := rehearse(t.Context(), s, 1, 1, slowdown{})
	if err != nil {
		t.Fatal(err)
	}
	sum, snapshot := 0.0, 0.0
	for _, st := range step.StageCPUMicros {
		if sum += st.Mean; st.Name == "snapshot" {
			snapshot = st.Mean
		}
	}
	if snapshot < 0.08*sum {
		t.Errorf("snapshots of 64 players take %.1f of %.1f µs", snapshot, sum)
	}
}

// Teams appear nearer to each other where a lane runs along the middle; as they run they meet; a town hides them, and more room keeps them apart. Asking
// twice gives the same.
func TestMeets(t *testing.T) {
	of := func(kind string, players int, spread float64) capacity.Meets {
		s := scenario.Default()
		s.Lobby.Map, s.Lobby.Players, s.Lobby.Spread = kind, players, spread
		met.Clear()
		return meetsOf(s)
	}
	even, odd, town, wide := of("gen", 56, 1), of("gen", 64, 1), of("town", 24, 1), of("gen", 56, 4) // 6 tiles, 7
	if even != of("gen", 56, 1) {
		t.Error("asked twice, and not the same")
	}
	for i, c := range []struct{ less, more float64 }{
		{odd[0].Facing, 0.95 * even[0].Facing}, {even[0].Facing, even[2].Facing}, {even[2].Metres, 0.6 * even[0].Metres}, {town[0].Facing, 0.8 * even[0].Facing},
		{wide[2].Facing, 0.9 * even[2].Facing}, {1.3 * even[0].Metres, wide[0].Metres}, {0.1, wide[0].Facing}, {even[2].Facing, 1}, {town[1].Told, 0.9}, {0.2, town[1].Told}, {0.99, even[1].Told},
	} {
		if c.less >= c.more {
			t.Errorf("%d: %g is not less than %g", i, c.less, c.more)
		}
	}
	crowd := scenario.Default()
	crowd.Lobby.Players, crowd.Play.HotSpot = 56, 1
	if m := meetsOf(crowd); m[2].Metres > 0.8*even[2].Metres || m[0] != even[0] {
		t.Errorf("a crowd meets as %v, others %v", m, even)
	}
	short := scenario.Default()
	short.Lobby.Players, short.Lobby.FarMetres = 96, 25
	if m := meetsOf(short); m[0].Told > 0.7 || m[2].Told < m[0].Told || m[2].Told > 0.98 {
		t.Errorf("of whom clients are told within 25 m: %v", m)
	}
	for _, players := range []int{1, 2, 1000} {
		if m := of("gen", players, 1); !(m[0].Facing >= 0 && m[2].Facing <= 1) || (players > 2) != (m[2].Facing > 0.1) && players != 2 {
			t.Errorf("%d players: %v", players, m)
		}
	}
}

// Several lobbies, people who come and go, a bad link and a budget, all at once, on real sockets.
func TestPlanLobbies(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of real sockets")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.toml")
	text := "[lobby]\nplayers = 3\nspectators = 1\nlobbies = 2\ngrow = \"lobbies\"\nmost = 2\n[play]\nleaves_per_minute = 6\narrival_seconds = 0.3\n[network]\nlink = \"delay=5ms\"\n" +
		"[rates]\nkbps = 256\n[process]\ngogc = -1\ngomaxprocs = 2\n[measure]\nseconds = 1\nwarm_seconds = 0.3\nrepeat = 1\nlevel = \"mean(tick)<period && kbps(down)<=256\"\n"
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
	if field[float64](t, s, "players") != 6 || field[float64](t, s, "facts.lobbies") != 2 || field[float64](t, s, "facts.players_per_lobby") != 3 || field[float64](t, s, "facts.spectators") != 1 || field[float64](t, s, "facts.visible") <= 0 {
		t.Errorf("%v", s)
	}
	said := 0
	for _, c := range field[[]any](t, p, "config") {
		name, value := field[string](t, c, "name"), field[string](t, c, "value")
		if name == "network.link" && value == "delay=5ms" || name == "process.gogc" && value == "-1" || name == "play.leaves_per_minute" && value == "6.0" {
			said++
		}
	}
	if said != 3 || !strings.Contains(out, `"players":6`) {
		t.Errorf("the scenario is not repeated in full: %v", field[[]any](t, p, "config"))
	}
}
