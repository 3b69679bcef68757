package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sure is how many of the rows that are tested at once are listed without a branch on how many
// passed; more are rare among many rows.
const sure = 2

// writeMany writes the shape for many rows. It has no branch on whether a row passed, which cannot
// be predicted among many rows. Rows that pass the cheap test are packed into out; these are then
// gathered, a register at a time, and out is packed once more to those that pass the full test.
// AVX2 cannot pack, so its rows are listed by their bits.
func (k *kernel) writeMany() {
	k.signature()
	k.load()
	left, count := GP64(), k.sub
	XORL(count.As32(), count.As32())
	var picked Mem
	var row, step reg.VecVirtual
	if k.avx512 {
		row, step = ZMM(), ZMM()
		VMOVDQU32(k.rising, row)
		MOVL(U32(16), left.As32())
		VPBROADCASTD(left.As32(), step)
	} else {
		picked = AllocLocal(32)
	}
	JMP(LabelRef("ask"))

	Label("wide")
	bits, more := k.passed, GP64()
	for r := 0; k.avx512 && r*k.lanes < wideRows; r++ {
		// A whole register is stored.
		packed, m := ZMM(), k.cheap(r, rows{})
		VPCOMPRESSD_Z(row, m.k, packed)
		VMOVDQU32(packed, k.at(count))
		k.bits(m, more)
		POPCNTL(more.As32(), more.As32())
		ADDQ(more, count)
		VPADDD(step, row, row)
	}
	for r := 0; !k.avx512 && r*k.lanes < wideRows; r++ {
		m := k.cheap(r, rows{})
		if r == 0 {
			k.bits(m, bits)
			continue
		}
		k.bits(m, more)
		SHLL(Imm(uint64(k.lanes*r)), more.As32())
		ORL(more.As32(), bits.As32())
	}
	if !k.avx512 {
		k.list(bits, count, "wide", sure, func(row reg.GPVirtual) { ADDL(k.i.As32(), row.As32()) })
	}
	ADDQ(Imm(wideRows), k.i)
	Label("ask")
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	CMPQ(left, Imm(wideRows))
	JGE(LabelRef("wide"))

	Label("narrow")
	TESTQ(left, left)
	JLE(LabelRef("again"))
	valid := k.first(left)
	m := k.cheap(0, valid)
	if k.avx512 {
		k.pack(row, m, count)
		VPADDD(step, row, row)
	} else {
		k.bits(m, bits)
		k.list(bits, count, "narrow", 1, func(row reg.GPVirtual) { ADDL(k.i.As32(), row.As32()) })
	}
	ADDQ(Imm(uint64(k.lanes)), k.i)
	MOVQ(k.n, left)
	SUBQ(k.i, left)
	JMP(LabelRef("narrow"))

	Label("again")
	read, kept := k.i, k.named
	XORL(read.As32(), read.As32())
	XORL(kept.As32(), kept.As32())
	JMP(LabelRef("gather"))
	Label("gathered")
	valid = k.first(left)
	k.index = k.vec()
	if k.avx512 {
		VMOVDQU32_Z(k.at(read), valid.k, k.index)
		k.pack(k.index, k.full(place{}, valid), kept)
	} else {
		VPMASKMOVD(k.at(read), valid.v, k.index)
		VMOVDQU(k.index, picked)
		pass := k.full(place{}, valid)
		VANDPS(valid.v, pass.v, pass.v)
		k.bits(pass, bits)
		k.list(bits, kept, "gathered", 1, func(row reg.GPVirtual) {
			ANDL(Imm(7), row.As32()) // of none
			MOVL(Mem{Base: picked.Base, Disp: picked.Disp, Index: row, Scale: 4}, row.As32())
		})
	}
	ADDQ(Imm(uint64(k.lanes)), read)
	Label("gather")
	MOVQ(count, left)
	SUBQ(read, left)
	JG(LabelRef("gathered"))

	VZEROUPPER()
	Store(kept, ReturnIndex(0))
	RET()
}

// list puts the rows of bits, each made of its lane by of, at out's entry count, and counts them.
// Entries beyond the count are garbage; there is room for sure of them, as there are no more
// entries than rows.
func (k *kernel) list(bits, count reg.GPVirtual, label string, sure int, of func(lane reg.GPVirtual)) {
	lane, passed, end := GP64(), GP64(), GP64()
	POPCNTL(bits.As32(), passed.As32())
	put := func(disp int) {
		TZCNTL(bits.As32(), lane.As32())
		of(lane)
		MOVL(lane.As32(), Mem{Base: k.out, Index: count, Scale: 4, Disp: disp})
	}
	for i := range sure {
		put(4 * i)
		BLSRL(bits.As32(), bits.As32())
	}
	LEAQ(Mem{Base: count, Index: passed, Scale: 1}, end)
	CMPL(passed.As32(), Imm(uint64(sure)))
	JBE(LabelRef(label + "_listed"))
	Label(label + "_more")
	put(4 * sure)
	INCQ(count)
	BLSRL(bits.As32(), bits.As32())
	JNZ(LabelRef(label + "_more"))
	Label(label + "_listed")
	MOVQ(end, count)
}

// bits moves a mask to a general register.
func (k *kernel) bits(m rows, to reg.GPVirtual) {
	if k.avx512 {
		KMOVW(m.k, to.As32())
	} else {
		VMOVMSKPS(m.v, to.As32())
	}
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
