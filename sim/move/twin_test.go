package move

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// slowGap is the honest twin of contact: the distance in float64 between the collision capsule's
// axis and a solid, 0 if the axis is within it, found by search along the axis.
func slowGap(b *Body, s *arena.Solid, feet geom.Vec3) float64 {
	x, z := float64(feet.X), float64(feet.Z)
	lo, hi := float64(feet.Y)+float64(b.radius), float64(feet.Y)+float64(b.shoulder)
	at := func(y float64) float64 { return slowPoint(s, x, y, z) }
	for range 50 { // the distance to a convex body is convex along the axis
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if at(a) <= at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return at((lo + hi) / 2)
}

// slowPoint is the distance from a point to a solid: across its section, and along the width.
func slowPoint(s *arena.Solid, x, y, z float64) float64 {
	x0, y0, z0 := float64(s.Min.X), float64(s.Min.Y), float64(s.Min.Z)
	x1, y1, z1 := float64(s.Max.X), float64(s.Max.Y), float64(s.Max.Z)
	out := func(v, lo, hi float64) float64 { return max(lo-v, v-hi, 0) }
	u, w, w0, w1 := x, z, z0, z1
	low, high := x0, x1
	switch s.Shape {
	case arena.Box:
		return math.Hypot(math.Hypot(out(x, x0, x1), out(y, y0, y1)), out(z, z0, z1))
	case arena.RampNegX:
		low, high = x1, x0
	case arena.RampPosZ:
		u, w, w0, w1, low, high = z, x, x0, x1, z0, z1
	case arena.RampNegZ:
		u, w, w0, w1, low, high = z, x, x0, x1, z1, z0
	}
	section := [3][2]float64{{low, y0}, {high, y0}, {high, y1}}
	nearest, sides := math.Inf(1), 0
	for i, a := range section {
		b := section[(i+1)%3]
		du, dy := b[0]-a[0], b[1]-a[1]
		if du*(y-a[1])-dy*(u-a[0]) >= 0 {
			sides++
		}
		t := min(max(((u-a[0])*du+(y-a[1])*dy)/(du*du+dy*dy), 0), 1)
		nearest = min(nearest, math.Hypot(u-a[0]-t*du, y-a[1]-t*dy))
	}
	if sides == 0 || sides == 3 {
		nearest = 0
	}
	return math.Hypot(nearest, out(w, w0, w1))
}

// depth is how deep the default body stands in the solids of an arena, by the twin and by all of
// them.
func depth(a *arena.Arena, feet geom.Vec3) float64 { return standard.depth(a, feet, NoTeam) }

func (b *Body) depth(a *arena.Arena, feet geom.Vec3, team uint8) float64 {
	worst := 0.0
	for i := range a.Solids {
		s := &a.Solids[i]
		if feet.X+1 < s.Min.X || feet.X-1 > s.Max.X || feet.Z+1 < s.Min.Z || feet.Z-1 > s.Max.Z {
			continue
		}
		if s.Pass&arena.PassTeam(team) != 0 {
			continue
		}
		worst = max(worst, float64(b.radius)-slowGap(b, s, feet))
	}
	return worst
}

// random64 is a coordinate: a multiple of 1/64 in [lo, hi].
func random64(r *rand.Rand, lo, hi float32) float32 {
	return lo + float32(r.IntN(int((hi-lo)*64)+1))/64
}

// clutter is a worst-case arena: a closed room of thin walls, crammed with boxes and ramps of any
// slope that overlap, leave gaps too low and too narrow, and hang in the air.
func clutter(r *rand.Rand, solids int) *arena.Arena {
	const half, thin = 8, 1. / 64
	at := geom.Vec3{X: random64(r, -1900, 1900), Y: random64(r, -100, 100), Z: random64(r, -1900, 1900)}
	var all []arena.Solid
	add := func(shape arena.Shape, lo, hi geom.Vec3) {
		all = append(all, arena.NewSolid(shape, at.Add(lo), at.Add(hi)))
	}
	add(arena.Box, geom.Vec3{X: -half, Y: -thin, Z: -half}, geom.Vec3{X: half, Y: 0, Z: half})
	add(arena.Box, geom.Vec3{X: -half, Y: 8, Z: -half}, geom.Vec3{X: half, Y: 8 + thin, Z: half})
	add(arena.Box, geom.Vec3{X: -half, Y: 0, Z: -half}, geom.Vec3{X: -half + thin, Y: 8, Z: half})
	add(arena.Box, geom.Vec3{X: half - thin, Y: 0, Z: -half}, geom.Vec3{X: half, Y: 8, Z: half})
	add(arena.Box, geom.Vec3{X: -half, Y: 0, Z: -half}, geom.Vec3{X: half, Y: 8, Z: -half + thin})
	add(arena.Box, geom.Vec3{X: -half, Y: 0, Z: half - thin}, geom.Vec3{X: half, Y: 8, Z: half})
	for range solids {
		size := geom.Vec3{X: random64(r, thin, 4), Y: random64(r, thin, 3), Z: random64(r, thin, 4)}
		lo := geom.Vec3{X: random64(r, -half, half-size.X), Y: 0, Z: random64(r, -half, half-size.Z)}
		if r.IntN(3) == 0 {
			lo.Y = random64(r, 0, 8-size.Y)
		}
		add(arena.Shape(r.IntN(5)), lo, lo.Add(size))
	}
	bounds := geom.AABB{Min: at.Add(geom.Vec3{X: -10, Y: -2, Z: -10}),
		Max: at.Add(geom.Vec3{X: 10, Y: 10, Z: 10})}
	a, err := arena.New("clutter", bounds, all, nil)
	if err != nil {
		panic(err)
	}
	return a
}

// place finds room for a body in an arena made by clutter.
func place(r *rand.Rand, a *arena.Arena) geom.Vec3 {
	mid := a.Bounds.Min.Add(geom.Vec3{X: 10, Y: 2, Z: 10})
	for range 1000 {
		p := roundPos(mid.Add(geom.Vec3{X: r.Float32()*14 - 7, Y: r.Float32() * 6, Z: r.Float32()*14 - 7}))
		if depth(a, p) == 0 {
			return p
		}
	}
	return mid
}

func randomInput(r *rand.Rand) Input {
	return Input{Yaw: geom.Angle(r.Uint32()), MoveYaw: uint8(r.Uint32()), MoveMag: uint8(r.Uint32()),
		Buttons: uint16(r.Uint32())}
}

// bodies are those that the tests of collision are run for: the two heroes' and the smallest and
// the largest there are.
func bodies() []*Body {
	small, large := DefaultParams(), DefaultParams()
	small.RadiusMetres, small.HeightMetres, small.EyeMetres, small.StepMetres = 0.25, 0.6, 0.5, 0.2
	large.RadiusMetres, large.HeightMetres, large.StepMetres = 0.75, 4, 0.8
	return []*Body{standard, RobotParams().MustCompile(), small.MustCompile(), large.MustCompile()}
}

// TestContact holds contact to the twin: the same depth, and pushes that part the bodies.
func TestContact(t *testing.T) {
	for _, b := range bodies() {
		testContact(t, b)
	}
}

func testContact(t *testing.T, b *Body) {
	r := rand.New(rand.NewPCG(1, 2))
	radius, bare := float64(b.radius), float64(b.bare)
	touched := 0
	for range 20000 {
		size := geom.Vec3{X: random64(r, 1./64, 2), Y: random64(r, 1./64, 2), Z: random64(r, 1./64, 2)}
		lo := geom.Vec3{X: random64(r, -1.5, 0), Y: random64(r, -1, 1), Z: random64(r, -1.5, 0)}
		s := arena.NewSolid(arena.Shape(r.IntN(5)), lo, lo.Add(size))
		p := geom.Vec3{X: r.Float32()*3 - 1.5, Y: r.Float32()*5 - 3, Z: r.Float32()*3 - 1.5}
		gap := slowGap(b, &s, p)
		got, ok := b.contact(&s, geom.Vec3{}, p)
		if want := gap < bare; ok != want && math.Abs(gap-bare) > 1e-5 {
			t.Fatalf("contact(%v, %v) = %v, twin's gap %v", s, p, ok, gap)
		}
		if !ok {
			continue
		}
		touched++
		if gap > 1e-5 && math.Abs(radius-gap-float64(got.depth)) > 1e-5 {
			t.Fatalf("contact(%v, %v) is %v deep, twin %v", s, p, got.depth, radius-gap)
		}
		if n := got.n.Len(); math.Abs(float64(n)-1) > 1e-5 {
			t.Fatalf("contact(%v, %v): normal %v", s, p, got.n)
		}
		pushes := []geom.Vec3{p.Mad(got.n, got.depth)}
		if got.n.Y > 0.1 {
			pushes = append(pushes, p.Add(geom.Vec3{Y: got.raise}))
		}
		if flat := (geom.Vec3{X: got.n.X, Z: got.n.Z}); flat.Len() > 0.1 {
			pushes = append(pushes, p.Mad(flat.Normalize(), got.aside))
		}
		for i, q := range pushes {
			if gap := slowGap(b, &s, q); gap < radius-1e-4 {
				t.Fatalf("contact(%v, %v) = %+v: push %d leads to a gap of %v", s, p, got, i, gap)
			}
		}
	}
	if touched < 1000 {
		t.Fatalf("only %d touches: nothing tested", touched)
	}
}

// TestSupport holds support to the twin: let down there, the body just touches; a little lower, it
// overlaps.
func TestSupport(t *testing.T) {
	for _, b := range bodies() {
		testSupport(t, b)
	}
}

func testSupport(t *testing.T, b *Body) {
	r := rand.New(rand.NewPCG(3, 4))
	radius := float64(b.radius)
	carried := 0
	for range 30000 {
		size := geom.Vec3{X: random64(r, 1./64, 2), Y: random64(r, 1./64, 2), Z: random64(r, 1./64, 2)}
		lo := geom.Vec3{X: random64(r, -1.5, 0), Y: random64(r, -1, 1), Z: random64(r, -1.5, 0)}
		s := arena.NewSolid(arena.Shape(r.IntN(5)), lo, lo.Add(size))
		x, z := r.Float32()*3-1.5, r.Float32()*3-1.5
		got, ok := b.support(&s, geom.Vec3{}, x, z)
		if !ok {
			beside := geom.AABB{Min: s.Min, Max: s.Max}
			d := math.Hypot(float64(beyond(x, beside.Min.X, beside.Max.X)),
				float64(beyond(z, beside.Min.Z, beside.Max.Z)))
			if d < radius-1e-5 {
				t.Fatalf("support(%v, %v, %v) = none at %v m", s, x, z, d)
			}
			continue
		}
		carried++
		gap := slowGap(b, &s, geom.Vec3{X: x, Y: got.feet, Z: z})
		if math.Abs(gap-radius) > 1e-4 {
			t.Fatalf("support(%v, %v, %v) = %+v: gap %v", s, x, z, got, gap)
		}
		if gap := slowGap(b, &s, geom.Vec3{X: x, Y: got.feet + 0.01, Z: z}); gap < radius {
			t.Fatalf("support(%v, %v, %v) = %+v: higher up, gap %v", s, x, z, got, gap)
		}
	}
	if carried < 6000 {
		t.Fatalf("only %d rests: nothing tested", carried)
	}
}

// TestNeverInside sends bodies through clutter at every rate with any input and knocks up to the
// top speed: they end no tick in a solid, beyond a wall, off the wire's grid or with a velocity it
// cannot carry.
func TestNeverInside(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	rounds, ticks := 100, 300
	for round := range rounds {
		a := clutter(r, 4+r.IntN(30))
		mid := a.Bounds.Min.Add(geom.Vec3{X: 10, Y: 2, Z: 10})
		m := Motion{Pos: place(r, a), Loco: InAir}
		rate := []uint16{20, 30, 60, 64, 128}[r.IntN(5)]
		var in Input
		for tick := range ticks {
			if r.IntN(20) == 0 {
				in = randomInput(r)
			}
			in.Buttons = uint16(r.IntN(4))
			if r.IntN(40) == 0 {
				m = knocked(m, geom.Vec3{X: r.Float32()*200 - 100, Y: r.Float32()*200 - 100,
					Z: r.Float32()*200 - 100})
			}
			before := m
			m = Step(m, in, a, rate)
			if d := depth(a, m.Pos); d > 1./1024 {
				t.Fatalf("round %d tick %d at %d Hz: %v deep after Step(%+v, %+v) = %+v (depth before %v)",
					round, tick, rate, d, before, in, m, depth(a, before.Pos))
			}
			if d := m.Pos.Sub(mid); geom.Abs(d.X) > 8 || geom.Abs(d.Z) > 8 || d.Y < -0.01 || d.Y > 8 {
				t.Fatalf("round %d tick %d at %d Hz: left the room: Step(%+v, %+v) = %+v", round, tick,
					rate, before, in, m)
			}
			if m != Round(m) {
				t.Fatalf("round %d tick %d: not rounded: %+v", round, tick, m)
			}
		}
	}
}
