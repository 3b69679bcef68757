package move

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// crowd is n bodies on their spawns, and inputs that send them about the arena.
func crowd(a *arena.Arena, n int) (Columns, []Input) {
	c := Columns{make([]geom.Vec3, n), make([]geom.Vec3, n), make([]State, n)}
	in := make([]Input, n)
	for i := range n {
		c.Pos[i] = a.Spawns[i%len(a.Spawns)].Pos
		in[i] = wander(uint32(i), 0)
	}
	return c, in
}

// wander is an input that keeps its direction for about a second, runs, and jumps now and then.
func wander(who, tick uint32) Input {
	h := mix(who*7919 + tick/50)
	in := Input{Yaw: geom.Angle(h), MoveYaw: uint8(h>>16) & 0x3f, MoveMag: 255}
	if h>>24&3 == 0 {
		in.Buttons |= Sprint
	}
	if h>>26&7 == 0 {
		in.MoveMag = 0
	}
	if mix(who*31+tick)&63 == 0 {
		in.Buttons |= Jump
	}
	return in
}

func mix(x uint32) uint32 {
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

// BenchmarkStep walks bodies one by one, as clients do, each a Motion in a slice, and as columns, as
// the server does, on a map of some 2000 solids.
func BenchmarkStep(b *testing.B) {
	const n = 1000
	a := arena.Generate(1400, 1)
	b.Run("scalar", func(b *testing.B) {
		c, in := crowd(a, n)
		bodies, now := make([]Motion, n), atRate(60)
		for i := range bodies {
			bodies[i] = Join(c.Pos[i], c.Vel[i], c.State[i])
		}
		tick := uint32(0)
		b.ReportAllocs()
		for b.Loop() {
			tick++
			for i := range bodies {
				if tick%50 == 0 {
					in[i] = wander(uint32(i), tick)
				}
				bodies[i] = standard.Step(bodies[i], in[i], NoTeam, a, now)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	})
	b.Run("columns", func(b *testing.B) {
		c, in := crowd(a, n)
		who, bodies := teamless(n), []*Body{standard}
		tick := uint32(0)
		b.ReportAllocs()
		for b.Loop() {
			tick++
			for i := range c.Pos {
				if tick%50 == 0 {
					in[i] = wander(uint32(i), tick)
				}
			}
			batch.StepBodies(Rows{c, in, who}, bodies, a, atRate(60))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	})
}

// BenchmarkBodies is BenchmarkStep/columns with two bodies and two teams in turn.
func BenchmarkBodies(b *testing.B) {
	const n = 1000
	a := arena.Generate(1400, 1)
	c, in := crowd(a, n)
	heroes := []*Body{standard, RobotParams().MustCompile()}
	who := make([]BodyTeam, n)
	for i := range who {
		who[i] = BodyTeam{Body: uint8(i & 1), Team: uint8(i >> 1 & 1)}
	}
	tick := uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		tick++
		for i := range c.Pos {
			if tick%50 == 0 {
				in[i] = wander(uint32(i), tick)
			}
		}
		batch.StepBodies(Rows{c, in, who}, heroes, a, atRate(60))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
}

// BenchmarkStepMovers is BenchmarkStep/columns among movers: rows near one are stepped alone.
func BenchmarkStepMovers(b *testing.B) {
	const n = 1000
	a := lifts(b)
	c := Columns{make([]geom.Vec3, n), make([]geom.Vec3, n), make([]State, n)}
	in, near := make([]Input, n), 0
	for i := range n {
		c.Pos[i] = geom.Vec3{X: float32(i%25) - 12, Z: float32(i/25)*0.6 - 12}
		in[i] = wander(uint32(i), 1)
	}
	who, bodies, now := teamless(n), []*Body{standard}, arena.Moment{Rate: 60}
	b.ReportAllocs()
	for b.Loop() {
		now.Tick++
		for i := range c.Pos {
			if now.Tick%50 == 0 {
				in[i] = wander(uint32(i), uint32(now.Tick))
			}
			near += one(a.MoversNear(c.Pos[i].X, c.Pos[i].Z) != 0)
		}
		batch.StepBodies(Rows{c, in, who}, bodies, a, now)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	b.ReportMetric(float64(near)/float64(b.N)/n, "near/player")
}
