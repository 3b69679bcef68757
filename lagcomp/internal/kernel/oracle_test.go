package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// oracle decides in float64, by the discriminant (the kernel goes by the nearest point of the
// line), whether the ray as given touches the sphere. Where rounding could matter, which is within
// 10^-14 of what is compared, it decides exactly. A ray with a direction of length 0 touches what
// its origin lies in.
type oracle struct{ exact int }

func (o *oracle) hit(r *Ray, x, y, z, nr2 float32) bool {
	cx, cy, cz := float64(x)-float64(r.OX), float64(y)-float64(r.OY), float64(z)-float64(r.OZ)
	dx, dy, dz := float64(r.DX), float64(r.DY), float64(r.DZ)
	cc, dd, along := cx*cx+cy*cy+cz*cz, dx*dx+dy*dy+dz*dz, cx*dx+cy*dy+cz*dz
	outside := cc - (float64(r.Grow) - float64(nr2))
	disc := along*along - dd*outside
	const doubt = 1e-14
	end := along - float64(r.Max)*dd // beyond the end: end > 0 and end^2 > disc
	switch {
	case math.Abs(outside) < doubt*(cc+outside), math.Abs(along) < doubt*cc,
		math.Abs(disc) < doubt*(along*along+dd*cc),
		math.Abs(end) < doubt*(math.Abs(along)+float64(r.Max)*dd), math.Abs(end*end-disc) < doubt*(end*end+
			along*along+dd*cc):
		o.exact++
		return exactly(r, x, y, z, nr2)
	}
	return outside <= 0 || along > 0 && disc >= 0 && (end <= 0 || end*end <= disc)
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
	return outside.Sign() <= 0 || along.Sign() > 0 && disc.Sign() >= 0 &&
		(end.Sign() <= 0 || mul(end, end).Cmp(disc) <= 0)
}

// TestOracle compares the broad phase with the oracle on random and adversarial pairs of ray and
// sphere: nearly all graze, at the side, at the ray's end or round its origin, some from within or
// behind, up to kilometres away, some without a direction. Every sphere that the ray touches must
// be named; there is no rounding band. `make oracle` asks 10^8 pairs.
func TestOracle(t *testing.T) {
	pairs := 3_000_000
	if s := os.Getenv("TICKRATE_ORACLE"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		pairs = n
	}
	const most = 97
	rng := rand.New(rand.NewPCG(2024, 6))
	var o oracle
	hits, named, asked := 0, 0, 0
	out := make([]int32, 0, most)
	within := func(v float32) bool { return math.Abs(float64(v)) <= Reach }
	for round := 0; asked < pairs; round++ {
		// 1 m to 8 km
		r, xs, ys, zs, nr2 := scene(rng, []int{most, 61, 23}[round%3], math.Pow(10, float64(round%8)*0.56))
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
		rest := out
		for i := range xs {
			if nr2[i] == Never {
				continue
			}
			asked++
			candidate := len(rest) > 0 && rest[0] == int32(i)
			if candidate {
				rest = rest[1:]
				named++
			}
			if !o.hit(&r, xs[i], ys[i], zs[i], nr2[i]) {
				continue
			}
			if hits++; !candidate {
				t.Fatalf("pair %d: touched and not named: (%v %v %v) %v by %+v", asked, xs[i], ys[i], zs[i],
					nr2[i], r)
			}
		}
	}
	t.Logf("%d pairs: %d hits, %d named by the broad phase, %d decided exactly; none is lost", asked, hits,
		named, o.exact)
	if hits < asked/20 || named-hits < asked/10000 {
		t.Fatal("the cases prove little")
	}
}

// Tangents, ends and starts that are exact in small numbers are named, and the oracle calls the
// next number outwards a miss.
func TestExactlyTouching(t *testing.T) {
	next := func(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(1))) }
	for _, c := range []struct {
		what    string
		r       Ray
		x, y, z float32 // radius 5
		hit     bool
	}{
		{"tangent", Ray{DX: 1, Max: 100}, 30, 5, 0, true},
		{"tangent", Ray{DX: 1, Max: 100}, 30, 3, 4, true},
		{"next to it", Ray{DX: 1, Max: 100}, 30, next(5), 0, false},
		{"end", Ray{DX: 1, Max: 25}, 30, 0, 0, true},
		{"end, aslant", Ray{DX: 1, Max: 26}, 30, 3, 0, true},
		{"beyond the end", Ray{DX: 1, Max: 25}, next(30), 0, 0, false},
		{"start", Ray{DX: 1, Max: 25}, -3, 4, 0, true},
		{"behind", Ray{DX: 1, Max: 25}, -3, next(4), 0, false},
		{"no length", Ray{DX: 1}, 5, 0, 0, true},
		{"no length, outside", Ray{DX: 1}, next(5), 0, 0, false},
		{"no direction", Ray{Max: 25}, 3, 0, 4, true},
		{"no direction, outside", Ray{Max: 25}, 3, 0, next(4), false},
		{"far out", Ray{OX: 8000, OZ: 4096, DZ: -1, Max: 16000}, 8005, 0, -8000, true},
		{"far out, next to it", Ray{OX: 8000, OZ: 4096, DZ: -1, Max: 16000}, next(8005), 0, -8000, false},
	} {
		named := len(candidates(c.r, []float32{c.x}, []float32{c.y}, []float32{c.z}, []float32{-25},
			nil)) == 1
		if c.hit && !named {
			t.Errorf("%s: touched and not named", c.what)
		}
		if got := exactly(&c.r, c.x, c.y, c.z, -25); got != c.hit {
			t.Errorf("%s: the oracle says %v", c.what, got)
		}
	}
}

// A sphere query lists every row that it touches, and beyond those only rows within rounding error.
func TestOverlapsOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	touched, extra := 0, 0
	for round := range 8000 {
		reach := math.Pow(10, float64(round%8)*0.56)
		between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
		s := Ball{X: float32(between(-reach, reach)), Y: float32(between(-reach, reach)),
			Z: float32(between(-reach, reach))}
		s.Grow = float32(max(0, between(-4, 40)))
		var c Spheres
		for range 50 {
			radius := float32(between(0.1, 9))
			sum := math.Sqrt(float64(s.Grow) + float64(radius*radius))
			d := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			k := sum * (1 + []float64{0, 1e-7, -1e-7, 1e-5, -1e-5, 0.1, -0.5,
				3}[rng.IntN(8)]) / math.Sqrt(d[0]*d[0]+d[1]*d[1]+d[2]*d[2])
			c.X, c.Y = append(c.X, float32(float64(s.X)+k*d[0])), append(c.Y, float32(float64(s.Y)+k*d[1]))
			c.Z, c.NR2 = append(c.Z, float32(float64(s.Z)+k*d[2])), append(c.NR2, -radius*radius)
		}
		out := BallCandidates(s, &c, nil)
		for i := range c.X {
			x, y, z := float64(c.X[i])-float64(s.X), float64(c.Y[i])-float64(s.Y),
				float64(c.Z[i])-float64(s.Z)
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
	s := Ball{X: 1, Z: 1, Grow: 30}
	for what, run := range map[string]func(){
		"Along":    func() { out = a.RayCandidates(&r, out) },
		"Overlaps": func() { out = BallCandidates(s, &a.Spheres, out) },
	} {
		if n := alloctest.In(100, run); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
