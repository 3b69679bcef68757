package move

import (
	"fmt"
	"testing"

	"github.com/mlange-42/arche/ecs"

	"github.com/viterin/vek/vek32"

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

// BenchmarkStep runs both ways over the same walk, on a map of some 2000 solids.
func BenchmarkStep(b *testing.B) {
	const n = 1000
	a := arena.Generate(1400, 1)
	b.Run("scalar", func(b *testing.B) {
		c, in := crowd(a, n)
		tick := uint32(0)
		b.ReportAllocs()
		for b.Loop() {
			tick++
			for i := range c.Pos {
				if tick%50 == 0 {
					in[i] = wander(uint32(i), tick)
				}
				c.Pos[i], c.Vel[i], c.State[i] = Split(Step(Join(c.Pos[i], c.Vel[i], c.State[i]), in[i], a, 60))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	})
	b.Run("columns", func(b *testing.B) {
		c, in := crowd(a, n)
		tick := uint32(0)
		b.ReportAllocs()
		for b.Loop() {
			tick++
			for i := range c.Pos {
				if tick%50 == 0 {
					in[i] = wander(uint32(i), tick)
				}
			}
			StepColumns(c, in, a, 60)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	})
}

// BenchmarkStepAllSolids is BenchmarkStep/columns, each body looking at all solids of the map first: the naive way.
func BenchmarkStepAllSolids(b *testing.B) {
	const n = 200
	a := arena.Generate(1400, 1)
	c, in := crowd(a, n)
	near := make([]arena.Solid, 0, arena.MaxNear)
	tick := uint32(0)
	for b.Loop() {
		tick++
		for i := range c.Pos {
			if tick%50 == 0 {
				in[i] = wander(uint32(i), tick)
			}
			near = slowGather(near[:0], standard, c.Pos[i], c.Vel[i].Scale(1./60), a.Solids)
		}
		StepColumns(c, in, a, 60)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	b.ReportMetric(float64(len(a.Solids)), "solids")
}

// BenchmarkBodies is BenchmarkStep/columns with two bodies and two teams in turn.
func BenchmarkBodies(b *testing.B) {
	const n = 1000
	a := arena.Generate(1400, 1)
	c, in := crowd(a, n)
	heroes := []*Body{standard, RobotParams().MustCompile()}
	who := make([]Who, n)
	for i := range who {
		who[i] = Who{Body: uint8(i & 1), Team: uint8(i >> 1 & 1)}
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
		StepBodies(c, in, who, heroes, a, 60)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
}

type position struct{ geom.Vec3 }
type velocity struct{ geom.Vec3 }

// BenchmarkIntegrate sets the column beside the queries it replaces.
func BenchmarkIntegrate(b *testing.B) {
	const dt = 1. / 60
	for _, n := range []int{1000, 10000} {
		perEntity := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
		}
		pos, vel := make([]geom.Vec3, n), make([]geom.Vec3, n)
		for i := range vel {
			vel[i] = geom.Vec3{X: 1, Y: float32(i % 7), Z: -2}
		}
		b.Run(fmt.Sprintf("%d/column", n), func(b *testing.B) {
			for b.Loop() {
				Integrate(pos, vel, dt)
			}
			perEntity(b)
		})
		b.Run(fmt.Sprintf("%d/vek", n), func(b *testing.B) {
			for b.Loop() {
				vekIntegrate(flat(pos), flat(vel), dt)
			}
			perEntity(b)
		})
		b.Run(fmt.Sprintf("%d/loop", n), func(b *testing.B) {
			for b.Loop() {
				slowIntegrate(pos, vel, dt)
			}
			perEntity(b)
		})
		b.Run(fmt.Sprintf("%d/arche-query", n), func(b *testing.B) {
			w := ecs.NewWorld()
			pid, vid := ecs.ComponentID[position](&w), ecs.ComponentID[velocity](&w)
			query := w.Batch().NewQ(n, pid, vid)
			for i := 0; query.Next(); i++ {
				(*velocity)(query.Get(vid)).Vec3 = vel[i]
			}
			all := ecs.All(pid, vid)
			for b.Loop() {
				query := w.Query(&all)
				for query.Next() {
					p, v := (*position)(query.Get(pid)), (*velocity)(query.Get(vid))
					p.Vec3 = p.Mad(v.Vec3, dt)
				}
			}
			perEntity(b)
		})
	}
}

// vekIntegrate is the best that vek offers: its product is a pass of its own, so chunks must stay in the first cache.
func vekIntegrate(p, v []float32, dt float32) {
	var way [1024]float32
	for len(p) > 0 {
		n := min(len(p), len(way))
		vek32.Add_Inplace(p[:n], vek32.MulNumber_Into(way[:n], v[:n], dt))
		p, v = p[n:], v[n:]
	}
}

func slowIntegrate(pos, vel []geom.Vec3, dt float32) {
	for i := range pos {
		pos[i] = pos[i].Mad(vel[i], dt)
	}
}
