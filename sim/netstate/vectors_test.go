package netstate

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
)

// TestRowsOfTheFirstFormat holds what rows have kept since the first format to testdata/rows.txt,
// which was written by the arithmetic that the first releases spelled out by hand. The file is not
// to be made anew.
//
//	public  x y z  yaw pitch flags  health shots kills deaths = row
//	owner   x y z  vx vy vz  loco jumps since held
//	        ammo reloading cool cone  lead starved respawn = row
//
// Rows have more fields by now: kills and deaths share one, and the rifle's three are gone.
func TestRowsOfTheFirstFormat(t *testing.T) {
	text, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		in, want, found := strings.Cut(rest, " = ")
		if !found {
			t.Fatalf("line %q", line)
		}
		got := ""
		switch kind {
		case "public":
			var p rig.Pose
			var v sim.Vital
			var a ability.Public
			scanAll(t, in, &p.Pos.X, &p.Pos.Y, &p.Pos.Z, &p.Yaw, &p.Pitch, &p.Flags, &v.Health, &a.Fired[0],
				&v.Kills, &v.Deaths)
			var row [PublicFields]int32
			p.Flags ^= StateAlive // vectors have the wire's bits
			anim.WritePose(&anim.State{}, &p)
			PublicRow(row[:], &p, &v, &a)
			row[8], row[9] = row[PlayerStateScore]&0xffff, row[PlayerStateScore]>>16
			got = fmt.Sprint(row[:10])
			if v.Deaths >= 1<<15 { // no more than the field's bits
				want = strings.Replace(want, fmt.Sprintf(" %d]", v.Deaths), fmt.Sprintf(" %d]", 1<<15-1), 1)
			}
			PublicRow(row[:], &p, &v, &a)
			p.ID = 0x101
			if back := PoseOf(0x101, row[:]); back != p {
				t.Errorf("%s: pose %+v, want %+v", line, back, p)
			}
		case "owner":
			var s Self
			m := &s.Motion
			var ammo, cool, cone int
			var reloading bool
			scanAll(t, in, &m.Pos.X, &m.Pos.Y, &m.Pos.Z, &m.Vel.X, &m.Vel.Y, &m.Vel.Z, &m.Loco, &m.Jumps,
				&m.Since, &m.Held,
				&ammo, &reloading, &cool, &cone, &s.Lead, &s.Starved, &s.RespawnTicks)
			var row [OwnerFields]int32
			OwnerRow(row[:], &s)
			got = fmt.Sprint(row[:11])
			old := strings.Fields(strings.Trim(want, "[]"))
			want = fmt.Sprint(append(old[:8:8], old[11:]...))
			if back := SelfOf(row[:]); back != s {
				t.Errorf("%s: self %+v, want %+v", line, back, s)
			}
		}
		if got != want {
			t.Errorf("%s: row %s", line, got)
		}
		lines++
	}
	if lines != 128 {
		t.Errorf("%d vectors, want 128", lines)
	}
}

func scanAll(t *testing.T, in string, to ...any) {
	t.Helper()
	if n, err := fmt.Sscan(in, to...); err != nil || n != len(to) {
		t.Fatalf("%q: %d values, %v", in, n, err)
	}
}

// The hashes that PROTOCOL.md and clients in other languages rest on.
func TestHashesArePinned(t *testing.T) {
	for i, c := range [][2]uint64{
		{Public.Hash(), 0x60266295c85ab006}, {Owner.Hash(), 0xd26e77eff5678a65},
		{SchemaHash(), 0xba383ebe959ee627},
		{Untrained().Hash(), 0x5dbbe42920a4ecb7}, // trained models change with their data
	} {
		if c[0] != c[1] {
			t.Errorf("%d: %#x, want %#x", i, c[0], c[1])
		}
	}
}
