package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of a MovingSphere's fields, of the columns of Capsules and of Radii, in bytes;
// capsules.go pins them.
const (
	flightO, flightD               = 0, 12
	flightMax, flightRadius        = 24, 28
	capsulesA, capsulesB, column16 = 0, 192, 64
	radiiRadius, radiiBound        = 0, 64
)

// More predicates of VCMPPS. Those with notX are true where a number is not one, the others are
// not.
const (
	atMost, atLeast = U8(0x12), U8(0x1D)
	notAtMost       = U8(0x16)
)

// capsules is the capsule kernel while it is written. Masks are rows, as elsewhere.
type capsules struct {
	best  reg.GPVirtual  // lane of the nearest capsule so far, or -1
	limit reg.VecVirtual // where it is touched, or the end of the way
	*kernel
	c, radii, at     reg.GPVirtual // at: the bytes before the lanes at hand
	sign, zeros      reg.VecVirtual
	tiny, thin, none Mem
}

// writeCapsules writes geom.Ray.Capsule for 16 capsules, with its branches as masks, in the same
// operations and their order, after a test of the ball around each capsule. The three ways to
// enter a capsule, its side and both ends, are computed at once, since their square roots do not
// depend on each other. There is no AVX-512 variant: eight at a time finish sooner than 16, as the
// second eight are often far from the ray.
func (k *kernel) writeCapsules() {
	k.p = GP64()
	TEXT("capsulesAVX2", 0, "func(f *[8]float32, c *[96]float32, radii *[32]float32) (lane int, t float32)")
	Doc("capsulesAVX2 returns the lane of the capsule that f touches first, the last of those equally near, and where; -1: none,",
		"-2: one has no length, so the caller must test them itself.")
	Pragma("noescape")
	s := &capsules{kernel: k, c: GP64(), radii: GP64(), at: GP64()}
	Load(Param("f"), k.p)
	Load(Param("c"), s.c)
	Load(Param("radii"), s.radii)
	XORL(s.at.As32(), s.at.As32())
	s.tiny, s.thin, s.none = float("tiny", 1e-12), float("thin", 1e-9), float("none", inf)
	signs := float("sign", float32(math.Copysign(0, -1)))
	s.best, s.limit = GP64(), XMM()
	MOVQ(I32(-1), s.best)
	VMOVSS(k.field(flightMax), s.limit)
	s.sign = k.vec()
	VBROADCASTSS(signs, s.sign)
	vals := AllocLocal(4 * k.lanes)

	Label("lanes")
	may := s.near()
	JZ(LabelRef("next"))
	hit, t := s.enter(may)
	limit := k.vec()
	VBROADCASTSS(s.limit, limit)
	hit = s.both(hit, k.compare(atMost, t, limit, hit))
	bits := GP64()
	s.bits(hit, bits)
	JZ(LabelRef("next"))
	far := s.spreadOf(s.none)
	t = s.choose(hit, t, far)
	VMOVUPS(t, vals)
	least := s.least(t)
	s.bits(k.compare(U8(0), t, least, hit), bits)
	BSRL(bits.As32(), bits.As32())
	VMOVSS(Mem{Base: vals.Base, Disp: vals.Disp, Index: bits, Scale: 4}, s.limit)
	MOVQ(bits, s.best)
	TESTQ(s.at, s.at)
	JZ(LabelRef("next"))
	ADDQ(Imm(8), s.best)
	Label("next")
	ADDQ(Imm(32), s.at)
	CMPQ(s.at, Imm(column16))
	JLT(LabelRef("lanes"))
	Label("done")
	VZEROUPPER()
	Store(s.best, ReturnIndex(0))
	Store(s.limit, ReturnIndex(1))
	RET()

	Label("odd")
	MOVQ(I32(-2), s.best)
	JMP(LabelRef("done"))
}

// near is the lanes whose balls the sphere touches; the zero flag says that there are none.
func (s *capsules) near() rows {
	k := s.kernel
	var m [3]reg.VecVirtual
	for i := range m {
		o := s.spreadOf(k.field(flightO + 4*i))
		VADDPS(o, o, o)
		m[i] = s.end(capsulesA, i)
		VADDPS(s.column(capsulesB+i*column16), m[i], m[i])
		VSUBPS(o, m[i], m[i])
	}
	around := s.grown(radiiBound)
	VADDPS(around, around, around)
	along := s.dotDir(m)
	far := k.square(m[0], m[1], m[2])
	VMULPS(along, along, along)
	VSUBPS(along, far, far)
	VMULPS(around, around, around)
	may, bits := k.compare(atMost, far, around, rows{}), GP64()
	s.bits(may, bits)
	return may
}

