//go:build mutation

package dst

import (
	"flag"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/dst/mutation"
)

var only = flag.Int("dst.bug", 0, "begin with this bug")

// finders are the first seeds that find a bug, where that is not seed 1. They are tried first.
var finders = [mutation.NumBugs]uint64{
	mutation.WindowBeforeAuth: 3, mutation.TokenReused: 2, mutation.JournalForgotten: 3, mutation.AckUnchecked: 2,
	mutation.MessageTwice: 3, mutation.MessageOutOfOrder: 12, mutation.BaselineUnheld: 3, mutation.BaselineStale: 3,
	mutation.ClampBackwards: 4, mutation.RecordingNoHistory: 3, mutation.ViewBack: 11, mutation.TurnSkipped: 4,
	mutation.JoinTurnSkipped: 1 << 63, mutation.MoveForgetsWindow: 5,
}

// find plays seeds until one finds a bug: the finder, and then 1 to 200. nil: none does.
func find(t *testing.T, bug mutation.Bug) (found *Violation) {
	seeds := []uint64{max(1, finders[bug])}
	for seed := uint64(1); seed <= 200; seed++ {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		c := Case{Seed: seed}
		if bug.OfHosts() {
			c.Lobbies = MaxLobbies
		}
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			return r.Violation
		}
	}
	return nil
}

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
		found := find(t, bug)
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
