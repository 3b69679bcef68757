package rig

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

var sink float32

// poses of a crowd of both heroes.
func crowd() []Pose {
	r := rand.New(rand.NewPCG(9, 9))
	poses := make([]Pose, 1024)
	for i := range poses {
		poses[i] = random(r, Hero(i%2))
		poses[i].Pos = geom.Vec3{X: float32(r.IntN(8192)) / 128, Z: float32(r.IntN(8192)) / 128}
	}
	return poses
}

func BenchmarkCapsules(b *testing.B) {
	poses := crowd()
	var body Body
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Capsules(&poses[i&1023], &body)
		sink += body[Head].B.Y
	}
}

func BenchmarkLerp(b *testing.B) {
	poses := crowd()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p := Lerp(&poses[i&1023], &poses[(i+2)&1023], uint8(i))
		sink += p.Pos.X
	}
}

func BenchmarkBound(b *testing.B) {
	poses := crowd()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sink += HeroBodies.Bound(&poses[i&1023]).Radius
	}
}

// A ray through the bound of each: three of four meet a bone.
func BenchmarkTest(b *testing.B) {
	poses := crowd()
	r := rand.New(rand.NewPCG(8, 8))
	rays := make([]geom.Ray, len(poses))
	for i := range rays {
		rays[i] = shotAt(r, &poses[i])
		rays[i].Max = 200
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		hit, _ := HeroBodies.Test(rays[i&1023], 0, &poses[i&1023])
		sink += hit.Distance
	}
}
