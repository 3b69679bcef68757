package bench

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func page(t *testing.T, in string, meta Meta) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, strings.NewReader(in), meta); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriteGolden(t *testing.T) {
	in, err := os.ReadFile(filepath.Join("testdata", "bench.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := page(t, string(in), Meta{})
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

// What the caller says of the machine goes before what the results say.
func TestWriteMeta(t *testing.T) {
	const in = "commit: abc\ncpu: small\npkg: github.com/tickrate/tickrate/ecs\nBenchmarkX-2 10 5 ns/op\n"
	got := page(t, in, Meta{Commit: "def", Seed: "7"})
	for _, want := range []string{"| commit | `def` |", "| seed | 7 |", "| processor | small |",
		"| date | not recorded |", "median of 1 run."} {
		if !strings.Contains(got, want) {
			t.Errorf("page lacks %q:\n%s", want, got)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	const ok = "pkg: github.com/tickrate/tickrate/ecs\nBenchmarkX-2 10 5 ns/op\n"
	cases := []struct {
		name, in string
		kind     error // nil: neither
		line     int
		want     string
	}{
		/* 1 */ {"nothing", "", ErrEmpty, 0,
			"expected benchmark results, as go test -bench writes them: there are none"},
		/* 2 */ {"no results", "goos: linux\nPASS\n", ErrEmpty, 0, "expected benchmark results"},
		/* 3 */ {"a failed benchmark", ok + "--- FAIL: BenchmarkY\n", ErrFailed, 3,
			`line 3: expected results of a run in which nothing failed, got "--- FAIL: BenchmarkY"`},
		/* 4 */ {"a failed package", ok + "FAIL\tgithub.com/tickrate/tickrate/sim [build failed]\n",
			ErrFailed, 3, "build failed"},
		/* 5 */ {"a panic", ok + "\npanic: out of range\n", ErrFailed, 4, "panic: out of range"},
		/* 6 */ {"a broken line", ok + "BenchmarkY-2 10 five ns/op\n", nil, 3,
			"line 3: expected a benchmark's name, its iterations, and values each with a unit: " +
				"parsing measurement"},
		/* 7 */ {"a line cut short", ok + ok + "BenchmarkY-2 10 5", nil, 5, "missing units"},
		/* 8 */ {"no number", ok + "BenchmarkY-2 10 NaN ns/op\n", nil, 3,
			"a finite number of ns/op, got NaN"},
		/* 9 */ {"a line without end", ok + strings.Repeat("x", 1<<17), nil, 3,
			"at most 65535 bytes, got 131072"},
	}
	for i, c := range cases {
		var out bytes.Buffer
		var wrong *InputError
		err := Write(&out, strings.NewReader(c.in), Meta{})
		if !errors.As(err, &wrong) || wrong.Line != c.line || !strings.Contains(err.Error(), c.want) ||
			errors.Is(err, ErrEmpty) != (c.kind == ErrEmpty) || errors.Is(err,
			ErrFailed) != (c.kind == ErrFailed) {
			t.Errorf("%d %s: error %v, want %v in line %d, %s", i+1, c.name, err, c.kind, c.line, c.want)
		}
		if out.Len() > 0 {
			t.Errorf("%d %s: wrote %q beside the error", i+1, c.name, out.String())
		}
	}
	// The longest line that may be is read, and ignored as it is no benchmark's.
	for n, fine := range map[int]bool{longestLine - 1: true, longestLine: false} {
		if err := Write(new(bytes.Buffer), strings.NewReader(strings.Repeat("x", n)+"\n"+ok),
			Meta{}); (err == nil) != fine {
			t.Errorf("a line of %d bytes: %v", n, err)
		}
	}
}

func TestRival(t *testing.T) {
	cases := []struct {
		names string // of one benchmark, in order
		want  string // for each: the name of its rival, "self" or "-"
	}{
		/*  1 */ {"X", "-"},
		/*  2 */ {"X/only", "-"},
		/*  3 */ {"X/query X/columns", "- -"},
		/*  4 */ {"X/columns X/naive", "X/naive self"},
		/*  5 */ {"X/n=16 X/n=64", "- -"},
		/*  6 */ {"X/16 X/64k", "- -"},
		/*  7 */ {"X/encode X/decode", "- -"},
		/*  8 */ {"X/fast/n=1 X/slow/n=1 X/fast/n=2 X/slow/n=2", "X/slow/n=1 self X/slow/n=2 self"},
		/*  9 */ {"X/n=1/fast X/n=1/brute X/n=2/fast", "X/n=1/brute self -"},
		/* 10 */ {"X/shared/n=1 X/shared/n=2 X/naive", "X/naive X/naive self"},
		/* 11 */ {"X/gnetPlain X/drain", "self X/gnetPlain"},
		/* 12 */ {"X/explain X/bitmap X/b-map", "X/b-map X/b-map self"},
		/* 13 */ {"X/encode/fast X/decode/fast X/encode/std", "X/encode/std - self"},
		/* 14 */ {"X/fast Y/naive", "- -"},
		/* 15 */ {"X/same-view X/far-view X/one X/brute-same X/brute-far",
			"X/brute-same X/brute-far X/brute-same self self"},
	}
	for i, c := range cases {
		var all []*series
		for name := range strings.FieldsSeq(c.names) {
			base, parts := split(benchfmt.Name(name))
			all = append(all, &series{pkg: "ecs", base: base, parts: parts})
		}
		var got []string
		for _, s := range all {
			switch r := rival(s, all); r {
			case nil:
				got = append(got, "-")
			case s:
				got = append(got, "self")
			default:
				got = append(got, r.name())
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%d %s: rivals %q, want %q", i+1, c.names, got, want)
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
		all, err := read(strings.NewReader(in), &Meta{})
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].main(); got != c.want {
			t.Errorf("%d %s: compares by %s, want %s", i+1, c.line, got, c.want)
		}
		if got := page(t, in, Meta{}); strings.Contains(got, "NaN") {
			t.Errorf("%d %s: the page has a NaN:\n%s", i+1, c.line, got)
		}
	}
}

func TestPlace(t *testing.T) {
	var last int
	for i, at := range []string{
		"sim/move Step", "ecs Row01", "lagcomp/internal/kernel Nearest", "lagcomp Cast", "lagcomp/rig Test",
		"ecs/snapshot Pair", "ecs/interest Look", "ecs/snapshot Entity",
		"compress/bitio Bits", "netio Receive", "netio/impair PushPop", "netio/netcode Seal",
		"netio/packet Peer", "bench/lobbysim Tick", "sim Tick",
		"server Change", "bench/lobbysim Lobbies", "client Tick", "new/thing X",
	} {
		pkg, base, _ := strings.Cut(at, " ")
		station, rank := place(pkg, base)
		if at := station*100 + rank; at < last {
			t.Errorf("%d %s stands at %d, before its forerunner at %d", i+1, pkg, at, last)
		} else {
			last = at
		}
	}
}

// Tables and first page name benchmarks that exist.
func TestStationsNameBenchmarks(t *testing.T) {
	type benchmark struct{ pkg, base string }
	var all []benchmark
	for _, s := range stations {
		for _, take := range strings.Fields(s.takes) {
			pkg, names, _ := strings.Cut(take, ":")
			for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' }) {
				all = append(all, benchmark{pkg, name})
			}
		}
	}
	if len(headlines) > 12 {
		t.Errorf("the first page has %d lines, expected at most 12", len(headlines))
	}
	for _, h := range headlines {
		base, _, _ := strings.Cut(h.name, "/")
		all = append(all, benchmark{h.pkg, base})
		if h.alone != "" {
			base, _, _ := strings.Cut(h.alone, "/")
			all = append(all, benchmark{h.alonePkg, base})
		}
	}
	for _, x := range all {
		if x == (benchmark{"bench", "Live"}) { // written by plans: report.WriteBench
			continue
		}
		files, _ := filepath.Glob(filepath.Join("..", x.pkg, "*_test.go"))
		if !slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(text), "\nfunc Benchmark"+x.base+"(")
		}) {
			t.Errorf("package %s has no Benchmark%s", x.pkg, x.base)
		}
	}
}

// A line has its ratio to the limit of its job, and a part of a core is how often a tick fits into
// its period.
func TestLimits(t *testing.T) {
	const head = "pkg: github.com/tickrate/tickrate/netio/netcode\n"
	for i, c := range []struct{ in, want string }{
		{"BenchmarkSeal/64B/server-2 1 6 ns/op\nBenchmarkSeal/64B/aead-alone-2 1 4 ns/op\n" +
			"BenchmarkSeal/300B/aead-alone-2 1 100 ns/op\n",
			"| Seal/64B/server | 1.50 of the limit aead-alone |"},
		{"BenchmarkReceive/64B/players=9-2 1 6 ns/op\nBenchmarkReceive/64B/aead-alone-2 1 4 ns/op\n",
			"| Receive/64B/players=9 | 1.50 of the limit aead-alone |"},
		{"BenchmarkP/n=1/shared-2 1 6 ns/op\nBenchmarkP/n=1/naive-2 1 60 ns/op\n" +
			"BenchmarkP/n=1/limit-2 1 4 ns/op\n",
			"| P/n=1/shared | 10.0x naive (p=1.00); 1.50 of the limit limit |"},
		{"BenchmarkTick/players=10-2 1 2000 cpu-ns/tick 0.5 %core@60Hz\n",
			"| Tick/players=10 | 200x within the period at 60Hz |"},
		{"BenchmarkNearest/1024x200m/scalar-2 1 90 ns/op\nBenchmarkNearest/16x200m/scalar-2 1 5 ns/op\n" +
			"BenchmarkNearest/1024x200m/avx2-2 1 9 ns/op\n",
			"| Nearest/1024x200m/avx2 | 10.0x scalar (p=1.00) |"},
		{"BenchmarkT/a-2 1 900 ns/op 5 abilities-ns/player 7 ns/player\n", "| T/a |  | 7.00 ns/player |"},
	} {
		if got := page(t, head+c.in, Meta{}); !strings.Contains(got, c.want) {
			t.Errorf("%d: the page lacks %q:\n%s", i, c.want, got)
		}
	}
}

// A stage of the running server stands on the first page beside the benchmark of its function
// alone, and its table names the plan that measures it again.
func TestLive(t *testing.T) {
	got := page(t, "pkg: github.com/tickrate/tickrate/bench\n"+
		"BenchmarkLive/one-lobby/receive 360 2400 ns/datagram 750 datagrams/tick\n"+
		"pkg: github.com/tickrate/tickrate/netio\n"+
		"BenchmarkReceive/gnet-drain-2 10 800 cpu-ns/datagram\n", Meta{})
	for _, want := range []string{
		"| a player's datagram received by the running server | 2400 ns/datagram |  | " +
			"3.00 of Receive/gnet-drain |",
		"`tickrate plan --scenario one-lobby --repeat 5`",
		"| Live/one-lobby/receive |  | 2400 ns/datagram |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
}

// Every table names the command that repeats it, and what stands in the table is what that runs.
func TestRepeat(t *testing.T) {
	const in = "pkg: github.com/tickrate/tickrate/ecs/snapshot\nBenchmarkPair/a-2 1 5 ns/op\n" +
		"BenchmarkEntity/a-2 1 5 ns/op\nBenchmarkMeter-2 1 5 ns/op\n"
	const command, end = "\n\n`go test -run '^$' -bench '^Benchmark(", ")$' -benchmem ./ecs/snapshot`"
	got := page(t, in, Meta{})
	for _, want := range []string{"## Delta pairs" + command + "Pair" + end,
		"## Codec size and speed" + command + "Entity|Meter" + end} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
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
	if err := Write(new(bytes.Buffer), bytes.NewReader(out), Meta{}); err != nil {
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
