package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// series is every run of one benchmark.
type series struct {
	pkg   string // directory below the module
	base  string // name without "Benchmark" and sub-benchmarks
	parts []string
	units []string // in the order of the results
	runs  map[string][]float64
}

// longestLine is what the reader of results takes, its end included.
const longestLine = bufio.MaxScanTokenSize - 1

// Errors of Write that the results are to blame for, each in an *InputError.
var (
	ErrEmpty  = errors.New("no benchmark results in the input: was it written by go test -bench?")
	ErrFailed = errors.New("the input tells of a failure, so it is not the whole truth")
	ErrMixed  = errors.New("the input is not of one machine and one commit")
)

// InputError says where results are wrong, and what was expected there.
type InputError struct {
	Line int // 0: of no line
	Want string
	kind error // one of this package; nil: a line is not as go test -bench writes it
}

// Error names the line and what was expected.
func (e *InputError) Error() string {
	if e.Line == 0 {
		return "expected " + e.Want
	}
	return fmt.Sprintf("line %d: expected %s", e.Line, e.Want)
}

// Unwrap makes an error one of those above.
func (e *InputError) Unwrap() error { return e.kind }

// read collects the runs of each benchmark in the order of their first appearance, and fills m from
// the input unless that is nil. Wrong input is an *InputError.
func read(in io.Reader, m *meta) ([]*series, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read benchmark results: %w", err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		switch n++; {
		case bytes.HasPrefix(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("--- FAIL")) ||
			bytes.HasPrefix(line, []byte("panic:")):
			return nil, &InputError{n, fmt.Sprintf("results of a run in which nothing failed, got %q",
				bytes.TrimSpace(line)), ErrFailed}
		case len(line) > longestLine:
			return nil, &InputError{n, fmt.Sprintf("a line of go test -bench, of at most %d bytes, got %d",
				longestLine, len(line)), nil}
		}
	}
	var all []*series
	r := benchfmt.NewReader(bytes.NewReader(text), "benchmark results")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			if err := finite(rec); err != nil {
				return nil, err
			}
			if m != nil {
				_, line := rec.Pos()
				if err := m.fill(line, rec.GetConfig); err != nil {
					return nil, err
				}
			}
			all = add(all, rec)
		case *benchfmt.SyntaxError:
			return nil, &InputError{rec.Line,
				"a benchmark's name, its iterations, and values each with a unit: " + rec.Msg, nil}
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("read benchmark results: %w", err)
	}
	if len(all) == 0 {
		return nil, &InputError{0, "benchmark results, as go test -bench writes them: there are none",
			ErrEmpty}
	}
	return all, nil
}

// finite refuses numbers that have no median.
func finite(rec *benchfmt.Result) error {
	for _, v := range rec.Values {
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			_, line := rec.Pos()
			return &InputError{line, fmt.Sprintf("a finite number of %s, got %g", cmp.Or(v.OrigUnit,
				v.Unit), v.Value), nil}
		}
	}
	return nil
}

// add adds one result to the runs of its benchmark.
func add(all []*series, rec *benchfmt.Result) []*series {
	pkg := strings.TrimPrefix(rec.GetConfig("pkg"), "github.com/tickrate/tickrate/")
	base, parts := split(rec.Name)
	i := slices.IndexFunc(all, func(s *series) bool {
		return s.pkg == pkg && s.base == base &&
			slices.Equal(s.parts, parts)
	})
	if i < 0 {
		i = len(all)
		all = append(all, &series{pkg: pkg, base: base, parts: parts, runs: map[string][]float64{}})
	}
	s := all[i]
	for _, v := range rec.Values {
		unit, value := v.Unit, v.Value
		if v.OrigUnit != "" { // as the benchmark said it, ns rather than seconds
			unit, value = v.OrigUnit, v.OrigValue
		}
		if s.runs[unit] == nil {
			s.units = append(s.units, unit)
		}
		s.runs[unit] = append(s.runs[unit], value)
	}
	return all
}

// split takes a name apart and drops the -GOMAXPROCS at its end, which the page tells once.
func split(name benchfmt.Name) (base string, parts []string) {
	b, rest := name.Parts()
	for _, p := range rest {
		if p[0] == '/' {
			parts = append(parts, string(p[1:]))
		}
	}
	return string(b), parts
}

// name is the full name of the benchmark, without GOMAXPROCS.
func (s *series) name() string { return strings.Join(append([]string{s.base}, s.parts...), "/") }

// main is the unit that the page compares: time per thing if the benchmark reports one, the whole
// (ns/player, cpu-ns/player) before a part (move-ns/player); then time per operation; then the
// first unit.
func (s *series) main() string {
	part := ""
	for _, u := range s.units {
		if !isTime(u) || u == "ns/op" {
			continue
		}
		if of, _, _ := strings.Cut(u, "/"); !strings.Contains(of, "-") || strings.HasPrefix(of, "cpu-") {
			return u
		}
		if part == "" {
			part = u
		}
	}
	if part != "" {
		return part
	}
	if s.runs["ns/op"] == nil {
		return s.units[0]
	}
	return "ns/op"
}

// isTime reports whether a unit is time per thing: ns/player, or cpu-ns/player as a kind of it.
func isTime(unit string) bool {
	what, _, per := strings.Cut(unit, "/")
	what = what[strings.LastIndexByte(what, '-')+1:]
	return per && what == "ns"
}
