package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// Errors of Write that the results are to blame for.
var (
	ErrEmpty  = errors.New("no benchmark results in the input: was it written by go test -bench?")
	ErrFailed = errors.New("the input tells of a failure, so it is not the whole truth")
)

// read collects the runs of each benchmark, in the order of their first appearance, and fills meta from the input.
func read(in io.Reader, meta *Meta) ([]*series, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read benchmark results: %w", err)
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("--- FAIL")) || bytes.HasPrefix(line, []byte("panic:")) {
			return nil, fmt.Errorf("%w: %s", ErrFailed, bytes.TrimSpace(line))
		}
	}
	var all []*series
	r := benchfmt.NewReader(bytes.NewReader(text), "benchmark results")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			meta.fill(rec.GetConfig)
			all = add(all, rec)
		case *benchfmt.SyntaxError:
			return nil, rec
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("read benchmark results: %w", err)
	}
	if len(all) == 0 {
		return nil, ErrEmpty
	}
	return all, nil
}

func add(all []*series, rec *benchfmt.Result) []*series {
	pkg := strings.TrimPrefix(rec.GetConfig("pkg"), "github.com/tickrate/tickrate/")
	base, parts := split(rec.Name)
	i := slices.IndexFunc(all, func(s *series) bool { return s.pkg == pkg && s.base == base && slices.Equal(s.parts, parts) })
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

func (s *series) name() string { return strings.Join(append([]string{s.base}, s.parts...), "/") }

// main is the unit that the page compares by: time per thing if the benchmark reports one, rather all of it (ns/player, cpu-ns/player)
// than a part (move-ns/player), else time per operation, else, for one that reports neither, whatever it reports first.
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

// isTime knows ns/player, and by the format's custom cpu-ns/player as a kind of it.
func isTime(unit string) bool {
	what, _, per := strings.Cut(unit, "/")
	what = what[strings.LastIndexByte(what, '-')+1:]
	return per && slices.Contains([]string{"ns", "us", "µs", "ms", "s"}, what)
}
