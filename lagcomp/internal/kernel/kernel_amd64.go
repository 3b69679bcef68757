//go:build !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// isa is an instruction set.
type isa uint8

const (
	generic isa = iota
	avx2
	avx512
)

// level is the best instruction set of this machine.
var level = best()

func best() isa {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512VL && x.HasAVX2 && x.HasBMI1 && x.HasBMI2:
		return avx512
	case x.HasAVX2 && x.HasBMI1 && x.HasBMI2:
		return avx2
	}
	return generic
}

// packFrom is the fewest rows for which packing the rows that pass the cheap test pays.
const packFrom = 384

// lanes is the number of rows in a register.
func (k isa) lanes() int { return [...]int{1, 8, 16}[k] }

func (k isa) ray(p *probe, c *Spheres, n int, out []int32) int {
	switch {
	case n == 0:
		return 0
	case k == avx512 && n >= packFrom:
		return manyAVX512(p.flat(), c.flat(), n, &out[0])
	case k == avx512:
		return rayAVX512(p.flat(), c.flat(), n, &out[0])
	case k == avx2 && n >= packFrom:
		return manyAVX2(p.flat(), c.flat(), n, &out[0])
	case k == avx2:
		return rayAVX2(p.flat(), c.flat(), n, &out[0])
	}
	return rayGeneric(p, c, n, out)
}

func (k isa) ball(p *probe, c *Spheres, n int, out []int32) int {
	switch {
	case n == 0:
		return 0
	case k == avx512:
		return ballAVX512(p.flat(), c.flat(), n, &out[0])
	case k == avx2:
		return ballAVX2(p.flat(), c.flat(), n, &out[0])
	}
	return ballGeneric(p, c, n, out)
}

func (k isa) displacement(a, b *Spheres, n int, limit float32, out []int32) (named int, most float32) {
	switch {
	case n == 0:
		return 0, 0
	case k == avx512:
		return displacementAVX512(a.flat(), b.flat(), n, limit, &out[0])
	case k == avx2:
		return displacementAVX2(a.flat(), b.flat(), n, limit, &out[0])
	}
	return displacementGeneric(a, b, n, limit, out)
}

func (k isa) capsules(f *MovingSphere, c *Capsules, thick *Radii) (lane int, t float32) {
	if k != generic {
		return capsulesAVX2((*[8]float32)(unsafe.Pointer(f)), (*[96]float32)(unsafe.Pointer(c)),
			(*[32]float32)(unsafe.Pointer(thick)))
	}
	return Undecided, 0
}

func (k isa) splitRows(rows, kept []Row, c *Spheres, radii *[16]float32) int {
	n := len(rows) &^ (k.lanes() - 1)
	switch {
	case n == 0:
	case k == avx512:
		splitRowsAVX512((*[8]uint32)(&rows[0]), (*[8]uint32)(&kept[0]), c.flat(), n, radii)
	case k == avx2:
		splitRowsAVX2((*[8]uint32)(&rows[0]), (*[8]uint32)(&kept[0]), c.flat(), n, radii)
	default:
		return 0
	}
	return n
}

// flat is a probe as the generated code declares it, which knows only Go's own types.
func (p *probe) flat() *[16]float32 { return (*[16]float32)(unsafe.Pointer(p)) }

// flat is the headers of four slices.
func (c *Spheres) flat() *[12]uintptr { return (*[12]uintptr)(unsafe.Pointer(c)) }

// Offsets that the generator relies on.
var (
	_ [12]byte     = [unsafe.Offsetof(probe{}.dx)]byte{}
	_ [24]byte     = [unsafe.Offsetof(probe{}.sx)]byte{}
	_ [40]byte     = [unsafe.Offsetof(probe{}.max)]byte{}
	_ [52]byte     = [unsafe.Offsetof(probe{}.keep)]byte{}
	_ [60]byte     = [unsafe.Offsetof(probe{}.never)]byte{}
	_ [72]byte     = [unsafe.Offsetof(Spheres{}.NR2)]byte{}
	_ [12 * 8]byte = [unsafe.Sizeof(Spheres{})]byte{}
)
