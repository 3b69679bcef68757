package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeDisplacement writes the kernel that measures how far rows moved between two columns.
func (k *kernel) writeDisplacement() {
	name := k.name + k.level()
	TEXT(name, NOSPLIT, "func(a, b *[12]uintptr, n int, limit float32, out *int32) (named int, most float32)")
	Doc(name+" returns the largest squared displacement up to limit, and in out the rows of a that",
		"moved further, or are Never in b only.")
	Pragma("noescape")
	k.a, k.b, k.n, k.i, k.out, k.sub, k.named = GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("a"), k.a)
	Load(Param("b"), k.b)
	Load(Param("n"), k.n)
	Load(Param("out"), k.out)
	limit, never, most := k.vec(), k.vec(), k.zero()
	VBROADCASTSS(NewParamAddr("limit", 24), limit)
	VBROADCASTSS(float("displacementNever"+k.level(), inf), never)
	XORL(k.i.As32(), k.i.As32())
	left := GP64()

	Label("loop")
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	JLE(LabelRef("done"))
	valid, at := k.first(left), place{k.i, 0}
	alive := k.compare(notEqual, k.get(k.column(k.a, columnNR2), at, valid), never, valid)
	same := k.compare(notEqual, k.get(k.column(k.b, columnNR2), at, valid), never, alive)
	var d [3]reg.VecVirtual
	for i, offset := range []int{columnX, columnY, columnZ} {
		d[i] = k.get(k.column(k.a, offset), at, valid)
		VSUBPS(d[i], k.get(k.column(k.b, offset), at, valid), d[i])
	}
	square := k.square(d[0], d[1], d[2])
	near := k.compare(notAbove, square, limit, same)
	if k.avx512 {
		VMAXPS(square, most, near.k, most)
		KANDNW(alive.k, near.k, near.k)
		KMOVW(near.k, k.named.As32())
	} else {
		VANDPS(near.v, square, square)
		VMAXPS(square, most, most)
		VANDNPS(alive.v, near.v, near.v)
		VMOVMSKPS(near.v, k.named.As32())
	}
	TESTL(k.named.As32(), k.named.As32())
	JZ(LabelRef("onward"))
	MOVQ(k.i, k.sub)
	k.emit("list")
	Label("onward")
	ADDQ(Imm(uint64(k.lanes)), k.i)
	JMP(LabelRef("loop"))

	Label("done")
	half, y := YMM(), most
	if k.avx512 {
		high := YMM()
		VEXTRACTF64X4(Imm(1), most, high)
		y = YMM()
		VMAXPS(high, most.AsY(), y)
	}
	VPERM2F128(Imm(1), y, y, half)
	VMAXPS(half, y, y)
	VPERMILPS(Imm(0x4E), y, half)
	VMAXPS(half, y, y)
	VPERMILPS(Imm(0xB1), y, half)
	VMAXPS(half, y, y)
	first := GP64()
	Load(Param("out"), first)
	SUBQ(first, k.out)
	SHRQ(Imm(2), k.out)
	Store(k.out, ReturnIndex(0))
	Store(y.AsX(), ReturnIndex(1))
	VZEROUPPER()
	RET()
}
