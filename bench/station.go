package bench

import (
	"slices"
	"strings"
)

// stations is the circle, and after it who stands at its two ends. A package belongs to the first station that names it
// or, with a trailing slash, a directory above it.
var stations = []struct{ name, packages string }{
	{"Socket", "netio netio/impair"},
	{"Packet", "netio/wire netio/session netio/netcode"},
	{"Commands and the match", "sim sim/arena sim/move"},
	{"World", "ecs ecs/geom ecs/tick"},
	{"History and lag compensation", "lagcomp lagcomp/"},
	{"Snapshots", "ecs/snapshot ecs/schema sim/ghost"},
	{"Compression", "compress/"},
	{"Lobby", "bench/bottle server server/"},
	{"Client", "client client/"},
	{"Measuring", "internal/meter internal/pace bench/"},
	{"Elsewhere", "/"},
}

// place says where on the page a package stands: its station, and its rank within.
func place(pkg string) (station, rank int) {
	for i, s := range stations {
		for j, p := range strings.Fields(s.packages) {
			if p == pkg || p == "/" || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p) {
				return i, j
			}
		}
	}
	panic("bench: the last station takes every package")
}

// order sorts by station and package and keeps the order of the benchmarks within a package.
func order(all []*series) {
	slices.SortStableFunc(all, func(a, b *series) int {
		sa, ra := place(a.pkg)
		sb, rb := place(b.pkg)
		switch {
		case sa != sb:
			return sa - sb
		case ra != rb:
			return ra - rb
		}
		return strings.Compare(a.pkg, b.pkg)
	})
}
