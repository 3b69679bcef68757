package ghost

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// inRange fails if a row holds a value that the schema would change: what is sent must be what was meant.
func inRange(t interface{ Fatalf(string, ...any) }, row []int32, public bool) {
	s := Owner
	if public {
		s = Public
	}
	for i, f := range s.Fields {
		if f.Clamp(row[i]) != row[i] {
			t.Fatalf("%s.%s = %d is out of range", s.Name, f.Name, row[i])
		}
	}
}

// PoseOf gives back the very pose, for whatever a player can look like, at its widest.
func TestPublicRowIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axis := func(name string) float32 { return float32(rapid.Int32Range(-8192000, 8192000).Draw(t, name)) / 4096 }
		v := sim.Vital{
			Health: rapid.Int16Range(0, 1000).Draw(t, "health"), Team: rapid.Uint8Range(0, 1).Draw(t, "team"), Shots: rapid.Uint8().Draw(t, "shots"),
			Kills: rapid.Uint16().Draw(t, "kills"), Deaths: rapid.Uint16().Draw(t, "deaths"), Respawn: tick.Tick(rapid.Uint32Range(0, 1).Draw(t, "respawn")),
		}
		id := ecs.MakeNetID(rapid.IntRange(0, 4095).Draw(t, "slot"), rapid.Uint8Range(1, 255).Draw(t, "generation"))
		look := sim.Look{Yaw: geom.Angle(rapid.Uint16().Draw(t, "yaw")), Pitch: geom.Angle(rapid.Int16Range(-0x4000, 0x4000).Draw(t, "pitch"))}
		pose := sim.Seen(uint32(id), geom.Vec3{X: axis("x"), Y: axis("y"), Z: axis("z")}, look, v)
		var row [PublicFields]int32
		PublicRow(row[:], pose, v)
		inRange(t, row[:], true)
		if got := PoseOf(id, row[:]); got != pose {
			t.Fatalf("row %v is the pose %+v, was %+v", row, got, pose)
		}
		if row[PlayerHealth] != int32(v.Health) || row[PlayerShots] != int32(v.Shots) || row[PlayerKills] != int32(v.Kills) || row[PlayerDeaths] != int32(v.Deaths) {
			t.Fatalf("row %v of %+v", row, v)
		}
	})
}

// SelfOf gives back the very motion after every tick of a random walk, so a client that starts there goes on as the
// server does; and so do rifle and report.
func TestOwnerRowIsExact(t *testing.T) {
	for _, rate := range []tick.Rate{20, 60, 128} {
		a := arena.Generate(16, uint64(rate))
		seen := map[move.Loco]bool{}
		rapid.Check(t, func(t *rapid.T) {
			rules := sim.Rules{Rate: rate}.WithDefaults()
			s := Self{Weapon: sim.Weapon{Ammo: 25}}
			s.Motion = move.Round(move.Motion{Pos: a.Spawns[rapid.IntRange(0, len(a.Spawns)-1).Draw(t, "spawn")].Pos})
			if rapid.IntRange(0, 9).Draw(t, "fate") == 0 {
				s.Motion.Loco = move.Dead
			}
			in := move.Input{}
			keys := sim.Buttons(0)
			for range rapid.IntRange(1, 120).Draw(t, "ticks") {
				if rapid.IntRange(0, 7).Draw(t, "turn") == 0 {
					in = move.Input{Yaw: geom.Angle(rapid.Uint16().Draw(t, "yaw")), MoveYaw: rapid.Uint8().Draw(t, "dir"), MoveMag: rapid.Uint8().Draw(t, "mag"),
						Buttons: rapid.Uint16Range(0, 3).Draw(t, "keys")}
					keys = sim.Buttons(rapid.SampledFrom([]uint16{0, uint16(sim.Fire), uint16(sim.Reload)}).Draw(t, "trigger"))
				}
				s.Motion = move.Step(s.Motion, in, a, uint16(rate))
				s.Weapon.Step(1, keys, &rules)
				s.Lead, s.Starved = rapid.Int8().Draw(t, "lead"), s.Starved+1
				s.RespawnTicks = rapid.Int32Range(0, 1280).Draw(t, "respawn")
				var row [OwnerFields]int32
				OwnerRow(row[:], &s)
				inRange(t, row[:], false)
				if got := SelfOf(row[:]); got != s {
					t.Fatalf("row %v is\n%+v, was\n%+v", row, got, s)
				}
				seen[s.Motion.Loco] = true
			}
		})
		if len(seen) < 6 {
			t.Errorf("%d Hz: the walks only knew %v", rate, seen)
		}
	}
}

// The widest state that package move can leave still fits.
func TestOwnerRowHoldsTheExtremes(t *testing.T) {
	for i, m := range []move.Motion{
		{Pos: geom.Vec3{X: 2000, Y: -2000, Z: 2000}, Vel: geom.Vec3{X: move.TopSpeed, Y: -move.TopSpeed, Z: move.TopSpeed},
			Loco: move.Dead, Jumps: 2, Since: 65535, Held: move.Jump},
		{Pos: geom.Vec3{X: 1. / 4096, Y: -1. / 4096}, Vel: geom.Vec3{X: -1. / 1024}, Loco: move.DoubleJump, Jumps: 1},
	} {
		s := Self{Motion: m, Weapon: sim.Weapon{Ammo: 255, Reloading: true, Cool: -14, Cone: 2048}, Lead: -128, Starved: 255, RespawnTicks: 1 << 20}
		var row [OwnerFields]int32
		OwnerRow(row[:], &s)
		inRange(t, row[:], false)
		if got := SelfOf(row[:]); got != s {
			t.Errorf("%d: %+v, was %+v", i, got, s)
		}
	}
}

func TestRowsAllocateNothing(t *testing.T) {
	var public [PublicFields]int32
	var owner [OwnerFields]int32
	pose, s := sim.Seen(1, geom.Vec3{X: 1}, sim.Look{}, sim.Vital{}), Self{}
	if n := testing.AllocsPerRun(100, func() {
		PublicRow(public[:], pose, sim.Vital{})
		pose = PoseOf(1, public[:])
		OwnerRow(owner[:], &s)
		s = SelfOf(owner[:])
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
