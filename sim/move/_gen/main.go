// Command _gen writes integrate_amd64.s. It has a module of its own so that avo never enters the project's.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// lanes is the number of float32 in an AVX register, unroll how many registers a turn handles.
const (
	lanes  = 8
	unroll = 4
)

func main() {
	ConstraintExpr("amd64,!noasm")
	TEXT("integrateAVX", NOSPLIT, "func(p, v *float32, n int, dt float32)")
	Doc("integrateAVX adds v*dt to p, n floats of each, each product rounded before it is added.")
	Pragma("noescape")
	p, v, n := Load(Param("p"), GP64()), Load(Param("v"), GP64()), Load(Param("n"), GP64())
	dt := YMM()
	VBROADCASTSS(NewParamAddr("dt", 24), dt)

	Label("wide")
	CMPQ(n, Imm(lanes*unroll))
	JL(LabelRef("narrow"))
	for i := range unroll {
		x := YMM()
		VMULPS(Mem{Base: v, Disp: 4 * lanes * i}, dt, x)
		VADDPS(Mem{Base: p, Disp: 4 * lanes * i}, x, x)
		VMOVUPS(x, Mem{Base: p, Disp: 4 * lanes * i})
	}
	ADDQ(Imm(4*lanes*unroll), v)
	ADDQ(Imm(4*lanes*unroll), p)
	SUBQ(Imm(lanes*unroll), n)
	JMP(LabelRef("wide"))

	Label("narrow")
	TESTQ(n, n)
	JE(LabelRef("done"))
	x := XMM()
	VMULSS(Mem{Base: v}, dt.AsX(), x)
	VADDSS(Mem{Base: p}, x, x)
	VMOVSS(x, Mem{Base: p})
	ADDQ(Imm(4), v)
	ADDQ(Imm(4), p)
	DECQ(n)
	JMP(LabelRef("narrow"))

	Label("done")
	VZEROUPPER()
	RET()
	Generate()
}
