package rig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// slackBound is what Bound must have to spare, in metres: rounding at the edge of the world.
const slackBound = 0.02

// farthest is how far any capsule of p reaches from the middle of its bound.
func farthest(p *Pose) float64 {
	var body Body
	LocalCapsules(p, &body)
	most := 0.0
	for i := range body {
		for _, v := range [2]geom.Vec3{body[i].A, body[i].B} {
			x, y, z := float64(v.X), float64(v.Y)-BoundHeight, float64(v.Z)
			most = max(most, math.Sqrt(x*x+y*y+z*z)+float64(body[i].Radius))
		}
	}
	return most
}

// Every combination of the extremes and middles of all parameters lies within Bound, at every
// sixteenth of the cycle; and climbing from the worst of them, one parameter changed at a time,
// finds nothing outside.
func TestBoundHoldsEveryPose(t *testing.T) {
	weights := []uint8{0, 127, 255}
	phases := 16
	if testing.Short() {
		weights, phases = []uint8{0, 255}, 8
	}
	for h := range Heroes {
		var worst Pose
		most := 0.0
		try := func(p Pose) bool {
			if f := farthest(&p); f > most {
				worst, most = p, f
				return true
			}
			return false
		}
		for _, dead := range []Stance{Run, Dead} {
			for _, pitch := range []geom.Angle{0, 0x2000, 0x4000, 0xC000, 0xE000, 0x8000, 0x7FFF} {
				for _, move := range []uint8{0, 32, 64, 96, 128, 160, 192, 224} {
					for _, hips := range []int8{-128, -64, 0, 64} {
						for _, bank := range []int8{-128, 0, 127} {
							for bits := range len(weights) * len(weights) * len(weights) * len(weights) {
								n := len(weights)
								gait, aim := weights[bits%n], weights[bits/n%n]
								air, squat := weights[bits/n/n%n], weights[bits/n/n/n]
								phase := uint16((bits*5 + int(move)/32*3 +
									int(pitch>>13)) % phases * (65536 / phases))
								try(Pose{Form: FormOf(h, dead), Pitch: pitch, Move: move, Hips: hips,
									Bank: bank,
									Gait: gait, Aim: aim, Air: air, Squat: squat, Phase: phase})
							}
						}
					}
				}
			}
		}
		r := rand.New(rand.NewPCG(7, uint64(h)))
		for range 100_000 {
			try(random(r, h))
		}
		for better := true; better; {
			better = false
			for range 20_000 {
				p := worst
				q := random(r, h)
				switch r.IntN(9) {
				case 0:
					p.Pitch = q.Pitch
				case 1:
					p.Move = q.Move
				case 2:
					p.Hips = q.Hips
				case 3:
					p.Bank = q.Bank
				case 4:
					p.Gait = q.Gait
				case 5:
					p.Aim = q.Aim
				case 6:
					p.Air = q.Air
				case 7:
					p.Squat = q.Squat
				case 8:
					p.Phase = q.Phase
				}
				better = try(p) || better
			}
		}
		t.Logf("%v: %.3f m of %.3f: %+v", h, most, Skeletons[h].Bound, worst)
		if spare := float64(Skeletons[h].Bound) - most; spare < slackBound || spare > 3*slackBound {
			t.Errorf("%v: a bound of %v for %.4f m; %v to %v should be spare", h, Skeletons[h].Bound, most,
				slackBound, 3*slackBound)
		}
	}
}

// random is any pose at the origin of a hero.
func random(r *rand.Rand, h Hero) Pose {
	n, m := r.Uint64(), r.Uint64()
	return Pose{
		Form: FormOf(h, Stance(n&7)), Phase: uint16(n >> 8), Yaw: geom.Angle(n >> 24),
		Pitch: geom.Angle(int16(n>>40) / 2),
		Move:  uint8(n >> 56), Gait: uint8(m), Bank: int8(m >> 8), Hips: int8(m >> 16), Aim: uint8(m >> 24),
		Air:   uint8(m >> 32),
		Squat: uint8(m >> 40), ID: 7,
	}
}
