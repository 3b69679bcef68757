package move

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
)

//go:generate go run -C _gen . -out ../integrate_amd64.s -stubs ../integrate_amd64_gen.go -pkg move

// Integrate adds vel*dt to pos, row by row; the slices have one length. It moves what meets nothing, such as ghosts
// and spectators, and has the bits of p + float32(v*dt). It allocates nothing. With AVX it is one pass of eight
// floats at a time; the tag noasm turns that off.
func Integrate(pos, vel []geom.Vec3, dt float32) {
	if len(pos) > 0 {
		integrate(flat(pos), flat(vel[:len(pos)]), dt)
	}
}

// integrateGeneric is the truth: what every kernel must equal, bit for bit.
func integrateGeneric(p, v []float32, dt float32) {
	v = v[:len(p)]
	for i := range p {
		p[i] += float32(v[i] * dt)
	}
}

// flat is a column of vectors seen as its coordinates.
func flat(v []geom.Vec3) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v))), 3*len(v))
}
