//go:build !noasm

package move

import "golang.org/x/sys/cpu"

func integrate(p, v []float32, dt float32) {
	if !cpu.X86.HasAVX {
		integrateGeneric(p, v, dt)
		return
	}
	integrateAVX(&p[0], &v[0], len(p), dt)
}
