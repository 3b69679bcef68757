package dst

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
)

var (
	first = flag.Uint64("dst.first", 1, "first seed")
	count = flag.Uint64("dst.count", 0, "how many seeds; 0: as the mode wants")
	every = flag.Uint64("dst.every", 0, "play each so manieth, here; 0: all, in processes side by side")
)

// The 200 fixed seeds of make test, each a minute of a lobby for which much goes wrong, at half a second of a processor each; make dst plays
// others for as long as one likes. Each is one goroutine, and so the race detector has nothing to find. There are as many processes
// as processors, each with its part of the seeds: what a tick allocates is counted for a whole process.
func TestSeeds(t *testing.T) {
	n := uint64(200)
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	side := min(uint64(runtime.GOMAXPROCS(0)), n)
	var all sync.WaitGroup
	for part := range side {
		all.Go(func() {
			args := []string{"-test.run=^TestSeeds$", "-test.count=1", "-test.timeout=0", "-test.paniconexit0", fmt.Sprint("-dst.first=", *first+part),
				fmt.Sprint("-dst.count=", n-part), fmt.Sprint("-dst.every=", side)}
			if out, err := exec.CommandContext(t.Context(), self, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
}

// play plays each every-th of n seeds.
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
