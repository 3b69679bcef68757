package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/sim/netstate"
)

// drift writes a trace of a few moving entities.
func drift(t *testing.T, name string, seed uint32) string {
	t.Helper()
	tr := &itr.Trace{TickRate: 60, TicksPerSnapshot: 3, Entities: 4,
		Fields: []itr.Field{{Name: "x"}, {Name: "yaw", Kind: itr.Angle, Mod: 360}}}
	row := make([]int32, 8)
	for range 80 {
		for e := range 4 {
			seed = seed*1664525 + 1013904223
			row[2*e] += int32(seed >> 28)
			row[2*e+1] = (row[2*e+1] + int32(seed>>24&7)) % 360
		}
		tr.Snapshots = append(tr.Snapshots, append([]int32(nil), row...))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, tr.Append(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCodecEval(t *testing.T) {
	a, b := drift(t, "a.itr", 1), drift(t, "b.itr", 2)
	root := newRoot()
	var out strings.Builder
	root.SetOut(&out)
	root.SetArgs([]string{"codec", "eval", "--train", a, "--test", b, "--delay", "2", "--json"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Codecs map[string]map[string]float64
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stored", "huffman", "range"} {
		c := got.Codecs[name]
		if c["verified"] != 80 || c["snapshots"] != 70 || c["bytes_per_snapshot"] <= 0 ||
			c["bits_per_entity"] != c["bytes_per_snapshot"]*2 ||
			c["encode_ns_per_entity"] <= 0 || c["decode_ns_per_entity"] <= 0 {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// show lists the fields of a model file and of the models of this build.
func TestCodecShow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.tkm")
	if err := os.WriteFile(file, netstate.Untrained().Append(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"codec", "show"}, {"codec", "show", file}} {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs(args)
		if err := root.Execute(); err != nil ||
			!strings.Contains(out.String(), netstate.Public.Fields[0].Name) {
			t.Errorf("%v: %v: %s", args, err, out.String())
		}
	}
}

func TestCodecEvalRefuses(t *testing.T) {
	a := drift(t, "a.itr", 1)
	bad := filepath.Join(t.TempDir(), "bad.itr")
	if err := os.WriteFile(bad, []byte("ITR1\x3c"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
		code int
	}{
		{"--test " + a, "give --train", 2},
		{"--train " + a, "give --test", 2},
		{"--train " + a + " --test " + bad,
			"bad.itr: byte 5: not a usable trace: the file ends, expected the tick rate", 1},
		{"--train " + a + " --test play.csv.gz", "--pose", 2},
		{"--train " + a + " --test " + a + " --codec lzma", "lzma", 2},
		{"--train " + a + " --test " + a + " --delay -1", "--delay -1", 2},
	} {
		root := newRoot()
		root.SetArgs(append([]string{"codec", "eval"}, strings.Fields(c.args)...))
		err := root.Execute()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
		if got := run(append([]string{"codec", "eval"}, strings.Fields(c.args)...)); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.args, got, c.code)
		}
	}
}
