package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of a Ray's fields beyond origin and direction, and the constants that a probe has; TestOffsets pins them.
const (
	rayMax, rayGrow, rayWidest = 24, 28, 32
	slackBits                  = 64.0 / (1 << 24)
)

var inf = float32(math.Inf(1))

// writeFew writes what is asked of few rows: no cheap test, no probe, at once which spheres the ray's line touches. Who is
// behind it or beyond its end is not sorted out before the verdict, which says so anyway; nor who is Never, whose radius is no number there.
func (k *kernel) writeFew() {
	k.signature()
	k.p, k.a, k.n, k.i, k.sub, k.named = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	k.ray()
	k.ready()

	left := GP64()
	Label("wide")
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	JLE(LabelRef("done"))
	MOVQ(k.i, k.sub)
	valid := k.first(left)
	pass := k.line(place{k.i, 0}, valid)
	k.bits(pass, k.named)
	ADDQ(Imm(uint64(k.lanes)), k.i)
	TESTL(k.named.As32(), k.named.As32())
	JZ(LabelRef("wide"))
	k.emit("list")
	JMP(LabelRef("wide"))

	Label("done")
	k.answer()
}

// answer returns the best, and where.
func (k *kernel) answer() {
	t := XMM()
	VCVTSD2SS(k.limit, k.limit, t)
	VZEROUPPER()
	Store(k.best, ReturnIndex(0))
	Store(t, ReturnIndex(1))
	RET()
}

// ray loads what is asked, as a Ray has it, and the constants that are elsewhere a probe's.
func (k *kernel) ray() {
	k.limitAt, k.growAt = rayMax, rayGrow
	k.constants = map[int]Mem{}
	for _, c := range []struct {
		offset int
		name   string
		value  float32
	}{{probeKeep, "Keep", 1 - slackBits}, {probeSlack, "Slack", slackBits}, {probeNever, "Never", inf}} {
		k.constants[c.offset] = float(k.name+c.name+k.level(), c.value)
	}
	Load(Param("r"), k.p)
	Load(Param("a"), k.a)
	Load(Param("n"), k.n)
	k.ax, k.az = k.column(k.a, columnX), k.column(k.a, columnZ)
	k.best, k.inverse, k.limit = GP64(), XMM(), XMM()
	MOVQ(I32(-1), k.best)
	XORL(k.i.As32(), k.i.As32())
}

// prepare makes the probe of a ray in registers, as ray in probe.go does; the end of it, which is cut, is on the stack. A direction
// that is not of unit length is left to who asks.
func (k *kernel) prepare() {
	k.ray()
	k.ready()
	inverse, edge := GP64(), GP64()
	VMOVQ(k.inverse, inverse)
	MOVQ(U64(math.Float64bits(1-2e-6)), edge)
	SUBQ(edge, inverse)
	MOVQ(U64(math.Float64bits(1+2e-6)-math.Float64bits(1-2e-6)), edge)
	DECQ(inverse)
	DECQ(edge)
	CMPQ(inverse, edge)
	JCC(LabelRef("odd"))

	end := AllocLocal(8)
	t, level := XMM(), XMM()
	VMOVSS(k.field(rayMax), t)
	VMOVSS(t, end)
	k.constants[rayMax] = end
	sx, sz := XMM(), XMM()
	VMOVSS(k.field(probeD+8), sx)
	VMOVSS(float(k.name+"Sign"+k.level(), float32(math.Copysign(0, -1))), t)
	VXORPS(t, sx, sx)
	VMOVSS(k.field(probeD), sz)
	VMULSS(sz, sz, level)
	VMULSS(sx, sx, t)
	VADDSS(t, level, level)
	VUCOMISS(float(k.name+"Upright"+k.level(), 1e-18), level)
	JCC(LabelRef("level"))
	one := float(k.name+"One"+k.level(), 1)
	VMOVSS(one, sx)
	VXORPS(sz, sz, sz)
	VMOVSS(one, level)
	Label("level")
	w := XMM()
	VMOVSS(k.field(rayWidest), w)
	VXORPS(t, t, t)
	VUCOMISS(t, w)
	JHI(LabelRef("widest"))
	VMOVSS(float(k.name+"Widest"+k.level(), 12), w)
	Label("widest")
	VMULSS(w, w, w)
	VADDSS(k.field(rayGrow), w, w)
	VMULSS(float(k.name+"More"+k.level(), 1./256), w, t)
	VADDSS(t, w, w)
	VADDSS(float(k.name+"Least"+k.level(), 1./128), w, w)
	VMULSS(w, level, w)
	VSQRTSS(w, w, w)
	middle := XMM()
	VMULSS(k.field(probeO), sx, middle)
	VMULSS(k.field(probeO+8), sz, t)
	VADDSS(t, middle, middle)
	spread := func(x reg.VecVirtual) reg.VecVirtual {
		v := k.vec()
		VBROADCASTSS(x, v)
		return v
	}
	k.sx, k.sz = spread(sx), spread(sz)
	VADDSS(w, middle, t)
	k.hi = spread(t)
	VSUBSS(w, middle, t)
	k.lo = spread(t)
	if !k.avx512 { // registers are few
		k.from, k.dir, k.grow = nil, nil, nil
	}
	JMP(LabelRef("prepared"))
	Label("odd")
	MOVQ(I32(-2), k.best)
	JMP(LabelRef("done"))
	Label("prepared")
}