// enter is the lanes that are hit, and where; jumps to odd if one has no length.
func (s *capsules) enter(may rows) (hit rows, t reg.VecVirtual) {
	k := s.kernel
	var from, axis [3]reg.VecVirtual
	for i := range from {
		from[i] = s.spreadOf(k.field(flightO + 4*i))
		a := s.end(capsulesA, i)
		VSUBPS(a, from[i], from[i])
		axis[i] = s.end(capsulesB, i)
		VSUBPS(a, axis[i], axis[i])
	}
	axisSq, axisDir, axisFrom := k.square(axis[0], axis[1], axis[2]), s.dotDir(axis), s.dot(axis, from)
	fromDir, outside := s.dotDir(from), k.square(from[0], from[1], from[2])
	radius2 := s.grown(radiiRadius)
	VMULPS(radius2, radius2, radius2)
	VSUBPS(radius2, outside, outside)
	bits := GP64()
	s.bits(k.compare(less, axisSq, s.spreadOf(s.tiny), may), bits)
	JNZ(LabelRef("odd"))

	a, b, c, u := k.vec(), k.vec(), k.vec(), k.vec()
	VMULPS(axisDir, axisDir, u)
	VSUBPS(u, axisSq, a)
	VMULPS(fromDir, axisSq, b)
	VMULPS(axisDir, axisFrom, u)
	VSUBPS(u, b, b)
	VMULPS(outside, axisSq, c)
	VMULPS(axisFrom, axisFrom, u)
	VSUBPS(u, c, c)
	s.zeros = k.zero()
	inside := k.compare(atMost, c, s.zeros, may)
	out := s.but(may, inside)
	started := k.compare(atMost, axisFrom, axisSq, k.compare(atLeast, axisFrom, s.zeros, inside))
	ends := s.but(inside, started)
	u = s.spreadOf(s.thin)
	VMULPS(u, axisSq, u)
	out = s.but(out, k.compare(less, a, u, rows{}))
	VMULPS(c, a, c)
	u = k.vec()
	VMULPS(b, b, u)
	VSUBPS(c, u, u)
	out = s.but(out, k.compare(less, u, s.zeros, rows{}))
	VSQRTPS(u, u)
	s.negate(b)
	VSUBPS(u, b, b)
	t = k.vec()
	VDIVPS(a, b, t)
	out = s.but(out, k.compare(less, t, s.zeros, rows{}))
	VMULPS(axisDir, t, u)
	VADDPS(axisFrom, u, u)
	side := k.compare(less, u, axisSq, k.compare(greater, u, s.zeros, out))
	ends = s.either(ends, s.but(out, side))
	most := s.spreadOf(k.field(flightMax))
	hit = s.either(started, k.compare(atMost, t, most, side))
	t = s.choose(started, s.zeros, t)

	s.negate(fromDir)
	hitA, ta := s.sphere(fromDir, outside, most)
	var to [3]reg.VecVirtual
	for i := range to {
		to[i] = s.end(capsulesB, i)
		k.minus(k.field(flightO+4*i), to[i])
	}
	alongB, outsideB := s.dotDir(to), k.square(to[0], to[1], to[2])
	radius2 = s.grown(radiiRadius)
	VMULPS(radius2, radius2, radius2)
	VSUBPS(radius2, outsideB, outsideB)
	hitB, tb := s.sphere(alongB, outsideB, most)
	first := s.both(hitA, s.either(s.not(hitB), k.compare(atMost, ta, tb, rows{})))
	tb = s.choose(first, ta, tb)
	hit = s.either(hit, s.both(ends, s.either(hitA, hitB)))
	return hit, s.choose(ends, tb, t)
}

