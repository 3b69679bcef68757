package bench

import (
	"fmt"
	"slices"
	"strings"
)

// An opponent is a variant of a benchmark that its other variants are compared with: its rival or
// its limit. A line of results is of that variant if one part of its name, between slashes, is the
// variant's. It is compared with the lines of its benchmark whose names have all its other parts:
//
//	Broad/ray/generic    the rival of Broad/ray/avx2 and not of Broad/ball/avx2
//	Cast/brute-force     the rival of Cast/one-shot and of all other lines of Cast
//
// A benchmark that no table names has no opponent, whatever its variants are called: they may be
// different jobs, and a ratio between jobs means nothing.
type opponent struct {
	pkg     string // directory below the module
	base    string // benchmark, without "Benchmark"
	variant string
	what    string // what code it is, at most six words: the page shows it beside each ratio
}

// mostWords bounds what an opponent says of itself.
const mostWords = 6

// rivals do the same job in the best straightforward way that a competent engineer would ship: a
// well-kept library, or a plain loop over plain data without avoidable look-ups and allocations. The
// oracle of a test is no rival, and neither is an earlier version of this code.
var rivals = []opponent{
	{"sim/move", "Step", "scalar", "one player after another, in structs"},
	{"ecs", "Integrate", "arche-query", "arche's query over the same rows"},
	{"lagcomp/internal/kernel", "Broad", "generic", "the same loop in plain Go"},
	{"lagcomp", "Cast", "plain", "rewind over slices, ball test first"},
	{"lagcomp", "Overlap", "plain", "rewind over slices, ball test first"},
	{"lagcomp", "Sweep", "plain", "rewind over slices, ball test first"},
	{"ecs/snapshot", "Pair", "plain", "deltas kept by baseline, plain loops"},
	{"ecs/snapshot", "Relevant", "plain", "deltas kept by baseline, plain loops"},
	{"ecs/interest", "Snapshot", "every-pair", "squared distance of every pair"},
	{"bench/codeceval", "Trace", "zstd", "zstd on blocks, with trained dictionary"},
	{"bench/codeceval/rowtrace", "Player", "zstd", "zstd on blocks, with trained dictionary"},
	{"bench/lobbysim", "Block", "zstd", "zstd on blocks, with trained dictionary"},
	{"bench/lobbysim", "Block", "huff0", "huff0 on blocks, with trained table"},
	{"netio", "Receive", "net", "package net, one datagram a call"},
	{"netio", "Trickle", "net", "package net, a goroutine that reads"},
	{"netio", "Send", "net", "package net, one datagram a call"},
	{"netio", "Echo", "net", "package net, one datagram a call"},
}

// limits are measured parts of the same job: what remains if all code here took no time. A line
// that is faster than its limit by more than the interval shows that the limit is none, and Write
// refuses it (ErrLimit).
var limits = []opponent{
	{"lagcomp", "Record", "copy", "a copy of the same poses"},
	{"netio/netcode", "Receive", "aead-alone", "the cipher that opens it alone"},
	{"netio/netcode", "Seal", "aead-alone", "the cipher that seals it alone"},
}

// check returns an error if an opponent does not say what it is.
func (o *opponent) check() error {
	if n := len(strings.Fields(o.what)); n == 0 || n > mostWords {
		return fmt.Errorf("package %s, Benchmark%s, variant %s: expected one to %d words that say what code it is, got %q",
			o.pkg, o.base, o.variant, mostWords, o.what)
	}
	return nil
}

// is reports whether the line is of the opponent's variant.
func (o *opponent) is(s *series) bool { return o.of(s) && slices.Contains(s.parts, o.variant) }

// of reports whether the line is of the opponent's benchmark.
func (o *opponent) of(s *series) bool { return s.pkg == o.pkg && s.base == o.base }

// line returns the line of the opponent that s is compared with: of several, the one that has most
// parts of its name in common with s. It is nil if there is none, and s itself if s is of the variant.
func (o *opponent) line(s *series, all []*series) (found *series) {
	switch {
	case !o.of(s):
		return nil
	case o.is(s):
		return s
	}
	for _, c := range all {
		foreign := func(part string) bool { return part != o.variant && !slices.Contains(s.parts, part) }
		if o.is(c) && !slices.ContainsFunc(c.parts, foreign) &&
			(found == nil || len(c.parts) > len(found.parts)) {
			found = c
		}
	}
	return found
}
