package netstate

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// inRange fails if a row holds a value that the schema would change: what is sent must be what was
// meant.
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

// figure is a random animation state of a player that looks along yaw.
func figure(seed uint64, yaw geom.Angle) *anim.State {
	r := rand.New(rand.NewPCG(seed, 0))
	return &anim.State{
		Phase: r.Uint32(), Yaw: yaw, Hips: geom.Angle(r.Uint32()), Move: geom.Angle(r.Uint32()),
		Gait: uint16(r.Uint32()),
		Bank: int16(r.Uint32()), Squat: uint16(r.Uint32()), Stance: rig.Stance(r.IntN(8)),
		Hero: rig.Hero(r.IntN(3)),
	}
}

// PoseOf gives back the very pose, for whatever a player can look like, at its widest.
func TestRow29PublicRowIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axis := func(name string) float32 {
			return float32(rapid.Int32Range(-8192000, 8192000).Draw(t,
				name)) / 4096
		}
		v := sim.Vital{
			Health: rapid.Int16Range(0, 1000).Draw(t, "health"), Team: rapid.Uint8Range(0, 1).Draw(t,
				"team"), Hero: rapid.Uint8Range(0, 15).Draw(t, "hero"),
			Kills: rapid.Uint16().Draw(t, "kills"), Deaths: rapid.Uint16Range(0, 1<<15-1).Draw(t, "deaths"),
			Respawn: tick.Tick(rapid.Uint32Range(0, 1).Draw(t, "respawn")),
			Life:    rapid.Uint8().Draw(t, "life"),
		}
		a := ability.Public{
			Fired:   [2]uint8{rapid.Uint8().Draw(t, "fired"), rapid.Uint8().Draw(t, "thrown")},
			Punches: rapid.Uint8().Draw(t, "punches"),
			Gesture: rapid.Uint8Range(0, 15).Draw(t, "gesture"), Gestures: rapid.Uint8().Draw(t, "gestures"),
			Sprinting: rapid.Bool().Draw(t, "sprinting"), Reloading: rapid.Bool().Draw(t, "reloading"),
		}
		id := netid.Make(rapid.IntRange(0, 4095).Draw(t, "slot"), rapid.Uint8Range(1, 255).Draw(t,
			"generation"))
		look := sim.Look{Yaw: geom.Angle(rapid.Uint16().Draw(t, "yaw")),
			Pitch: geom.Angle(rapid.Int16Range(-0x4000, 0x4000).Draw(t, "pitch"))}
		var pose rig.Pose
		pos, state := geom.Vec3{X: axis("x"), Y: axis("y"), Z: axis("z")},
			figure(rapid.Uint64().Draw(t, "figure"), look.Yaw)
		v.PublicPose(&pose, uint32(id), &pos, look, state)
		var row [PublicFields]int32
		PublicRow(row[:], &pose, &v, &a)
		inRange(t, row[:], true)
		if got := PoseOf(id, row[:]); got != pose {
			t.Fatalf("row %v is the pose %+v, was %+v", row, got, pose)
		}
		want := PlayerState{
			Pos: pose.Pos, Yaw: pose.Yaw, Pitch: pose.Pitch, Flags: pose.Flags ^ StateAlive, Health: v.Health,
			Shots: a.Fired[0], Kills: v.Kills, Deaths: v.Deaths,
			Throws: a.Fired[1] % 64, Punches: a.Punches % 16, Gestures: a.Gestures % 16, Hero: v.Hero,
			Gesture:   a.Gesture,
			Sprinting: a.Sprinting, Reloading: a.Reloading, Stance: pose.Form.Stance(),
			Figure: pose.Form.Hero(),
		}
		var told anim.Public
		told.FromPose(&pose)
		want.Phase, want.Heading, want.Lean, want.Gait, want.Squat = told.Phase, told.Heading, told.Lean,
			told.Gait, told.Squat
		var got PlayerState
		if got.Restore(row[:]); got != want {
			t.Fatalf("row %v is %+v, want %+v", row, got, want)
		}
	})
}

