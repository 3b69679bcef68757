package object

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/arena"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const rate = tick.DefaultRate

func v3(x, y, z float32) geom.Vec3 { return geom.Vec3{X: x, Y: y, Z: z} }

// plain is flat ground, 128 m square, with what a test puts on it.
func plain(t testing.TB, solids ...arena.Solid) *arena.Arena {
	t.Helper()
	solids = append([]arena.Solid{arena.NewSolid(arena.Box, v3(-64, -1, -64), v3(64, 0, 64))}, solids...)
	a, err := arena.New("plain", geom.AABB{Min: v3(-64, -1, -64), Max: v3(64, 32, 64)}, solids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// stage is a scene whose players stand where a test puts them: slot i is ids[i].
type stage struct {
	*Scene
	history *lagcomp.History
	poses   []rig.Pose
	health  []int16
	wounds  []DamageResult
	find    func(netid.ID) *int16
}

func newStage(a *arena.Arena, players int) *stage {
	s := &stage{history: lagcomp.NewHistory(max(players, 1), 128), poses: make([]rig.Pose, players),
		health: make([]int16, players)}
	s.Scene = &Scene{Arena: a, Players: lagcomp.NewSweeper(s.history), Rate: rate,
		Damage: NewDamageQueue(16), BarrelKind: DefaultBarrel(), CubeKind: DefaultCube()}
	for _, ammo := range DefaultProjectiles() {
		s.ProjectileKinds = append(s.ProjectileKinds, ammo.Compile(rate))
	}
	s.GrenadeKinds = []CompiledGrenade{DefaultGrenade().Compile(rate)}
	s.find = func(id netid.ID) *int16 {
		if id.Index() < len(s.health) {
			return &s.health[id.Index()]
		}
		return nil
	}
	for i := range players {
		s.health[i] = 100
	}
	return s
}

func player(slot int) netid.ID { return netid.Make(slot, 1) }
func thing(n int) netid.ID     { return netid.Make(100000+n, 1) }

// put places a player.
func (s *stage) put(slot int, team uint8, feet geom.Vec3) {
	s.poses[slot] = rig.Pose{ID: uint32(player(slot)), Pos: feet, Flags: rig.Flags(true, team, 1)}
}

// next opens a tick and records all players.
func (s *stage) next() {
	s.Now++
	s.history.Record(s.Now, s.poses)
}

func (s *stage) settle() []DamageResult { return s.ResolveDamage(s.find, nil) }

func (s *stage) run() []DamageResult {
	s.ResolveBlasts()
	return s.settle()
}

func find(wounds []DamageResult, victim netid.ID) (w DamageResult) {
	for _, x := range wounds {
		if x.Victim == victim {
			w = x
		}
	}
	return w
}

func near(a, b, by float32) bool { return geom.Abs(a-b) <= by }

func between(rng *rand.Rand, lo, hi float32) float32 { return lo + (hi-lo)*rng.Float32() }

func place(rng *rand.Rand, half float32) geom.Vec3 {
	return v3(between(rng, -half, half), between(rng, 0, 4), between(rng, -half, half))
}

// golden compares text with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and look at the change.\ngot:\n%s", path, got)
	}
}

var nan, inf = float32(math.NaN()), float32(math.Inf(1))
