package ecs_test

import (
	"fmt"
	"testing"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
)

const (
	dt = float32(1) / 64
	dv = -18 * dt
)

// The step of every rival: v.y += dv; p += v*dt, each product rounded before it is added.

func integrateStructs(p []pos, v []vel) {
	v = v[:len(p)]
	for i := range p {
		v[i].Y += dv
		p[i].Vec3 = p[i].Mad(v[i].Vec3, dt)
	}
}

func integratePlain(p, v []geom.Vec3) {
	v = v[:len(p)]
	for i := range p {
		v[i].Y += dv
		p[i] = p[i].Mad(v[i], dt)
	}
}

func start(i int) (pos, vel) {
	return pos{geom.Vec3{X: float32(i), Y: 2, Z: -float32(i)}},
		vel{geom.Vec3{X: 1, Y: float32(i & 7), Z: 0.5}}
}

func worldOf(n int) (*ecs.View, ecs.Comp[pos], ecs.Comp[vel]) {
	w := ecs.New(n)
	p, v := ecs.Register[pos](w), ecs.Register[vel](w)
	k := w.Kind("player", p, v)
	for range n {
		w.Spawn(k)
	}
	w.Flush()
	view := w.View(k)
	view.Open()
	for i := range n {
		ecs.Column(view, p)[i], ecs.Column(view, v)[i] = start(i)
	}
	view.Close()
	return view, p, v
}

// BenchmarkIntegrate runs one movement step over n entities: arche's own query entity by entity, a
// column view, and plain slices, which bound what memory allows.
func BenchmarkIntegrate(b *testing.B) {
	for _, n := range []int{1_000} {
		run := func(name string, step func()) {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
			})
		}
		store := arche.NewWorld(n)
		pid, vid := arche.ComponentID[pos](&store), arche.ComponentID[vel](&store)
		for i := range n {
			e := store.NewEntity(pid, vid)
			*(*pos)(store.Get(e, pid)), *(*vel)(store.Get(e, vid)) = start(i)
		}
		both := arche.All(pid, vid)
		run("arche-query", func() {
			q := store.Query(&both)
			for q.Next() {
				p, v := (*pos)(q.Get(pid)), (*vel)(q.Get(vid))
				v.Y += dv
				p.Vec3 = p.Mad(v.Vec3, dt)
			}
		})
		view, p, v := worldOf(n)
		run("view-structs", func() {
			view.Open()
			integrateStructs(ecs.Column(view, p), ecs.Column(view, v))
			view.Close()
		})
		plainP, plainV := make([]geom.Vec3, n), make([]geom.Vec3, n)
		for i := range n {
			a, c := start(i)
			plainP[i], plainV[i] = a.Vec3, c.Vec3
		}
		run("slices-structs", func() { integratePlain(plainP, plainV) })
	}
}

func BenchmarkView(b *testing.B) {
	view, p, v := worldOf(1000)
	b.Run("open-2columns-close", func(b *testing.B) {
		for b.Loop() {
			view.Open()
			_, _ = ecs.Column(view, p), ecs.Column(view, v)
			view.Close()
		}
	})
}

// BenchmarkFlush turns over a tenth of 1000 entities, which is more than any tick of a match does.
func BenchmarkFlush(b *testing.B) {
	w := ecs.New(1000)
	k := w.Kind("player", ecs.Register[pos](w), ecs.Register[vel](w))
	for range 1000 {
		w.Spawn(k)
	}
	w.Flush()
	at := 0
	for b.Loop() {
		for range 100 {
			at = (at + 7) % 1000
			w.Despawn(w.At(at))
		}
		w.Flush()
		for range 100 {
			w.Spawn(k)
		}
		w.Flush()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/change")
}
