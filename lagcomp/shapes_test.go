package lagcomp

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// A history of a user's own bodies finds the same hits as a test of every body: boxes, balls, a
// skeleton, and one that is much wider than the heroes.
func TestHistoryOfOwnShapes(t *testing.T) {
	crate := geom.AABB{Min: geom.Vec3{X: -0.5, Z: -0.5}, Max: geom.Vec3{X: 0.5, Y: 1, Z: 0.5}}
	wall := geom.AABB{Min: geom.Vec3{X: -9, Z: -0.2}, Max: geom.Vec3{X: 9, Y: 3, Z: 0.2}} // with a sweep beyond kernel.MaxRadius
	bodies, err := rig.NewBodies(
		rig.Build{Name: "crate", Shapes: []rig.Shape{{Part: rig.PartTorso, Box: crate}}},
		rig.Build{Name: "ball", Shapes: []rig.Shape{{Part: rig.PartHead, Capsule: geom.Capsule{
			A: geom.Vec3{Y: 1}, B: geom.Vec3{Y: 1}, Radius: 0.6}}}},
		rig.Build{Name: "robot", Skeleton: &rig.Skeletons[rig.Robot]},
		rig.Build{Name: "wall", Shapes: []rig.Shape{{Part: rig.PartLegs, Box: wall}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, players := range []int{20, 400} { // row by row, and by index
		h, rng := NewHistoryOf(bodies, players, 128), rand.New(rand.NewPCG(28, uint64(players)))
		poses := make([]rig.Pose, players)
		for i := range poses {
			poses[i] = rig.Pose{ID: uint32(i + 1), Flags: rig.Flags(true, uint8(i&1), 1), Yaw: geom.Angle(rng.Uint32()),
				Form: rig.FormOf(rig.Hero(i%4), rig.Run), Pos: geom.Vec3{X: 60 * rng.Float32(), Z: 60 * rng.Float32()}}
		}
		for now := tick.Tick(1); now <= 100; now++ {
			for i := range poses {
				p := &poses[i]
				p.Pos = p.Pos.Mad(geom.Forward(p.Yaw, 0), 0.05)
				p.Yaw += geom.Angle(i % 7 * 40)
			}
			h.Record(now, poses)
		}
		sweeps := make([]Sweep, 400)
		for i := range sweeps {
			from := 40 + tick.Tick(rng.IntN(40))
			w := &sweeps[i]
			w.View, w.Except, w.Spare = tick.View{From: from, To: from + 6, Frac: uint8(rng.Uint32())}, uint32(i), Teams(i%3)
			w.Radius = []float32{0, 0, 0.2, 3}[i%4]
			w.Ray = geom.Ray{Origin: geom.Vec3{X: 60 * rng.Float32(), Y: 1, Z: 60 * rng.Float32()}, Max: []float32{3, 100}[i%2],
				Dir: geom.Forward(geom.Angle(rng.Uint32()), geom.Angle(rng.IntN(2000)))}
		}
		hits, byPart := make([]Hit, len(sweeps)), map[rig.Part]int{}
		s := NewSweeper(h)
		s.Cast(sweeps, hits)
		for i := range sweeps {
			want := Hit{}
			ray, _ := NormalizeRay(sweeps[i].Ray)
			for slot := range players {
				p, ok := h.At(sweeps[i].View, slot)
				if !ok || p.ID == sweeps[i].Except || sweeps[i].Spare.Has(p.Team()) {
					continue
				}
				if hit, ok := Test(bodies, shorten(ray, &want), sweeps[i].Radius, &p); ok && nearer(hit.Distance, slot, &want) {
					want = hitOf(ray, p.ID, slot, &hit)
				}
			}
			if byPart[want.Part]++; hits[i] != want {
				t.Fatalf("%d bodies, sweep %d: %+v, want %+v", players, i, hits[i], want)
			}
		}
		if byPart[rig.PartLegs] == 0 || byPart[rig.PartHead] == 0 || byPart[rig.PartTorso] == 0 || byPart[rig.NoPart] == 0 {
			t.Errorf("%d bodies: hits by part %v", players, byPart)
		}
		blasts := 0
		for i := range 100 {
			v, ball := sweeps[i].View, geom.Sphere{Center: sweeps[i].Ray.Origin, Radius: 2.5}
			got := map[int]bool{}
			for _, o := range s.OverlapSphere(v, ball, nil) {
				got[o.Slot] = true
			}
			zone := []OverlapQuery{{Capsule: geom.Capsule{A: ball.Center, B: ball.Center, Radius: 2.5}, View: v}}
			touched := map[int]bool{}
			for _, o := range s.Overlap(zone, nil) {
				touched[o.Slot] = true
			}
			for slot := range players {
				p, _ := h.At(v, slot)
				want := TestSphere(bodies, ball, &p)
				if _, _, capsule := TestCapsule(bodies, zone[0].Capsule, &p); got[slot] != want || touched[slot] != capsule {
					t.Fatalf("%d bodies, blast %d: slot %d is touched: %v, %v, want %v, %v", players, i, slot, got[slot],
						touched[slot], want, capsule)
				}
				blasts += geom.Bit(want)
			}
		}
		if blasts == 0 {
			t.Error("no blast touched a body")
		}
	}
}
