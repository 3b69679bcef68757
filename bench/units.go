package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrUnit is an *InputError's cause: a unit is none of Go's conventions, or a value is impossible in it.
var ErrUnit = errors.New("a unit that benchstat cannot scale")

// A unit is what is counted, after a qualifier if it is a part or a kind of it, by what:
//
//	ns/op   p99-ns/tick   B/client/s   cores   lost-up/datagram
//
// quantities may stand at the end of what is counted. Times are in ns and sizes in B, which benchstat
// scales to seconds and bytes with a prefix; parts are fractions of one, not percent.
var quantities = []string{
	"ns", "B", "MB", "bits", "allocs", "cores", "cores@60Hz", "ratio", // MB/s is of b.SetBytes
	"datagrams", "packets", "pages", "wakes", "drops", "snapshot", "swarm", "lost", "up", "down", "late", "near",
	"players", "rows", "projectiles", "shots", "hits", "wounds", "seen", "lobbies", "games", "commands", "pairs",
	"instructions", "cycles", "misses",
}

// things may stand after a slash.
var things = []string{
	"op", "s", "tick", "player", "client", "lobby", "game", "core", "join", "pass", "chunk", "copy", "state",
	"datagram", "packet", "message", "snapshot", "command", "pair", "row", "entity", "value", "symbol", "bit",
	"change", "object", "projectile", "damage", "shot", "ray", "test", "zone", "sweep", "record",
}

// Check reads the output of go test -bench and returns an error that names each benchmark that failed,
// each unit outside the tables, and each value that is impossible in its unit. all says that the
// output is of all benchmarks: it must then hold the lines of the first page and of each opponent,
// and a page of them must not be too long.
func Check(in io.Reader, all bool) error {
	lines, err := read(in, nil)
	if err != nil {
		return err
	}
	var wrong []string
	for _, s := range lines {
		for _, u := range s.units {
			for _, v := range s.runs[u] {
				if text := impossible(u, v); text != "" {
					wrong = append(wrong, fmt.Sprintf("%s/%s: %s", s.pkg, s.name(), text))
				}
			}
		}
	}
	if all {
		wrong = append(wrong, missing(lines)...)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return &InputError{0, strings.Join(slices.Compact(wrong), "\nexpected "), ErrUnit}
	}
	return nil
}

// impossible says what is wrong with a value in a unit; nothing if it is fine. A duration that is of
// nothing smaller, such as p99-ns, is below a nanosecond only if it was in another unit.
func impossible(unit string, v float64) string {
	what, by, per := strings.Cut(unit, "/")
	quantity := what[strings.LastIndexByte(what, '-')+1:]
	if !slices.Contains(quantities, quantity) {
		return fmt.Sprintf("a unit of quantities in bench/units.go, got %s", unit)
	}
	for thing := range strings.SplitSeq(by, "/") {
		if thing = thing[strings.LastIndexByte(thing, '-')+1:]; per && !slices.Contains(things, thing) {
			return fmt.Sprintf("a unit by a thing of bench/units.go, got %s", unit)
		}
	}
	if quantity == "ns" && !per && v > 0 && v < 1 {
		return fmt.Sprintf("at least a nanosecond or none, got %g %s", v, unit)
	}
	return ""
}

// missing lists the lines of the first page and of opponents that the output lacks, each opponent that
// has another unit than the lines beside it, and a page that is too long.
func missing(lines []*series) (wrong []string) {
	for _, h := range headlines {
		if find(lines, h.pkg, h.name) == nil {
			wrong = append(wrong, fmt.Sprintf("a line %s/%s for the first page", h.pkg, h.name))
		}
	}
	for _, o := range slices.Concat(rivals, limits) {
		if !slices.ContainsFunc(lines, o.is) {
			wrong = append(wrong, fmt.Sprintf("package %s: a variant %s of Benchmark%s", o.pkg, o.variant, o.base))
		}
		for _, s := range lines {
			if line := o.line(s, lines); line != nil && line != s {
				if _, _, err := paired(s, line); err != nil {
					wrong = append(wrong, strings.TrimPrefix(err.Error(), "expected "))
				}
			}
		}
	}
	n := fixedLines + liveLines
	for i := range stations {
		of, pkg := stations[i].collect(lines), ""
		for _, s := range of {
			if n++; s.pkg != pkg { // a line for each package
				n, pkg = n+1, s.pkg
			}
		}
		n += tableLines
	}
	if n > longestPage {
		wrong = append(wrong, fmt.Sprintf("a page of at most %d lines, got %d with those of plans", longestPage, n))
	}
	return wrong
}

// Lines of a page beside the rows of benchmarks: head and first page, head of a table, and rows of the
// plans of make bench-report, six stages of four scenarios and a game.
const fixedLines, tableLines, liveLines = 34, 7, 26
