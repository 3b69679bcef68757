package bench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden page has tables of its own, so that a benchmark that comes or goes leaves it as it is.
var (
	goldenStations = []station{{"ECS access", "ecs:Integrate"},
		{"Codec size and speed", "ecs/snapshot:Encode compress/bitio:Bits"}, {"Receive and send", "netio:Receive"}}
	goldenHeadlines = []headline{{"a datagram received", "netio", "Receive/drain"},
		{"what no result is of", "netio", "Gone"}}
	goldenOpponents = opponents{
		rivals: []opponent{{"ecs", "Integrate", "arche-query", "arche's query"},
			{"ecs/snapshot", "Encode", "naive", "one delta per client and row"}},
		limits: []opponent{{"netio", "Receive", "call-alone", "the system call alone"}},
	}
)

func TestWriteGolden(t *testing.T) {
	in, err := os.ReadFile(filepath.Join("testdata", "bench.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(&out, bytes.NewReader(in), goldenStations, goldenHeadlines, goldenOpponents); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	golden := filepath.Join("testdata", "page.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("page differs from %s, run with -update if it should (-want +got):\n%s", golden, diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	const ok = ecs + "BenchmarkX-2 10 5 ns/op\n"
	cases := []struct {
		name, in string
		kind     error // nil: neither
		line     int
		want     string
	}{
		/* 1 */ {"nothing", "", ErrEmpty, 0,
			"expected benchmark results, as go test -bench writes them: there are none"},
		/* 2 */ {"no results", "goos: linux\nPASS\n", ErrEmpty, 0, "expected benchmark results"},
		/* 3 */ {"a failed benchmark", ok + "--- FAIL: BenchmarkY\n", ErrFailed, 4,
			`line 4: expected results of a run in which nothing failed, got "--- FAIL: BenchmarkY"`},
		/* 4 */ {"a failed package", ok + "FAIL\tgithub.com/tickrate/tickrate/sim [build failed]\n",
			ErrFailed, 4, "build failed"},
		/* 5 */ {"a panic", ok + "\npanic: out of range\n", ErrFailed, 5, "panic: out of range"},
		/* 6 */ {"a broken line", ok + "BenchmarkY-2 10 five ns/op\n", nil, 4,
			"line 4: expected a benchmark's name, its iterations, and values each with a unit: " +
				"parsing measurement"},
		/* 7 */ {"a line cut short", ok + ok + "BenchmarkY-2 10 5", nil, 7, "missing units"},
		/* 8 */ {"no number", ok + "BenchmarkY-2 10 NaN ns/op\n", nil, 4,
			"a finite number of ns/op, got NaN"},
		/* 9 */ {"a changed tree", strings.Replace(ok, "abc", "abc-dirty", 1), ErrMixed, 0,
			`results of a commit without changes, got "abc-dirty"`},
		/* 10 */ {"no commit", strings.Replace(ok, "commit: abc\n", "", 1), ErrMixed, 0, `got ""`},
		/* 11 */ {"two commits", ok + "commit: def\nBenchmarkX-2 10 5 ns/op\n", ErrMixed, 5,
			`line 5: expected results of one commit, abc, got "def"`},
		/* 12 */ {"two machines", "cpu: a\n" + ok + "cpu: b\nBenchmarkX-2 10 5 ns/op\n", ErrMixed, 6,
			`line 6: expected results of one cpu, a, got "b"`},
		/* 13 */ {"a line without end", ok + strings.Repeat("x", 1<<17), nil, 4,
			"at most 65535 bytes, got 131072"},
	}
	kinds := []error{ErrEmpty, ErrFailed, ErrMixed, ErrLimit, ErrLong}
	for i, c := range cases {
		var out bytes.Buffer
		var wrong *InputError
		err := Write(&out, strings.NewReader(c.in))
		if !errors.As(err, &wrong) || wrong.Line != c.line || !strings.Contains(err.Error(), c.want) ||
			slices.ContainsFunc(kinds, func(k error) bool { return errors.Is(err, k) != (c.kind == k) }) {
			t.Errorf("%d %s: error %v, want %v in line %d, %s", i+1, c.name, err, c.kind, c.line, c.want)
		}
		if out.Len() > 0 {
			t.Errorf("%d %s: wrote %q beside the error", i+1, c.name, out.String())
		}
	}
	// The longest line that may be is read, and ignored as it is no benchmark's.
	for n, fine := range map[int]bool{longestLine - 1: true, longestLine: false} {
		if err := Write(new(bytes.Buffer), strings.NewReader(strings.Repeat("x", n)+"\n"+ok)); (err == nil) != fine {
			t.Errorf("a line of %d bytes: %v", n, err)
		}
	}
}

// A benchmark may measure something other than the time of an operation, and say so by leaving
// ns/op out.
func TestMainUnit(t *testing.T) {
	cases := []struct{ line, want string }{
		/* 1 */ {"5 ns/op 3 B/op 0 allocs/op", "ns/op"},
		/* 2 */ {"5 ns/op 2 ns/player 3 B/op 0 allocs/op", "ns/player"},
		/* 3 */ {"3 allocs/datagram 7 cpu-ns/datagram 9 send-cpu-ns/datagram 3 B/op", "cpu-ns/datagram"},
		/* 4 */ {"5 ns/op 4 bits/entity", "ns/op"},
		/* 5 */ {"4 bits/entity 3 B/op", "bits/entity"},
		/* 6 */ {"5 ns/op 90 responses/op", "ns/op"},
	}
	for i, c := range cases {
		in := "pkg: github.com/tickrate/tickrate/ecs\nBenchmarkX/a-2 10 " + c.line +
			"\nBenchmarkX/plain-2 10 " + c.line + "\n"
		all, err := read(strings.NewReader(in), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].main(); got != c.want {
			t.Errorf("%d %s: compares by %s, want %s", i+1, c.line, got, c.want)
		}
	}
}

// Tables and first page name benchmarks that exist, and the first page those of tables.
func TestStationsNameBenchmarks(t *testing.T) {
	var all []benchmark
	for i := range stations {
		all = append(all, stations[i].benchmarks()...)
	}
	if len(headlines) > 12 {
		t.Errorf("the first page has %d lines, expected at most 12", len(headlines))
	}
	for _, h := range headlines {
		base, _, _ := strings.Cut(h.name, "/")
		if !slices.Contains(all, benchmark{h.pkg, base}) {
			t.Errorf("no table has the Benchmark%s of package %s that is on the first page", base, h.pkg)
		}
	}
	for i, x := range all {
		if slices.Contains(all[:i], x) {
			t.Errorf("two tables have the Benchmark%s of package %s", x.base, x.pkg)
		}
		if x.pkg != livePkg && !hasBenchmark(x.pkg, x.base) { // lines of plans have no source
			t.Errorf("package %s has no Benchmark%s", x.pkg, x.base)
		}
	}
}

// Jobs names each package once, with all benchmarks that tables take of it.
func TestJobs(t *testing.T) {
	seen := map[string]bool{}
	for _, j := range Jobs() {
		if seen[j.Package] {
			t.Errorf("package %s has two jobs", j.Package)
		}
		seen[j.Package] = true
	}
	for i := range stations {
		for _, b := range stations[i].benchmarks() {
			if !slices.ContainsFunc(Jobs(), func(j Job) bool {
				return j.Package == "./"+b.pkg && regexp.MustCompile(j.Pattern).MatchString("Benchmark"+b.base)
			}) && b.pkg != livePkg {
				t.Errorf("no job runs the Benchmark%s of package %s", b.base, b.pkg)
			}
		}
	}
}

// Every table names the machine, the commit, the runs and the command that repeats it; a plan repeats
// that of the running server.
func TestRepeat(t *testing.T) {
	const in = "commit: abc\ncpu: small\ncores: 2\nbenchtime: 1s\npkg: github.com/tickrate/tickrate/bench\n" +
		"BenchmarkLive/one-lobby/players=200/receive 360 2400 ns/datagram 750 datagrams/tick\n" +
		"BenchmarkLive/duels/players=200/receive 360 2400 ns/datagram 750 datagrams/tick\n" +
		"BenchmarkLive/duels/players=200/game 360 2400 ns/tick 20 games\n" +
		"pkg: github.com/tickrate/tickrate/ecs\nBenchmarkPair/a-2 1 5 ns/op\nBenchmarkEntity/a-2 1 5 ns/op\n"
	var out bytes.Buffer
	if err := write(&out, strings.NewReader(in), []station{{"Live", "bench:Live"}, {"Delta", "ecs:Entity,Pair"}},
		[]headline{{"a pair", "ecs", "Pair/a"}}, opponents{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| a pair | 5.00 ns/op |  |  |",
		"## Live\n\nsmall, 2 cores, not recorded, not recorded, commit `abc`, not recorded, 1 run: " +
			"`tickrate plan --repeat 5 --scenario one-lobby --sizes 200`, `tickrate plan --repeat 5 --scenario duels --sizes 20`",
		"| Live/one-lobby/players=200/receive |  | 2400 ns/datagram |",
		"## Delta\n\nsmall, 2 cores, not recorded, not recorded, commit `abc`, not recorded, 1 run: " +
			"`go test -run '^$' -bench '^Benchmark(Entity|Pair)$' -benchmem -benchtime 1s ./ecs`",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, out.String())
		}
	}
}

// A part of a core is how often a tick fits into its period.
func TestWithin(t *testing.T) {
	got, err := of("BenchmarkX/players=10-2 1 2000 cpu-ns/tick 0.005 cores@60Hz\n", opponents{})
	if want := "| X/players=10 | 200x within the period at 60Hz |"; err != nil || !strings.Contains(got, want) {
		t.Errorf("the page lacks %q (%v):\n%s", want, err, got)
	}
}

// A page that is too long is refused.
func TestLongPage(t *testing.T) {
	for n, fine := range map[int]bool{200: true, 250: false} {
		var in strings.Builder
		for i := range n {
			in.WriteString(rounds(fmt.Sprint(i), 5))
		}
		if _, err := of(in.String(), opponents{}); (err == nil) != fine || err != nil && !errors.Is(err, ErrLong) {
			t.Errorf("%d lines: %v", n, err)
		}
	}
}

// What make bench prints is what benchstat reads: every line is in Go's benchmark format, with
// units that it knows how to compare, and the names of the variants are its.
func TestBenchOutputIsBenchstats(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs benchmarks")
	}
	c := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", "1x", "-count",
		"2", "./compress/bitio", "./internal/meter", "./netio/packet")
	c.Dir = ".."
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var parser benchproc.ProjectionParser
	table, err := parser.Parse(".fullname,pkg", nil)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[benchproc.Key]int{}
	r := benchfmt.NewReader(bytes.NewReader(out), "make bench")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			runs[table.Project(rec)]++
			for _, v := range rec.Values {
				if benchunit.ClassOf(v.Unit) == benchunit.Decimal && v.Unit == "" {
					t.Errorf("%s has a value without a unit", rec.Name)
				}
			}
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if len(runs) < 5 {
		t.Errorf("%d benchmarks read", len(runs))
	}
	for key, n := range runs {
		if n != 2 {
			t.Errorf("%v: %d runs are of one name, want 2", key, n)
		}
	}
	if _, err := read(bytes.NewReader(out), nil); err != nil {
		t.Error(err)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.00012345: "0.000123", 0.3149: "0.315", 9.999: "10.00",
		10.04: "10.0", 123456.7: "123457"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
}
