package dst

import (
	"flag"
	"testing"
)

var (
	first = flag.Uint64("dst.first", 1, "first seed")
	count = flag.Uint64("dst.count", 0, "how many seeds; 0: as the mode wants")
)

// Two hundred seeds, each a minute of a lobby for which much goes wrong.
func TestSeeds(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 20
	}
	if *count != 0 {
		n = *count
	}
	for seed := *first; seed < *first+n; seed++ {
		b, err := Run(Case{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if b != nil {
			t.Errorf("%v", b)
		}
	}
}
