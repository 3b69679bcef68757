package kernel

import (
	"math"
	"slices"
	"testing"
)

// groups is the two-level way, kept as a measurement: rows sorted by squares of the ground, 16 to a group, and a sphere round each
// group. A ray tests these by the same kernel and then the rows of those it may touch. See BenchmarkGroups for why the package does
// without.
type groups struct {
	rows   Column // in order of the squares
	order  []int32
	start  []int32
	square []int32
	bounds Column  // a row a group
	widest float32 // of the bounds
	near   []int32 // of the ray at hand
}

const groupRows = 16

func newGroups(n int) *groups {
	columns := func(n int) Column {
		return Column{X: make([]float32, n), Y: make([]float32, n), Z: make([]float32, n), NR2: make([]float32, n)}
	}
	many := (n + groupRows - 1) / groupRows
	return &groups{
		rows: columns(n), order: make([]int32, n), start: make([]int32, 1025), square: make([]int32, n),
		bounds: columns(many), near: make([]int32, many),
	}
}

// build sorts by counting, 32 x 32 squares in the order of a Z curve, copies the columns and bounds the groups.
func (g *groups) build(c *Column, side, radius float32) {
	clear(g.start)
	scale := 32 / side
	for i := range c.X {
		x, z := uint32((c.X[i]+side/2)*scale)&31, uint32((c.Z[i]+side/2)*scale)&31
		g.square[i] = int32(spreadBits(x) | spreadBits(z)<<1)
		g.start[g.square[i]+1]++
	}
	for i := 1; i < len(g.start); i++ {
		g.start[i] += g.start[i-1]
	}
	for i := range c.X {
		at := g.start[g.square[i]]
		g.start[g.square[i]]++
		g.order[at], g.rows.X[at], g.rows.Y[at], g.rows.Z[at], g.rows.NR2[at] = int32(i), c.X[i], c.Y[i], c.Z[i], c.NR2[i]
	}
	g.widest = 0
	for b := range g.bounds.X {
		from, to := b*groupRows, min((b+1)*groupRows, len(c.X))
		x, hx := middle(g.rows.X[from:to])
		y, hy := middle(g.rows.Y[from:to])
		z, hz := middle(g.rows.Z[from:to])
		reach := radius + float32(math.Sqrt(float64(hx*hx+hy*hy+hz*hz))) + 1e-3
		g.bounds.X[b], g.bounds.Y[b], g.bounds.Z[b], g.bounds.NR2[b] = x, y, z, -reach*reach
		g.widest = max(g.widest, reach)
	}
}

// middle is the middle of what v spans, and half its length.
func middle(v []float32) (at, half float32) {
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return (lo + hi) / 2, (hi - lo) / 2
}

func spreadBits(v uint32) uint32 {
	v = (v | v<<4) & 0x0F0F
	v = (v | v<<2) & 0x3333
	return (v | v<<1) & 0x5555
}

// candidates names rows in the order of the squares.
func (g *groups) candidates(k isa, r *Ray, out []int32) (named int) {
	wide := *r
	wide.Widest = g.widest
	var p, q probe
	p.ray(r)
	q.ray(&wide)
	for _, b := range g.near[:k.ray(&q, &g.bounds, len(g.bounds.X), g.near)] {
		from, to := int(b)*groupRows, min((int(b)+1)*groupRows, len(g.order))
		var part Column
		part.X, part.Y, part.Z, part.NR2 = g.rows.X[from:to], g.rows.Y[from:to], g.rows.Z[from:to], g.rows.NR2[from:to]
		n := k.ray(&p, &part, to-from, out[named:])
		for i := range out[named : named+n] {
			out[named+i] = g.order[from+int(out[named+i])]
		}
		named += n
	}
	return named
}

func TestGroupsNameTheSame(t *testing.T) {
	a := newArena(1000, 64, 200)
	g, out := newGroups(1000), make([]int32, 1000)
	g.build(&a.Column, 200, 0.95)
	for i := range a.rays {
		want := a.Along(&a.rays[i], nil)
		got := slices.Clone(out[:g.candidates(level, &a.rays[i], out)])
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("ray %d: %v, want %v", i, got, want)
		}
	}
}

// BenchmarkGroups measures what a second level costs and gives for 1000 players: building it for one tick, then a ray with it and
// without. Measured with AVX-512: 15 to 20 µs to build, 260 ns a ray instead of 160. The first test is so cheap that calls for a
// few groups of 16 cost more than going through everybody, so there is nothing that could pay for building.
func BenchmarkGroups(b *testing.B) {
	const n = 1000
	a := newArena(n, 64, 200)
	g, out := newGroups(n), make([]int32, n)
	b.Run("build", func(b *testing.B) {
		from := cpuNanos(b)
		for b.Loop() {
			g.build(&a.Column, 200, 0.95)
		}
		b.ReportMetric((cpuNanos(b)-from)/float64(b.N), "ns/op")
	})
	g.build(&a.Column, 200, 0.95)
	for name, run := range map[string]func(r *Ray) int{
		"two-levels": func(r *Ray) int { return g.candidates(level, r, out) },
		"one-level":  func(r *Ray) int { var p probe; p.ray(r); return level.ray(&p, &a.Column, n, out) },
	} {
		b.Run(name, func(b *testing.B) {
			from := cpuNanos(b)
			for b.Loop() {
				for i := range a.rays {
					sink += run(&a.rays[i])
				}
			}
			a.report(b, cpuNanos(b)-from)
		})
	}
}
