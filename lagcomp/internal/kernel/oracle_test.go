package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// oracle decides in float64, by the discriminant (ours goes by the nearest point of the line), whether the ray as given touches the
// sphere and where it enters. Where rounding could matter, which is within 10^-14 of what is compared, it decides exactly. With a
// direction of length 0 it touches what its origin lies in.
type oracle struct{ exact int }

func (o *oracle) hit(r *Ray, x, y, z, nr2 float32) (t float64, ok bool) {
	cx, cy, cz := float64(x)-float64(r.OX), float64(y)-float64(r.OY), float64(z)-float64(r.OZ)
	dx, dy, dz := float64(r.DX), float64(r.DY), float64(r.DZ)
	cc, dd, along := cx*cx+cy*cy+cz*cz, dx*dx+dy*dy+dz*dz, cx*dx+cy*dy+cz*dz
	outside := cc - (float64(r.Grow) - float64(nr2))
	disc := along*along - dd*outside
	t = (along - math.Sqrt(max(disc, 0))) / dd
	const doubt = 1e-14
	end := along - float64(r.Max)*dd // beyond the end: end > 0 and end^2 > disc
	switch {
	case math.Abs(outside) < doubt*(cc+outside), math.Abs(along) < doubt*cc, math.Abs(disc) < doubt*(along*along+dd*cc),
		math.Abs(end) < doubt*(math.Abs(along)+float64(r.Max)*dd), math.Abs(end*end-disc) < doubt*(end*end+along*along+dd*cc):
		o.exact++
		ok = exactly(r, x, y, z, nr2)
	default:
		ok = outside <= 0 || along > 0 && disc >= 0 && (end <= 0 || end*end <= disc)
	}
	if outside <= 0 {
		t = 0
	}
	return max(t, 0), ok
}

// exactly is the same decision in rational numbers.
func exactly(r *Ray, x, y, z, nr2 float32) bool {
	q := func(v float32) *big.Rat { return new(big.Rat).SetFloat64(float64(v)) }
	sub := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
	mul := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	c := [3]*big.Rat{sub(q(x), q(r.OX)), sub(q(y), q(r.OY)), sub(q(z), q(r.OZ))}
	d := [3]*big.Rat{q(r.DX), q(r.DY), q(r.DZ)}
	dot := func(a, b [3]*big.Rat) *big.Rat {
		sum := mul(a[0], b[0])
		sum.Add(sum, mul(a[1], b[1]))
		return sum.Add(sum, mul(a[2], b[2]))
	}
	cc, dd, along := dot(c, c), dot(d, d), dot(c, d)
	outside := sub(cc, sub(q(r.Grow), q(nr2)))
	disc := sub(mul(along, along), mul(dd, outside))
	end := sub(along, mul(q(r.Max), dd))
	return outside.Sign() <= 0 || along.Sign() > 0 && disc.Sign() >= 0 && (end.Sign() <= 0 || mul(end, end).Cmp(disc) <= 0)
}

// TestOracle compares decisions on random and adversarial pairs of ray and sphere: nearly all graze, at the side, at the ray's end or
// round its origin, some from within or behind, up to kilometres away, some with no direction. `make oracle` asks 10^8 of them.
//
// There is no rounding band: every sphere that the ray touches must be named by the broad phase, and the verdict on every row, and
// the row that Nearest returns, must be the oracle's. Only which of two is nearer is not asked where they are within 10^-9.
func TestOracle(t *testing.T) {
	pairs := 3_000_000
	if s := os.Getenv("TICKRATE_ORACLE"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		pairs = n
	}
	const most = 97 // and fewer, by turns: each way Nearest has
	rng := rand.New(rand.NewPCG(2024, 6))
	var o oracle
	hits, named, asked := 0, 0, 0
	out := make([]int32, 0, most)
	within := func(v float32) bool { return math.Abs(float64(v)) <= Reach }
	for round := 0; asked < pairs; round++ {
		rows := []int{most, 61, 23}[round%3]
		r, xs, ys, zs, nr2 := scene(rng, rows, math.Pow(10, float64(round%8)*0.56)) // 1 m to 8 km
		if round%3 == 0 {
			r.Widest = MaxRadius
		}
		if round%500 == 0 {
			r.DX, r.DY, r.DZ = 0, 0, 0
		}
		if !within(r.OX) || !within(r.OY) || !within(r.OZ) {
			continue
		}
		for i := range xs {
			if !within(xs[i]) || !within(ys[i]) || !within(zs[i]) {
				nr2[i] = Never
			}
		}
		out = candidates(r, xs, ys, zs, nr2, out)
		inverse := 1 / (square(r.DX) + square(r.DY) + square(r.DZ))
		first, distance := -1, math.Inf(1)
		rest := out
		for i := range xs {
			if nr2[i] == Never {
				continue
			}
			asked++
			at, want := o.hit(&r, xs[i], ys[i], zs[i], nr2[i])
			got := false
			if len(rest) > 0 && rest[0] == int32(i) {
				rest = rest[1:]
				named++
				got = enter(&r, inverse, xs[i], ys[i], zs[i], nr2[i]) <= float64(r.Max)
			}
			if got != want {
				t.Fatalf("pair %d: hit %v, want %v: (%v %v %v) %v by %+v", asked, got, want, xs[i], ys[i], zs[i], nr2[i], r)
			}
			if want {
				hits++
				if at < distance {
					first, distance = i, at
				}
			}
		}
		index, at := Nearest(&r, &Column{X: xs, Y: ys, Z: zs, NR2: nr2})
		if index != first {
			nearly := index >= 0 && first >= 0
			if nearly {
				also, ok := o.hit(&r, xs[index], ys[index], zs[index], nr2[index])
				nearly = ok && math.Abs(also-distance) <= 1e-9*(1+distance)
			}
			if !nearly {
				t.Fatalf("pair %d: nearest is %d, want %d at %v: %+v", asked, index, first, distance, r)
			}
		}
		if first >= 0 && math.Abs(float64(at)-distance) > 1e-6*(1e-3+distance) {
			t.Fatalf("pair %d: nearest at %v, want %v", asked, at, distance)
		}
	}
	t.Logf("%d pairs: %d hits, %d named by the broad phase, %d decided exactly; no decision differs", asked, hits, named, o.exact)
	if hits < asked/20 || named-hits < asked/10000 {
		t.Fatal("the cases prove little")
	}
}

