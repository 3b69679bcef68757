package dst

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

var (
	first = flag.Uint64("dst.first", 1, "first seed")
	count = flag.Uint64("dst.count", 0, "number of seeds; 0: 42, or fewer with -short")
	every = flag.Uint64("dst.every", 0, "play every n-th seed in this process; 0: all, in parallel processes")
)

// TestSeeds plays 42 fixed seeds, half a second of CPU each: three times as many as find every bug
// of package mutation. make dst and .ci/run play others, drawn at random. A seed is one goroutine, so
// the race detector plays only two. Each processor gets a process with its share of the seeds, because
// allocations are counted per process.
func TestSeeds(t *testing.T) {
	n := uint64(42)
	switch {
	case *count != 0:
		n = *count
	case raceEnabled:
		n = 2
	case testing.Short():
		n = 12
	}
	if *every != 0 {
		play(t, n)
		return
	}
	inProcesses(t, "count", n)
}

// inProcesses plays n seeds by a process for each processor: the test at hand, with flag -dst.number.
func inProcesses(t *testing.T, number string, n uint64) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	processes := min(uint64(runtime.GOMAXPROCS(0)), n)
	var all sync.WaitGroup
	for part := range processes {
		all.Go(func() {
			args := []string{"-test.run=^" + t.Name() + "$", "-test.count=1", "-test.timeout=0",
				"-test.paniconexit0",
				fmt.Sprint("-dst.first=", *first+part), fmt.Sprintf("-dst.%s=%d", number, n-part),
				fmt.Sprint("-dst.every=", processes)}
			if out, err := exec.CommandContext(t.Context(), self, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
}

// The other codecs hold under the same faults: seeds as above, a few for each. All groups have been
// coded against lost and old baselines in half the time of a run.
func TestCodecs(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
	const until = Length / 2
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for codec := schema.Huffman + 1; codec < schema.Codecs; codec++ {
		for seed := range seeds {
			r, err := Run(Case{Seed: 1 + uint64(codec)*10 + seed, Codec: codec, Until: until})
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != nil {
				t.Errorf("%v", r.Violation)
			}
		}
	}
}

// play plays every n-th seed, n being the flag -dst.every.
func play(t *testing.T, n uint64) {
	for seed := *first; seed < *first+n; seed += *every {
		r, err := Run(Case{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Errorf("%v", r.Violation)
		}
	}
}