// SelfOf gives back the very player after every tick of a random life, of any hero, so a client
// that starts there goes on as the server does.
func TestRow29OwnerRowIsExact(t *testing.T) {
	for _, rate := range []tick.Rate{20, 60, 128} {
		a := arena.Generate(16, uint64(rate))
		kit, err := sim.Rules{Rate: rate}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[move.Loco]bool{}
		rapid.Check(t, func(t *rapid.T) {
			s := Self{Self: sim.Self{Hero: rapid.Uint8Range(0, 1).Draw(t, "hero"), Team: rapid.Uint8Range(0,
				1).Draw(t, "team")}}
			s.Abilities = kit.Hero(s.Hero).NewState()
			s.Motion = move.Round(move.Motion{Pos: a.Spawns[rapid.IntRange(0, len(a.Spawns)-1).Draw(t,
				"spawn")].Pos})
			if rapid.IntRange(0, 9).Draw(t, "fate") == 0 {
				s.Motion.Loco = move.Dead
			}
			var out ability.Actions
			cmd := sim.Command{}
			for n := range rapid.IntRange(1, 120).Draw(t, "ticks") {
				if rapid.IntRange(0, 7).Draw(t, "turn") == 0 {
					cmd = sim.Command{Yaw: geom.Angle(rapid.Uint16().Draw(t, "yaw")),
						MoveYaw: rapid.Uint8().Draw(t, "dir"), MoveMag: rapid.Uint8().Draw(t, "mag"),
						Buttons: sim.Buttons(rapid.Uint16Range(0, 1023).Draw(t,
							"keys") & rapid.Uint16Range(0, 1023).Draw(t, "and"))}
				}
				cmd.Tick = tick.Tick(n + 1)
				kit.StepPlayer(&s.Self, &cmd, a, &out)
				s.Lead, s.Starved, s.Pushes = rapid.Int8().Draw(t, "lead"), s.Starved+1, s.Pushes+7
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
		// Short runs draw too few lives to meet every way of moving.
		if len(seen) < 6 && !testing.Short() {
			t.Errorf("%d Hz: the walks only knew %v", rate, seen)
		}
	}
}

// The widest state that packages move and ability can leave still fits.
func TestRow31OwnerRowHoldsTheExtremes(t *testing.T) {
	full := ability.State{Request: 255, Active: 255, Cooling: 255, On: 255, Asked: 255, Reloading: 255}
	for i := range full.Slots {
		full.Slots[i] = ability.Slot{Load: 255, Count: 255, Cool: []int16{-8192, 8192}[i&1], Heat: 46080}
	}
	for i, m := range []move.Motion{
		{Pos: geom.Vec3{X: 2000, Y: -2000, Z: 2000}, Vel: geom.Vec3{X: move.TopSpeed, Y: -move.TopSpeed,
			Z: move.TopSpeed},
			Loco: move.Dead, Jumps: 2, Since: 65535, Held: 0xffff},
		{Pos: geom.Vec3{X: 1. / 4096, Y: -1. / 4096}, Vel: geom.Vec3{X: -1. / 1024}, Loco: move.Launched,
			Jumps: 1},
	} {
		s := Self{Self: sim.Self{Motion: m, Abilities: full, Hero: 15, Team: 3}, Pushes: 255, Lead: -128,
			Starved: 255, RespawnTicks: 1 << 20}
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
	var pose rig.Pose
	var s Self
	new(sim.Vital).PublicPose(&pose, 1, &geom.Vec3{X: 1}, sim.Look{}, &anim.State{})
	var v sim.Vital
	if n := alloctest.In(100, func() {
		PublicRow(public[:], &pose, &v, &ability.Public{})
		pose = PoseOf(1, public[:])
		OwnerRow(owner[:], &s)
		s = SelfOf(owner[:])
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
