package bench

import (
	"regexp"
	"slices"
	"strings"
)

// A benchmark's sub-benchmarks are variants of one job, under names that also hold sizes and
// operations:
//
//	Encode/shared/baselines=4      variant shared, size baselines=4
//	Encode/naive/baselines=4       variant naive: the rival of the line above
//	Table/decode, Table/encode     operations: each is a job of its own, without a rival
//
// The rival of a line is the line of the same benchmark, sizes and operations with a word of
// rivalWords in its variant; of several, the one that shares most words with the line. A rival
// without sizes is the rival of all sizes. A benchmark without such a word has no rival: its
// variants may be different jobs, and a ratio between jobs means nothing.

// rivalWords mark the variant that the others are compared with.
var rivalWords = []string{"arche", "brute", "classic", "generic", "linear", "map", "naive", "net", "plain",
	"reflective", "rival", "scalar", "slow", "std", "zstd"}

// limitWords mark a bound that the others cannot beat: the part of the job that is not this code.
var limitWords = []string{"alone", "copy", "limit", "stored"}

// operations are the parts of a name that tell jobs apart, not variants.
var operations = []string{"append", "decode", "encode", "hit", "join", "leave", "miss", "parse", "pop",
	"push", "read", "receive", "recv", "send", "write"}

var size = regexp.MustCompile(`^(\w+=.*|[0-9]+[a-zA-Z]*|[a-z]?[0-9]+|[0-9]+x[0-9]+[a-z]*)$`)

// job splits the name of a line into its job and its variant.
func (s *series) job() (job, variant []string) {
	for _, p := range s.parts {
		if size.MatchString(p) || slices.Contains(operations, p) {
			job = append(job, p)
		} else {
			variant = append(variant, p)
		}
	}
	return job, variant
}

// isRival reports whether the line is the variant that others are compared with.
func (s *series) isRival() bool { return s.says(rivalWords) }

// isLimit reports whether the line is a bound of others.
func (s *series) isLimit() bool { return s.says(limitWords) }

// says reports whether the variant contains one of some words.
func (s *series) says(some []string) bool {
	_, variant := s.job()
	return slices.ContainsFunc(variant, func(v string) bool {
		return slices.ContainsFunc(words(v), func(w string) bool { return slices.Contains(some, w) })
	})
}

// limit returns the line of the same benchmark that bounds s: one of the same sizes and operations,
// or else one that has only some of them. It is nil if there is none, s itself if s is a limit.
func limit(s *series, all []*series) (found *series) {
	job, variant := s.job()
	if len(variant) > 0 && s.isLimit() {
		return s
	}
	var wider *series
	for _, o := range all {
		if o.pkg != s.pkg || o.base != s.base || !o.isLimit() {
			continue
		}
		j, _ := o.job()
		switch {
		case slices.Equal(j, job):
			found = closer(s, found, o)
		case len(j) > 0 && !slices.ContainsFunc(j, func(p string) bool { return !slices.Contains(job, p) }):
			wider = closer(s, wider, o)
		}
	}
	if found == nil {
		return wider
	}
	return found
}

// words splits at everything that is not a letter, and before capitals.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(camel.ReplaceAllString(s, "$1 $2")),
		func(r rune) bool { return r < 'a' || r > 'z' })
}

var camel = regexp.MustCompile(`([a-z])([A-Z])`)

// rival returns the line that s is measured against; nil if there is none, s itself if s is the
// rival of others.
func rival(s *series, all []*series) *series {
	job, variant := s.job()
	if len(variant) == 0 {
		return nil
	}
	var named, common *series
	kin := 0
	for _, o := range all {
		j, v := o.job()
		if o.pkg != s.pkg || o.base != s.base || len(v) == 0 {
			continue
		}
		kin++
		switch {
		case !o.isRival():
		case slices.Equal(j, job):
			named = closer(s, named, o)
		case len(j) == 0:
			common = closer(s, common, o)
		}
	}
	switch {
	case kin == 1:
		return nil
	case s.isRival():
		return s
	case named != nil:
		return named
	}
	return common
}

// closer returns whichever rival shares more words with s, found if that is even.
func closer(s, found, o *series) *series {
	if found == nil || shared(s, o) > shared(s, found) {
		return o
	}
	return found
}

// shared is the number of words that two names have in common.
func shared(a, b *series) (n int) {
	_, va := a.job()
	_, vb := b.job()
	have := words(strings.Join(vb, "/"))
	for _, w := range words(strings.Join(va, "/")) {
		if slices.Contains(have, w) {
			n++
		}
	}
	return n
}
