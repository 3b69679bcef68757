package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Words of a row that unzip looks at; splitrows.go lists them.
const (
	rowWords          = 8
	wordX, wordFlags  = 0, 4
	wordID, wordForm  = 5, 6
	formShift, formOf = 3, 7
)

// unzip is the kernel that takes rows apart: as many at once as a register has words.
type unzip struct {
	src, kept, table   reg.GPVirtual
	x, y, z, nr2, i, n reg.GPVirtual
}

// signature begins the function and loads its arguments and the addresses of the columns.
func (u *unzip) signature(name string) {
	TEXT(name, NOSPLIT, "func(src, kept *[8]uint32, c *[12]uintptr, n int, radii *[16]float32)")
	Doc(name + " copies n rows of 32 bytes, and splits them into columns; n is a multiple of its lanes.")
	Pragma("noescape")
	u.src, u.kept, u.table, u.n, u.i = GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("src"), u.src)
	Load(Param("kept"), u.kept)
	Load(Param("radii"), u.table)
	c := GP64()
	Load(Param("c"), c)
	u.x, u.y, u.z, u.nr2 = GP64(), GP64(), GP64(), GP64()
	for i, g := range []reg.GPVirtual{u.x, u.y, u.z, u.nr2} {
		MOVQ(Mem{Base: c, Disp: 24 * i}, g)
	}
	Load(Param("n"), u.n)
	XORL(u.i.As32(), u.i.As32())
}

