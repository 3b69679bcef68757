package bench

import (
	"errors"
	"strings"
	"testing"
)

// Units are those of the tables, and a duration below a nanosecond is of another unit.
func TestUnits(t *testing.T) {
	for unit, fine := range map[string]bool{
		"ns/op": true, "cpu-ns/tick": true, "p99-ns": true, "B/client/s": true, "up-B/client/s": true,
		"allocs/op": true, "MB/s": true, "cores@60Hz": true, "lost/datagram": true, "ns/visible-pair": true,
		"us/op": false, "late-p99-us": false, "µs-move": false, "ms/join": false, "kbit/s": false,
		"late-%": false, "%core@60Hz": false, "kpps": false, "speed-x": false, "ns/way": false, "": false,
		"ns/": false,
	} {
		if text := impossible(unit, 5); (text == "") != fine {
			t.Errorf("%q: %q", unit, text)
		}
	}
	for v, fine := range map[float64]bool{0: true, 1: true, 0.0451: false} {
		if text := impossible("late-p99-ns", v); (text == "") != fine {
			t.Errorf("%g late-p99-ns: %q", v, text)
		}
	}
	if text := impossible("ns/test", 0.2); text != "" {
		t.Error(text)
	}
}

// Check names each benchmark with a wrong unit, and what the output of all benchmarks lacks.
func TestCheck(t *testing.T) {
	in := ecs + "BenchmarkX/a-2 10 5 late-us\nBenchmarkX/b-2 10 5 ns/op\nBenchmarkX/c-2 10 5 kpps\n"
	err := Check(strings.NewReader(in), false)
	if !errors.Is(err, ErrUnit) || !strings.Contains(err.Error(), "ecs/X/a: ") ||
		!strings.Contains(err.Error(), "\nexpected ecs/X/c: ") || strings.Contains(err.Error(), "X/b") {
		t.Error(err)
	}
	if err := Check(strings.NewReader(ecs+rounds("a", 5)), false); err != nil {
		t.Error(err)
	}
	if err := Check(strings.NewReader(ecs+rounds("a", 5)), true); !errors.Is(err, ErrUnit) ||
		!strings.Contains(err.Error(), "for the first page") || !strings.Contains(err.Error(), "a variant ") {
		t.Error(err)
	}
	if err := Check(strings.NewReader(ecs+rounds("a", 5)+"--- FAIL: BenchmarkY\n"), false); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
}
