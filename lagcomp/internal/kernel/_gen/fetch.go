package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeFetch writes the kernel that asks memory for rows.
func writeFetch() {
	TEXT("fetchRows", NOSPLIT, "func(a, b *[8]uint32, list *int32, n int)")
	Doc("fetchRows asks memory for rows of two tables, so that they are there when they are looked at.")
	Pragma("noescape")
	a, b, list, n, row := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("a"), a)
	Load(Param("b"), b)
	Load(Param("list"), list)
	Load(Param("n"), n)
	Label("loop")
	MOVLQSX(Mem{Base: list}, row)
	SHLQ(Imm(5), row)
	PREFETCHT0(Mem{Base: a, Index: row, Scale: 1})
	PREFETCHT0(Mem{Base: b, Index: row, Scale: 1})
	ADDQ(Imm(4), list)
	DECQ(n)
	JNZ(LabelRef("loop"))
	RET()
}
