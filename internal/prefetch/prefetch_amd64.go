package prefetch

import "unsafe"

// lines prefetches n cache lines, the one that p is in first.
//
//go:noescape
func lines(p unsafe.Pointer, n uintptr)
