package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows says which lanes count: a mask register with AVX-512, a vector of ones and zeros with AVX2.
// The zero rows are all.
type rows struct {
	k reg.OpmaskVirtual
	v reg.VecVirtual
}

// place is a register full of rows: a first row, and bytes beyond it.
type place struct {
	row  reg.GPVirtual
	disp int
}

// in is the rows of p in the column at base; an element is 4 bytes.
func (p place) in(base reg.GPVirtual) Mem {
	return Mem{Base: base, Index: p.row, Scale: 4, Disp: p.disp}
}

// vec allocates a register of k.lanes numbers.
func (k *kernel) vec() reg.VecVirtual {
	if k.avx512 {
		return ZMM()
	}
	return YMM()
}

// spread puts one field of the probe into all lanes.
func (k *kernel) spread(offset int) reg.VecVirtual {
	v := k.vec()
	VBROADCASTSS(Mem{Base: k.p, Disp: offset}, v)
	return v
}

// field is where a field of the probe is.
func (k *kernel) field(offset int) Mem { return Mem{Base: k.p, Disp: offset} }

// constant puts a field into all lanes.
func (k *kernel) constant(offset int) reg.VecVirtual {
	v := k.vec()
	VBROADCASTSS(k.field(offset), v)
	return v
}

// minus subtracts one number from all lanes.
func (k *kernel) minus(m Mem, v reg.VecVirtual) {
	if k.avx512 {
		VSUBPS_BCST(m, v, v)
		return
	}
	one := k.vec()
	VBROADCASTSS(m, one)
	VSUBPS(one, v, v)
}

// times multiplies all lanes by one number.
func (k *kernel) times(m Mem, v reg.VecVirtual) {
	if k.avx512 {
		VMULPS_BCST(m, v, v)
		return
	}
	one := k.vec()
	VBROADCASTSS(m, one)
	VMULPS(one, v, v)
}

// zero is a register of zeros.
func (k *kernel) zero() reg.VecVirtual {
	v := k.vec()
	if k.avx512 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
	return v
}

// column loads the address of a slice of a Column.
func (k *kernel) column(c reg.GPVirtual, offset int) reg.GPVirtual {
	g := GP64()
	MOVQ(Mem{Base: c, Disp: offset}, g)
	return g
}

// first is the first lanes, as many as are left.
func (k *kernel) first(left reg.GPVirtual) rows {
	count := GP64()
	MOVL(U32(k.lanes), count.As32())
	CMPQ(left, count)
	CMOVQLT(left, count)
	if k.avx512 {
		ones, m := GP64(), K()
		MOVL(U32(0xFFFFFFFF), ones.As32())
		BZHIL(count.As32(), ones.As32(), ones.As32())
		KMOVW(ones.As32(), m)
		return rows{k: m}
	}
	table, m := GP64(), YMM()
	NEGQ(count)
	LEAQ(k.window, table)
	VMOVUPS(Mem{Base: table, Index: count, Scale: 4, Disp: 4 * k.lanes}, m)
	return rows{v: m}
}

// get loads a register of a column; lanes that do not count are not read.
func (k *kernel) get(base reg.GPVirtual, at place, valid rows) reg.VecVirtual {
	v := k.vec()
	switch {
	case k.index != nil && !k.avx512:
		m := YMM()
		VMOVAPS(valid.v, m)
		VXORPS(v, v, v)
		VGATHERDPS(m, Mem{Base: base, Index: k.index, Scale: 4}, v)
	case k.index != nil:
		m := K() // used up by the gathering
		KMOVW(valid.k, m)
		VGATHERDPS(Mem{Base: base, Index: k.index, Scale: 4}, m, v)
	case valid.k != nil:
		VMOVUPS_Z(at.in(base), valid.k, v)
	case valid.v != nil:
		VMASKMOVPS(at.in(base), valid.v, v)
	default:
		VMOVUPS(at.in(base), v)
	}
	return v
}

// axis is one coordinate of the rows at a place.
func (k *kernel) axis(offset int, at place, valid rows) reg.VecVirtual {
	switch offset {
	case columnX:
		return k.get(k.ax, at, valid)
	case columnZ:
		return k.get(k.az, at, valid)
	}
	return k.get(k.column(k.a, offset), at, valid)
}

// compare is the lanes of among, if it is given, in which "a predicate b" holds.
func (k *kernel) compare(predicate U8, a, b reg.VecVirtual, among rows) rows {
	if k.avx512 {
		m := K()
		if among.k != nil {
			VCMPPS(predicate, b, a, among.k, m)
		} else {
			VCMPPS(predicate, b, a, m)
		}
		return rows{k: m}
	}
	m := YMM()
	VCMPPS(predicate, b, a, m)
	if among.v != nil {
		VANDPS(among.v, m, m)
	}
	return rows{v: m}
}

// square is x*x + y*y + z*z in that order.
func (k *kernel) square(x, y, z reg.VecVirtual) reg.VecVirtual {
	sum, t := k.vec(), k.vec()
	VMULPS(x, x, sum)
	VMULPS(y, y, t)
	VADDPS(t, sum, sum)
	VMULPS(z, z, t)
	VADDPS(t, sum, sum)
	return sum
}

// along is the scalar product with the ray's direction, summed in that order; x, y and z are lost.
func (k *kernel) along(x, y, z reg.VecVirtual) reg.VecVirtual {
	k.times(k.field(probeD), x)
	k.times(k.field(probeD+4), y)
	VADDPS(y, x, x)
	k.times(k.field(probeD+8), z)
	VADDPS(z, x, x)
	return x
}
