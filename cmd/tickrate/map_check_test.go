package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// mapCommand runs tickrate map with arguments in this process.
func mapCommand(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "tickrate", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newMap())
	var b bytes.Buffer
	root.SetOut(&b)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{"map"}, args...))
	err = root.ExecuteContext(t.Context())
	return b.String(), err
}

// islandMap is a map file whose second team stands in a wall.
const islandMap = `{"format": "tickrate arena", "version": 1, "bounds": [-12,-2,-12,12,8,12],
"boxes": [[-12,-1,-12,12,0,12],[2,0,-4,6,4,4]], "ramps": [],
"spawns": [[-6,0,0,0,0],[4,0,0,1,0]], "areas": []}`

func TestRow73MapCheckSaysWhatIsWrong(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(islandMap), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		want []string
	}{
		{"check arena-16 --players 2 --duration 1s", 0, []string{"no problems", "µs of CPU a tick",
			"bytes a snapshot with 2 bots", "by this machine", "cells of 4 m on 3 levels"}},
		{"check --players 0 town:16:7", 0, []string{"no problems", "of the pairs of places"}},
		{"check " + bad, 1, []string{"spawn in a wall at 4 0 0: spawns[1] of team 1 reaches into the box [2, "}},
		{"check --players -1 arena-16", 2, nil},
		{"check --duration 1ms arena-16", 2, nil},
		{"check nowhere", 2, nil},
		{"draw nowhere", 2, nil},
	} {
		out, err := mapCommand(t, strings.Fields(tt.args)...)
		if code := exitCode(err); code != tt.code {
			t.Errorf("map %s: exit code %d (%v), want %d\n%s", tt.args, code, err, tt.code, out)
		}
		for _, w := range tt.want {
			if !strings.Contains(out, w) {
				t.Errorf("map %s: no %q in\n%s", tt.args, w, out)
			}
		}
	}
}

func TestRow73MapDrawIsXML(t *testing.T) {
	out, err := mapCommand(t, "draw", "arena-16")
	if err != nil {
		t.Fatal(err)
	}
	spawns, d := 0, xml.NewDecoder(strings.NewReader(out))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "g" {
			spawns++
		}
	}
	if spawns != 16 || !strings.Contains(out, "capture point") {
		t.Errorf("%d spawn points and no capture point, want 16 and some", spawns)
	}
}
