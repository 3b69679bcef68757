package lagcomp

import (
	"testing"

	"github.com/viterin/vek/vek32"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// spread is a thousand shots of one tick, each at an instant of its own, in 110 pairs of ticks.
func (h *History) spread() (thousand []Shot) {
	for i := range 1000 {
		from := 75 + tick.Tick(i%110)
		thousand = append(thousand, h.fire(i, tick.View{From: from, To: from + 6, Frac: uint8(i/110*28 + i%110)}))
	}
	return thousand
}

// vekBroad is the broad phase in vek's passes over whole columns, of which one looks through the mask.
type vekBroad struct {
	x, y, z, along, far []float32
	hit                 []bool
	out                 []int32
}

func newVekBroad(n int) *vekBroad {
	f := func() []float32 { return make([]float32, n) }
	return &vekBroad{f(), f(), f(), f(), f(), make([]bool, n), make([]int32, 0, n)}
}

// near names the rows whose widened bounds the ray's line touches, ahead of its origin or behind.
func (v *vekBroad) near(r kernel.Ray, f *frame) []int32 {
	n := f.used
	x, y, z, along, far := v.x[:n], v.y[:n], v.z[:n], v.along[:n], v.far[:n]
	vek32.AddNumber_Into(x, f.x[:n], -r.OX)
	vek32.AddNumber_Into(y, f.y[:n], -r.OY)
	vek32.AddNumber_Into(z, f.z[:n], -r.OZ)
	vek32.MulNumber_Into(along, x, r.DX)
	vek32.MulNumber_Into(far, y, r.DY)
	vek32.Add_Inplace(along, far)
	vek32.MulNumber_Into(far, z, r.DZ)
	vek32.Add_Inplace(along, far)
	vek32.Mul_Into(far, x, x)
	vek32.Mul_Into(x, y, y)
	vek32.Add_Inplace(far, x)
	vek32.Mul_Into(x, z, z)
	vek32.Add_Inplace(far, x)
	vek32.Mul_Into(x, along, along)
	vek32.Add_Inplace(far, f.nr2[:n])
	vek32.AddNumber_Inplace(far, -r.Grow-1e-2)
	vek32.Lte_Into(v.hit[:n], far, x)
	v.out = v.out[:0]
	for i, hit := range v.hit[:n] {
		if hit {
			v.out = append(v.out, int32(i))
		}
	}
	return v.out
}

// vekCast is Cast but for the broad phase.
func (h *History) vekCast(v *vekBroad) func([]Shot, []Hit) {
	return func(shots []Shot, hits []Hit) {
		h.together(len(shots), func(i int) tick.Tick { return shots[i].View.From }, func(i int) {
			s := &shots[i]
			a, b := h.between(s.View)
			radius, flyers, _ := h.ways.widen(h, a, b, s.View.Frac)
			q := question{ray: s.Ray, a: a, b: b, frac: s.View.Frac, except: s.Shooter, team: s.Team}
			h.sieve.judge(&q, v.near(a.ray(&s.Ray, radius), a), flyers, nil, &hits[i])
		})
	}
}

// BenchmarkBroadPhase names the rows near each of a thousand shots that look at 110 pairs of ticks: as Cast does, at the first tick
// with bounds widened by what everybody moved; between both ticks, which needs a column of lives more and twice the memory traffic; and
// in vek's passes. rows/shot is what the narrow phase is left with.
func BenchmarkBroadPhase(b *testing.B) {
	h, _, _, _ := fight(b)
	shots := h.spread()
	v, out := newVekBroad(1000), make([]int32, 0, 1000)
	columns := make([]kernel.Column, len(h.frames))
	for i := range h.frames {
		f := &h.frames[i]
		columns[i] = kernel.Column{X: f.x[:f.used], Y: f.y[:f.used], Z: f.z[:f.used], NR2: f.nr2[:f.used], Life: make([]uint32, f.used)}
		for row := range columns[i].Life {
			p := &f.rows[row]
			columns[i].Life[row] = p.ID<<9 | uint32(p.Flags&(rig.FlagAlive|rig.LifeMask))
		}
	}
	for _, c := range []struct {
		name string
		near func(s *Shot, a, b *frame) int
	}{
		{"widened", func(s *Shot, a, b *frame) int {
			near, flyers := h.near(s.Ray, a, b, s.View.Frac)
			return len(near) + len(flyers)
		}},
		{"between", func(s *Shot, a, b *frame) int {
			r := a.ray(&s.Ray, widest+2e-3)
			return len(kernel.Between(r, &columns[int(a.tick)%len(h.frames)], &columns[int(b.tick)%len(h.frames)], float32(s.View.Frac)/256, out))
		}},
		{"rival-vek", func(s *Shot, a, b *frame) int {
			radius, flyers, _ := h.ways.widen(h, a, b, s.View.Frac)
			return len(v.near(a.ray(&s.Ray, radius), a)) + len(flyers)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			rows := 0
			loop(b, len(shots), "shot", func() {
				h.together(len(shots), func(i int) tick.Tick { return shots[i].View.From }, func(i int) {
					from, to := h.between(shots[i].View)
					rows += c.near(&shots[i], from, to)
				})
			})
			b.ReportMetric(float64(rows)/float64(b.N)/float64(len(shots)), "rows/shot")
		})
	}
}

// The thousand shots that are measured hit whom brute force hits, and so does the rival: it does the same work.
func TestRivalHitsTheSame(t *testing.T) {
	h, slow, _, _ := fight(t)
	shots := h.spread()
	got, want, hits := make([]Hit, len(shots)), make([]Hit, len(shots)), 0
	h.vekCast(newVekBroad(1000))(shots, got)
	h.Cast(shots, want)
	brute := make([]Hit, len(shots))
	slow.Cast(shots, brute)
	for i := range shots {
		if got[i] != want[i] || brute[i] != want[i] {
			t.Fatalf("%+v: %+v, want %+v", shots[i], got[i], want[i])
		}
		if want[i].ID != 0 {
			hits++
		}
	}
	if hits < 700 {
		t.Fatalf("%d hits", hits)
	}
}
