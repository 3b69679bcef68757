//go:build !amd64 || noasm

package move

func integrate(p, v []float32, dt float32) { integrateGeneric(p, v, dt) }
