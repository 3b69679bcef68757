// Command _gen writes kernel_amd64.s. It has a module of its own so that avo never enters the
// project's.
//
// The ray and ball kernels have one shape, for AVX2 with 8 rows a register and for AVX-512 with 16:
//
//	wide    the cheap test of 32 rows at once; most often no row passes, and the next 32 follow
//	narrow  the same for the last rows, a register at a time and masked
//	judge   the full test of each register with a row that passed; rows that pass are written to out
//
// many.go has the variant for many rows, which packs the rows that pass before it judges them.
//
// The operations and their order are those of kernel_generic.go, which gives the reasons; none is
// fused.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// main writes the kernels in the order in which they stand in the file; avo's flags name the
// outputs.
func main() {
	ConstraintExpr("amd64,!noasm")
	window := GLOBL("window", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, [2]U32{0xFFFFFFFF, 0}[i/8])
	}
	for _, wide := range []bool{false, true} {
		lanes := 8
		if wide {
			lanes = 16
		}
		for _, k := range []kernel{{name: "ray"}, {name: "ball", ball: true}} {
			k.window, k.avx512, k.lanes = window, wide, lanes
			k.write()
		}
		displacement := kernel{name: "displacement", window: window, avx512: wide, lanes: lanes}
		displacement.writeDisplacement()
	}
	body := kernel{name: "capsules", lanes: 8}
	body.writeCapsules()
	rising := GLOBL("rising", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	for _, lanes := range []int{8, 16} {
		k := kernel{name: "many", lanes: lanes, window: window, rising: rising, avx512: lanes == 16}
		k.writeMany()
	}
	writeSplitRowsAVX2()
	writeSplitRowsAVX512()
	Generate()
}

// wideRows is how many rows a turn of the wide loop tests.
const wideRows = 32

// Offsets of probe's fields and of the slices in Spheres; kernel_amd64.go pins them.
const (
	probeO, probeD        = 0, 12 // x, y, z
	probeSX, probeSZ      = 24, 28
	probeLo, probeHi      = 32, 36
	probeMax, probeGrow   = 40, 44
	probeKeep, probeSlack = 52, 56
	probeNever            = 60

	columnX, columnY, columnZ, columnNR2 = 0, 24, 48, 72
)

// Quiet predicates of VCMPPS. The notX are true where a number is not one.
const (
	less, greater       = U8(0x11), U8(0x1E)
	notEqual            = U8(0x04)
	notLess, notGreater = U8(0x15), U8(0x1A)
	notAbove            = U8(0x12) // and both are numbers
)

// kernel is one function while it is written: its shape and its registers.
type kernel struct {
	name   string
	avx512 bool
	lanes  int
	ball   bool
	window Mem            // AVX2: eight words of ones, then eight of zeros
	rising Mem            // 0 to 15
	index  reg.VecVirtual // rows to gather, where they do not follow each other

	p, a, b, n, i, out reg.GPVirtual
	ax, az             reg.GPVirtual  // columns of the wide loop
	passed, sub, named reg.GPVirtual  // past the wide test; first of a register; for out
	sx, sz, lo, hi     reg.VecVirtual // what the wide loop compares with
}

// write writes the ray or ball kernel: the wide loop, the rest of the rows, and the number of rows
// in out as the result.
func (k *kernel) write() {
	k.signature()
	k.load()
	left := GP64()

	Label("wide")
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	CMPQ(left, Imm(wideRows))
	JL(LabelRef("narrow"))
	k.wide()
	Label("judge")
	k.pick()
	k.judge(rows{})
	JZ(LabelRef("more"))
	k.emit("list")
	Label("more")
	TESTL(k.passed.As32(), k.passed.As32())
	JNZ(LabelRef("judge"))
	Label("skip")
	ADDQ(Imm(wideRows), k.i)
	JMP(LabelRef("wide"))

	Label("narrow")
	TESTQ(left, left)
	JLE(LabelRef("done"))
	valid := k.first(left)
	k.narrow(valid)
	JZ(LabelRef("onward"))
	MOVQ(k.i, k.sub) // not derived from passed, so that the full test need not wait for it
	k.judge(valid)
	JZ(LabelRef("onward"))
	k.emit("rest")
	Label("onward")
	ADDQ(Imm(uint64(k.lanes)), k.i)
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	JMP(LabelRef("narrow"))

	Label("done")
	VZEROUPPER()
	first := GP64()
	Load(Param("out"), first)
	SUBQ(first, k.out)
	SHRQ(Imm(2), k.out)
	Store(k.out, ReturnIndex(0))
	RET()
}

