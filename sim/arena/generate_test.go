package arena

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// TestGenerate checks what Generate promises, for small and large lobbies.
func TestGenerate(t *testing.T) {
	for _, players := range []int{-1, 1, 2, 3, 8, 16, 17, 31, 64, 100, 333, 1000} {
		for seed := range uint64(5) {
			a := Generate(players, seed)
			n := max(players, 2)
			side := float64(a.Bounds.Max.X-a.Bounds.Min.X) - 2
			if want := max(24, math.Sqrt(40*float64(n))); side < want || side > want+2 {
				t.Errorf("%d players, seed %d: side %v m, want %v", players, seed, side, want)
			}
			ramps := 0
			for i := range a.Solids {
				if a.Solids[i].Grade > 0.8 {
					t.Errorf("%d players, seed %d: a ramp of grade %v", players, seed, a.Solids[i].Grade)
				}
				if a.Solids[i].Shape != Box {
					ramps++
				}
			}
			if n >= 64 && (ramps == 0 || len(a.Solids) < n) {
				t.Errorf("%d players, seed %d: %d solids, %d ramps", players, seed, len(a.Solids), ramps)
			}
			for team := range uint8(Teams) {
				checkSpawns(t, a, team, (n+1)/2)
			}
			// From a spawn a ray straight up reaches the sky, and a ray straight down the floor.
			for _, s := range a.Spawns {
				if _, ok := a.Raycast(geom.Ray{Origin: s.Pos.Add(geom.Vec3{Y: 1}), Dir: geom.Vec3{Y: 1},
					Max: 20}); ok {
					t.Errorf("%s: spawn %v has something above it", a.Name, s)
				}
				if d, ok := a.Raycast(geom.Ray{Origin: s.Pos.Add(geom.Vec3{Y: 1}), Dir: geom.Vec3{Y: -1},
					Max: 20}); !ok || d != 1 {
					t.Errorf("%s: spawn %v has no floor", a.Name, s)
				}
			}
		}
	}
}

func checkSpawns(t *testing.T, a *Arena, team uint8, want int) {
	spawns := a.TeamSpawns(team)
	if len(spawns) < want {
		t.Errorf("%s: team %d has %d spawns, want %d", a.Name, team, len(spawns), want)
	}
	for i, s := range spawns {
		if s.Team != team || (s.Pos.X < 0) != (team == 0) || s.Yaw != 0x4000+geom.Angle(team)*0x8000 {
			t.Errorf("%s: team %d has spawn %+v", a.Name, team, s)
		}
		if a.Overlaps(geom.AABB{Min: s.Pos.Add(geom.Vec3{X: -0.75, Z: -0.75}),
			Max: s.Pos.Add(geom.Vec3{X: 0.75, Y: 3, Z: 0.75})}) {
			t.Errorf("%s: spawn %+v is not free", a.Name, s)
		}
		for _, o := range spawns[:i] {
			if s.Pos.Sub(o.Pos).Len() < 1 {
				t.Errorf("%s: spawns %v and %v are too near", a.Name, s.Pos, o.Pos)
			}
		}
	}
}

// TestGenerateHash pins what Generate makes: servers and clients of different builds agree on
// "gen:500:7" by name.
func TestGenerateHash(t *testing.T) {
	h := Generate(500, 7).Hash()
	if got, want := hex.EncodeToString(h[:]),
		"4c94e1a6cc2c42067ad9038f1d6a6811853e452ecfe12e10f3811aa171996bf7"; got != want {
		t.Errorf("gen:500:7 is %s, pinned %s", got, want)
	}
	if Generate(500, 7).Hash() == Generate(500, 8).Hash() || Generate(500, 7).Hash() == Generate(501,
		7).Hash() {
		t.Error("different arguments make the same arena")
	}
}

// TestHash changes each part of an arena in turn: the hash sees it. The name is not part of it.
func TestHash(t *testing.T) {
	make := func(change func(b *geom.AABB, s []Solid, p []Spawn)) [32]byte {
		b := geom.AABB{Min: geom.Vec3{X: -8, Y: -8, Z: -8}, Max: geom.Vec3{X: 8, Y: 8, Z: 8}}
		s := []Solid{NewSolid(Box, geom.Vec3{}, geom.Vec3{X: 1, Y: 1, Z: 1}),
			NewSolid(RampPosX, geom.Vec3{}, geom.Vec3{X: 2, Y: 1, Z: 2})}
		p := []Spawn{{Team: 0}, {Team: 1}}
		change(&b, s, p)
		a, err := New("", b, s, p)
		if err != nil {
			t.Fatal(err)
		}
		return a.Hash()
	}
	seen := map[[32]byte]int{}
	for i, change := range []func(b *geom.AABB, s []Solid, p []Spawn){
		func(b *geom.AABB, s []Solid, p []Spawn) {},
		func(b *geom.AABB, s []Solid, p []Spawn) { b.Max.Y += Unit },
		func(b *geom.AABB, s []Solid, p []Spawn) { s[0].Max.Z += Unit },
		func(b *geom.AABB, s []Solid, p []Spawn) { s[1].Min.X -= Unit },
		func(b *geom.AABB, s []Solid, p []Spawn) { s[1].Shape = RampNegZ },
		func(b *geom.AABB, s []Solid, p []Spawn) { s[1].Shape = Box },
		func(b *geom.AABB, s []Solid, p []Spawn) { p[0].Pos.X += Unit },
		func(b *geom.AABB, s []Solid, p []Spawn) { p[1].Yaw++ },
		func(b *geom.AABB, s []Solid, p []Spawn) { p[1].Team = 0 },
	} {
		h := make(change)
		if before, ok := seen[h]; ok {
			t.Errorf("changes %d and %d have one hash", before, i)
		}
		seen[h] = i
	}
}

// TestNear compares Near with a scan of every solid, and Overlaps with overlap.
func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 60 {
		a := scatter(r, 80)
		for range 200 {
			size := a.Bounds.Max.Sub(a.Bounds.Min)
			p := a.Bounds.Min.Add(geom.Vec3{X: size.X * (r.Float32()*1.1 - 0.05), Y: 5,
				Z: size.Z * (r.Float32()*1.1 - 0.05)})
			listed := map[Solid]int{}
			for _, s := range a.Near(p.X, p.Z) {
				listed[s]++
			}
			box := geom.AABB{Min: p.Sub(geom.Vec3{X: 2, Y: 1, Z: 1}), Max: p.Add(geom.Vec3{X: 1, Y: 1, Z: 3})}
			overlaps := false
			for i := range a.Solids {
				s := a.Solids[i]
				dx := max(s.Min.X-p.X, p.X-s.Max.X, 0)
				dz := max(s.Min.Z-p.Z, p.Z-s.Max.Z, 0)
				if dx < Reach && dz < Reach && listed[s] != 1 {
					t.Fatalf("Near(%v, %v) lists %v %d times", p.X, p.Z, s, listed[s])
				}
				overlaps = overlaps || overlap(s.Bounds(), box)
			}
			if a.Overlaps(box) != overlaps {
				t.Fatalf("Overlaps(%v) = %v", box, !overlaps)
			}
		}
	}
}
