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
	c, lanes := YMM(), XMM()
	VMOVSS(column(columnX), lanes)
	VINSERTPS(Imm(0x10), column(columnY), lanes, lanes)
	VINSERTPS(Imm(0x20), column(columnZ), lanes, lanes)
	VCVTPS2PD(lanes, c)
	o, d := k.from, k.dir
	if o == nil {
		o, d = YMM(), YMM()
		VCVTPS2PD(k.field(probeO), o)
		VCVTPS2PD(k.field(probeD), d)
	}
	VSUBPD(o, c, c)
	// What is converted goes into the upper half of a register that has long been there: there is nothing to wait for.
	inside, along, radius2, zero := reg.X12, reg.X13, reg.X14, reg.X15 // the comparisons know no register above
	nr2 := XMM()
	VCVTSS2SD(column(columnNR2), k.inverse, nr2)
	if k.grow == nil {
		VCVTSS2SD(k.field(k.growAt), k.inverse, radius2)
		VSUBSD(nr2, radius2, radius2)
	} else {
		VSUBSD(nr2, k.grow, radius2)
	}
	k.sum(inside, c, c)
	VCMPSD(notAbove, radius2, inside, inside)
	k.sum(along, c, d)
	s, t, all := XMM(), XMM(), YMM()
	VMULSD(k.inverse, along, s)
	VBROADCASTSD(s, all)
	VMULPD(d, all, all)
	VSUBPD(all, c, c)
	k.sum(t, c, c)
	VSUBSD(t, radius2, t)
	VMULSD(k.inverse, t, t)
	VSQRTSD(t, t, t)
	VSUBSD(t, s, t)
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
