package inspect

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/preview"
)

// The table of a played match has a line for every kind with its rows, and for every column.
func TestWorld(t *testing.T) {
	var out bytes.Buffer
	o := WorldOptions{Preview: preview.Options{Map: "arena-16", Mode: "assault", Players: 6, Rate: 30,
		Duration: 4 * time.Second, Seed: 3}}
	if err := World(context.Background(), &out, "preview", o); err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, line := range strings.Split(out.String(), "\n") {
		if len(line) > columns {
			t.Errorf("%q is wider than %d", line, columns)
		}
		if f := strings.Fields(line); len(f) > 5 && line[0] != ' ' {
			rows[strings.Join(f[:len(f)-6], " ")] = f[len(f)-6]
		}
	}
	for _, kind := range []string{"player", "projectile", "grenade", "barrel",
		"cube", "teleporter", "capture point",
		"damage area", "home", "spawn point", "+ due teleport"} {
		if rows[kind] == "" {
			t.Errorf("no line of %s", kind)
		}
	}
	if rows["player"] != "6" || rows["spawn point"] == "0" {
		t.Errorf("%s players, %s spawn points", rows["player"], rows["spawn point"])
	}
	for _, column := range []string{"sim.Vital", "object.Projectile", "mode.Occupancy", "sim.SpawnPoint"} {
		if !strings.Contains(out.String(), "  "+column+" ") {
			t.Errorf("no column %s", column)
		}
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
	if err := World(context.Background(), &out, "nowhere.tkr", o); err == nil ||
		!strings.Contains(err.Error(), "recording") {
		t.Error(err)
	}
}

// The table of a match on a map with movers ends with where they are in its tick.
func TestRow55WorldNamesMovers(t *testing.T) {
	var out bytes.Buffer
	o := WorldOptions{Preview: preview.Options{Map: "lifts", Mode: "deathmatch", Players: 2, Rate: 60,
		Duration: 2500 * time.Millisecond, Seed: 3}}
	if err := World(context.Background(), &out, "preview", o); err != nil {
		t.Fatal(err)
	}
	const want = `
movers of the map, without rows: where they are follows from the tick
movers[0]  -2 2 -2 to 2 2.25 2, 2 m/s
movers[1]  8 4 2.5 to 11 4.25 6.5, 3 m/s
movers[2]  -8.5 0 0 to -8 2.5 3, 3 m/s
`
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s\nwant at its end:\n%s", out.String(), want)
	}
}
