package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
)

var update = flag.Bool("update", false, "write the goldens anew")

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestWriteLeavesThreeWholeFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "report")
	for _, most := range []int{0, 1, 100} { // each over the one before
		p := samplePlan(most)
		if err := Write(dir, p); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
			if info, _ := e.Info(); info.Mode().Perm() != 0o644 {
				t.Errorf("%s has mode %v", e.Name(), info.Mode())
			}
		}
		if want := []string{BenchFile, PageFile, PlanFile}; !cmp.Equal(names, want) {
			t.Errorf("after %d steps the directory holds %q, want %q", most, names, want)
		}
		var back Plan
		if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, PlanFile))), &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Clean(), back); diff != "" {
			t.Errorf("plan.json of %d steps does not read back:\n%s", most, diff)
		}
	}
}

func TestWriteNamesWhatItCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := Write(file, samplePlan(1))
	if err == nil || !strings.Contains(err.Error(), "taken") || !strings.Contains(err.Error(),
		"write report") {
		t.Errorf("error %v does not name the path", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, PageFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err = Write(dir, samplePlan(1)); err == nil || !strings.Contains(err.Error(), PageFile) {
		t.Errorf("error %v does not name index.html", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("temporary files left behind: %q", left)
	}
}

func TestOddNumbersDoNotLoseTheReport(t *testing.T) {
	p := samplePlan(3)
	p.Steps[1].ServerCores = math.NaN()
	p.Steps[2].StageCPUMillis[0].Mean = math.Inf(1)
	dir := t.TempDir()
	if err := Write(dir, p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, filepath.Join(dir, PageFile)), "was not a finite number") {
		t.Error("the page does not say why the step is void")
	}
}

func TestPlanJSONGolden(t *testing.T) {
	var got bytes.Buffer
	if err := WriteJSON(&got, samplePlan(1)); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-1.golden.json", got.String())
	got.Reset()
	if err := WriteJSON(&got, samplePlan(100)); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-100.golden.json", got.String()) // package e2e draws both
}

func TestBenchGolden(t *testing.T) {
	var got bytes.Buffer
	if err := WriteBench(&got, samplePlan(2)); err != nil {
		t.Fatal(err)
	}
	golden(t, "bench-2.golden.txt", got.String())
}

var longNumber = regexp.MustCompile(`\d+\.\d{4,}`)

// golden compares at six significant digits: the last bits of the sample differ between processors.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = longNumber.ReplaceAllStringFunc(got, func(s string) string {
		x, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(x, 'g', 6, 64)
	})
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", name, diff)
	}
}

func TestBenchReadsBack(t *testing.T) {
	p := samplePlan(100)
	p.Movement = "two\nlines: and a BenchmarkFake/x 1 2 ns/op"
	var out bytes.Buffer
	if err := WriteBench(&out, p); err != nil {
		t.Fatal(err)
	}
	reader, n, live := benchfmt.NewReader(&out, BenchFile), 0, 0
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			if strings.HasPrefix(string(rec.Name), "Live/") {
				live++
				if unit := rec.Values[0].Unit; !strings.HasPrefix(unit, "sec/") {
					t.Fatalf("%s: unit %s, want a time", rec.Name, unit)
				}
				continue
			}
			n++
			if rec.GetConfig("commit") != p.Commit || rec.GetConfig("cpu") != p.Machine.CPU ||
				rec.GetConfig("goos") != "linux" {
				t.Fatalf("configuration %v", rec.Config)
			}
			if _, ok := rec.Value("sec/tick"); !ok {
				t.Fatalf("%s has no time a tick: %v", rec.Name, rec.Values)
			}
			if bytes, _ := rec.Value("B/client/s"); !(bytes > 1000) {
				t.Fatalf("%s: %v B/client/s", rec.Name, bytes)
			}
			if rec.Iters != 480 {
				t.Fatalf("%s: %d ticks, want 8 s of 60", rec.Name, rec.Iters)
			}
		default:
			t.Fatalf("benchmark reader got %T %v", rec, rec)
		}
	}
	if want := len(p.Steps) - p.Voids(); reader.Err() != nil || n != want || p.Voids() == 0 {
		t.Fatalf("%d lines (%v), want %d of %d steps", n, reader.Err(), want, len(p.Steps))
	}
	if knee, ok := p.AtKnee(); !ok || live == 0 || live%len(knee.Units()) != 0 {
		t.Fatalf("%d lines of stages at the knee, want %d for each step there", live, len(knee.Units()))
	}
}

func TestBenchOfNoSteps(t *testing.T) {
	var out bytes.Buffer
	if err := WriteBench(&out, samplePlan(0)); err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(&out, BenchFile)
	if reader.Scan() || reader.Err() != nil {
		t.Errorf("an empty plan has a benchmark line: %v %v", reader.Result(), reader.Err())
	}
}

func TestNumbersReadWell(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.0331: "0.03", 0.0996: "0.10", 0.34: "0.34", 2.1: "2.10", 9.996: "10.0", 14.23: "14.2",
		99.96: "100", 1240.4: "1,240",
		1234567: "1,234,567", -1500: "-1,500",
	} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{0: "0", 0.00213: "0.00213", 0.0996: "0.10", 12.34: "12.3",
		1e-9: "0.000000"} {
		if got := significant(x); got != want {
			t.Errorf("significant(%v) = %q, want %q", x, got, want)
		}
	}
	if got := count(uint64(12345678)); got != "12,345,678" {
		t.Errorf("count: %q", got)
	}
	for d, want := range map[time.Duration]string{0: "unknown", 2500 * time.Millisecond: "2.50 s",
		192 * time.Second: "3 min 12 s"} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}
