package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeMany writes the shape for many rows, which needs AVX-512: no branch is asked whether somebody passed, because among many
// rows it cannot be foretold where. Rows that pass the cheap test are packed into out; then these are gathered, 16 at a time,
// and out is packed once more to those that pass the full test.
func (k *kernel) writeMany() {
	k.signature()
	k.load()
	row, step, left := ZMM(), ZMM(), GP64()
	VMOVDQU32(k.rising, row)
	count := k.sub
	MOVL(U32(16), count.As32())
	VPBROADCASTD(count.As32(), step)
	XORL(count.As32(), count.As32())

	Label("wide")
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	CMPQ(left, Imm(wideRows))
	JL(LabelRef("narrow"))
	for _, m := range []rows{k.cheap(0, rows{}), k.cheap(1, rows{})} {
		// A whole register is stored. There is room: no more entries went before than rows.
		packed, bits := ZMM(), GP64()
		VPCOMPRESSD_Z(row, m.k, packed)
		VMOVDQU32(packed, k.at(count))
		KMOVW(m.k, bits.As32())
		POPCNTL(bits.As32(), bits.As32())
		ADDQ(bits, count)
		VPADDD(step, row, row)
	}
	ADDQ(Imm(wideRows), k.i)
	JMP(LabelRef("wide"))

	Label("narrow")
	TESTQ(left, left)
	JLE(LabelRef("again"))
	m := k.cheap(0, k.first(left))
	k.pack(row, m, count)
	VPADDD(step, row, row)
	ADDQ(Imm(16), k.i)
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	JMP(LabelRef("narrow"))

	Label("again")
	read, kept := k.i, k.passed
	XORL(read.As32(), read.As32())
	XORL(kept.As32(), kept.As32())
	Label("gather")
	MOVQ(count, left)
	SUBQ(read, left)
	JLE(LabelRef("done"))
	valid := k.first(left)
	k.index = ZMM()
	VMOVDQU32_Z(k.at(read), valid.k, k.index)
	pass := k.full(place{}, valid)
	k.pack(k.index, pass, kept)
	ADDQ(Imm(16), read)
	JMP(LabelRef("gather"))

	Label("done")
	VZEROUPPER()
	Store(kept, ReturnIndex(0))
	RET()
}

// at is the entry of out of that number.
func (k *kernel) at(number reg.GPVirtual) Mem { return Mem{Base: k.out, Index: number, Scale: 4} }

// pack stores the rows that m has at out's entry count, and counts them.
func (k *kernel) pack(row reg.VecVirtual, m rows, count reg.GPVirtual) {
	bits := GP64()
	VPCOMPRESSD(row, m.k, k.at(count))
	KMOVW(m.k, bits.As32())
	POPCNTL(bits.As32(), bits.As32())
	ADDQ(bits, count)
}