// signature begins the function. p is a probe, a the columns of a Spheres, out has room for n
// indexes.
func (k *kernel) signature() {
	name := k.name + "AVX2"
	if k.avx512 {
		name = k.name + "AVX512"
	}
	TEXT(name, NOSPLIT, "func(p *[16]float32, a *[12]uintptr, n int, out *int32) int")
	Doc(name + " tests n rows of a column, and returns how many indexes it wrote to out.")
	Pragma("noescape")
}

// load fetches what the wide loop keeps in registers.
func (k *kernel) load() {
	k.p, k.a, k.n, k.i = GP64(), GP64(), GP64(), GP64()
	k.passed, k.sub, k.named = GP64(), GP64(), GP64()
	Load(Param("p"), k.p)
	Load(Param("a"), k.a)
	Load(Param("n"), k.n)
	XORL(k.i.As32(), k.i.As32())
	k.out = GP64()
	Load(Param("out"), k.out)
	k.ax, k.az = k.column(k.a, columnX), k.column(k.a, columnZ)
	k.hi = k.spread(probeHi)
	if k.ball {
		k.sx, k.sz = k.spread(probeO), k.spread(probeO+8)
	} else {
		k.sx, k.sz, k.lo = k.spread(probeSX), k.spread(probeSZ), k.spread(probeLo)
	}
}

// wide leaves in passed those of 32 rows that pass the cheap test, or jumps to skip if none does.
func (k *kernel) wide() {
	if k.avx512 {
		k0, k1 := k.cheap(0, rows{}), k.cheap(1, rows{})
		KORTESTW(k0.k, k1.k)
		JZ(LabelRef("skip"))
		high := GP64()
		KMOVW(k0.k, k.passed.As32())
		KMOVW(k1.k, high.As32())
		SHLL(Imm(16), high.As32())
		ORL(high.As32(), k.passed.As32())
		return
	}
	var m [4]rows
	any := YMM()
	for r := range m {
		m[r] = k.cheap(r, rows{})
		switch r {
		case 1:
			VORPS(m[0].v, m[1].v, any)
		case 2, 3:
			VORPS(m[r].v, any, any)
		}
	}
	bits := GP64()
	VMOVMSKPS(any, bits.As32())
	TESTL(bits.As32(), bits.As32())
	JZ(LabelRef("skip"))
	VMOVMSKPS(m[0].v, k.passed.As32())
	for r := 1; r < len(m); r++ {
		VMOVMSKPS(m[r].v, bits.As32())
		SHLL(Imm(uint64(8*r)), bits.As32())
		ORL(bits.As32(), k.passed.As32())
	}
}

// narrow leaves in named the rows of one register that pass the cheap test; only the valid rows
// count.
func (k *kernel) narrow(valid rows) {
	m := k.cheap(0, valid)
	if k.avx512 {
		KMOVW(m.k, k.named.As32())
	} else {
		VANDPS(valid.v, m.v, m.v)
		VMOVMSKPS(m.v, k.named.As32())
	}
	TESTL(k.named.As32(), k.named.As32())
}

// pick takes the lowest register of rows out of passed: sub is its first row, named those of its
// rows that passed.
func (k *kernel) pick() {
	ones := GP64()
	TZCNTL(k.passed.As32(), k.sub.As32())
	ANDL(I32(-k.lanes), k.sub.As32())
	SHRXL(k.sub.As32(), k.passed.As32(), k.named.As32())
	MOVL(U32(1<<k.lanes-1), ones.As32())
	ANDL(ones.As32(), k.named.As32())
	SHLXL(k.sub.As32(), ones.As32(), ones.As32())
	ANDNL(k.passed.As32(), ones.As32(), k.passed.As32())
	ADDQ(k.i, k.sub)
}

