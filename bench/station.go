package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// stations are the tables of the page, in the order of the pipeline. Each takes benchmarks by package
// and name (package:Name,Name): functions that the server or the client runs for players, or that
// have a fair rival or a limit. Benchmarks that no table takes are run by make bench alone.
var stations = []station{
	{"The running server", livePkg + ":" + liveBase},
	{"Whole lobby by size", "bench/lobbysim:Tick,Relevance,Lobbies sim:Tick"},
	{"Client", "client:Tick client/objects:Objects"},
	{"Movement and columns", "sim/move:Step ecs:Integrate"},
	{"Shots and sight", "lagcomp:Cast,Record,Overlap,Sweep lagcomp/internal/kernel:Broad sim/arena:Raycast"},
	{"Snapshots", "ecs/snapshot:Pair,Relevant ecs/interest:Snapshot"},
	{"Codec size and speed", "bench/codeceval/rowtrace:Player bench/lobbysim:Block,CatchUp"},
	{"Receive and send", "netio:Receive,Trickle,Send,Echo"},
	{"Session crypto", "netio/netcode:Receive,Seal"},
}

// station names a table and what it takes.
type station struct{ name, takes string }

// Stages of the running server are no benchmarks of go test: a plan writes their lines
// (report.WriteBench), in this package and under this name.
const livePkg, liveBase = "bench", "Live"

// benchmark names a benchmark of a package.
type benchmark struct{ pkg, base string }

// benchmarks lists what a table takes, in order.
func (s *station) benchmarks() (all []benchmark) {
	for take := range strings.FieldsSeq(s.takes) {
		pkg, names, _ := strings.Cut(take, ":")
		for name := range strings.SplitSeq(names, ",") {
			all = append(all, benchmark{pkg, name})
		}
	}
	return all
}

// headlines are the lines of the first page, at most twelve: each is a function that the server or
// the client runs for players, in the size that a full lobby has. A benchmark that the input lacks is
// left out.
var headlines = []headline{
	{"whole tick, 1000 players that all see each other", "bench/lobbysim", "Tick/players=1000"},
	{"whole tick, 500 players in a town", "bench/lobbysim", "Relevance/town/grid"},
	{"movement, abilities and combat of 1000 players", "sim", "Tick/players=1000/mix=true"},
	{"movement of one of 1000 players", "sim/move", "Step/columns"},
	{"a shot among 1000 players, at the shooter's own view", "lagcomp", "Cast/distinct-views-40-pairs/sweeper"},
	{"visibility and priority of a player for a connection", "ecs/interest",
		"Snapshot/seen=179/look+pick"},
	{"a player in a snapshot to a connection", "ecs/snapshot", "Relevant/baselines=4/shared"},
	{"a datagram of 64 bytes authenticated and opened", "netio/netcode", "Receive/64B/players=1000"},
	{"a datagram received", "netio", "Receive/gnet-drain"},
	{"a datagram of 400 bytes sent, four to each client", "netio", "Send/each=4/gnet-sendmmsg"},
	{"tick of a client that sees 64 players", "client", "Tick/full"},
}

// headline names a line of the first page and its benchmark.
type headline struct{ what, pkg, name string }

// Job is the benchmarks of one package that the page needs.
type Job struct {
	Package string // as go test takes it: ./ecs/snapshot
	Pattern string // for -bench
}

// Jobs lists what to run for a page, in the order of the tables, without the running server.
func Jobs() []Job {
	var packages []string
	names := map[string][]string{}
	for i := range stations {
		for _, b := range stations[i].benchmarks() {
			if b == (benchmark{livePkg, liveBase}) {
				continue
			}
			if names[b.pkg] == nil {
				packages = append(packages, b.pkg)
			}
			names[b.pkg] = append(names[b.pkg], b.base)
		}
	}
	var jobs []Job
	for _, pkg := range packages {
		jobs = append(jobs, Job{"./" + pkg, pattern(names[pkg])})
	}
	return jobs
}

// pattern matches some benchmarks by their whole names.
func pattern(names []string) string { return "^Benchmark(" + strings.Join(names, "|") + ")$" }

// collect returns the lines that a table takes, in its order.
func (s *station) collect(all []*series) (of []*series) {
	for _, b := range s.benchmarks() {
		for _, line := range all {
			if b == (benchmark{line.pkg, line.base}) {
				of = append(of, line)
			}
		}
	}
	return of
}

// games is the number of lobbies of the plan of a line; "" for a plan that counts players. One of the
// plan's lines reports it.
func games(line *series, of []*series) string {
	for _, s := range of {
		if s.parts[0] == line.parts[0] && s.parts[1] == line.parts[1] && slices.Contains(s.units, "games") {
			return fmt.Sprint(summary(s, "games").Center)
		}
	}
	return ""
}

// repeat is the command that measures one round of the lines of a table again, or all rounds of a plan.
func repeat(of []*series, m *meta) string {
	var packages, names []string
	if of[0].pkg == livePkg { // Live/one-lobby/players=200/receive
		for _, s := range of {
			plan := fmt.Sprintf("tickrate plan --repeat %d --scenario %s", leastRuns-1, s.parts[0])
			if size, ok := strings.CutPrefix(s.parts[1], "players="); ok {
				plan += " --sizes " + cmp.Or(games(s, of), size)
			}
			if !slices.Contains(names, plan) {
				names = append(names, plan)
			}
		}
		return strings.Join(names, "`, `") // the caller puts it between backquotes
	}
	for _, s := range of {
		if at := "./" + s.pkg; !slices.Contains(packages, at) {
			packages = append(packages, at)
		}
		if !slices.Contains(names, s.base) {
			names = append(names, s.base)
		}
	}
	time := ""
	if m.benchTime != "" {
		time = "-benchtime " + m.benchTime + " "
	}
	return fmt.Sprintf("go test -run '^$' -bench '%s' -benchmem %s%s", pattern(names), time,
		strings.Join(packages, " "))
}
