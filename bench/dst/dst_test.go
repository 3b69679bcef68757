package dst

import (
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

var (
	first = flag.Uint64("dst.first", 1, "first seed")
	count = flag.Uint64("dst.count", 0, "how many seeds; 0: as the mode wants")
)

// The 200 fixed seeds of make test, each a minute of a lobby for which much goes wrong, at half a second of a processor each; make dst plays
// others for as long as one likes. Each is one goroutine, and so the race detector has nothing to find; as many run side by side as there
// are processors, which must not matter.
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
	var next atomic.Uint64
	for part := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for {
				seed := *first + next.Add(1) - 1
				if seed >= *first+n {
					return
				}
				b, err := Run(Case{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if b != nil {
					t.Errorf("%v", b)
				}
			}
		})
	}
}