// emit writes the rows in named to out.
func (k *kernel) emit(label string) {
	row := GP64()
	Label(label)
	TZCNTL(k.named.As32(), row.As32())
	ADDL(k.sub.As32(), row.As32())
	MOVL(row.As32(), Mem{Base: k.out})
	ADDQ(Imm(4), k.out)
	BLSRL(k.named.As32(), k.named.As32())
	JNZ(LabelRef(label))
}

// cheap is the test of the wide loop on its r-th register: left or right of the ray's upright
// plane, or level distance from the ball. All loads are masked if valid says so.
func (k *kernel) cheap(r int, valid rows) rows {
	at := place{k.i, 4 * k.lanes * r}
	x, z := k.axis(columnX, at, valid), k.axis(columnZ, at, valid)
	if k.ball {
		VSUBPS(k.sx, x, x)
		VSUBPS(k.sz, z, z)
		VMULPS(x, x, x)
		VMULPS(z, z, z)
		VADDPS(z, x, x)
		return k.compare(notGreater, x, k.hi, valid)
	}
	VMULPS(k.sx, x, x)
	VMULPS(k.sz, z, z)
	VADDPS(z, x, x)
	return k.compare(notGreater, x, k.hi, k.compare(notLess, x, k.lo, valid))
}

// judge reduces named to the rows at sub that pass the full test.
func (k *kernel) judge(valid rows) {
	pass, bits := k.full(place{k.sub, 0}, valid), GP64()
	if k.avx512 {
		KMOVW(pass.k, bits.As32())
	} else {
		VMOVMSKPS(pass.v, bits.As32())
	}
	ANDL(bits.As32(), k.named.As32())
}

// full is the rows at a place that pass the full test, perhaps with rows that do not count.
func (k *kernel) full(at place, valid rows) rows {
	x, y, z := k.axis(columnX, at, valid), k.axis(columnY, at, valid), k.axis(columnZ, at, valid)
	k.minus(k.field(probeO), x)
	k.minus(k.field(probeO+4), y)
	k.minus(k.field(probeO+8), z)
	nr2 := k.get(k.column(k.a, columnNR2), at, valid)
	pass := k.compare(notEqual, nr2, k.constant(probeNever), valid)
	k.minus(k.field(probeGrow), nr2)
	if !k.avx512 {
		valid = rows{} // named is taken into account at the end, and registers are few
	}
	far, near := k.square(x, y, z), k.vec()
	VMOVAPS(far, near)
	k.times(k.field(probeKeep), near)
	VADDPS(nr2, near, near)
	if k.ball {
		return k.compare(notGreater, near, k.zero(), pass)
	}
	along, t := k.along(x, y, z), k.vec()
	VMULPS(along, along, t)
	pass = k.compare(notLess, t, near, pass)
	hair, zero := k.vec(), k.zero()
	VMOVAPS(far, hair)
	k.times(k.field(probeSlack), hair)
	behind := k.compare(greater, t, hair, k.compare(greater, near, zero, k.compare(less, along, zero, valid)))
	k.minus(k.field(probeMax), along)
	VMULPS(along, along, t)
	VSUBPS(nr2, hair, hair)
	beyond := k.compare(greater, t, hair, k.compare(greater, along, zero, valid))
	if k.avx512 {
		KORW(behind.k, beyond.k, behind.k)
		KANDNW(pass.k, behind.k, pass.k)
	} else {
		VORPS(behind.v, beyond.v, behind.v)
		VANDNPS(pass.v, behind.v, pass.v)
	}
	return pass
}

// level names the instruction set.
func (k *kernel) level() string {
	if k.avx512 {
		return "AVX512"
	}
	return "AVX2"
}

// inf is the bound that nothing exceeds.
var inf = float32(math.Inf(1))

// float puts a constant into the read-only data.
func float(name string, v float32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, U32(math.Float32bits(v)))
	return m
}
