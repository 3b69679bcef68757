package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/internal/stage"
)

// WriteBench writes one benchmark line per step that is not void, in the order they were measured:
//
//	BenchmarkPlan/players=100 240 412000 ns/tick 390000 p50-ns/tick ... 12500 B/client/s ...
//
// Each step near the knee that held is followed by one line per stage of its live tick, with the CPU time that
// the server paid for one unit of the stage's work (measure.Step.Units):
//
//	BenchmarkLive/one-lobby/receive 240 2020 ns/datagram 750 datagrams/tick 750 players
//
// Lobbies that share a process have one line more, for a game among them:
//
//	BenchmarkLive/duels/game 768 79100 ns/tick 98.7 games/core 2.5e+06 B/game 80 games
//
// Where sizes were given, these lines are of every step, and their names have its size, so that each
// run has the same names:
//
//	BenchmarkLive/one-lobby/players=200/receive 240 2020 ns/datagram 750 datagrams/tick 200 players
//
// The count is the number of ticks measured; values have six significant digits. File configuration
// names the machine and the commit; to compare two commits: benchstat -ignore commit old/bench.txt
// new/bench.txt
func WriteBench(w io.Writer, p Plan) error {
	p = p.Clean()
	out := benchfmt.NewWriter(w)
	config := benchConfig(p)
	if len(p.Steps) == p.Voids() { // no line to hang the configuration on
		for _, c := range config {
			fmt.Fprintf(w, "%s: %s\n", c.Key, c.Value)
		}
		_, err := fmt.Fprintln(w)
		return err
	}
	for _, s := range p.Steps {
		if s.Void {
			continue
		}
		ticks := max(1, int(s.Duration.Seconds()*float64(p.SLO.TickHz)+0.5))
		lines := []benchfmt.Result{{Name: benchfmt.Name(fmt.Sprintf("Plan/players=%d", s.Players)),
			Values: benchValues(s)}}
		if len(p.Sizes) > 0 {
			lines = append(lines, liveLines(p, s, fmt.Sprintf("Live/%s/players=%d/", p.Scenario, s.Players))...)
		} else if s.Pass && (s.Players == p.Nearest() || s.Players >= p.Knee.Low && s.Players <= p.Knee.High) {
			lines = append(lines, liveLines(p, s, "Live/"+p.Scenario+"/")...)
		}
		for i := range lines {
			lines[i].Config, lines[i].Iters = config, ticks
		}
		for i := range lines {
			if err := out.Write(&lines[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// liveLines are the lines of the stages of a step, and of a game where lobbies share a process. prefix
// begins their names.
func liveLines(p Plan, s measure.Step, prefix string) (all []benchfmt.Result) {
	for _, u := range s.Units() {
		all = append(all, benchfmt.Result{Name: benchfmt.Name(prefix + u.Stage), Values: unitValues(s, u)})
	}
	if len(s.LoopCallMillis) > 0 && s.ServerCores > 0 {
		all = append(all, benchfmt.Result{Name: benchfmt.Name(prefix + "game"),
			Values: gameValues(s, p.SLO.TickHz)})
	}
	return all
}

// gameValues are the values of a game among others of its process: CPU time of the process by tick
// and game, games a core, and memory.
func gameValues(s measure.Step, hz int) []benchfmt.Value {
	lobbies := float64(s.Lobbies)
	return rounded([]benchfmt.Value{
		{Value: 1e9 * s.ServerCores / (lobbies * float64(hz)), Unit: "ns/tick"},
		{Value: lobbies / s.ServerCores, Unit: "games/core"},
		{Value: s.MemoryBytes / lobbies, Unit: "B/game"},
		{Value: lobbies, Unit: "games"},
	})
}

// unitValues are the values of one stage at the knee, rounded to six significant digits.
func unitValues(s measure.Step, u measure.UnitCost) []benchfmt.Value {
	unit := strings.Fields(u.Unit)[0]
	if u.Stage == stage.Snapshot {
		unit = "pair"
	}
	return rounded([]benchfmt.Value{
		{Value: 1e6 * u.Millis, Unit: "ns/" + unit},
		{Value: u.Units, Unit: unit + "s/tick"},
		{Value: float64(s.Players), Unit: "players"},
	})
}

// rounded rounds values to six significant digits.
func rounded(values []benchfmt.Value) []benchfmt.Value {
	for i := range values {
		values[i].Value, _ = strconv.ParseFloat(strconv.FormatFloat(values[i].Value, 'g', 6, 64), 64)
	}
	return values
}

// benchConfig is the file configuration of the benchmark lines: machine, commit, seed and rate.
func benchConfig(p Plan) []benchfmt.Config {
	var config []benchfmt.Config
	for _, c := range [][2]string{
		{"goos", p.Machine.OS},
		{"goarch", p.Machine.Arch},
		{"cpu", p.Machine.CPU},
		{"pkg", "github.com/tickrate/tickrate/bench"},
		{"commit", p.Commit},
		{"seed", fmt.Sprint(p.Seed)},
		{"tick-hz", fmt.Sprint(p.SLO.TickHz)},
		{"movement", p.Movement},
	} {
		// A value is one line, and an empty one would read as "forget this key".
		if value := strings.Join(strings.Fields(c[1]), " "); value != "" {
			config = append(config, benchfmt.Config{Key: c[0], Value: []byte(value), File: true})
		}
	}
	return config
}

// benchValues are the values of one step, rounded to six significant digits.
func benchValues(s measure.Step) []benchfmt.Value {
	const msToNs, kbitToBytes = 1e6, 125
	values := []benchfmt.Value{
		{Value: s.TickCPUMillis.Mean * msToNs, Unit: "ns/tick"},
		{Value: s.TickCPUMillis.P50 * msToNs, Unit: "p50-ns/tick"},
		{Value: s.TickCPUMillis.P99 * msToNs, Unit: "p99-ns/tick"},
		{Value: s.TickCPUMillis.P999 * msToNs, Unit: "p999-ns/tick"},
		{Value: s.ServerCores, Unit: "cores"},
		{Value: s.KbpsDownPerClient * kbitToBytes, Unit: "B/client/s"},
		{Value: s.KbpsUpPerClient * kbitToBytes, Unit: "up-B/client/s"},
		{Value: s.SnapshotAgeMillis.P99 * msToNs, Unit: "age-p99-ns"},
		{Value: s.AllocsPerTick, Unit: "allocs/tick"},
	}
	if f := s.Floor; f != nil && f.Millis > 0 {
		values = append(values, benchfmt.Value{Value: f.Millis * msToNs, Unit: "floor-ns/tick"},
			benchfmt.Value{Value: f.Tick, Unit: "tick/floor"}, benchfmt.Value{Value: f.Process, Unit: "process/floor"})
	}
	if e := s.Events; e != nil {
		values = append(values, benchfmt.Value{Value: e.Instructions, Unit: "instructions/player/tick"},
			benchfmt.Value{Value: e.Cycles, Unit: "cycles/player/tick"},
			benchfmt.Value{Value: e.BranchMisses, Unit: "branch-misses/player/tick"},
			benchfmt.Value{Value: e.CacheMisses, Unit: "cache-misses/player/tick"})
	}
	return rounded(values)
}
