package dst

import (
	"flag"
	"testing"
)

var hosts = flag.Uint64("dst.hosts", 0, "number of seeds of hosts; 0: 28, or fewer with -short")

// TestHosts plays hosts with many lobbies, as TestSeeds plays single lobbies.
func TestHosts(t *testing.T) {
	n := uint64(28)
	switch {
	case *hosts != 0:
		n = *hosts
	case raceEnabled:
		n = 1
	case testing.Short():
		n = 4
	}
	if *every != 0 {
		for seed := *first; seed < *first+n; seed += *every {
			r, err := Run(Case{Seed: seed, Lobbies: MaxLobbies})
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != nil {
				t.Errorf("%v", r.Violation)
			}
		}
		return
	}
	inProcesses(t, "hosts", n)
}