// Tangents, ends and starts that are exact in small numbers are hits, and the next number outwards is none.
func TestExactlyTouching(t *testing.T) {
	next := func(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(1))) }
	for _, c := range []struct {
		what    string
		r       Ray
		x, y, z float32 // radius 5
		hit     bool
		t       float32
	}{
		{"tangent", Ray{DX: 1, Max: 100}, 30, 5, 0, true, 30},
		{"tangent", Ray{DX: 1, Max: 100}, 30, 3, 4, true, 30},
		{"next to it", Ray{DX: 1, Max: 100}, 30, next(5), 0, false, 0},
		{"end", Ray{DX: 1, Max: 25}, 30, 0, 0, true, 25},
		{"end, aslant", Ray{DX: 1, Max: 26}, 30, 3, 0, true, 26},
		{"beyond the end", Ray{DX: 1, Max: 25}, next(30), 0, 0, false, 0},
		{"start", Ray{DX: 1, Max: 25}, -3, 4, 0, true, 0},
		{"behind", Ray{DX: 1, Max: 25}, -3, next(4), 0, false, 0},
		{"no length", Ray{DX: 1}, 5, 0, 0, true, 0},
		{"no length, outside", Ray{DX: 1}, next(5), 0, 0, false, 0},
		{"no direction", Ray{Max: 25}, 3, 0, 4, true, 0},
		{"no direction, outside", Ray{Max: 25}, 3, 0, next(4), false, 0},
		{"far out", Ray{OX: 8000, OZ: 4096, DZ: -1, Max: 16000}, 8005, 0, -8000, true, 12096},
		{"far out, next to it", Ray{OX: 8000, OZ: 4096, DZ: -1, Max: 16000}, next(8005), 0, -8000, false, 0},
	} {
		index, at := Nearest(&c.r, &Column{X: []float32{c.x}, Y: []float32{c.y}, Z: []float32{c.z}, NR2: []float32{-25}})
		if (index == 0) != c.hit || at != c.t {
			t.Errorf("%s: %d at %v, want hit %v at %v", c.what, index, at, c.hit, c.t)
		}
		if got := exactly(&c.r, c.x, c.y, c.z, -25); got != c.hit {
			t.Errorf("%s: the oracle says %v", c.what, got)
		}
	}
}

// Of equally near spheres the first is returned, wherever they lie in the registers.
func TestNearestTie(t *testing.T) {
	const n = 100
	var c Column
	for range n {
		c.X, c.Y, c.Z, c.NR2 = append(c.X, 10), append(c.Y, 3), append(c.Z, 0), append(c.NR2, Never)
	}
	r := Ray{DX: 1, Max: 100}
	for last := n - 1; last > 0; last -= 7 {
		for first := range last {
			c.NR2[first], c.NR2[last] = -9, -9
			if got, _ := Nearest(&r, &c); got != first {
				t.Fatalf("rows %d and %d are equally near, got %d", first, last, got)
			}
			c.NR2[first], c.NR2[last] = Never, Never
		}
	}
}