// ready works out inverse and limit as nearest and after in nearest.go do.
func (k *kernel) ready() {
	sum, zero := XMM(), XMM()
	VXORPD(zero, zero, zero)
	k.from, k.dir, k.grow = YMM(), YMM(), XMM()
	VCVTPS2PD(k.field(probeO), k.from)
	VCVTPS2PD(k.field(probeD), k.dir)
	VCVTSS2SD(k.field(k.growAt), zero, k.grow)
	k.sum(sum, k.dir, k.dir)
	VCVTSS2SD(k.field(k.limitAt), zero, k.limit)
	VADDSD(zero, k.limit, k.limit)
	// One more in its last place, but for infinity.
	top, step := XMM(), XMM()
	VMOVQ(word("top"+k.name+k.level(), math.Float64bits(math.Inf(1))), top)
	VPCMPEQQ(k.limit, top, top)
	VMOVQ(word("step"+k.name+k.level(), 1), step)
	VPADDQ(step, top, top)
	VPADDQ(top, k.limit, k.limit)
	VMOVSD(double("one"+k.name+k.level(), 1), k.inverse)
	VDIVSD(sum, k.inverse, k.inverse)
}

// level names the instruction set.
func (k *kernel) level() string {
	if k.avx512 {
		return "AVX512"
	}
	return "AVX2"
}

func float(name string, v float32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, U32(math.Float32bits(v)))
	return m
}

func word(name string, v uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, U64(v))
	return m
}

func double(name string, v float64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, F64(v))
	return m
}

// chunk is how many rows are packed at a time: after each the ray is cut.
const chunk = 1024

// writeNearestMany writes the shape of writeMany, with a list of its own, whose rows that pass are judged.
func (k *kernel) writeNearestMany() {
	k.signature()
	k.load()
	list := AllocLocal(4 * (chunk + 16))
	k.out = GP64()
	LEAQ(list, k.out)
	left, end, last := GP64(), GP64(), GP64()
	rising := ZMM()
	VMOVDQU32(k.rising, rising)
	count := k.sub
	pack := func(m rows, beyond int) { // a whole register is stored: there is room
		row, bits := ZMM(), GP64()
		LEAQ(Mem{Base: k.i, Disp: beyond}, bits)
		VPBROADCASTD(bits.As32(), row)
		VPADDD(rising, row, row)
		VPCOMPRESSD_Z(row, m.k, row)
		VMOVDQU32(row, k.at(count))
		KMOVW(m.k, bits.As32())
		POPCNTL(bits.As32(), bits.As32())
		ADDQ(bits, count)
	}

	Label("chunk")
	XORL(count.As32(), count.As32())
	LEAQ(Mem{Base: k.i, Disp: chunk}, end)
	CMPQ(k.n, end)
	CMOVQLT(k.n, end)
	LEAQ(Mem{Base: end, Disp: -wideRows}, last)
	JMP(LabelRef("ask"))
	Label("wide")
	ms := [2]rows{k.cheap(0, rows{}), k.cheap(1, rows{})}
	ADDQ(Imm(wideRows), k.i)
	KORTESTW(ms[0].k, ms[1].k)
	JNZ(LabelRef("some"))
	Label("ask")
	CMPQ(k.i, last)
	JLE(LabelRef("wide"))
	JMP(LabelRef("narrow"))
	Label("some")
	pack(ms[0], -wideRows)
	pack(ms[1], 16-wideRows)
	JMP(LabelRef("ask"))

	Label("narrow")
	MOVQ(end, left)
	SUBQ(k.i, left)
	JLE(LabelRef("again"))
	pack(k.cheap(0, k.first(left)), 0)
	ADDQ(Imm(16), k.i)
	JMP(LabelRef("narrow"))

	Label("again")
	read := GP64()
	XORL(read.As32(), read.As32())
	Label("gather")
	MOVQ(count, left)
	SUBQ(read, left)
	JLE(LabelRef("next"))
	valid := k.first(left)
	k.index = ZMM()
	VMOVDQU32_Z(k.at(read), valid.k, k.index)
	pass := k.full(place{}, valid)
	KMOVW(pass.k, k.named.As32())
	TESTL(k.named.As32(), k.named.As32())
	JZ(LabelRef("gathered"))
	lane := GP64()
	Label("list")
	TZCNTL(k.named.As32(), lane.As32())
	ADDQ(read, lane)
	MOVL(k.at(lane), lane.As32())
	k.enter(lane, "later")
	BLSRL(k.named.As32(), k.named.As32())
	JNZ(LabelRef("list"))
	Label("gathered")
	ADDQ(Imm(16), read)
	JMP(LabelRef("gather"))

	Label("next")
	CMPQ(k.i, k.n)
	JLT(LabelRef("chunk"))
	Label("done")
	k.answer()
}
