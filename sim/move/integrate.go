package move

import (
	"unsafe"

	"github.com/viterin/vek/vek32"

	"github.com/tickrate/tickrate/ecs/geom"
)

// chunk is how many float32 a pass takes at a time: both passes over them stay in the first cache.
const chunk = 1024

// Integrate adds vel*dt to pos, row by row; the slices have one length. It moves what meets nothing, such as ghosts
// and spectators, and has the bits of p + float32(v*dt). It allocates nothing.
func Integrate(pos, vel []geom.Vec3, dt float32) {
	if len(pos) == 0 {
		return
	}
	p, v := flat(pos), flat(vel[:len(pos)])
	var way [chunk]float32
	for len(p) > 0 {
		n := min(len(p), chunk)
		d := vek32.MulNumber_Into(way[:n], v[:n], dt)
		vek32.Add_Inplace(p[:n], d)
		p, v = p[n:], v[n:]
	}
}

// flat is a column of vectors seen as its coordinates.
func flat(v []geom.Vec3) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v))), 3*len(v))
}
