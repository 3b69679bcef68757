package dst

import (
	"flag"
	"fmt"
	"testing"
)

var (
	first = flag.Uint64("dst.first", 1, "first seed")
	count = flag.Uint64("dst.count", 0, "how many seeds; 0: as the mode wants")
)

// Seeds, each a minute of a lobby for which much goes wrong, at half a second of a processor each; make dst plays them for as long as one
// likes. Each is one goroutine, and so the race detector has nothing to find; some run side by side, which must not matter.
func TestSeeds(t *testing.T) {
	n := uint64(64)
	switch {
	case *count != 0:
		n = *count
	case raceEnabled:
		n = 2
	case testing.Short():
		n = 12
	}
	const side = 4
	for part := range uint64(side) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for seed := *first + part; seed < *first+n; seed += side {
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
