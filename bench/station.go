package bench

import (
	"slices"
	"strings"
)

// stations are the tables of the page, in the order of the pipeline; the last takes all other
// benchmarks. A benchmark belongs to the first station that names it (package:Name,Name), its
// package or, with a trailing slash, a directory above.
var stations = []struct{ name, takes string }{
	{"The running server at its knee", "bench:Live"},
	{"Movement", "sim/move"},
	{"ECS access", "ecs ecs/parallel"},
	{"Ray kernels", "lagcomp/internal/kernel"},
	{"Rewound shots", "lagcomp lagcomp/rig"},
	{"Delta pairs", "ecs/snapshot:Pair,Relevant ecs/interest"},
	{"Codec size and speed",
		"bench/codeceval bench/codeceval/ bench/lobbysim:Block,CatchUp,CodecParts ecs/snapshot ecs/schema " +
			"sim/netstate compress/"},
	{"Receive and send", "netio netio/impair cmd/tickrate:FloodLobby"},
	{"Session crypto", "netio/netcode netio/packet"},
	{"Whole lobby by size",
		"bench/lobbysim:Tick,Relevance,Observed,Objects,ShotLog,Join,Recording sim server"},
	{"Many lobbies per core", "bench/lobbysim:Lobbies"},
	{"Client", "client client/"},
	{"Everything else", "/"},
}

// headlines are the lines of the first page, at most twelve: each is a function that the server or
// the client runs for players, in the size that a full lobby has. A stage of the running server
// stands beside the benchmark of the same function alone. A benchmark that the input lacks is left
// out.
var headlines = []headline{
	{"a player's datagram received by the running server", "bench", "Live/one-lobby/receive",
		"netio", "Receive/gnet-drain"},
	{"a command opened and authenticated by the running server", "bench", "Live/one-lobby/open",
		"netio/netcode", "Receive/64B/players=1000"},
	{"a player in a snapshot to a connection, by the running server", "bench",
		"Live/one-lobby/snapshot", "ecs/snapshot", "Pair/baselines=4/shared"},
	{"a datagram sent by the running server", "bench", "Live/one-lobby/send",
		"netio", "Send/gnet-sendmmsg"},
	{"whole tick, 1000 players that all see each other", "bench/lobbysim", "Tick/players=1000", "", ""},
	{"whole tick, 500 players in a town", "bench/lobbysim", "Relevance/town/grid", "", ""},
	{"whole tick, 10 players, one of 32 lobbies on a core", "bench/lobbysim",
		"Lobbies/players=10/32-together", "", ""},
	{"movement, abilities and combat of 1000 players", "sim", "Tick/players=1000/mix=true", "", ""},
	{"a shot among 1000 players, at the shooter's own view", "lagcomp",
		"Cast/distinct-views-40-pairs", "", ""},
	{"visibility and priority of a player for a connection", "ecs/interest",
		"Snapshot/seen=179/look+pick", "", ""},
	{"a datagram of 400 bytes sent, four to each client", "netio", "Send/gnet-sendmmsg-gso-of-4", "", ""},
	{"tick of a client that sees 64 players", "client", "Tick/full", "", ""},
}

// headline names a line of the first page and its benchmark.
type headline struct {
	what, pkg, name string
	// alonePkg and alone name the benchmark of the same work without the rest of the server.
	alonePkg, alone string
}

// place returns the table of a benchmark and its rank in the table.
func place(pkg, base string) (station, rank int) {
	for i, s := range stations {
		for j, take := range strings.Fields(s.takes) {
			at, names, some := strings.Cut(take, ":")
			switch {
			case some && (at != pkg || !slices.Contains(strings.Split(names, ","), base)):
			case at == pkg, at == "/", strings.HasSuffix(at, "/") && strings.HasPrefix(pkg, at):
				return i, j
			}
		}
	}
	panic("bench: the last table takes every benchmark")
}

// order sorts by table and package and keeps the order of the benchmarks within a package.
func order(all []*series) {
	slices.SortStableFunc(all, func(a, b *series) int {
		sa, ra := place(a.pkg, a.base)
		sb, rb := place(b.pkg, b.base)
		switch {
		case sa != sb:
			return sa - sb
		case ra != rb:
			return ra - rb
		}
		return strings.Compare(a.pkg, b.pkg)
	})
}

// repeat is the command that runs the benchmarks of a table again: that of the last table runs all,
// and stages of the running server come from plans.
func repeat(station int, of []*series) string {
	if station == len(stations)-1 {
		return "go test -run '^$' -bench . -benchmem ./..."
	}
	var packages, names []string
	if of[0].base == "Live" {
		for _, s := range of {
			if scenario := s.parts[0]; !slices.Contains(names, scenario) {
				names = append(names, scenario)
			}
		}
		return "tickrate plan --scenario " + strings.Join(names, "|") + " --repeat 5"
	}
	for _, s := range of {
		if at := "./" + s.pkg; !slices.Contains(packages, at) {
			packages = append(packages, at)
		}
		if !slices.Contains(names, s.base) {
			names = append(names, s.base)
		}
	}
	return "go test -run '^$' -bench '^Benchmark(" + strings.Join(names,
		"|") + ")$' -benchmem " + strings.Join(packages, " ")
}
