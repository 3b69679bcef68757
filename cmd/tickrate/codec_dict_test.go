package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/sim/netstate"
)

// Dictionaries of rows are the same for the same flags, and models can carry them.
func TestCodecDictRows(t *testing.T) {
	var files [2][]byte
	for i := range files {
		out := filepath.Join(t.TempDir(), "rows.zdict")
		code, said, errs := result(t, "codec", "dict", "--rows", "--players", "8", "--duration", "20s",
			"--out", out)
		if code != 0 || !strings.Contains(said, "players, with a baseline") {
			t.Fatalf("exit code %d: %s%s", code, said, errs)
		}
		var err error
		if files[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	d, rest, err := netstate.ParseDictionaries(files[0])
	if err != nil || len(rest) != 0 || !bytes.Equal(files[0], files[1]) {
		t.Fatalf("%d bytes behind the dictionaries, %v; twice the same: %v", len(rest), err,
			bytes.Equal(files[0], files[1]))
	}
	if len(d.Public.Delta.Dictionary()) == 0 || len(d.Objects.Spawn.Dictionary()) == 0 {
		t.Error("a dictionary is none")
	}
}
