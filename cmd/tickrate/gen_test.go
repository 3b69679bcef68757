package main

import (
	"bytes"
	"os"
	"testing"
)

// gen finds what is there up to date, and says what is wrong with what it cannot generate.
func TestGen(t *testing.T) {
	const dir, file = "../../sim/ghost", "../../sim/ghost/net_gen.go"
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		args []string
		code int
	}{
		{[]string{"gen", "--dir", dir}, 0},
		{[]string{"gen", "--dir", dir, "--type", "Player,Nobody"}, 1},
		{[]string{"gen", "--dir", t.TempDir()}, 1},
		{[]string{"gen", "--dir", dir, "surplus"}, 2},
	} {
		if code := run(c.args); code != c.code {
			t.Errorf("%d: %v: exit code %d, want %d", i, c.args, code, c.code)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("gen changed the file: %v", err)
	}
}