// Between names what Candidates names of the columns that scalar code makes of both: lagcomp's Lerp, bit for bit.
func TestBetweenIsLerp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	total := 0
	for round := range 400 {
		n := rng.IntN(120)
		r, xs, ys, zs, nr2 := scene(rng, n, math.Pow(10, float64(round%7)*0.6))
		f := float32(rng.IntN(256)) / 256
		a, b := pairOf(rng, &r, Column{X: xs, Y: ys, Z: zs, NR2: nr2}, f)
		both := n
		if round%4 == 0 && n > 0 {
			both = rng.IntN(n)
			b.X, b.Y, b.Z, b.NR2, b.Life = b.X[:both], b.Y[:both], b.Z[:both], b.NR2[:both], b.Life[:both]
		}
		mixed := Column{X: slices.Clone(a.X), Y: slices.Clone(a.Y), Z: slices.Clone(a.Z), NR2: a.NR2}
		for i := range both {
			if a.Life[i] == b.Life[i] {
				mixed.X[i] += float32((b.X[i] - a.X[i]) * f)
				mixed.Y[i] += float32((b.Y[i] - a.Y[i]) * f)
				mixed.Z[i] += float32((b.Z[i] - a.Z[i]) * f)
			}
		}
		s := Ball{X: r.OX, Y: r.OY, Z: r.OZ, Grow: r.Grow}
		got, want := Between(r, &a, &b, f, nil), mixed.Along(&r, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d rows, %d in both: named %v, want %v", round, n, both, got, want)
		}
		near, also := OverlapsBetween(s, &a, &b, f, nil), Overlaps(s, &mixed, nil)
		if !slices.Equal(near, also) {
			t.Fatalf("round %d: the ball names %v, want %v", round, near, also)
		}
		total += len(want) + len(also)
	}
	if total < 5000 {
		t.Fatalf("only %d named", total)
	}
}

// A ball names everybody whom it touches, and besides only who is a hair away.
func TestOverlapsOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	touched, extra := 0, 0
	for round := range 8000 {
		reach := math.Pow(10, float64(round%8)*0.56)
		between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
		s := Ball{X: float32(between(-reach, reach)), Y: float32(between(-reach, reach)), Z: float32(between(-reach, reach))}
		s.Grow = float32(max(0, between(-4, 40)))
		var c Column
		for range 50 {
			radius := float32(between(0.1, 9))
			sum := math.Sqrt(float64(s.Grow) + float64(radius*radius))
			d := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			k := sum * (1 + []float64{0, 1e-7, -1e-7, 1e-5, -1e-5, 0.1, -0.5, 3}[rng.IntN(8)]) / math.Sqrt(d[0]*d[0]+d[1]*d[1]+d[2]*d[2])
			c.X, c.Y = append(c.X, float32(float64(s.X)+k*d[0])), append(c.Y, float32(float64(s.Y)+k*d[1]))
			c.Z, c.NR2 = append(c.Z, float32(float64(s.Z)+k*d[2])), append(c.NR2, -radius*radius)
		}
		out := Overlaps(s, &c, nil)
		for i := range c.X {
			x, y, z := float64(c.X[i])-float64(s.X), float64(c.Y[i])-float64(s.Y), float64(c.Z[i])-float64(s.Z)
			far, limit := x*x+y*y+z*z, float64(s.Grow)-float64(c.NR2[i])
			named := slices.Contains(out, int32(i))
			switch {
			case far <= limit && !named:
				t.Fatalf("round %d: sphere %d is touched and not named", round, i)
			case far <= limit:
				touched++
			case named:
				extra++
				if far > limit*(1+2*slack) {
					t.Fatalf("round %d: sphere %d was named although %v is over %v", round, i, far, limit)
				}
			}
		}
	}
	if touched < 50000 || extra < 100 {
		t.Fatalf("%d touched, %d barely missed: the cases prove little", touched, extra)
	}
}

// Nothing allocates once out has room.
func TestKernelsAllocateNothing(t *testing.T) {
	a := newArena(100, 1, 50)
	r, out := a.rays[0], make([]int32, 0, 100)
	a.Life = make([]uint32, 100)
	s := Ball{X: 1, Z: 1, Grow: 30}
	for what, run := range map[string]func(){
		"Along": func() { out = a.Along(&r, out) }, "Between": func() { out = Between(r, &a.Column, &a.Column, 0.5, out) },
		"Overlaps": func() { out = Overlaps(s, &a.Column, out) }, "OverlapsBetween": func() { out = OverlapsBetween(s, &a.Column, &a.Column, 0.5, out) },
		"Nearest": func() { Nearest(&r, &a.Column) },
	} {
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