// sphere is geom.Ray.Sphere; along and outside are lost.
func (s *capsules) sphere(along, outside, most reg.VecVirtual) (hit rows, t reg.VecVirtual) {
	k := s.kernel
	within := k.compare(atMost, outside, s.zeros, rows{})
	t = k.vec()
	VMULPS(along, along, t)
	VSUBPS(outside, t, t)
	ahead := s.but(k.compare(notAtMost, along, s.zeros, rows{}), k.compare(less, t, s.zeros, rows{}))
	VSQRTPS(t, t)
	VSUBPS(t, along, t)
	hit = s.either(within, s.both(ahead, k.compare(atMost, t, most, rows{})))
	VMAXPS(s.zeros, t, t)
	return hit, s.choose(within, s.zeros, t)
}

// least is the least of all lanes, in all lanes.
func (s *capsules) least(t reg.VecVirtual) reg.VecVirtual {
	k := s.kernel
	v := k.vec()
	VPERM2F128(Imm(1), t, t, v)
	VMINPS(t, v, v)
	w := k.vec()
	VPERMILPS(Imm(0x4E), v, w)
	VMINPS(v, w, w)
	x := k.vec()
	VPERMILPS(Imm(0xB1), w, x)
	VMINPS(w, x, x)
	return x
}

// spreadOf loads one number into all lanes.
func (s *capsules) spreadOf(m Mem) reg.VecVirtual {
	v := s.vec()
	VBROADCASTSS(m, v)
	return v
}

// column is where the lanes at hand of a column are.
func (s *capsules) column(offset int) Mem {
	return Mem{Base: s.c, Index: s.at, Scale: 1, Disp: offset}
}

// end is one coordinate of one end of each axis.
func (s *capsules) end(which, axis int) reg.VecVirtual {
	v := s.vec()
	VMOVUPS(s.column(which+axis*column16), v)
	return v
}

// grown is a column of Radii and the flight's own radius.
func (s *capsules) grown(offset int) reg.VecVirtual {
	v := s.spreadOf(s.field(flightRadius))
	VADDPS(Mem{Base: s.radii, Index: s.at, Scale: 1, Disp: offset}, v, v)
	return v
}

// dot is the scalar product, summed in the order x, y, z without fusing.
func (s *capsules) dot(a, b [3]reg.VecVirtual) reg.VecVirtual {
	sum, u := s.vec(), s.vec()
	VMULPS(b[0], a[0], sum)
	for i := 1; i < 3; i++ {
		VMULPS(b[i], a[i], u)
		VADDPS(u, sum, sum)
	}
	return sum
}

// dotDir is the scalar product with the direction.
func (s *capsules) dotDir(a [3]reg.VecVirtual) reg.VecVirtual {
	sum := s.vec()
	for i := range a {
		u := s.vec()
		VMOVAPS(a[i], u)
		s.times(s.field(flightD+4*i), u)
		if i == 0 {
			sum = u
		} else {
			VADDPS(u, sum, sum)
		}
	}
	return sum
}

// negate flips the sign of all lanes, of 0 too.
func (s *capsules) negate(v reg.VecVirtual) {
	VXORPS(s.sign, v, v)
}

// bits moves a mask to a general register, and sets the zero flag by it.
func (s *capsules) bits(m rows, to reg.GPVirtual) {
	VMOVMSKPS(m.v, to.As32())
	TESTL(to.As32(), to.As32())
}

// both is the lanes in a and in b.
func (s *capsules) both(a, b rows) rows {
	m := YMM()
	VANDPS(a.v, b.v, m)
	return rows{v: m}
}

// either is the lanes in a or in b.
func (s *capsules) either(a, b rows) rows {
	m := YMM()
	VORPS(a.v, b.v, m)
	return rows{v: m}
}

// but is a without b.
func (s *capsules) but(a, b rows) rows {
	m := YMM()
	VANDNPS(a.v, b.v, m)
	return rows{v: m}
}

// not is the lanes that are not in a.
func (s *capsules) not(a rows) rows {
	ones := YMM()
	VCMPPS(U8(0x0F), s.zeros, s.zeros, ones)
	return s.but(rows{v: ones}, a)
}

// choose is yes in the lanes of m, and no in the others.
func (s *capsules) choose(m rows, yes, no reg.VecVirtual) reg.VecVirtual {
	v := s.vec()
	VBLENDVPS(m.v, yes, no, v)
	return v
}
