//go:build mutation

package dst

import (
	"flag"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/dst/mutation"
)

var only = flag.Int("dst.bug", 0, "begin with this bug")

// TestMutations tests the simulator: each bug of bench/dst/mutation is found within 200 seeds, and
// each invariant is the first to find some bug. make mutation builds it with the bugs.
func TestMutations(t *testing.T) {
	if r, err := Run(Case{Seed: 1}); r.Violation != nil || err != nil {
		t.Fatalf("without a bug: %v, %v", r.Violation, err)
	}
	var finds [numInvariants]int
	for bug := mutation.None + 1; bug < mutation.NumBugs; bug++ {
		if *only != 0 && bug < mutation.Bug(*only) {
			continue
		}
		defer mutation.Set(mutation.Set(bug))
		var found *Violation
		for seed := uint64(1); seed <= 200 && found == nil; seed++ {
			c := Case{Seed: seed}
			if bug.OfHosts() {
				c.Lobbies = MaxLobbies
			}
			r, err := Run(c)
			if err != nil {
				t.Fatal(err)
			}
			found = r.Violation
		}
		if found == nil {
			t.Errorf("%-20v not found within 200 seeds", bug)
			continue
		}
		finds[found.Invariant]++
		what, _, _ := strings.Cut(found.What, "\n")
		t.Logf("%-20v seed %3d at %9v, invariant %v: %.110s",
			bug, found.Case.Seed, found.At, found.Invariant, what)
	}
	for i, n := range finds {
		if n == 0 && *only == 0 && Invariant(i) != NoPanic {
			t.Errorf("invariant %v finds no bug first", Invariant(i))
		}
	}
}
