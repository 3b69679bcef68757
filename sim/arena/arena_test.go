package arena

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the committed maps and goldens")

// committed lists the maps under maps/ with the arguments of Generate: players and seed.
var committed = []struct {
	players int
	seed    uint64
}{{16, 1}, {64, 1}, {256, 1}, {1024, 1}}

func TestCommittedMaps(t *testing.T) {
	for _, c := range committed {
		name := fmt.Sprintf("arena-%d", c.players)
		want := Generate(c.players, c.seed)
		if *update {
			var b bytes.Buffer
			if err := want.Save(&b); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join("maps", name+".json"), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != want.Hash() {
			t.Errorf("%s is not what Generate(%d, %d) makes; -update accepts a changed generator",
				name, c.players, c.seed)
		}
	}
}
