package rowtrace

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/sim/netstate"
)

func wander(n int) swarm.Brain { return swarm.NewBot(5, n) }

// What is recorded is in the ranges of the schema, moves, and is the same when recorded again.
func TestRecord(t *testing.T) {
	cfg := Config{Name: "five", Players: 5, Duration: 6 * time.Second, Hz: 20, Seed: 5, Brain: wander}
	a, err := Record(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Snapshots) != 120 || a.Entities != 5 || a.TickRate != 60 || a.TicksPerSnapshot != 3 ||
		len(a.Fields) != len(netstate.Public.Fields) {
		t.Fatalf("%d snapshots of %d players, %d fields, every %d of %d ticks", len(a.Snapshots), a.Entities,
			len(a.Fields), a.TicksPerSnapshot, a.TickRate)
	}
	moved := make([]bool, 5)
	for s := range a.Snapshots {
		for e := range a.Entities {
			row := a.Row(s, e)
			for f, v := range row {
				if lo, hi := netstate.Public.Fields[f].Range(); v < lo || v > hi {
					t.Fatalf("snapshot %d, player %d: %s is %d, expected %d to %d", s, e, a.Fields[f].Name, v,
						lo, hi)
				}
			}
			moved[e] = moved[e] || row[netstate.PlayerStateX] != a.Row(0, e)[netstate.PlayerStateX]
		}
	}
	if slices.Contains(moved, false) {
		t.Errorf("who moved: %v", moved)
	}
	b, err := Record(cfg, nil)
	if err != nil || !bytes.Equal(a.Append(nil), b.Append(nil)) {
		t.Errorf("recorded again it is another: %v", err)
	}
	file, err := itr.Read(bytes.NewReader(a.Append(nil)), "five")
	if err != nil || !slices.EqualFunc(file.Snapshots, a.Snapshots, slices.Equal[[]int32]) {
		t.Errorf("its file does not give it back: %v", err)
	}
}

// Where nobody does anything, nothing changes.
func TestRecordRest(t *testing.T) {
	a, err := Record(Config{Players: 3, Duration: 2 * time.Second, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range a.Snapshots {
		if len(a.Snapshots) != 40 || s > 30 && !slices.Equal(a.Snapshots[s], a.Snapshots[s-1]) {
			t.Fatalf("snapshot %d of %d: something changed", s, len(a.Snapshots))
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	for _, cfg := range []Config{{}, {Players: 257, Duration: 1 * time.Second}, {Players: 2},
		{Players: 2, Duration: 1 * time.Second, Hz: 7}, {Players: 2, Duration: 1 * time.Second, Hz: -1}} {
		if _, err := Record(cfg, nil); err == nil {
			t.Errorf("%+v: no error", cfg)
		}
	}
	enough := errors.New("enough")
	if _, err := Record(Config{Players: 2, Duration: 100 * time.Second, Hz: 20},
		func() error { return enough }); !errors.Is(err, enough) {
		t.Errorf("cancelled: %v", err)
	}
}
