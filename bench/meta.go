package bench

import (
	"fmt"
	"strings"
)

// meta says where and how results were made, from their file configuration ("key: value" lines
// before the benchmarks). make bench-report writes the keys that neither go test nor a plan does.
type meta struct {
	cpu       string // model of the processor; key "cpu", which go test writes
	cores     string // processors in use; key "cores"
	kernel    string // operating system and its version; key "kernel"
	goVersion string // key "go"
	commit    string // of the measured build; key "commit"
	date      string // day of the runs, YYYY-MM-DD; key "date"
	benchTime string // -benchtime of the runs; key "benchtime"
}

// field is one key of the configuration.
type field struct {
	key   string
	value *string
	one   bool // all results must agree
}

// fields pairs the configuration keys with the fields.
func (m *meta) fields() []field {
	return []field{
		{"cpu", &m.cpu, true},
		{"cores", &m.cores, false},
		{"kernel", &m.kernel, false},
		{"go", &m.goVersion, false},
		{"commit", &m.commit, true},
		{"date", &m.date, false},
		{"benchtime", &m.benchTime, false},
	}
}

// fill takes what m lacks from the configuration of a result, in the line given. It refuses a result
// of another machine or commit than those before it.
func (m *meta) fill(line int, config func(key string) string) error {
	for _, f := range m.fields() {
		switch value := config(f.key); {
		case *f.value == "":
			*f.value = value
		case f.one && value != *f.value:
			return &InputError{line, fmt.Sprintf("results of one %s, %s, got %q", f.key, *f.value, value), ErrMixed}
		}
	}
	return nil
}

// check refuses results of no commit, and of a tree that has changes beside its commit.
func (m *meta) check() error {
	if m.commit == "" || strings.HasSuffix(m.commit, "-dirty") {
		return &InputError{0, fmt.Sprintf("results of a commit without changes, got %q", m.commit), ErrMixed}
	}
	return nil
}

// String is the origin of a table: machine, system, compiler, commit and day.
func (m *meta) String() string {
	known := func(s string) string {
		if s == "" {
			return "not recorded"
		}
		return cell(s)
	}
	return fmt.Sprintf("%s, %s cores, %s, %s, commit `%s`, %s", known(m.cpu), known(m.cores),
		known(m.kernel), known(m.goVersion), m.commit, known(m.date))
}
