package snapshot

import (
	"math/rand/v2"
	"testing"
)

// fullGroups and anyFull find the groups that a loop over the groups finds.
func TestFullGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		word, want := rng.Uint64(), uint64(0)
		for g := range wordGroups {
			switch all := uint64(allRows) << (g * GroupRows); rng.IntN(4) {
			case 0:
				word |= all
			case 1:
				word = word | all&^(1<<(g*GroupRows+rng.IntN(GroupRows)))
			case 2:
				word &^= all
			}
			if uint16(word>>(g*GroupRows)) == allRows {
				want |= 1 << g
			}
		}
		if got := fullGroups(word); got != want || anyFull(word) != (want != 0) {
			t.Fatalf("full groups of %016x: %04b, any %v, expected %04b", word, got, anyFull(word), want)
		}
	}
}
