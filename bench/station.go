package bench

import (
	"slices"
	"strings"
)

// stations are the tables of the page, in the order of the pipeline; the last takes all other
// benchmarks. A benchmark belongs to the first station that names it (package:Name,Name), its
// package or, with a trailing slash, a directory above.
var stations = []struct{ name, takes string }{
	{"Movement", "sim/move"},
	{"ECS access", "ecs"},
	{"Ray kernels", "lagcomp/internal/kernel"},
	{"Rewound shots", "lagcomp lagcomp/rig"},
	{"Delta pairs", "ecs/snapshot:Pair,Relevant ecs/interest"},
	{"Codec size and speed", "ecs/snapshot ecs/schema sim/netstate compress/"},
	{"Receive and send", "netio netio/impair"},
	{"Session crypto", "netio/netcode netio/packet"},
	{"Whole lobby by size", "bench/lobbysim:Tick,Relevance,Observed,Things,Receipts sim server"},
	{"Many lobbies per core", "bench/lobbysim:Lobbies"},
	{"Everything else", "/"},
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

// repeat is the command that runs the benchmarks of a table again. That of the last table runs all.
func repeat(station int, of []*series) string {
	if station == len(stations)-1 {
		return "go test -run '^$' -bench . -benchmem ./..."
	}
	var packages, names []string
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
