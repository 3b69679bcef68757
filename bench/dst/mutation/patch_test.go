package mutation

import (
	"os"
	"strings"
	"testing"
)

// The patch fits the code, and it has a place for every bug.
func TestPatchApplies(t *testing.T) {
	mutated, err := Apply(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, code := range mutated {
		all += code
	}
	if n := strings.Count(all, "mutation.On("); n < int(NumBugs)-1 {
		t.Errorf("%d places for %d bugs", n, NumBugs-1)
	}
}