// turn closes a loop that takes the given number of rows per iteration.
func (u *unzip) turn(rows int) {
	ADDQ(U32(uint32(rows*rowWords*4)), u.src)
	ADDQ(U32(uint32(rows*rowWords*4)), u.kept)
	ADDQ(Imm(uint64(rows)), u.i)
	CMPQ(u.i, u.n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// column is the address of row i of a column.
func (u *unzip) column(base reg.GPVirtual) Mem { return Mem{Base: base, Index: u.i, Scale: 4} }

// words32 puts up to 16 words into the read-only data.
func words32(name string, words ...uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, w := range words {
		DATA(4*i, U32(w))
	}
	return m
}

// writeSplitRowsAVX512 takes 16 rows at a time: two lie in a register, two permutations of each
// pair of registers bring like words of four rows together, and shuffles of quarters put them
// behind each other.
func writeSplitRowsAVX512() {
	var first, second [16]uint32
	for row := range uint32(4) { // rows 0 and 1 are in the first register, 2 and 3 in the second
		for w := range uint32(3) {
			first[4*w+row] = 8*row + wordX + w
		}
		first[12+row] = 8*row + wordFlags
		second[row], second[4+row] = 8*row+wordID, 8*row+wordForm
	}
	one, other := words32("splitRowsPlaces", first[:]...), words32("splitRowsNames", second[:]...)

	u := new(unzip)
	u.signature("splitRowsAVX512")
	places, names, radii := ZMM(), ZMM(), ZMM()
	VMOVDQU32(one, places)
	VMOVDQU32(other, names)
	VMOVUPS(Mem{Base: u.table}, radii)
	spread := func(v uint32) reg.VecVirtual {
		g, z := GP32(), ZMM()
		MOVL(U32(v), g)
		VPBROADCASTD(g, z)
		return z
	}
	bit, seven, eight := spread(1), spread(formOf), spread(8)

	Label("loop")
	var a, b [4]reg.VecVirtual
	for q := range a {
		lo, hi := ZMM(), ZMM()
		VMOVDQU32(Mem{Base: u.src, Disp: 128 * q}, lo)
		VMOVDQU32(Mem{Base: u.src, Disp: 128*q + 64}, hi)
		VMOVDQU32(lo, Mem{Base: u.kept, Disp: 128 * q})
		VMOVDQU32(hi, Mem{Base: u.kept, Disp: 128*q + 64})
		a[q], b[q] = ZMM(), ZMM()
		VMOVDQA32(places, a[q])
		VPERMI2D(hi, lo, a[q])
		VMOVDQA32(names, b[q])
		VPERMI2D(hi, lo, b[q])
	}
	quarters := func(imm uint64, p, q reg.VecVirtual) reg.VecVirtual {
		z := ZMM()
		VSHUFI32X4(Imm(imm), q, p, z)
		return z
	}
	const even, odd, low = 0x88, 0xDD, 0x44
	xz, yf := [2]reg.VecVirtual{}, [2]reg.VecVirtual{}
	var named [2]reg.VecVirtual
	for h := range xz {
		xz[h], yf[h] = quarters(even, a[2*h], a[2*h+1]), quarters(odd, a[2*h], a[2*h+1])
		named[h] = quarters(low, b[2*h], b[2*h+1])
	}
	VMOVDQU32(quarters(even, xz[0], xz[1]), u.column(u.x))
	VMOVDQU32(quarters(even, yf[0], yf[1]), u.column(u.y))
	VMOVDQU32(quarters(odd, xz[0], xz[1]), u.column(u.z))
	flags, id := quarters(odd, yf[0], yf[1]), quarters(even, named[0], named[1])
	form := quarters(odd, named[0], named[1])
	there, alive := K(), K()
	VPTESTMD(id, id, there)
	VPTESTNMD(bit, flags, there, alive)
	VPSRLD(Imm(formShift), form, form)
	VPANDD(seven, form, form)
	VPORD(eight, form, alive, form)
	VPERMPS(radii, form, form)
	VMOVUPS(form, u.column(u.nr2))
	u.turn(16)
}

// writeSplitRowsAVX2 takes 8 rows at a time, one a register, and turns the square of words.
func writeSplitRowsAVX2() {
	u := new(unzip)
	u.signature("splitRowsAVX2")
	gone, radii, bit, seven, nothing := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: u.table}, gone)
	VMOVUPS(Mem{Base: u.table, Disp: 32}, radii)
	VPCMPEQD(bit, bit, bit)
	VPSRLD(Imm(31), bit, bit)
	VPCMPEQD(seven, seven, seven)
	VPSRLD(Imm(29), seven, seven)
	VPXOR(nothing, nothing, nothing)

	Label("loop")
	var low, high [4]reg.VecVirtual // words 0, 1 and 4, 5 of two rows; words 2, 3 and 6, 7
	for q := range low {
		p, o := YMM(), YMM()
		VMOVUPS(Mem{Base: u.src, Disp: 64 * q}, p)
		VMOVUPS(Mem{Base: u.src, Disp: 64*q + 32}, o)
		VMOVUPS(p, Mem{Base: u.kept, Disp: 64 * q})
		VMOVUPS(o, Mem{Base: u.kept, Disp: 64*q + 32})
		low[q], high[q] = YMM(), YMM()
		VUNPCKLPS(o, p, low[q])
		VUNPCKHPS(o, p, high[q])
	}
	pair := func(imm uint64, of *[4]reg.VecVirtual) (first, last reg.VecVirtual) {
		first, last = YMM(), YMM()
		VSHUFPS(Imm(imm), of[1], of[0], first)
		VSHUFPS(Imm(imm), of[3], of[2], last)
		return first, last
	}
	halves := func(imm uint64, first, last reg.VecVirtual) reg.VecVirtual {
		y := YMM()
		VPERM2F128(Imm(imm), last, first, y)
		return y
	}
	const both, rest, lower, upper = 0x44, 0xEE, 0x20, 0x31
	first, last := pair(both, &low)
	VMOVUPS(halves(lower, first, last), u.column(u.x))
	flags := halves(upper, first, last)
	first, last = pair(rest, &low)
	VMOVUPS(halves(lower, first, last), u.column(u.y))
	id := halves(upper, first, last)
	first, last = pair(both, &high)
	VMOVUPS(halves(lower, first, last), u.column(u.z))
	form := halves(upper, first, last)

	absent, alive := YMM(), YMM()
	VPCMPEQD(nothing, id, absent)
	VPAND(bit, flags, flags)
	VPCMPEQD(nothing, flags, alive)
	VPANDN(alive, absent, alive)
	VPSRLD(Imm(formShift), form, form)
	VPAND(seven, form, form)
	dead := YMM()
	VPERMPS(gone, form, dead)
	VPERMPS(radii, form, form)
	VBLENDVPS(alive, form, dead, form)
	VMOVUPS(form, u.column(u.nr2))
	u.turn(8)
}
