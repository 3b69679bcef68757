package server

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/sim/arena"
)

var trainMaps = flag.Bool("train-maps", false,
	"write a new dictionary of maps: a change of the protocol, see TestDictionaryOfMaps")

// mapFile returns an arena as a file.
func mapFile(t testing.TB, name string) []byte {
	t.Helper()
	a, err := arena.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDictionaryOfMaps trains a dictionary on maps that are not in the test set, and compares the
// dictionary in use with none. With -train-maps it writes the dictionary.
func TestDictionaryOfMaps(t *testing.T) {
	if *trainMaps {
		var samples [][]byte
		for i := range 60 {
			var b bytes.Buffer
			if err := arena.Generate(4+2*i, uint64(1000+i)).Save(&b); err != nil {
				t.Fatal(err)
			}
			samples = append(samples, b.Bytes())
		}
		if err := os.WriteFile("../compress/dict/maps.zdict", dict.Train(samples, 512), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	maps, err := os.ReadFile("../compress/dict/maps.zdict")
	if err != nil {
		t.Fatal(err)
	}
	sizes := [2]int{} // of all maps that are built in, without and with
	for _, name := range arena.Names() {
		file := mapFile(t, name)
		for i, d := range [][]byte{nil, maps} {
			p, err := dict.NewPacker(d)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(p.Append(nil, file)); name == "arena-16" || name == "arena-64" {
				sizes[i] += n
			}
		}
	}
	t.Logf("arena-16 and arena-64: %d bytes without the dictionary, %d with", sizes[0], sizes[1])
	if n := len(maps); n > 1000 || sizes[1]*20 > sizes[0]*19 {
		t.Errorf("a dictionary of %d bytes; %d bytes without, %d with: want a twentieth less",
			n, sizes[0], sizes[1])
	}
}
