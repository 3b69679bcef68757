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

var hosts = flag.Uint64("dst.hosts", 0, "number of seeds of hosts; 0: 40, or fewer with -short")

// TestHosts plays hosts with many lobbies, as TestSeeds plays single lobbies.
func TestHosts(t *testing.T) {
	n := uint64(40)
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	processes := min(uint64(runtime.GOMAXPROCS(0)), n)
	var all sync.WaitGroup
	for part := range processes {
		all.Go(func() {
			args := []string{"-test.run=^TestHosts$", "-test.count=1", "-test.timeout=0",
				"-test.paniconexit0",
				fmt.Sprint("-dst.first=", *first+part), fmt.Sprint("-dst.hosts=", n-part),
				fmt.Sprint("-dst.every=", processes)}
			if out, err := exec.CommandContext(t.Context(), self, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
}
