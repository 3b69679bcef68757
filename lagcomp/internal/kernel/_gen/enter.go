package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// enter works out in float64 where the ray enters a row, in the order of enter in nearest.go and without a branch on what comes out;
// if that is before the limit, it is the limit from now on.
func (k *kernel) enter(row reg.GPVirtual, later string) {
	column := func(offset int) Mem {
		base := k.ax
		switch {
		case k.ax == nil || offset == columnY || offset == columnNR2:
			base = k.column(k.a, offset)
		case offset == columnZ:
			base = k.az
		}
		return Mem{Base: base, Index: row, Scale: 4}
	}
	// The comparisons know no register above 15.
	inside, along, radius2, zero := reg.X12, reg.X13, reg.X14, reg.X15
	var t reg.VecVirtual
	if k.from == nil {
		t = k.oneByOne(column, inside, along, radius2)
	} else {
		t = k.together(column, inside, along, radius2)
	}
	VXORPD(zero, zero, zero)
	VMAXSD(t, zero, t)                     // what is not a number stays so
	VCMPSD(notGreater, zero, along, along) // leads away: all ones are no number
	VORPD(along, t, t)
	VANDNPD(t, inside, t)
	VUCOMISD(t, k.limit)
	JLS(LabelRef(later))
	VMOVAPD(t, k.limit)
	MOVQ(row, k.best)
	if k.name == "few" { // so few that cutting the ray spares nobody
		Label(later)
		return
	}
	cut := GP32()
	VCVTSD2SS(t, t, t)
	VMOVD(t, cut)
	INCL(cut)
	MOVL(cut, k.field(k.limitAt))
	Label(later)
}

// sum is the scalar product of the first three numbers of two registers of float64, summed in their order: three at once, as
// scalar code would keep one port busy while registers of 512 bits are about.
func (k *kernel) sum(sum reg.Register, a, b reg.VecVirtual) {
	var products, y, z reg.Register = YMM(), XMM(), XMM()
	p := products.(reg.VecVirtual).AsX().(reg.Register)
	if k.avx512 { // what takes the upper half knows no register above 15
		products, p, y, z = reg.Y11, reg.X11, reg.X10, reg.X9
	}
	VMULPD(b, a, products)
	VPERMILPD(Imm(1), p, y)
	VEXTRACTF128(Imm(1), products, z)
	VADDSD(y, p, sum)
	VADDSD(z, sum, sum)
}

// together works out where the line enters, whether the ray begins inside and how far along is the middle, with origin and direction at
// hand: three numbers at once.
func (k *kernel) together(column func(int) Mem, inside, along, radius2 reg.Register) (t reg.VecVirtual) {
	c, lanes := YMM(), XMM()
	VMOVSS(column(columnX), lanes)
	VINSERTPS(Imm(0x10), column(columnY), lanes, lanes)
	VINSERTPS(Imm(0x20), column(columnZ), lanes, lanes)
	VCVTPS2PD(lanes, c)
	VSUBPD(k.from, c, c)
	nr2 := XMM()
	VCVTSS2SD(column(columnNR2), k.inverse, nr2)
	VSUBSD(nr2, k.grow, radius2)
	k.sum(inside, c, c)
	VCMPSD(notAbove, radius2, inside, inside)
	k.sum(along, c, k.dir)
	s, all := XMM(), YMM()
	t = XMM()
	VMULSD(k.inverse, along, s)
	VBROADCASTSD(s, all)
	VMULPD(k.dir, all, all)
	VSUBPD(all, c, c)
	k.sum(t, c, c)
	k.root(radius2, s, t)
	return t
}

// oneByOne is together where registers are few: sooner there than fetching all three each time.
func (k *kernel) oneByOne(column func(int) Mem, inside, along, radius2 reg.Register) (t reg.VecVirtual) {
	// What is converted goes into the upper half of a register that has long been there: there is nothing to wait for.
	wide := func(m Mem) reg.VecVirtual {
		x := XMM()
		VCVTSS2SD(m, k.inverse, x)
		return x
	}
	var c, d [3]reg.VecVirtual
	for i, offset := range []int{columnX, columnY, columnZ} {
		c[i] = wide(column(offset))
		VSUBSD(wide(k.field(probeO+4*i)), c[i], c[i])
		d[i] = wide(k.field(probeD + 4*i))
	}
	VCVTSS2SD(k.field(k.growAt), k.inverse, radius2)
	VSUBSD(wide(column(columnNR2)), radius2, radius2)
	dot := func(sum reg.Register, a, b [3]reg.VecVirtual) {
		t := XMM()
		VMULSD(b[0], a[0], sum)
		for i := 1; i < 3; i++ {
			VMULSD(b[i], a[i], t)
			VADDSD(t, sum, sum)
		}
	}
	dot(inside, c, c)
	VCMPSD(notAbove, radius2, inside, inside)
	dot(along, c, d)
	s := XMM()
	t = XMM()
	VMULSD(k.inverse, along, s)
	for i := range c {
		VMULSD(d[i], s, t)
		VSUBSD(t, c[i], c[i])
	}
	dot(t, c, c)
	k.root(radius2, s, t)
	return t
}

// root is s less how deep below the surface the line runs: t, which is the square of how far it passes from the middle before.
func (k *kernel) root(radius2 reg.Register, s, t reg.VecVirtual) {
	VSUBSD(t, radius2, t)
	VMULSD(k.inverse, t, t)
	VSQRTSD(t, t, t)
	VSUBSD(t, s, t)
}
