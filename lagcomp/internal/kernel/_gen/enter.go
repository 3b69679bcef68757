package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// enter works out in float64 where the ray enters a row, in the order of enter in nearest.go and without a branch on what comes out;
// if that is before the limit, it is the limit from now on.
func (k *kernel) enter(row reg.GPVirtual, later string) {
	// What is converted goes into the upper half of a register that has long been there: there is nothing to wait for.
	wide := func(m Mem) reg.VecVirtual {
		x := XMM()
		VCVTSS2SD(m, k.inverse, x)
		return x
	}
	column := func(offset int) Mem { return Mem{Base: k.column(k.a, offset), Index: row, Scale: 4} }
	var c, d [3]reg.VecVirtual
	for i, offset := range []int{columnX, columnY, columnZ} {
		c[i] = wide(column(offset))
		VSUBSD(wide(k.field(probeO+4*i)), c[i], c[i])
		if d[i] = k.dir[i]; d[i] == nil {
			d[i] = wide(k.field(probeD + 4*i))
		}
	}
	inside, along, radius2, zero := reg.X12, reg.X13, reg.X14, reg.X15 // the comparisons know no register above
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
	s, t := XMM(), XMM()
	VMULSD(k.inverse, along, s)
	for i := range c {
		VMULSD(d[i], s, t)
		VSUBSD(t, c[i], c[i])
	}
	dot(t, c, c)
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
